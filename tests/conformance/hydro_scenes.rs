//! Contact surfaces of whole scenes, with derivatives, of exact shapes and of wrong properties, as
//! `tarragon query` answers them.

use crate::support::{Family, difference, find, load, number};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// Answers scenes whose mesh files are relative to the recordings.
fn ask(scenes: &[Value]) -> Vec<Value> {
    let folder = find("hydro/scenes.json.gz").expect("the scenes were read from there");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tarragon"))
        .args(["query", "-"])
        .current_dir(folder.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = scenes.iter().map(|scene| format!("{scene}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    // Writes on another thread: with full pipes, both sides would wait for each other.
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(answers.len(), scenes.len());
    answers
}

/// Returns the request for the contact surfaces of a case.
fn request(case: &Value, fields: &Value) -> Value {
    let mut request = json!({"geometries": case["geometries"], "queries": ["contact_surfaces"]});
    if !case["defaults"].is_null() {
        request["defaults"] = case["defaults"].clone();
    }
    for (key, value) in fields.as_object().unwrap() {
        request[key] = value.clone();
    }
    request
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        one => vec![number(one)],
    }
}

/// The pair of a surface or of a penetration, in either order.
fn pair(answer: &Value) -> [String; 2] {
    let mut pair = ["a", "b"].map(|key| answer[key].as_str().unwrap().to_owned());
    pair.sort();
    pair
}

/// Scenes have Drake's contact surfaces and, with fallback, its pairs of penetration; defaults
/// arrive.
#[test]
fn scenes_match_drake() {
    let Some(truth) = load("hydro/scenes.json.gz") else {
        return;
    };
    let cases = list(&truth["scenes"]);
    let mut family = Family::new("hydroelastic scenes");
    for (key, fallback) in [("plain", false), ("fallback", true)] {
        let scenes = cases
            .iter()
            .map(|case| request(case, &json!({"fallback": fallback})));
        let answers = ask(&scenes.collect::<Vec<_>>());
        for (i, (case, answer)) in cases.iter().zip(&answers).enumerate() {
            let (expected, mut errors) = (&case[key], vec![]);
            let mut same = |what, same: bool| errors.push((what, f64::from(!same), 0.5));
            same(
                "error",
                expected["error"].is_null() == answer["error"].is_null(),
            );
            let (found, surfaces) = (&answer["contact_surfaces"], &expected["contact_surfaces"]);
            if !expected["error"].is_null() {
                same("no surfaces", list(found).is_empty());
                family.case(|| format!("{key} {i}"), &errors);
                continue;
            }
            let pairs = |all: &Value| list(all).iter().map(pair).collect::<Vec<_>>();
            // Drake's surfaces in tetrahedra with all corners on the boundary have no force.
            let has_force = |s: &&Value| flat(&s["force"]).iter().any(|x| x.abs() > 1e-9);
            let ours = pairs(found);
            let is_kept = |s: &&Value| has_force(s) || ours.contains(&pair(s));
            let surfaces: Vec<&Value> = list(surfaces).iter().filter(is_kept).collect();
            same(
                "pairs",
                ours == surfaces.iter().map(|s| pair(s)).collect::<Vec<_>>(),
            );
            let sorted = |all: &Value| {
                let mut pairs = pairs(all);
                pairs.sort();
                pairs
            };
            let (ours, theirs) = (&answer["penetration"], &expected["penetration"]);
            same("penetration", sorted(ours) == sorted(theirs));
            for (found, expected) in list(found).iter().zip(surfaces) {
                let (force, expected_force) = (flat(&found["force"]), flat(&expected["force"]));
                // The sum of forces that cancel is as exact as they are.
                let size = number(&expected["area"]) * number(&expected["max_pressure"]);
                let error = difference(&force, &expected_force) / size.max(1e-3);
                errors.push(("force", error, 1e-8));
            }
            family.case(|| format!("{key} {i}"), &errors);
        }
    }
    family.finish();
}

/// Derivatives of sums over surfaces are Drake's, and those of the force match differences also
/// where rounding decides in Drake.
#[test]
fn derivatives_match_drake_and_differences() {
    let Some(truth) = load("hydro/autodiff.json.gz") else {
        return;
    };
    let cases = list(&truth["autodiff"]);
    let scenes = cases
        .iter()
        .map(|case| request(case, &json!({"scalar": "autodiff"})));
    let answers = ask(&scenes.collect::<Vec<_>>());
    let mut family = Family::new("derivatives of contact surfaces");
    for (i, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        let found = &answer["contact_surfaces"][0];
        // All corners of some tetrahedra of this file are on the boundary. They count in Drake's
        // area, in contact with another compliant geometry where rounding decides.
        let geometries = list(&case["geometries"]);
        let is_rigid = |g: &Value| g["hydro"]["compliance"] == "rigid";
        let has_flat = geometries
            .iter()
            .any(|g| g["shape"]["type"] == "Mesh" && g["shape"]["file"] == "meshes/bent.vtk");
        let mut errors = vec![];
        let derivatives = |value: &Value| match value {
            Value::Array(items) => items.iter().flat_map(|item| flat(&item["d"])).collect(),
            one => flat(&one["d"]),
        };
        let differences = list(&case["fd_force_area"]);
        if has_flat && found.is_null() {
            let force = differences.iter().flat_map(|row| flat(row)[..3].to_vec());
            let largest = force.fold(0.0_f64, |m, x| m.max(x.abs()));
            family.case(|| format!("{i}"), &[("force", largest, 1e-9)]);
            continue;
        }
        for key in ["area", "centroid", "force", "torque", "pressure_integral"] {
            let expected: Vec<f64> = derivatives(&case["polygon"][key]);
            let unit = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let error = difference(&derivatives(&found[key]), &expected) / unit;
            let is_of_area = ["area", "centroid"].contains(&key);
            if !has_flat || geometries.iter().any(is_rigid) && !is_of_area {
                errors.push((key, error, 1e-8));
            }
        }
        // By variable: the force and the area.
        let force = derivatives(&found["force"]);
        for k in 0..3 {
            let expected: Vec<f64> = differences.iter().map(|row| number(&row[k])).collect();
            let unit = differences.iter().flat_map(|row| flat(row)[..3].to_vec());
            let unit = unit.fold(0.0_f64, |m, x| m.max(x.abs()));
            let error = difference(&force[6 * k..][..6], &expected) / unit.max(1.0);
            errors.push(("differences", error, 1e-6));
        }
        family.case(|| format!("{i}"), &errors);
    }
    family.finish();
}

/// Wrong properties and pairs are refused where Drake refuses them.
#[test]
fn errors_match_drake() {
    let Some(truth) = load("hydro/errors.json.gz") else {
        return;
    };
    let cases = list(&truth["errors"]);
    let mut family = Family::new("hydroelastic errors");
    for (key, fallback) in [("result", false), ("fallback", true)] {
        let scenes = cases
            .iter()
            .map(|case| request(case, &json!({"fallback": fallback})));
        let answers = ask(&scenes.collect::<Vec<_>>());
        for (case, answer) in cases.iter().zip(&answers) {
            let expected = &case[key];
            let is_refused = case["stage"] != "accepted" || expected.get("error").is_some();
            let mut same = is_refused != answer["error"].is_null();
            for (ours, theirs) in [
                ("contact_surfaces", "surfaces"),
                ("penetration", "point_pairs"),
            ] {
                if let Some(count) = expected.get(theirs).and_then(Value::as_u64) {
                    same &= list(&answer[ours]).len() as u64 == count;
                }
            }
            let name = || format!("{} {key}: {}", case["name"], answer["error"]);
            family.case(name, &[("refused", f64::from(!same), 0.5)]);
        }
    }
    family.finish();
}

/// Forces equal those of Drake's meshes at every hint; they are exact where the tessellation is,
/// and their error falls with the square of the hint elsewhere.
#[test]
fn closed_forms_are_approached_as_in_drake() {
    let Some(truth) = load("hydro/closed.json.gz") else {
        return;
    };
    let mut family = Family::new("closed forms of hydroelastic contact");
    for case in list(&truth["closed"]) {
        let scenes = list(&case["drake"]).iter().map(|run| {
            let mut scene = request(case, &json!({}));
            for geometry in scene["geometries"].as_array_mut().unwrap() {
                let kind = geometry["shape"]["type"].as_str().unwrap();
                let is_tessellated = ["Sphere", "Ellipsoid", "Cylinder", "Capsule"].contains(&kind);
                if is_tessellated && !run[0].is_null() {
                    geometry["hydro"]["resolution_hint"] = run[0].clone();
                }
            }
            scene
        });
        let answers = ask(&scenes.collect::<Vec<_>>());
        let exact = number(&case["force_up"]);
        let mut errors = vec![];
        let mut relative = vec![];
        for (run, answer) in list(&case["drake"]).iter().zip(&answers) {
            let surface = &answer["contact_surfaces"][0];
            let force = if surface.is_null() {
                0.0
            } else {
                number(&surface["force"][2])
            };
            let expected = if run[1].is_null() {
                0.0
            } else {
                number(&run[1])
            };
            errors.push((
                "force",
                (force.abs() - expected.abs()).abs() / exact.abs(),
                1e-10,
            ));
            relative.push(((force.abs() - exact.abs()) / exact).abs());
            if case["exact_mesh"] == true {
                errors.push(("exact", relative[relative.len() - 1], 1e-10));
            }
        }
        if let ([first, .., last], false) = (&*relative, case["exact_mesh"] == true) {
            // From the coarsest to the finest hint, a tenth of it.
            errors.push(("convergence", last / first.max(1e-12), 0.3));
        }
        family.case(|| case["name"].to_string(), &errors);
    }
    family.finish();
}
