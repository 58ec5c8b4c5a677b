//! `tarragon sweep`, run as by a user.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const ARM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/models/arm7/arm7.urdf"
);

fn sweep(log: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.args(["sweep", ARM, "--log"]).arg(log).args(options);
    command.stderr(Stdio::piped());
    command
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Header and rows of a log.
fn read(log: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(log).unwrap();
    let mut lines = text.lines();
    let header: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
    let row = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    let rows: Vec<Vec<f64>> = lines.map(row).collect();
    assert!(rows.iter().all(|row| row.len() == header.len()));
    (header, rows)
}

#[test]
fn joints_move_through_their_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arm.csv");
    let options = ["--realtime-rate", "0", "--duration", "4", "--period", "4"];
    let output = sweep(&log, &options).output().unwrap();
    assert!(output.status.success(), "{}", message(&output));
    let (header, rows) = read(&log);
    assert_eq!(rows.len(), 401, "0.01 s apart, both ends included");
    assert_eq!(header[0], "time");
    // The quaternion and position of the free base, then seven joints.
    let joint = header.iter().position(|name| name == "joint1").unwrap();
    let column = |i: usize| rows.iter().map(move |row| row[i]);
    let (low, high) = (
        column(joint).fold(f64::INFINITY, f64::min),
        column(joint).fold(f64::NEG_INFINITY, f64::max),
    );
    assert!(high - low > 1.0, "from {low} to {high}");
    let last = header
        .iter()
        .rposition(|name| name.ends_with(".x"))
        .unwrap();
    let moved =
        column(last).fold(f64::NEG_INFINITY, f64::max) - column(last).fold(f64::INFINITY, f64::min);
    assert!(moved > 0.1, "the last body moves by {moved} m along x");
}

#[test]
fn bad_arguments_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arm.csv");
    for (options, expected) in [
        (["--duration", "-1"], "must be a positive finite number"),
        (
            ["--realtime-rate", "-2"],
            "target realtime rate must be positive",
        ),
        (["--rate", "NaN"], "must be a positive finite number"),
        (["--rate", "-1"], "must be a positive finite number"),
        (
            ["--rate", "1e300"],
            "must be at most 1e7 records, got 4.000e300",
        ),
        (
            ["--package", "/nonexist"],
            "--package /nonexist: there is no directory '/nonexist'",
        ),
    ] {
        let output = sweep(&log, &options).output().unwrap();
        assert!(!output.status.success());
        assert!(message(&output).contains(expected), "{}", message(&output));
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 0, "a sweep that fails leaves no file");
    }
    let nowhere = folder.path().join("no/such/folder/arm.csv");
    let output = sweep(&nowhere, &["--realtime-rate", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message(&output).contains("cannot write"),
        "{}",
        message(&output)
    );
}

/// Ctrl-C sends SIGINT.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_sweep_and_keeps_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arm.csv");
    let child = sweep(&log, &["--duration", "1000"]).spawn().unwrap();
    // A temporary file appears once the program listens for Ctrl-C.
    let started = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::fs::read_dir(&folder).unwrap().next().is_some()
    });
    assert!(started, "it started within 10 s");
    // Leaves some time for recording.
    std::thread::sleep(Duration::from_millis(300));
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", message(&output));
    let (_, rows) = read(&log);
    let (said, records) = (message(&output), format!(", {} records", rows.len()));
    assert!(
        said.starts_with("interrupted at ") && said.trim_end().ends_with(&records),
        "{said}{records}"
    );
    // 1000 s would give many thousand records.
    assert!((1..1000).contains(&rows.len()), "{records}");
}

/// Signals that ask a program to end leave the log, and no other file.
#[cfg(unix)]
#[test]
fn a_terminated_sweep_writes_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("arm.csv");
    let mut child = sweep(&log, &["--duration", "1000"]).spawn().unwrap();
    let files = || std::fs::read_dir(&folder).unwrap().count();
    // A temporary file appears once the program listens for signals.
    let begin = std::time::Instant::now();
    while files() == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &id]).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(log.exists() && files() == 1, "{} files", files());
}
