//! Arguments that are wrong, and Ctrl-C.

use super::{Log, model, said, simulate};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn bad_arguments_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (ball, drop) = (model("table_top/ball.urdf"), model("scenes/drop.yaml"));
    for (model, options, expected) in [
        (&ball, &[][..], "--no-browser must come with --until"),
        (
            &ball,
            &["--until", "-1"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "NaN"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "1", "--realtime-rate", "-1"],
            "must be a finite number of at least 0",
        ),
        (
            &ball,
            &["--until", "1", "--time-step", "-1"],
            "must be a finite number of at least 0",
        ),
        (
            &ball,
            &["--until", "1", "--rate", "0"],
            "must be a positive finite number",
        ),
        (
            &ball,
            &["--until", "1", "--port", "7001"],
            "cannot be used with",
        ),
        (
            &ball,
            &["--until", "1", "--plot", "p.png"],
            "--plot: the suffix must be .svg, got 'p.png'",
        ),
        (
            &ball,
            &["--until", "1", "--plot", "no/such/folder/p.svg"],
            "error: cannot write 'no/such/folder/p.svg': No such file or directory (os error 2); \
             create its directory first\n",
        ),
        (
            &ball,
            &["--until", "1", "--scenario-name", "x"],
            "--scenario-name must come with a scenario (.yaml), got the model",
        ),
        (
            &drop,
            &["--until", "1", "--scenario-name", "x"],
            "the file must hold scenarios by name, got one scenario; leave out --scenario-name",
        ),
        (
            &ball,
            &["--until", "1", "--images", "x"],
            "--images must come with a scenario",
        ),
        (
            &drop,
            &["--weld"],
            "--weld must come with a model, got the scenario",
        ),
        (
            &drop,
            &["--no-ground"],
            "--no-ground must come with a model",
        ),
        (
            &model("bad/malformed_xml.urdf"),
            &["--until", "1"],
            "nothing was loaded",
        ),
        (&model("no/such.urdf"), &["--until", "1"], "no/such.urdf"),
        (&model("no/such.yaml"), &["--until", "1"], "no/such.yaml"),
    ] {
        let mut command = simulate(model, options);
        command.arg("--log").arg(folder.path().join("log.csv"));
        let output = command.output().unwrap();
        let said = said(&output);
        assert!(!output.status.success(), "{options:?}");
        assert!(said.contains(expected), "{options:?}: {said}");
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(
            left, 0,
            "a simulation that fails leaves no file: {options:?}"
        );
    }
    let nowhere = folder.path().join("no/such/folder/log.csv");
    let mut command = simulate(&ball, &["--until", "1"]);
    let output = command.arg("--log").arg(&nowhere).output().unwrap();
    assert!(said(&output).contains("cannot write"), "{}", said(&output));
}

/// Ctrl-C sends SIGINT.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_simulation_and_keeps_its_log() {
    let rows = rows_after_ctrl_c(&["--until", "1000", "--realtime-rate", "1"]);
    assert!((1..10_000).contains(&rows), "{rows} rows");
    // The first advance alone has 1.5e7 steps.
    let rows = rows_after_ctrl_c(&["--until", "1", "--time-step", "1e-9"]);
    assert_eq!(rows, 1);
}

/// Returns the rows of the log of a simulation that Ctrl-C ends.
#[cfg(unix)]
fn rows_after_ctrl_c(options: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let mut command = simulate(&model("table_top/ball.urdf"), options);
    let child = command.arg("--log").arg(&log).spawn().unwrap();
    let begin = Instant::now();
    // A temporary file appears shortly before the program listens for Ctrl-C.
    while std::fs::read_dir(&folder).unwrap().next().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never begins");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.starts_with("interrupted at "), "{said}");
    Log::read(&log).rows.len()
}
