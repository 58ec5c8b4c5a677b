//! Finding recordings, counting cases, reporting.

use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Directories with recordings, best first.
fn roots() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("TARRAGON_REFERENCE") {
        // A named directory is the only one that is checked.
        Some(named) => vec![here.join(named)],
        None => vec![
            here.join("../shared/reference"),
            here.join("tests/reference"),
        ],
    }
}

/// The file of this relative path in the first directory that has it; prints a line if none has it.
pub(crate) fn find(relative: &str) -> Option<PathBuf> {
    let found = roots()
        .into_iter()
        .map(|r| r.join(relative))
        .find(|p| p.is_file());
    if found.is_none() {
        println!("SKIPPED {relative}: in none of {:?}", roots());
    }
    found
}

/// Reads a JSON file, gzip-compressed if its name ends in `.gz`.
pub(crate) fn read_json(path: &Path) -> Value {
    let file = BufReader::new(File::open(path).unwrap_or_else(|e| panic!("{path:?}: {e}")));
    let plain: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(flate2::read::GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    serde_json::from_reader(BufReader::new(plain)).unwrap_or_else(|e| panic!("{path:?}: {e}"))
}

/// [`find`] and [`read_json`] in one.
pub(crate) fn load(relative: &str) -> Option<Value> {
    find(relative).map(|path| read_json(&path))
}

/// The content of the first of several interchangeable files that exists.
pub(crate) fn first(relative: &[&str]) -> Option<Value> {
    let files = relative
        .iter()
        .flat_map(|r| roots().into_iter().map(move |root| root.join(r)));
    let found = files.into_iter().find(|p| p.is_file());
    if found.is_none() {
        println!(
            "SKIPPED {}: in none of {:?}",
            relative.join(" or "),
            roots()
        );
    }
    found.map(|path| read_json(&path))
}

/// Reads a number; infinities, NaN, and numbers with more digits than a double are strings.
pub(crate) fn number(v: &Value) -> f64 {
    match v {
        Value::String(s) => s.parse().unwrap_or_else(|e| panic!("{s:?}: {e}")),
        _ => v.as_f64().unwrap_or_else(|| panic!("{v} is not a number")),
    }
}

/// Reads an array of `N` numbers.
pub(crate) fn numbers<const N: usize>(v: &Value) -> [f64; N] {
    let items: Vec<f64> = v
        .as_array()
        .map(|a| a.iter().map(number).collect())
        .unwrap_or_default();
    items
        .try_into()
        .unwrap_or_else(|_| panic!("{v} is not an array of {N} numbers"))
}

/// The largest absolute difference; NaN if any number is NaN.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(
            0.0,
            |worst, d| {
                if d > worst || d.is_nan() { d } else { worst }
            },
        )
}

/// Comparisons in one family of cases.
///
/// A case passes when all of its errors are within their tolerances.
pub(crate) struct Family {
    name: &'static str,
    cases: usize,
    failures: Vec<String>,
    worst: (f64, String),
}

impl Family {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            cases: 0,
            failures: Vec::new(),
            worst: (0.0, String::new()),
        }
    }

    /// Adds a case: its name and its errors as (what, error, tolerance). NaN never passes.
    pub(crate) fn case(&mut self, name: impl Fn() -> String, errors: &[(&str, f64, f64)]) {
        self.cases += 1;
        let mut failed = String::new();
        for (what, error, tolerance) in errors {
            // The used fraction of the tolerance, so that errors of different kinds are comparable.
            let used = error / tolerance;
            if used > self.worst.0 {
                self.worst = (
                    used,
                    format!("{} {what}: {error:e} of {tolerance:e}", name()),
                );
            }
            if error.is_nan() || error > tolerance {
                failed += &format!(" {what}: {error:e} > {tolerance:e};");
            }
        }
        if !failed.is_empty() {
            self.failures.push(format!("{}:{failed}", name()));
        }
    }

    /// Reports the family, and fails the test if a case failed.
    pub(crate) fn finish(self) {
        let failed = self.failures.len();
        println!(
            "{}: {} cases, {failed} failed, worst {}",
            self.name, self.cases, self.worst.1
        );
        if let Some(path) = std::env::var_os("TARRAGON_REPORT") {
            self.report(Path::new(&path));
        }
        let shown: Vec<&str> = self.failures.iter().take(20).map(String::as_str).collect();
        assert!(
            failed == 0,
            "{failed} of {} cases failed:\n{}",
            self.cases,
            shown.join("\n")
        );
    }

    /// Replaces this family's entry in the report. Families may run in separate threads or
    /// processes, so the file is read, merged and replaced under a lock.
    fn report(&self, path: &Path) {
        let path = &Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let lock = File::create(beside(".lock")).expect("the report can be written");
        lock.lock().expect("the report can be locked");
        let mut all: Map<String, Value> = std::fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let entry = json!({
            "cases": self.cases,
            "passed": self.cases - self.failures.len(),
            "failed": self.failures.len(),
            "worst": self.worst.1,
            "worst_fraction_of_tolerance": self.worst.0,
        });
        all.insert(self.name.to_owned(), entry);
        let text = serde_json::to_vec_pretty(&all).expect("a map of numbers and strings");
        // Written to a new file first, so that a killed test run never leaves half a report.
        std::fs::write(beside(".new"), text).expect("the report can be written");
        std::fs::rename(beside(".new"), path).expect("the report can be replaced");
    }
}

#[test]
fn nan_and_excess_never_pass() {
    let mut family = Family::new("self-test");
    family.case(String::new, &[("nan", f64::NAN, 1.0)]);
    family.case(String::new, &[("excess", 2.0, 1.0)]);
    family.case(String::new, &[("exact", 0.0, 0.0)]);
    assert_eq!((family.cases, family.failures.len()), (3, 2));
    assert!(difference(&[f64::NAN, 1.0], &[0.0, 0.0]).is_nan());
    assert!(difference(&[1.0, f64::NAN, 1.0], &[0.0, 0.0, 0.0]).is_nan());
}
