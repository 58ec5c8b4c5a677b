//! Forward dynamics, discrete steps with contact, and gradients: the cases of `dynamics/`, answered
//! by `tarragon dynamics`.

use crate::support::{Family, difference, find, number, read_json};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// All numbers of a value, in order.
fn flat(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Object(fields) => fields.values().flat_map(flat).collect(),
        Value::Null => vec![f64::NAN],
        other => vec![number(other)],
    }
}

fn size(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |most, x| x.abs().max(most))
}

/// The difference relative to the largest expected number, or to 1; NaN where lengths differ.
fn relative(ours: &Value, expected: &Value) -> f64 {
    let (ours, expected) = (flat(ours), flat(expected));
    if ours.len() == expected.len() {
        difference(&ours, &expected) / size(&expected)
    } else {
        f64::NAN
    }
}

fn answers(cases: &[Value], models: &str) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .args(["dynamics", "-", "--models", models])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    // Writes on another thread: with full pipes, both sides would wait for each other.
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let read = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

/// Relative errors of a forward case. Accelerations are less certain, the worse the condition of
/// the mass matrix is.
fn forward<'a>(result: &Value, truth: &'a Value) -> Vec<(&'a str, f64, f64)> {
    let condition = number(&truth["mass_matrix_condition"]);
    let mut errors = vec![];
    for (key, expected) in truth.as_object().unwrap() {
        let ours = &result[key];
        let of_accelerations = matches!(
            &**key,
            "vdot" | "reaction_forces" | "body_spatial_accelerations"
        );
        let singular = condition > 1e15;
        match &**key {
            "mass_matrix_condition" => {}
            _ if of_accelerations && singular => {}
            "contacts" => errors.push((&**key, contact_error(ours, expected, |_| 1e-6), 1.0)),
            "reaction_forces" | "body_spatial_accelerations" => {
                errors.push((&**key, relative(ours, expected), 1e-6));
            }
            // Rounding of the accelerations is amplified by the condition number.
            "vdot" => errors.push((&**key, relative(ours, expected), 1e-9 + 1e-16 * condition)),
            _ => errors.push((&**key, relative(ours, expected), 1e-9)),
        }
    }
    errors
}

/// The largest error of the forces of contacts, as a fraction of a tolerance that depends on the
/// largest force; infinite if the contacts are not the same.
fn contact_error(ours: &Value, expected: &Value, tolerance: impl Fn(f64) -> f64) -> f64 {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let (ours, expected) = (list(ours), list(expected));
    let bodies = |c: &Value| [c[0].clone(), c[1].clone()];
    let same = ours.len() == expected.len()
        && ours
            .iter()
            .zip(&expected)
            .all(|(a, b)| bodies(a) == bodies(b));
    if !same {
        return f64::INFINITY;
    }
    let forces: Vec<f64> = expected.iter().flat_map(|c| flat(&c[2])).collect();
    let most = forces.iter().fold(1e-3_f64, |most, f| most.max(f.abs()));
    let ours: Vec<f64> = ours.iter().flat_map(|c| flat(&c[2])).collect();
    difference(&ours, &forces) / tolerance(most)
}

/// Errors of a trajectory, as fractions of what a disturbance of the start grows to. Drake's solver
/// stops at 1e-6, so it is that far off itself wherever there is contact.
fn trajectory<'a>(case: &Value, result: &Value, truth: &Value) -> Vec<(&'a str, f64, f64)> {
    let contact = case.get("scene_graph").is_some();
    let unit = if contact { 2e-6 } else { 1e-9 };
    let samples = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let (ours, expected) = (samples(&result["x"]), samples(&truth["x"]));
    if ours.len() != expected.len() {
        return vec![("number of samples", f64::NAN, 1.0)];
    }
    let (mut state, mut forces) = (0.0_f64, 0.0_f64);
    for (i, (x, y)) in ours.iter().zip(&expected).enumerate() {
        let growth = &truth["growth"][i];
        let grown = number(&growth[0]).max(number(&growth[1])).max(1.0);
        let (x, y) = (flat(x), flat(y));
        // Where two exact programs may differ by 1 cm, nothing is learnt.
        let tolerance = unit * grown * size(&y);
        if tolerance > 1e-2 {
            continue;
        }
        state = state.max(difference(&x, &y) / tolerance);
        let of_force = &growth[2];
        if contact && !of_force.is_null() {
            let of_force = 2e-6 * number(of_force);
            let dt = number(&case["plant"]["time_step"]).max(1e-4);
            let tolerance = |most: f64| 2e-4 * most + of_force + 1e-7 / dt;
            let (a, b) = (&result["contacts"][i], &truth["contacts"][i]);
            forces = forces.max(contact_error(a, b, tolerance));
        }
    }
    vec![("state", state, 1.0), ("contact forces", forces, 1.0)]
}

#[test]
fn dynamics_agree_with_drake() {
    let Some(file) = find("dynamics/dynamics.json.gz") else {
        return;
    };
    let all = read_json(&file);
    let cases = all["cases"].as_array().unwrap();
    let models = file.parent().unwrap().parent().unwrap().join("models");
    let mut family = Family::new("dynamics");
    let answers = answers(cases, models.to_str().unwrap());
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        let (truth, result) = (&case["truth"], &answer["result"]);
        let name = || case["id"].to_string();
        if let Some(error) = answer.get("error") {
            family.case(
                || format!("{} {error}", case["id"]),
                &[("answer", f64::NAN, 1.0)],
            );
            continue;
        }
        let errors = match case["kind"].as_str().unwrap() {
            "forward" => forward(result, truth),
            "trajectory" => trajectory(case, result, truth),
            _ => {
                // Central differences are wrong by about the second derivative times the step, and
                // Drake's solver is not exact; how much so was recorded.
                let doubt = truth.get("ad_minus_fd").map_or(0.0, number);
                let fd = difference(&flat(&result["ad"]), &flat(&truth["fd"]));
                let scale = size(&flat(&truth["fd"]));
                vec![
                    ("value", relative(&result["value"], &truth["value"]), 1e-7),
                    ("gradient", fd, 2.0 * doubt + 1e-6 * scale),
                ]
            }
        };
        family.case(name, &errors);
    }
    family.finish();
}
