//! The same files, read by pydrake.

#![allow(clippy::print_stderr, reason = "skipped tests are reported")]

use super::cases::{ABORTS, cases, folder};
use nalgebra::Vector3;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tarragon_fem::MaterialModel;
use tarragon_formats::Parser;
use tarragon_framework::prelude::*;
use tarragon_geometry::{Role, SceneGraph};
use tarragon_multibody::{MultibodyPlantBuilder, add_multibody_plant_scene_graph};

fn vectors(list: &[Vector3<f64>]) -> Vec<f64> {
    list.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
}

/// The same description as that of the Python program, and the messages.
pub(super) fn describe(path: &Path) -> (Value, Vec<String>) {
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01).unwrap(), SceneGraph::new());
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    let result = parser.add_models(path);
    let said: Vec<String> = parser
        .diagnostics()
        .iter()
        .map(ToString::to_string)
        .collect();
    let models = match result {
        Ok(models) => models,
        Err(_) => {
            assert!(
                plant.deformable_bodies().is_empty(),
                "the plant was not rolled back"
            );
            let left = scene.model_inspector().num_geometries();
            assert_eq!(left, 0, "the scene was not rolled back");
            return (json!({"ok": false}), said);
        }
    };
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let inspector = scene.model_inspector();
    let mut bodies = vec![];
    for body in plant.deformable_bodies() {
        let (config, id) = (body.config(), body.geometry_id());
        let get = |role| inspector.properties(id, role).unwrap();
        let contact = get(Role::Proximity).unwrap();
        let friction: &tarragon_geometry::CoulombFriction = contact
            .try_get("material", "coulomb_friction")
            .unwrap()
            .unwrap();
        let number = |name| contact.try_get::<f64>("material", name).unwrap();
        let material = match config.material_model {
            MaterialModel::Linear => "kLinear",
            MaterialModel::LinearCorotated => "kLinearCorotated",
            MaterialModel::Corotated => "kCorotated",
            MaterialModel::NeoHookean => "kNeoHookean",
        };
        let perception = get(Role::Perception);
        let embedded =
            perception.and_then(|p| p.try_get::<String>("deformable", "embedded_mesh").unwrap());
        let name = plant.model_instance_name(body.model_instance()).unwrap();
        bodies.push(json!({
            "name": format!("{name}::{}", body.name()),
            "geometry": inspector.name(id).unwrap(),
            "config": [config.youngs_modulus, config.poissons_ratio, config.mass_density,
                config.mass_damping_coefficient, config.stiffness_damping_coefficient],
            "material": material,
            "friction": [friction.static_friction(), friction.dynamic_friction()],
            "dissipation": number("hunt_crossley_dissipation"),
            "relaxation_time": number("relaxation_time"),
            "illustration": get(Role::Illustration).is_some(),
            "perception": perception.is_some(),
            "embedded": embedded,
            "reference": vectors(body.reference_positions()),
        }));
    }
    let roles = [Role::Proximity, Role::Illustration, Role::Perception];
    let mut answer = json!({
        "ok": true,
        "num_bodies": plant.num_bodies(),
        "candidates": inspector.collision_candidates().len(),
        "roles": roles.map(|role| inspector.num_geometries_with_role(role)),
    });
    let mut frames = vec![];
    for model in models {
        let own = plant.frames().filter(|(_, f)| f.model_instance() == model);
        for (_, frame) in own {
            frames.push(json!([
                frame.name(),
                plant.body(frame.body()).unwrap().name()
            ]));
        }
    }
    answer["frames"] = frames.into();
    let all = plant.deformable_bodies().iter();
    let indices: Vec<_> = all.map(|body| body.index()).collect();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    let context = b.build().unwrap().default_context();
    for (body, index) in bodies.iter_mut().zip(indices) {
        let positions = plant.deformable_positions(&context, index).unwrap();
        body["positions"] = vectors(&positions).into();
    }
    bodies.sort_by_key(|body| body["name"].to_string());
    answer["bodies"] = bodies.into();
    (answer, said)
}

/// Compares with what Drake says; numbers up to rounding.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            // Rounding of a rotation of coordinates of order 1.
            a == b || (a - b).abs() <= 1e-14 * a.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, a)| b.get(k).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}
#[test]
fn files_are_read_as_by_pydrake() {
    let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
        let why = "no pydrake (TARRAGON_PYDRAKE names a Python that has it)";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return;
    };
    let folder = folder();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdf/deformable/peer.py");
    let mut cases = cases();
    cases.retain(|case| case.ours != Some(ABORTS));
    let mut lines = String::new();
    let file = |i: usize| folder.path().join(format!("{i}.sdf"));
    for (i, case) in cases.iter().enumerate() {
        std::fs::write(file(i), &case.text).unwrap();
        lines += &format!("{}\n", file(i).display());
    }
    let mut command = Command::new(python);
    command
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut drake = command.stderr(Stdio::null()).spawn().unwrap();
    drake
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    let output = drake.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = text.lines().collect();
    assert_eq!(answers.len(), cases.len(), "pydrake has failed");
    for (i, (case, answer)) in cases.iter().zip(answers).enumerate() {
        let mut drake: Value = serde_json::from_str(answer).unwrap();
        let (mine, said) = describe(&file(i));
        let shown = format!("{}\n{said:#?}\nDrake: {}", case.text, drake["error"]);
        if let Some(reason) = case.ours {
            assert_ne!(mine["ok"], drake["ok"], "no longer true: {reason}: {shown}");
            continue;
        }
        drake.as_object_mut().unwrap().remove("error");
        assert!(same(&mine, &drake), "{shown}\n{mine:#}\n{drake:#}");
    }
}
