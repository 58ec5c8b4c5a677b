//! Random spatial tendons side by side with MuJoCo: lengths, and forces of springs and dampers.

use super::{Loaded, load_with};
use crate::support::mujoco;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tarragon_formats::*;
use tarragon_multibody::*;

const MODELS: &str = "80";
/// Tolerance of lengths (m) and forces (N, N m).
const TOLERANCE: f64 = 1e-9;
/// MuJoCo ends its search for the point of an inside wrap at an angle of 1e-6 rad, by which forces
/// of up to a few newtons differ. The length has its least value there, so that it differs less.
const INSIDE: f64 = 1e-5;

fn list(v: &Value) -> Vec<f64> {
    let numbers = v.as_array().unwrap().iter();
    numbers.map(|x| x.as_f64().unwrap()).collect()
}

fn load(text: &str) -> Loaded {
    load_with(|p| {
        p.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        p.add_models_from_string(text, "xml")
    })
}

/// Returns the path of the only tendon.
fn path(plant: &MultibodyPlant) -> Vec<TendonPart> {
    match plant.force_elements() {
        [ForceElement::SpatialTendon { path, .. }] => path.clone(),
        [
            ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                ..
            },
        ] => vec![
            TendonPart::site(*body_a, *p_ap),
            TendonPart::site(*body_b, *p_bq),
        ],
        other => panic!("{other:?}"),
    }
}

/// Returns the errors of the length and of the forces in a sample.
fn errors(plant: &MultibodyPlant, joints: &[&str], sample: &Value) -> [f64; 2] {
    let (mut q, mut v) = (vec![0.0; joints.len()], vec![0.0; joints.len()]);
    let (all_q, all_v) = (list(&sample["q"]), list(&sample["v"]));
    let places: Vec<usize> = joints
        .iter()
        .map(|name| {
            let joint = plant.joint_by_name(name).unwrap();
            plant.velocity_start(joint).unwrap()
        })
        .collect();
    for (k, place) in places.iter().enumerate() {
        (q[*place], v[*place]) = (all_q[k], all_v[k]);
    }
    let positions = plant.calc_position_kinematics(&q).unwrap();
    let velocities = plant.calc_velocity_kinematics(&positions, &v).unwrap();
    let length = plant.calc_tendon_length(&positions, &path(plant)).unwrap();
    let forces = plant
        .calc_force_elements_contribution(&positions, &velocities)
        .unwrap();
    let tau = plant.calc_generalized_forces(&positions, &forces).unwrap();
    let theirs = list(&sample["forces"]);
    let pairs = places.iter().zip(&theirs);
    let force = pairs.fold(0.0, |most, (place, theirs)| {
        f64::max(most, (tau[*place] - theirs).abs())
    });
    [(length - sample["length"].as_f64().unwrap()).abs(), force]
}

#[test]
fn random_tendons_are_those_of_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/wraps/peer.py");
    let output = Command::new(python).arg(script).arg(MODELS).output();
    let output = output.unwrap();
    assert!(output.status.success());
    let models: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let (mut worst, mut wrapped, mut far) = ([[0.0; 2]; 2], 0, vec![]);
    for model in &models {
        let text = model["text"].as_str().unwrap();
        let loaded = load(text);
        loaded.says_nothing();
        let loaded = loaded.ok();
        let joints = model["joints"].as_array().unwrap().iter();
        let joints: Vec<&str> = joints.map(|name| name.as_str().unwrap()).collect();
        let sites = text.matches("<site site=").count() + text.matches("<pulley").count();
        for sample in model["samples"].as_array().unwrap() {
            let found = errors(&loaded.plant, &joints, sample);
            let inside = sample["inside"].as_bool().unwrap();
            let tolerance = if inside { INSIDE } else { TOLERANCE };
            if !(found[0] < TOLERANCE && found[1] < tolerance) {
                far.push(format!("{found:?} at {} in {text}", sample["q"]));
            }
            let worst = &mut worst[usize::from(inside)];
            *worst = [0, 1].map(|i| f64::max(worst[i], found[i]));
            wrapped += usize::from(sample["points"].as_u64().unwrap() as usize > sites);
        }
    }
    println!("worst errors {worst:?}, {wrapped} samples with wraps");
    assert!(far.is_empty(), "{} differ: {}", far.len(), far[0]);
    assert!(wrapped > 100, "{wrapped}");
}
