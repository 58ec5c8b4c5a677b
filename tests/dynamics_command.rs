//! `tarragon dynamics`: defaults of a case, and answers to lines that are no cases.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Answers some lines; returns the answers and standard error.
fn dynamics(lines: &str) -> (Vec<Value>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .args(["dynamics", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (answers.collect(), String::from_utf8(output.stderr).unwrap())
}

const MODEL: &str = r#"<mujoco model='m'><default><joint damping='5'/><default class='w'/></default><worldbody><body childclass='w'><joint type='slide' ref='0.5'/><geom size='.1' mass='1'/></body></worldbody></mujoco>"#;

/// The default positions at rest, steps of 1 ms, Drake's reading unless the case says otherwise.
#[test]
fn time_step_state_and_reading_have_defaults() {
    let case = |others: &str| {
        format!(
            r#"{{"id": "a", "kind": "trajectory", "build": [{{"mjcf": "{MODEL}"}}], "record": {{"steps": 1, "every": 1}}{others}}}"#
        )
    };
    let lines = [case(""), case(r#", "mjcf_semantics": "mujoco""#)].join("\n");
    let (answers, _) = dynamics(&lines);
    let state = |answer: &Value, row: usize| -> Vec<f64> {
        let row = answer["result"]["x"][row].as_array();
        let row = row.unwrap_or_else(|| panic!("{answer}"));
        row.iter().map(|x| x.as_f64().unwrap()).collect()
    };
    for answer in &answers {
        assert_eq!(state(answer, 0), [0.5, 0.0]);
    }
    // Velocities first, with damping in the step; Drake's reading loses the damping.
    let (dt, g) = (0.001, 9.81);
    let drake = state(&answers[0], 1)[1];
    let mujoco = state(&answers[1], 1)[1];
    assert!((drake + g * dt).abs() < 1e-12, "{drake}");
    assert!(
        (mujoco + g * dt / (1.0 + 5.0 * dt)).abs() < 1e-12,
        "{mujoco}"
    );
}

/// The option that other commands have is a field of the case.
#[test]
fn model_without_a_name_names_the_field_that_helps() {
    let model = "<mujoco><worldbody/></mujoco>";
    let case = |others: &str| {
        format!(r#"{{"id": 1, "kind": "forward", "build": [{{"mjcf": "{model}"}}]{others}}}"#)
    };
    let lines = [case(""), case(r#", "mjcf_semantics": "mujoco""#)].join("\n");
    let (answers, _) = dynamics(&lines);
    let error = answers[0]["error"].as_str().unwrap();
    assert!(error.contains(r#""mjcf_semantics": "mujoco""#), "{error}");
    assert!(!error.contains("--mjcf-semantics"), "{error}");
    assert!(answers[1].get("error").is_none(), "{}", answers[1]);
}

#[test]
fn ids_may_be_numbers() {
    let case = format!(
        r#"{{"id": 7, "kind": "trajectory", "build": [{{"mjcf": "{MODEL}"}}], "record": {{"steps": 1, "every": 1}}}}"#
    );
    let lines = format!("{case}\n{{\"id\": 7.5, \"kind\": \"fly\"}}\n{{\"id\": []}}\n");
    let (answers, _) = dynamics(&lines);
    assert!(
        answers[0]["id"] == 7 && answers[0]["error"].is_null(),
        "{answers:?}"
    );
    assert!(
        answers[1]["id"] == 7.5 && answers[1]["error"].is_string(),
        "{answers:?}"
    );
    let error = answers[2]["error"].as_str().unwrap();
    assert!(error.contains("a string or a number"), "{error}");
}

#[test]
fn errors_have_the_id_of_the_line() {
    let (answers, _) = dynamics("{\"id\": \"b\", \"kind\": \"fly\", \"build\": []}\nno json\n");
    assert_eq!(answers[0]["id"], "b");
    assert!(
        answers[0]["error"]
            .as_str()
            .unwrap()
            .starts_with("line 1: ")
    );
    assert_eq!(answers[1]["id"], Value::Null);
}

#[test]
fn ignored_hydroelastic_properties_are_a_warning() {
    let urdf = "<robot name='m' xmlns:drake='http://drake.mit.edu'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='1'/></geometry><drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='1e5'/><drake:mesh_resolution_hint value='.5'/></drake:proximity_properties></collision></link></robot>";
    let case = |plant: &str| {
        format!(
            r#"{{"id": "c", "kind": "trajectory", "plant": {plant}, "scene_graph": {{}}, "build": [{{"urdf": "{urdf}"}}], "record": {{"steps": 1, "every": 1}}}}"#
        )
    };
    let (answers, said) = dynamics(&case("{}"));
    assert!(answers[0]["result"].is_object(), "{answers:?}");
    assert!(
        said.contains("line 1, case 'c': the hydroelastic properties"),
        "{said}"
    );
    let (_, said) = dynamics(&case(r#"{"contact_model": "hydroelastic_with_fallback"}"#));
    assert_eq!(said, "");
    let (_, said) = dynamics(&format!("{}\n", case("{}")).repeat(5));
    assert_eq!(said.lines().count(), 4, "{said}");
    assert!(said.contains("(5 alike; --verbose lists all)"), "{said}");
}
