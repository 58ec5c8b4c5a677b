//! Motion of MJCF models side by side with MuJoCo, where both solve the same equations.
//!
//! `models.json` is what `motion.py` prints for the folder `models` with MuJoCo 3.3.7, and
//! `constrained.json` likewise. With `TARRAGON_MUJOCO`, a Python program that can import mujoco
//! 3.3, the records are checked as well.

mod constrained;

use crate::support::mujoco;
use nalgebra::{Isometry3, Matrix3x4, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use tarragon_formats::*;
use tarragon_framework::SimulatorConfig;
use tarragon_framework::prelude::*;
use tarragon_multibody::*;

/// Samples per second.
const RATE: f64 = 40.0;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/motion")
}

fn record(set: &str) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(folder().join(format!("{set}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn list(v: &Value) -> Vec<f64> {
    let numbers = v.as_array().unwrap().iter();
    numbers.map(|x| x.as_f64().unwrap()).collect()
}

/// Positions and axes of all bodies, or velocities; what is compared.
type Sample = Vec<f64>;

fn pose_numbers(x: &Isometry3<f64>) -> Vec<f64> {
    let x: Matrix3x4<f64> = x.to_matrix().fixed_view::<3, 4>(0, 0).into_owned();
    x.iter().copied().collect()
}

fn recorded_pose(numbers: &[f64]) -> Isometry3<f64> {
    let [x, y, z, w, i, j, k] = numbers.try_into().unwrap();
    let q = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
    Isometry3::from_parts(Vector3::new(x, y, z).into(), q)
}

/// The samples of a record; positions are those of the bodies, velocities those of hinges and
/// slides.
fn recorded(case: &Value, scheme: &str) -> Vec<Sample> {
    let single = |joint: &&Value| joint["type"].as_u64().unwrap() >= 2;
    let samples = case[scheme].as_array().unwrap().iter();
    let sample = |s: &Value| {
        let poses = s["poses"].as_array().unwrap().iter().map(list);
        let mut all: Sample = poses
            .flat_map(|x| pose_numbers(&recorded_pose(&x)))
            .collect();
        let v = list(&s["qvel"]);
        let joints = case["joints"].as_array().unwrap().iter().filter(single);
        all.extend(joints.map(|j| v[j["v"].as_u64().unwrap() as usize]));
        all
    };
    samples.map(sample).collect()
}

/// A model with the state and the controls of a record.
struct Motion<'a> {
    case: &'a Value,
    plant: Block<MultibodyPlant>,
    diagram: Diagram<f64>,
    bodies: Vec<BodyIndex>,
    joints: Vec<(JointIndex, &'a Value)>,
}

/// Loads a model without geometry, because nothing touches in the records. Also returns the
/// diagnostics.
fn load(path: &Path, time_step: f64) -> (MultibodyPlant, Vec<String>) {
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    let mut parser = Parser::new(&mut plant);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    parser.add_models(path).unwrap();
    let said = parser.diagnostics().iter().map(|d| d.to_string()).collect();
    (plant.build().unwrap(), said)
}

impl<'a> Motion<'a> {
    fn new((set, name): (&str, &str), case: &'a Value, time_step: f64) -> Self {
        let (plant, said) = load(&folder().join(format!("{set}/{name}.xml")), time_step);
        let known = [
            "keyframes hold neither velocities nor poses",
            "as stiff as its time step allows",
        ];
        let new = |text: &&String| !known.iter().any(|known| text.contains(known));
        assert_eq!(said.iter().find(new), None, "{name}");
        let names = case["bodies"].as_array().unwrap().iter();
        let bodies = names.map(|n| plant.body_by_name(n.as_str().unwrap()).unwrap());
        let bodies: Vec<BodyIndex> = bodies.collect();
        let joints = case["joints"].as_array().unwrap().iter();
        let floating = |index: &JointIndex| {
            let kind = plant.joint(*index).unwrap().kind();
            kind.type_name() == "quaternion_floating"
        };
        let free: Vec<JointIndex> = plant.joints().map(|(j, _)| j).filter(floating).collect();
        let joints = joints.map(|joint| match joint["type"].as_u64() {
            // The models have at most one free body.
            Some(0) => (free[0], joint),
            _ => {
                let name = joint["name"].as_str().unwrap();
                (plant.joint_by_name(name).unwrap(), joint)
            }
        });
        let joints = joints.collect();
        let mut b = DiagramBuilder::new();
        let plant = b.add("plant", plant);
        let diagram = b.build().unwrap();
        Self {
            case,
            plant,
            diagram,
            bodies,
            joints,
        }
    }

    /// Positions and velocities of the plant at the start of the record.
    fn initial(&self) -> (Vec<f64>, Vec<f64>) {
        let plant = &self.plant;
        let mut q = vec![0.0; plant.num_positions()];
        let mut v = vec![0.0; plant.num_velocities()];
        let start = &self.case["rk4"][0];
        let (qpos, qvel) = (list(&start["qpos"]), list(&start["qvel"]));
        for (index, joint) in &self.joints {
            let place = |key: &str| joint[key].as_u64().unwrap() as usize;
            let (from_q, from_v) = (&qpos[place("q")..], &qvel[place("v")..]);
            let to_q = &mut q[plant.position_start(*index).unwrap()..];
            let to_v = &mut v[plant.velocity_start(*index).unwrap()..];
            let rotation = |q: &[f64]| {
                UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]))
            };
            match joint["type"].as_u64() {
                Some(0) => {
                    to_q[..4].copy_from_slice(&from_q[3..7]);
                    to_q[4..7].copy_from_slice(&from_q[..3]);
                    // MuJoCo measures angular velocity in the body.
                    let w = Vector3::new(from_v[3], from_v[4], from_v[5]);
                    let w = rotation(&from_q[3..7]) * w;
                    to_v[..3].copy_from_slice(w.as_slice());
                    to_v[3..6].copy_from_slice(&from_v[..3]);
                }
                Some(1) => {
                    let r = rotation(from_q);
                    to_q[..4].copy_from_slice(&from_q[..4]);
                    let w = r * Vector3::new(from_v[0], from_v[1], from_v[2]);
                    to_v[..3].copy_from_slice(w.as_slice());
                }
                _ => (to_q[0], to_v[0]) = (from_q[0], from_v[0]),
            }
        }
        (q, v)
    }

    fn sample(&self, context: &Context<f64>) -> Sample {
        let poses = context.eval(self.plant.body_poses).unwrap();
        let bodies = self.bodies.iter();
        let mut all: Sample = bodies
            .flat_map(|b| pose_numbers(&poses[b.index()]))
            .collect();
        let v = self.plant.velocities(context).unwrap();
        for (index, joint) in &self.joints {
            if joint["type"].as_u64() >= Some(2) {
                all.push(v[self.plant.velocity_start(*index).unwrap()]);
            }
        }
        all
    }

    /// Simulates, and samples as often as the record does.
    fn run(&self) -> Vec<Sample> {
        let mut context = self.diagram.default_context();
        let (q, v) = self.initial();
        self.plant.set_positions(&mut context, &q).unwrap();
        self.plant.set_velocities(&mut context, &v).unwrap();
        let ctrl = list(&self.case["ctrl"]);
        if !ctrl.is_empty() {
            let port = self.plant.actuation().unwrap();
            context.fix(port, ctrl).unwrap();
        }
        let mut sim = Simulator::new(&self.diagram, context).unwrap();
        let config = SimulatorConfig {
            accuracy: 1e-11,
            ..SimulatorConfig::default()
        };
        sim.apply_config(&config).unwrap();
        let count = self.case["rk4"].as_array().unwrap().len();
        let mut samples = vec![self.sample(sim.context())];
        for k in 1..count {
            sim.advance_to(k as f64 / RATE).unwrap();
            samples.push(self.sample(sim.context()));
        }
        samples
    }
}

/// The largest difference of two motions.
fn distance(a: &[Sample], b: &[Sample]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b).flat_map(|(a, b)| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b)
    });
    pairs.fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

/// Compares all models of a set but those of a list by a function that returns the distance.
fn compare(
    set: &str,
    but: &[&str],
    tolerance: f64,
    distance: impl Fn((&str, &str), &Value) -> f64,
) {
    let (mut far, mut worst) = (vec![], 0.0);
    for (name, case) in record(set)
        .iter()
        .filter(|(name, _)| !but.contains(&&***name))
    {
        let found = distance((set, name), case);
        worst = f64::max(worst, found);
        if found.is_nan() || found > tolerance {
            far.push((name.clone(), found));
        }
    }
    let text = format!("{set} but {but:?}: worst distance {worst:e}");
    let _ = writeln!(std::io::stderr(), "{text}");
    assert!(far.is_empty(), "{far:?}");
}

/// MuJoCo's Runge-Kutta steps have errors below 1e-11, and the accuracy of our integrator is a
/// bound per step of the same size; a hundred steps and the growth of errors in a chaotic chain
/// remain below the tolerance.
#[test]
fn continuous_motion_is_that_of_mujoco() {
    compare("models", &[], 1e-8, |name, case| {
        distance(&Motion::new(name, case, 0.0).run(), &recorded(case, "rk4"))
    });
}

/// The error of the motion in discrete steps is a series in their length h. A combination of the
/// motions for h, h/2 and h/4 has an error of order h^3: with h = 0.1 ms and rates of up to 100 per
/// second, which the servos of the arm reach, about 1e-6.
#[test]
fn discrete_motion_converges_to_that_of_mujoco() {
    compare("models", &[], 1e-6, |name, case| {
        let run = |h: f64| Motion::new(name, case, h).run();
        let runs = [run(1e-4), run(5e-5), run(2.5e-5)];
        let extrapolated = (0..runs[0].len()).map(|k| {
            let [h, half, quarter] = [0, 1, 2].map(|run: usize| runs[run][k].iter());
            let numbers = h.zip(half).zip(quarter);
            let limit =
                |((h, half), quarter): ((&f64, &f64), &f64)| (h - 6.0 * half + 8.0 * quarter) / 3.0;
            numbers.map(limit).collect()
        });
        let extrapolated: Vec<Sample> = extrapolated.collect();
        distance(&extrapolated, &recorded(case, "rk4"))
    });
}

/// Models whose steps differ from those of MuJoCo, whatever its integrator.
const DIFFERENT: [&str; 6] = [
    "affine",
    "arm",
    "inner_wrap",
    "servo",
    "tendon",
    "tendon_servo",
];

/// Both sides step semi-implicitly, with joint damping at the end of the step and springs and
/// motors at its start, so they differ by rounding only. MuJoCo's servos act from the start of the
/// step, and MuJoCo computes inner wraps less exactly, so these models differ.
#[test]
fn discrete_steps_are_those_of_mujoco() {
    let different = [&DIFFERENT[..], &["velocity_servo"]].concat();
    compare("models", &different, 1e-12, |name, case| {
        let ours = Motion::new(name, case, 1e-3).run();
        distance(&ours, &recorded(case, "euler"))
    });
}

/// MuJoCo's integrator `implicitfast` takes velocities of actuators and tendons from the end of the
/// step, too.
#[test]
fn steps_of_velocity_servos_are_those_of_implicit_integration() {
    let different = [&DIFFERENT[..], &["wrap"]].concat();
    compare("models", &different, 1e-12, |name, case| {
        let ours = Motion::new(name, case, 1e-3).run();
        distance(&ours, &recorded(case, "implicitfast"))
    });
}

#[test]
fn record_is_the_motion_in_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    for set in ["models", "constrained"] {
        let mut command = Command::new(&python);
        command
            .arg(folder().join("motion.py"))
            .arg(folder().join(set));
        let output = command.output().unwrap();
        assert!(output.status.success());
        let live: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
        let record = record(set);
        assert!(live.keys().eq(record.keys()));
        for (name, case) in &live {
            for scheme in ["rk4", "euler", "fine", "implicitfast"] {
                // Room for another compiler of MuJoCo.
                let (live, kept) = (recorded(case, scheme), recorded(&record[name], scheme));
                assert!(distance(&live, &kept) < 1e-9, "{name}");
            }
        }
    }
}
