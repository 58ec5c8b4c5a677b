//! Files that two systems write: the diagram is refused, because the later file would replace the
//! earlier one.

use tarragon_framework::prelude::*;
use tarragon_framework::warnings::collect;
use tarragon_framework::{Error, ErrorKind, FileNames};

/// A system that writes files.
struct Writer(FileNames);

impl LeafSystem<f64> for Writer {
    type Ports = ();
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        d.writes_files(self.0.clone());
    }
}

fn build(first: FileNames, second: FileNames) -> (Result<(), Error>, Vec<String>) {
    let mut b = DiagramBuilder::new();
    b.add_f64("first", Writer(first));
    let inner = b.subdiagram("inner", |b| {
        b.add_f64("second", Writer(second));
        Ok::<_, Error>(())
    });
    inner.unwrap();
    let (built, warnings) = collect(|| b.build());
    (built.map(|_| ()), warnings)
}

#[test]
fn a_file_has_one_writer() {
    // Nothing is written.
    let folder = std::env::temp_dir();
    let names = |directory: &str| FileNames::new(folder.join(directory)).with_cure("rename one");
    let left = || names("").with_scheduled(["0", "1", "1"]);
    let (built, _) = build(left(), names(".").with_port("p").with_scheduled(["2", "1"]));
    let error = built.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let file = folder.canonicalize().unwrap().join("1");
    let words = format!(
        "system 'inner::second' port 'p': file names must differ from those of system 'first', \
         got '{}' for both; rename one",
        file.display()
    );
    assert!(error.to_string().contains(&words), "{error}");

    let other = names("").with_scheduled(["2", "3"]);
    assert!(build(left(), other.clone()).0.is_ok());
    // Only a forced publish writes both.
    let (built, warnings) = build(left().with_forced(["9"]), other.with_forced(["9"]));
    assert!(built.is_ok());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("system 'inner::second': at a forced publish, file names are"),
        "{warnings:?}"
    );
}
