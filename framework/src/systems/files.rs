//! Files that systems write, and the check that no two systems of a diagram write the same one.

use crate::warnings::warn;
use crate::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

/// Names of the files that a system, or one port of it, writes, for
/// [`Declare::writes_files`](crate::Declare::writes_files).
///
/// ```
/// use tarragon_framework::FileNames;
/// let left = FileNames::new("/tmp").with_port("left").with_scheduled(["0.png", "1.png"]);
/// let left = left.with_cure("choose another folder");
/// # assert_eq!(left, left.clone());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileNames {
    directory: PathBuf,
    port: Option<String>,
    cure: String,
    scheduled: Vec<PathBuf>,
    forced: Vec<PathBuf>,
}

impl FileNames {
    /// Creates a list of files in a directory, which is empty at first. Different spellings of a
    /// directory, and links to it, are the same directory.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        let directory = match directory.as_ref() {
            unnamed if unnamed == Path::new("") => Path::new("."),
            named => named,
        };
        // A directory that is missing is an error of the writer.
        let found = directory.canonicalize();
        Self {
            directory: found.unwrap_or_else(|_| directory.into()),
            cure: "choose another file".into(),
            port: None,
            scheduled: vec![],
            forced: vec![],
        }
    }
    /// Sets the name of the port, for systems that have several.
    pub fn with_port(mut self, port: &str) -> Self {
        self.port = Some(port.into());
        self
    }
    /// Sets the advice at the end of messages, such as "rename one".
    pub fn with_cure(mut self, cure: &str) -> Self {
        self.cure = cure.into();
        self
    }
    /// Sets the files that timed events write, in order. The first few hundred suffice.
    pub fn with_scheduled<N: AsRef<Path>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter();
        self.scheduled = names.map(|name| self.directory.join(name)).collect();
        self
    }
    /// Sets the files that forced publishes would write at times and counts that are the same for
    /// all writers. If two writers share one, that is only worth a warning.
    pub fn with_forced<N: AsRef<Path>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter();
        self.forced = names.map(|name| self.directory.join(name)).collect();
        self
    }
}

/// A system or port that writes files.
#[derive(Clone, Copy)]
struct FileWriter<'a> {
    system: &'a str,
    names: &'a FileNames,
}

impl FileWriter<'_> {
    fn place(&self) -> String {
        match &self.names.port {
            Some(port) => format!("system '{}' port '{port}'", self.system),
            None => format!("system '{}'", self.system),
        }
    }
}

/// Checks that no file is written by two systems, or by two ports of one. Warns where only a forced
/// publish would do that. The systems come with their paths.
pub(crate) fn check_files<'a>(
    systems: impl Iterator<Item = (&'a str, &'a [FileNames])>,
) -> Result<()> {
    let (mut scheduled, mut forced) = (HashMap::new(), HashMap::new());
    for (system, names) in systems.flat_map(|(path, all)| all.iter().map(move |n| (path, n))) {
        let writer = FileWriter { system, names };
        if let Some((file, other)) = first_shared(&mut scheduled, &names.scheduled, writer) {
            return Err(Error::exists(format!(
                "{}: file names must differ from those of {}, got '{}' for both; {}",
                writer.place(),
                other.place(),
                file.display(),
                names.cure
            )));
        }
        if let Some((file, other)) = first_shared(&mut forced, &names.forced, writer) {
            warn(format!(
                "{}: at a forced publish, file names are those of {}, such as '{}'; {}",
                writer.place(),
                other.place(),
                file.display(),
                names.cure
            ));
        }
    }
    Ok(())
}

/// Returns the first file of a writer that another writer has, and that writer.
fn first_shared<'a>(
    known: &mut HashMap<&'a Path, FileWriter<'a>>,
    files: &'a [PathBuf],
    writer: FileWriter<'a>,
) -> Option<(&'a Path, FileWriter<'a>)> {
    for file in files {
        match known.entry(file) {
            // A port may write one file again and again.
            Entry::Occupied(other) if !std::ptr::eq(other.get().names, writer.names) => {
                return Some((file, *other.get()));
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => {
                new.insert(writer);
            }
        }
    }
    None
}
