//! `tarragon query`, run as by a user.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which clippy does not recognise outside of test functions"
)]

mod deformable;
mod height_fields;
mod lines;
mod numbers;

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("query").args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the command with this standard input.
fn output(arguments: &[&str], input: &str) -> Output {
    let mut child = command(arguments).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // Writes on another thread: with full pipes, both sides would wait for each other.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // The command may end without reading everything, which is not tested here.
    let _ = writer.join().unwrap();
    output
}

/// Answers scenes, one per line.
fn ask(scenes: &[Value]) -> Vec<Value> {
    let lines: String = scenes.iter().map(|scene| format!("{scene}\n")).collect();
    let output = output(&[], &lines);
    assert!(output.status.success() && output.stderr.is_empty());
    let answers = answers(&output);
    assert_eq!(answers.len(), scenes.len());
    answers
}

fn answers(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn geometry(name: &str, shape: &Value, pose: &[f64]) -> Value {
    json!({"name": name, "shape": shape, "pose": pose})
}

const AT_ORIGIN: [f64; 7] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// A ball of radius 0.125 m at `height` above the floor.
fn ball_above_floor(height: f64) -> Value {
    let pose = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, height];
    json!({"geometries": [
        {"name": "ball", "shape": {"type": "Sphere", "radius": 0.125}, "pose": pose},
        {"name": "floor", "shape": {"type": "HalfSpace"}, "pose": AT_ORIGIN, "anchored": true}]})
}
