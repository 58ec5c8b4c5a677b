//! Deformable bodies: recorded scenes, forces and errors as lines of `tarragon query`.

use crate::support::{Family, difference, find, load, number, read_json};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Answers lines by the command, in the folder of the meshes.
fn ask(folder: &Path, lines: &[Value]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tarragon"));
    command.arg("query").current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // Writes on another thread: with full pipes, both sides would wait for each other.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), lines.len());
    answers
}

/// The folder that the names of meshes are relative to.
fn meshes() -> Option<std::path::PathBuf> {
    let hull = find("hydro/meshes/hull.vtk")?;
    Some(hull.parent()?.parent()?.to_path_buf())
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        one => vec![number(one)],
    }
}

/// Part of the movement by which recorded and computed positions may differ.
fn part_of_movement(name: &str, kind: &str) -> f64 {
    match kind {
        "exact" => 0.0,
        "linear" => 1e-6,
        // Drake's Newton iteration stops early.
        "newton" => 2e-2,
        _ => match name {
            // Sides are parallel to the gradient of the pressure. Rounding, and the position of the
            // rigid body, which Drake adds to the gradient, decide whether Drake counts them: if
            // the scene is moved by half a metre, its results change by 10 %.
            "body falls on a capsule and a cylinder" => 0.08,
            // In tetrahedra with all vertices on the boundary, rounding decides where Drake has
            // contact: moving a body by 1e-9 m changes the area by 5 %.
            "two bodies stacked" => 0.4,
            "two balls stacked" | "two balls collide" => 1e-6,
            _ => 5e-2,
        },
    }
}

#[test]
fn scenes_move_as_in_drake() {
    let (Some(truth), Some(folder)) = (load("deformable/scenes.json.gz"), meshes()) else {
        return;
    };
    compare_scenes("deformable scenes", &truth, &folder);
}

#[test]
fn two_balls_touch_as_in_drake() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/deformable");
    let truth = read_json(&folder.join("two_bodies.json.gz"));
    compare_scenes("two deformable bodies", &truth, &folder);
}

/// A scene that is moved as a whole moves alike, although some of its faces are parallel to the
/// gradient of the pressure, for which Drake lets rounding decide.
#[test]
fn scenes_with_contact_move_alike_elsewhere() {
    let (Some(truth), Some(folder)) = (load("deformable/scenes.json.gz"), meshes()) else {
        return;
    };
    let distance = 2.0;
    let scenes = truth["scenes"].as_array().expect("an array of scenes");
    let scenes = scenes.iter().filter(|s| s["kind"] == "contact");
    let scenes: Vec<&Value> = scenes.map(|s| &s["scene"]).collect();
    let line = |scene: &&Value, by: f64| {
        let mut scene = (*scene).clone();
        let shift = |pose: &mut Value| pose[4] = json!(number(&pose[4]) + by);
        for list in ["bodies", "rigid"] {
            for body in scene[list].as_array_mut().into_iter().flatten() {
                shift(&mut body["pose"]);
                if let Some(fixed) = body.get_mut("fixed_to_world") {
                    shift(&mut fixed["pose"]);
                }
            }
        }
        json!({"deformable": scene})
    };
    let both = [0.0, distance].map(|by| {
        let lines: Vec<Value> = scenes.iter().map(|scene| line(scene, by)).collect();
        ask(&folder, &lines)
    });
    let mut family = Family::new("deformable scenes elsewhere");
    for (scene, (here, there)) in scenes.iter().zip(both[0].iter().zip(&both[1])) {
        let mut errors = vec![];
        let states = |answer: &Value| answer["deformable"].as_array().cloned().unwrap_or_default();
        for (here, there) in states(here).iter().zip(&states(there)) {
            for (name, body) in here["bodies"].as_object().expect("bodies by name") {
                let mut q = flat(&body["positions"]);
                q.iter_mut().step_by(3).for_each(|x| *x += distance);
                let error = difference(&q, &flat(&there["bodies"][name]["positions"]));
                // Rounding of 2 m, which a chaotic motion enlarges.
                errors.push(("positions (m)", error, 1e-9));
            }
        }
        let count = f64::from(u8::from(errors.is_empty()));
        errors.push(("answers", count, 0.0));
        family.case(
            || format!("{}: {}", scene["bodies"], there["error"]),
            &errors,
        );
    }
    family.finish();
}

fn compare_scenes(family: &'static str, truth: &Value, folder: &Path) {
    let scenes = truth["scenes"].as_array().expect("an array of scenes");
    let line = |entry: &Value| {
        let mut scene = entry["scene"].clone();
        // Movements are measured from the start.
        let steps = scene["steps"].as_array_mut().expect("an array of steps");
        steps.insert(0, json!(0));
        json!({"deformable": scene})
    };
    let lines: Vec<Value> = scenes.iter().map(line).collect();
    let mut family = Family::new(family);
    for (scene, answer) in scenes.iter().zip(ask(folder, &lines)) {
        let name = scene["name"].as_str().expect("a name");
        let kind = scene["kind"].as_str().expect("a kind");
        let part = part_of_movement(name, kind);
        let recorded = scene["states"].as_array().expect("states");
        let found = answer["deformable"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let Some((start, found)) = found.split_first() else {
            family.case(
                || format!("{name}: {}", answer["error"]),
                &[("refused", 1.0, 0.0)],
            );
            continue;
        };
        let missing = recorded.len().abs_diff(found.len());
        let mut errors = vec![("states", missing as f64, 0.0)];
        for (recorded, found) in recorded.iter().zip(found) {
            let same_step = recorded["step"] == found["step"];
            errors.push(("step", f64::from(u8::from(!same_step)), 0.0));
            let all = recorded["bodies"].as_object().expect("bodies by name");
            for (body, state) in all {
                let of = |state: &Value| flat(&state["positions"]);
                let (q, mine) = (of(state), of(&found["bodies"][body]));
                let start = of(&start["bodies"][body]);
                let movement = difference(&start, &q);
                // Up to the rounding of the recorded digits, or to what Drake leaves of a residual.
                let least = match kind {
                    "newton" => 1e-5,
                    "contact" => 1e-8,
                    _ => 1e-9,
                };
                let allowed = f64::max(least, part * movement);
                errors.push(("positions", difference(&mine, &q), allowed));
            }
            if let Some(rigid) = recorded["rigid"].as_object() {
                for (body, pose) in rigid {
                    let error = difference(&flat(pose), &flat(&found["rigid"][body]));
                    // Of a fall by less than a tenth of a metre.
                    errors.push(("rigid pose", error, 5e-3));
                }
            }
            for contact in recorded["contacts"]
                .as_array()
                .map_or(&[][..], Vec::as_slice)
            {
                if part > 1e-6 {
                    continue;
                }
                let is_same = |c: &&Value| c["a"] == contact["a"] && c["b"] == contact["b"];
                let all = found["contacts"].as_array().expect("contacts");
                let Some(mine) = all.iter().find(is_same) else {
                    errors.push(("contact", f64::INFINITY, 0.0));
                    continue;
                };
                let faces = number(&contact["faces"]) - number(&mine["faces"]);
                errors.push(("faces", faces.abs(), 0.0));
                let area = number(&contact["area"]) / number(&mine["area"]) - 1.0;
                errors.push(("area", area.abs(), 1e-6));
                let of = |c: &Value| flat(&c["force_on_a"]);
                // Drake's convex solver stops at about 1e-5 of the largest force.
                errors.push(("force (N)", difference(&of(contact), &of(mine)), 1e-4));
            }
            if part <= 5e-2 {
                let names = |state: &Value| {
                    let list = state["contacts"].as_array().cloned().unwrap_or_default();
                    list.iter()
                        .map(|c| (c["a"].clone(), c["b"].clone()))
                        .collect::<Vec<_>>()
                };
                let differ = names(recorded) != names(found);
                errors.push(("contacts", f64::from(u8::from(differ)), 0.0));
            }
        }
        family.case(|| format!("{name}: {}", answer["error"]), &errors);
    }
    family.finish();
}

/// A beam that has come to rest is bent by its weight as in Drake.
#[test]
fn beams_bend_as_in_drake() {
    let (Some(truth), Some(folder)) = (load("deformable/closed.json.gz"), meshes()) else {
        return;
    };
    let all = truth["closed"].as_array().expect("an array of cases");
    let cases: Vec<&Value> = all.iter().filter(|c| c["name"] == "cantilever").collect();
    assert!(!cases.is_empty());
    let line = |case: &&Value| json!({"deformable": case["scene"]});
    let lines: Vec<Value> = cases.iter().map(line).collect();
    let mut family = Family::new("deformable beams at rest");
    for (case, answer) in cases.iter().zip(ask(&folder, &lines)) {
        let end = &answer["deformable"][0]["bodies"]["body"]["positions"];
        let found = if end.is_array() { flat(end) } else { vec![] };
        let recorded = flat(&case["positions"]);
        let mut errors = vec![("vertices", found.len().abs_diff(recorded.len()) as f64, 0.0)];
        if found.len() == recorded.len() {
            // How far Drake's beam would move in a second.
            let allowed = number(&case["steady_speed"]);
            let error = difference(&found, &recorded);
            errors.push(("positions", error, allowed));
        }
        family.case(|| format!("{}: {}", case["name"], answer["error"]), &errors);
    }
    family.finish();
}

#[test]
fn elastic_forces_match_formulas() {
    let (Some(truth), Some(folder)) = (load("deformable/forces.json.gz"), meshes()) else {
        return;
    };
    let cases = truth["forces"].as_array().expect("an array of forces");
    let keys = ["shape", "material", "previous_positions", "positions"];
    let line = |case: &Value| {
        let fields = keys.map(|key| (key.to_string(), case[key].clone()));
        json!({"deformable_forces": Value::Object(fields.into_iter().collect())})
    };
    let lines: Vec<Value> = cases.iter().map(line).collect();
    let mut family = Family::new("elastic forces");
    for (case, answer) in cases.iter().zip(ask(&folder, &lines)) {
        let found = &answer["deformable_forces"];
        let force = flat(&case["force"]);
        let largest = force.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let relative = |key: &str| (number(&found[key]) / number(&case[key]) - 1.0).abs();
        let errors = if answer["error"].is_null() {
            vec![
                ("energy", relative("energy"), 1e-9),
                (
                    "force",
                    difference(&flat(&found["force"]), &force) / largest,
                    1e-9,
                ),
                ("mass", relative("mass"), 1e-12),
            ]
        } else {
            vec![("refused", 1.0, 0.0)]
        };
        family.case(
            || format!("{}: {}", case["material"], answer["error"]),
            &errors,
        );
    }
    family.finish();
}

/// The requests whose outcome is recorded, by name.
fn requests() -> Vec<(&'static str, Value)> {
    let hull = || json!({"type": "Mesh", "file": "meshes/hull.vtk"});
    let ball = || json!({"type": "Sphere", "radius": 0.1});
    let body = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({"name": "b", "shape": hull(), "resolution_hint": 0.05,
            "pose": [1, 0, 0, 0, 0, 0, 0],
            "material": {"youngs_modulus": 1e5, "poissons_ratio": 0.3, "mass_density": 1000}});
        change(&mut body);
        body
    };
    let scene = |bodies: Vec<Value>| json!({"deformable": {"time_step": 0.01, "steps": [1], "bodies": bodies}});
    let with = |key: &'static str, value: Value| scene(vec![body(&|b| b[key] = value.clone())]);
    let material =
        |key: &'static str, value: f64| scene(vec![body(&|b| b["material"][key] = value.into())]);
    let wall = |p: [f64; 3], n: [f64; 3]| with("walls", json!([[p, n]]));
    let far =
        json!({"shape": {"type": "Box", "size": [0.1, 0.1, 0.1]}, "pose": [1, 0, 0, 0, 9, 0, 0]});
    let mut continuous = scene(vec![body(&|_| {})]);
    continuous["deformable"]["time_step"] = 0.into();
    let mut on_half_space = scene(vec![body(&|_| {})]);
    on_half_space["deformable"]["rigid"] = json!([{"name": "ground", "shape": {"type": "HalfSpace"},
        "pose": [1, 0, 0, 0, 0, 0, 0], "hydro": {"modulus": 1e7}}]);
    let mut hint_zero = with("shape", ball());
    hint_zero["deformable"]["bodies"][0]["resolution_hint"] = 0.into();
    vec![
        ("sphere", with("shape", ball())),
        (
            "box is no deformable shape",
            with("shape", json!({"type": "Box", "size": [0.1, 0.1, 0.1]})),
        ),
        (
            "convex vtk is none",
            with(
                "shape",
                json!({"type": "Convex", "file": "meshes/hull.vtk"}),
            ),
        ),
        (
            "obj mesh is none",
            with("shape", json!({"type": "Mesh", "file": "meshes/hull.obj"})),
        ),
        (
            "plate without interior vertices is fine",
            with("shape", json!({"type": "Mesh", "file": "meshes/plate.vtk"})),
        ),
        ("hint zero", hint_zero),
        ("modulus zero", material("youngs_modulus", 0.0)),
        ("poisson one half", material("poissons_ratio", 0.5)),
        ("poisson minus one", material("poissons_ratio", -1.0)),
        ("density zero", material("mass_density", 0.0)),
        (
            "negative stiffness damping",
            material("stiffness_damping", -1.0),
        ),
        ("negative mass damping", material("mass_damping", -1.0)),
        (
            "wall that holds nothing",
            wall([-9.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ),
        ("wall with zero normal", wall([0.0; 3], [0.0; 3])),
        (
            "fixed constraint that holds nothing",
            with("fixed_to_world", far),
        ),
        ("continuous plant", continuous),
        ("same name twice", scene(vec![body(&|_| {}), body(&|_| {})])),
        (
            "positions of the wrong size",
            with("initial_positions", json!([1, 2, 3])),
        ),
        (
            "positions that are not finite",
            with("initial_positions", json!(vec!["nan"; 192])),
        ),
        ("half space as rigid partner is ignored", on_half_space),
    ]
}

#[test]
fn errors_match_drake() {
    let (Some(truth), Some(folder)) = (load("deformable/errors.json.gz"), meshes()) else {
        return;
    };
    let recorded = truth["errors"].as_array().expect("an array of errors");
    let requests = requests();
    assert_eq!(
        requests.len(),
        recorded.len(),
        "every recorded error has a request"
    );
    let lines: Vec<Value> = requests.iter().map(|(_, line)| line.clone()).collect();
    let mut family = Family::new("errors of deformable bodies");
    for ((name, _), answer) in requests.iter().zip(ask(&folder, &lines)) {
        let expected = recorded.iter().find(|e| e["name"] == *name);
        let expected = expected.expect("a recorded outcome")["ok"] == true;
        let error = answer["error"].as_str();
        let agrees = error.is_none() == expected;
        let names_place =
            error.is_none_or(|e| e.starts_with("line ") && e.contains(": deformable."));
        family.case(
            || format!("{name}: {error:?}"),
            &[
                ("outcome", f64::from(u8::from(!agrees)), 0.0),
                ("place", f64::from(u8::from(!names_place)), 0.0),
            ],
        );
    }
    family.finish();
}
