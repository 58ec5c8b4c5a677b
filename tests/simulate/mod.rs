//! `tarragon simulate`, run as by a user.

mod arguments;
mod loading;
mod motion;
mod options;
mod plot;
mod scenarios;
mod session;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/models")
        .join(name)
}

/// The command without a browser.
fn simulate(model: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("simulate").arg(model).arg("--no-browser");
    command.args(options).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A log: columns by name.
struct Log {
    header: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Log {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let header: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
        let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
        let rows: Vec<Vec<f64>> = lines.map(row).collect();
        assert!(rows.iter().all(|row| row.len() == header.len()));
        Self { header, rows }
    }
    fn column(&self, name: &str) -> Vec<f64> {
        let i = self.header.iter().position(|n| n == name);
        let i = i.unwrap_or_else(|| panic!("no column '{name}' in {:?}", self.header));
        self.rows.iter().map(|row| row[i]).collect()
    }
    fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }
}

/// Runs a simulation without a browser and returns its log.
fn log_of(model: &Path, options: &[&str]) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let output = simulate(model, options).arg("--log").arg(&log).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", said(&output));
    Log::read(&log)
}
