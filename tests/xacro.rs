//! `tarragon xacro`, and arguments of xacro files, as used by a user.

use std::path::Path;
use std::process::{Command, Output};

fn vehicle() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = here.join("documents/tests/xacro/files/vehicle.xacro");
    file.display().to_string()
}

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.args(args).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_file_is_printed_as_xml() {
    let output = run(&["xacro", &vehicle(), "count:=3"]);
    let printed = text(output.stdout);
    assert!(output.status.success(), "{}", text(output.stderr));
    assert!(
        printed.starts_with("<?xml version=\"1.0\" ?>\n"),
        "{printed}"
    );
    assert!(printed.contains("<link name=\"right_2\">"), "{printed}");
    let deps = text(run(&["xacro", &vehicle(), "--deps"]).stdout);
    let names: Vec<&str> = deps
        .lines()
        .map(|l| l.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(names, ["vehicle.xacro", "wheel.xacro"]);
}

#[test]
fn models_take_arguments() {
    let output = run(&["inspect", &vehicle(), "--xacro-arg", "count=1"]);
    let printed = text(output.stdout);
    assert!(
        printed.contains("left_0") && !printed.contains("left_1"),
        "{printed}"
    );
    let bad = run(&["inspect", &vehicle(), "--xacro-arg", "count"]);
    let message = text(bad.stderr);
    assert!(message.contains("--xacro-arg must be NAME=VALUE or NAME:=VALUE, got 'count'"));
}

#[test]
fn values_of_arguments_may_hold_the_signs_around_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.xacro");
    let body = "<xacro:arg name=\"a\" default=\"\"/><o v=\"$(arg a)${xacro.message('said')}\"/>";
    let address = "http://www.ros.org/wiki/xacro";
    let root = format!("<robot name=\"r\" xmlns:xacro=\"{address}\">{body}</robot>");
    std::fs::write(&file, root).unwrap();
    let file = file.display().to_string();
    for argument in ["a:=b=c:=d", "a=b=c:=d"] {
        let output = run(&["xacro", &file, argument]);
        assert!(
            text(output.stdout).contains("<o v=\"b=c:=d\"/>"),
            "{argument}"
        );
        assert_eq!(text(output.stderr), "said\n");
    }
    let message = text(run(&["xacro", &file, "a"]).stderr);
    assert!(
        message.contains("an argument of the file must be NAME=VALUE"),
        "{message}"
    );
    let help = text(run(&["xacro", "--help"]).stdout);
    assert!(!help.contains("mjcf"), "{help}");
}

#[test]
fn messages_and_warnings_come_before_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.xacro");
    let body = "${xacro.message('said')}${xacro.warning('warned')}${missing}";
    let address = "http://www.ros.org/wiki/xacro";
    let robot = format!("<robot name='r' xmlns:xacro='{address}'>{body}</robot>");
    std::fs::write(&file, robot).unwrap();
    let output = run(&["xacro", &file.display().to_string()]);
    let error = text(output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    let places =
        ["said", "warning: warned", "name 'missing' is not defined"].map(|t| error.find(t));
    assert!(places.is_sorted() && places[0].is_some(), "{error}");
}

#[test]
fn mistakes_are_errors_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.xacro");
    std::fs::write(
        &file,
        "<robot name=\"r\">\n  <xacro:if value=\"1\"/>\n</robot>",
    )
    .unwrap();
    let output = run(&["xacro", &file.display().to_string()]);
    let message = text(output.stderr);
    assert!(!output.status.success());
    assert!(message.contains("bad.xacro:1:1: error: the prefix 'xacro' must be declared"));
}
