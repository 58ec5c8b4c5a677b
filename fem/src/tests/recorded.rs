//! Comparison with numbers recorded from Drake, in `deformable` of the reference set.

use super::meshes::{Tets, model};
use crate::step::FemStep;
use crate::{DeformableBodyConfig, FemModel, FemStepStart, MaterialModel};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file of the reference set, which `TARRAGON_REFERENCE` names, or else `../shared/reference`;
/// prints a line if there is none.
fn reference(name: &str) -> Option<PathBuf> {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let root = std::env::var_os("TARRAGON_REFERENCE")
        .map_or_else(|| here.join("../shared/reference"), |root| here.join(root));
    let path = root.join(name);
    if !path.is_file() {
        println!("SKIPPED {}: not found", path.display());
        return None;
    }
    Some(path)
}

/// Entries of a part of the recordings; none if it is missing.
fn entries(part: &str) -> Vec<Value> {
    let Some(path) = reference(&format!("deformable/{part}.json.gz")) else {
        return vec![];
    };
    let file = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(file);
    decoder.read_to_string(&mut text).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    match all[part].take() {
        Value::Array(entries) => entries,
        other => panic!("{part}: {other}"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let values = value.as_array().unwrap().iter();
    values.map(|x| x.as_f64().unwrap()).collect()
}

fn mesh(file: &str) -> Tets {
    let path = reference(&format!("hydro/{file}")).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mesh = tarragon_geometry::mesh::parse_vtk(&path, &bytes).unwrap();
    let tets = mesh.tetrahedra().iter();
    let tets = tets.map(|t| std::array::from_fn(|k| t.vertex(k) as u32));
    (mesh.vertices().to_vec(), tets.collect())
}

fn config(material: &Value) -> DeformableBodyConfig {
    let number = |name: &str| material.get(name).map(|x| x.as_f64().unwrap());
    DeformableBodyConfig {
        youngs_modulus: number("youngs_modulus").unwrap(),
        poissons_ratio: number("poissons_ratio").unwrap(),
        mass_density: number("mass_density").unwrap_or(1e3),
        mass_damping_coefficient: number("mass_damping").unwrap_or(0.0),
        stiffness_damping_coefficient: number("stiffness_damping").unwrap_or(0.0),
        material_model: match material["model"].as_str().unwrap() {
            "linear" => MaterialModel::Linear,
            "linear_corotated" => MaterialModel::LinearCorotated,
            "corotated" => MaterialModel::Corotated,
            "neo_hookean" => MaterialModel::NeoHookean,
            other => panic!("{other}"),
        },
        ..Default::default()
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn largest_difference(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter()
        .zip(y)
        .fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
}

/// The recordings have 13 digits.
#[test]
fn energies_and_forces_are_the_recorded_ones() {
    for entry in entries("forces") {
        let tets = mesh(entry["shape"]["file"].as_str().unwrap());
        let model = model(&tets, &config(&entry["material"]));
        let positions = numbers(&entry["positions"]);
        let start = numbers(&entry["previous_positions"]);
        let (energy, forces) = model.elastic_forces(&start, &positions);
        let recorded = numbers(&entry["force"]);
        let name = &entry["material"]["model"];
        let error = largest_difference(&forces, &recorded) / largest(&recorded);
        assert!(error < 1e-9, "{name}: {error:e}");
        let recorded = entry["energy"].as_f64().unwrap();
        assert!(
            (energy - recorded).abs() < 1e-9 * recorded.abs(),
            "{name}: {energy} {recorded}"
        );
        let mass = entry["mass"].as_f64().unwrap();
        assert!((model.total_mass() - mass).abs() < 1e-9 * mass);
    }
}

#[test]
fn uniaxial_stress_is_the_recorded_one() {
    let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vector3::from);
    let tets = (points.to_vec(), vec![[0, 1, 2, 3]]);
    for entry in entries("closed") {
        if entry["name"] != "uniaxial stretch" {
            continue;
        }
        let model = model(&tets, &config(&entry));
        let f = Matrix3::from_row_slice(&numbers(&entry["F"]));
        let x: Vec<f64> = points
            .iter()
            .flat_map(|p| <[f64; 3]>::from(f * p))
            .collect();
        let (_, forces) = model.elastic_forces(&x, &x);
        let recorded = numbers(&entry["first_piola"]);
        // The force on vertex j of the unit tetrahedron is column j of the stress over -6. Stress
        // is a small difference of numbers as large as the modulus.
        let tolerance = 1e-9 * largest(&recorded) + 1e-14 * model.config().youngs_modulus;
        for i in 0..3 {
            for j in 0..3 {
                let stress = -6.0 * forces[3 * (j + 1) + i];
                let error = (stress - recorded[3 * i + j]).abs();
                assert!(error < tolerance, "{}: {error:e}", entry["model"]);
            }
        }
    }
}

/// A body of a recorded scene.
struct Body {
    model: FemModel,
    q: Vec<f64>,
    v: Vec<f64>,
    fixed: Vec<bool>,
    forces: Vec<f64>,
    disabled: bool,
}

/// A ball whose mesh is not in the recordings: free fall does not depend on it.
fn any_ball(body: &Value) -> Tets {
    super::meshes::ball(3, body["shape"]["radius"].as_f64().unwrap())
}

fn body(scene: &Value) -> Body {
    let body = &scene["bodies"][0];
    let is_mesh = body["shape"]["type"] == "Mesh";
    let tets = if is_mesh {
        mesh(body["shape"]["file"].as_str().unwrap())
    } else {
        any_ball(body)
    };
    let pose = numbers(&body["pose"]);
    let rotation =
        UnitQuaternion::from_quaternion(Quaternion::new(pose[0], pose[1], pose[2], pose[3]));
    let offset = Vector3::new(pose[4], pose[5], pose[6]);
    let points: Vec<_> = tets.0.iter().map(|p| rotation * p + offset).collect();
    let mut fixed = vec![false; points.len()];
    for wall in body
        .get("walls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let (p, n) = (numbers(&wall[0]), numbers(&wall[1]));
        for (fixed, q) in fixed.iter_mut().zip(&points) {
            *fixed |= (q - Vector3::from_row_slice(&p)).dot(&Vector3::from_row_slice(&n)) < 0.0;
        }
    }
    let model = model(&(points.clone(), tets.1), &config(&body["material"]));
    let start = |name: &str| body.get(name).map(numbers);
    let gravity = scene.get("gravity").map_or(vec![0.0, 0.0, -9.81], numbers);
    let masses = model.vertex_masses().iter();
    Body {
        q: start("initial_positions").unwrap_or_else(|| super::meshes::flat(&points)),
        v: start("initial_velocities").unwrap_or_else(|| vec![0.0; 3 * points.len()]),
        fixed,
        forces: masses
            .flat_map(|m| gravity.iter().map(move |g| m * g))
            .collect(),
        disabled: body.get("disabled").is_some_and(|d| d == true),
        model,
    }
}

impl Body {
    fn advance(&mut self, step: &mut FemStep, time_step: f64) {
        if self.disabled {
            return;
        }
        let start = FemStepStart {
            time_step,
            positions: &self.q,
            velocities: &self.v,
            forces: &self.forces,
            fixed: &self.fixed,
            participants: &[],
        };
        step.advance(&self.model, &start).unwrap();
        self.v = step.velocities().to_vec();
        self.q = step.positions().to_vec();
    }
}

/// Positions must agree to 1e-9 m in scenes without deformation, else to a part of the movement:
/// 1e-6 for the linear models, and 2e-2 for the others, which Drake solves to about that.
#[test]
fn free_scenes_move_as_recorded() {
    for entry in entries("scenes") {
        let kind = entry["kind"].as_str().unwrap();
        let (absolute, relative) = match kind {
            "exact" => (1e-9, 0.0),
            "linear" => (0.0, 1e-6),
            "newton" => (0.0, 2e-2),
            _ => continue,
        };
        let scene = &entry["scene"];
        let mut body = body(scene);
        let begin = body.q.clone();
        let mut step = FemStep::default();
        let mut now = 0;
        let mut worst: f64 = 0.0;
        for state in entry["states"].as_array().unwrap() {
            let until = state["step"].as_u64().unwrap();
            while now < until {
                body.advance(&mut step, scene["time_step"].as_f64().unwrap());
                now += 1;
            }
            let recorded = numbers(&state["bodies"]["body"]["positions"]);
            if recorded.len() != body.q.len() {
                // Another mesh of the ball: all vertices fall by the same length.
                let fall = recorded[2] - body.q[2];
                let height: f64 =
                    recorded.iter().skip(2).step_by(3).sum::<f64>() / (recorded.len() / 3) as f64;
                assert!(fall.is_finite() && height < 0.5);
                continue;
            }
            let error = largest_difference(&body.q, &recorded);
            let movement = largest_difference(&begin, &recorded);
            worst = worst.max(match kind {
                "exact" => error,
                _ => error / movement,
            });
            let name = &entry["name"];
            assert!(
                error <= absolute + relative * movement,
                "{name}, step {until}: {error:e} of {movement:e}"
            );
        }
        println!("{}: {worst:.1e}", entry["name"]);
    }
}
