//! Measurements side by side with MuJoCo.
//!
//! `TARRAGON_MUJOCO` names a Python program that can import mujoco 3.3; without it, this test is
//! skipped with a line that says so.

use super::{Model, read};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tarragon_multibody::{JointIndex, JointKind, MultibodyPlant};

const STATES: &str = "20";

/// Inertias are diagonal: MuJoCo diagonalizes a `fullinertia` only to 1e-9.
const BODIES: &str = "<option gravity='1 -2 -9'/><worldbody>
  <site name='ground' pos='.1 .2 .3' euler='10 20 30'/>
  <body name='drone' pos='0 0 2' euler='40 0 10'><freejoint name='free'/>
    <inertial pos='.1 -.2 .05' mass='1.5' diaginertia='.3 .4 .5' euler='15 -40 5'/>
    <site name='eye' pos='.3 .1 -.2' euler='-30 60 15'/>
    <body name='rotor' pos='0 .5 0' euler='0 20 0'>
      <joint name='spin' axis='1 2 2' pos='.1 0 .2' ref='15'/>
      <geom size='.1 .2' type='capsule' fromto='0 0 0 .3 .1 .5'/>
      <site name='blade' pos='.2 .2 .1' euler='5 6 7'/></body></body>
  <body name='arm' pos='1 0 0' euler='0 0 35'>
    <joint name='hinge' axis='0 1 1' armature='.2' stiffness='3' springref='20'/>
    <geom size='.1 .2 .3' type='box' pos='.2 .1 0' euler='10 0 0'/>
    <body name='tool' pos='0 .3 .4'>
      <joint name='slide' type='slide' axis='1 0 2' ref='.25'/>
      <joint name='roll' axis='1 0 0' pos='0 .1 0'/>
      <geom size='.2 .1 .4' type='ellipsoid' pos='.1 0 .1'/>
      <body name='fixed' pos='.2 .2 .2' euler='0 70 0'><geom size='.15' pos='0 0 .1'/>
        <site name='mark' pos='.1 0 0' euler='0 0 20'/></body>
      <body name='hand' pos='.5 0 .1' euler='80 0 0'>
        <joint name='wrist' type='ball' pos='.1 .2 0'/>
        <inertial pos='.1 .2 .3' mass='.7' diaginertia='.02 .03 .04' euler='10 30 0'/>
        <site name='tip' pos='.3 .1 .2' euler='25 0 65'/></body></body></body></worldbody>
  <tendon><fixed name='belt'><joint joint='hinge' coef='.5'/><joint joint='roll' coef='-2'/></fixed>
  </tendon>
  <actuator><motor name='direct' joint='hinge'/><motor name='geared' joint='spin' gear='-3.5'/>
    <position name='servo' joint='slide' kp='10' gear='2'/>
    <motor name='pull' tendon='belt' gear='1.5'/></actuator>";

/// Every measured kind, with and without references and cutoffs. Each comes with what it is, since
/// MuJoCo does not tell quaternions from other vectors of four.
fn sensors() -> Vec<(&'static str, String)> {
    let mut all = vec![];
    let mut add = |kind: &'static str, attributes: String| {
        all.push((kind, attributes.clone()));
        if !(kind.contains("quat") || kind.contains("axis")) {
            all.push((kind, format!("{attributes} cutoff='.4'")));
        }
    };
    for kind in ["clock", "e_kinetic", "e_potential"] {
        add(kind, String::new());
    }
    for joint in ["spin", "hinge", "slide", "roll"] {
        for kind in ["jointpos", "jointvel"] {
            add(kind, format!("joint='{joint}'"));
        }
    }
    for kind in ["ballquat", "ballangvel"] {
        add(kind, "joint='wrist'".into());
    }
    for actuator in ["direct", "geared", "servo", "pull"] {
        for kind in ["actuatorpos", "actuatorvel"] {
            add(kind, format!("actuator='{actuator}'"));
        }
    }
    for site in ["ground", "eye", "blade", "mark", "tip"] {
        for kind in ["gyro", "velocimeter"] {
            add(kind, format!("site='{site}'"));
        }
    }
    for body in ["world", "drone", "rotor", "arm", "tool", "fixed", "hand"] {
        for kind in ["subtreecom", "subtreelinvel", "subtreeangmom"] {
            add(kind, format!("body='{body}'"));
        }
    }
    let frames = [
        ("site", "ground"),
        ("site", "eye"),
        ("site", "blade"),
        ("site", "mark"),
        ("site", "tip"),
        ("xbody", "world"),
        ("xbody", "drone"),
        ("xbody", "tool"),
        ("xbody", "hand"),
        ("body", "drone"),
        ("body", "arm"),
        ("body", "hand"),
    ];
    for kind in [
        "framepos",
        "framequat",
        "framexaxis",
        "frameyaxis",
        "framezaxis",
        "framelinvel",
        "frameangvel",
    ] {
        for (of_type, name) in frames {
            // The axes of inertia are not measured.
            if of_type == "body" && (kind == "framequat" || kind.ends_with("axis")) {
                continue;
            }
            let subject = format!("objtype='{of_type}' objname='{name}'");
            add(kind, subject.clone());
            for (of_type, name) in frames.iter().filter(|(of_type, _)| *of_type != "body") {
                add(
                    kind,
                    format!("{subject} reftype='{of_type}' refname='{name}'"),
                );
            }
        }
    }
    all
}

fn mujoco(python: &std::ffi::OsStr, text: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model_sensors/peer.py");
    let mut child = Command::new(python)
        .args([script.as_os_str(), STATES.as_ref()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list(value: &Value) -> Vec<f64> {
    let numbers = value.as_array().unwrap().iter();
    numbers.map(|x| x.as_f64().unwrap()).collect()
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// The joint of a plant that one of MuJoCo is.
fn joint_of(plant: &MultibodyPlant, joint: &Value) -> JointIndex {
    if joint["type"] != 0 {
        let name = joint["name"].as_str().unwrap();
        return plant.joint_by_name(name).unwrap();
    }
    let body = plant.body_by_name(joint["body"].as_str().unwrap()).unwrap();
    let mut joints = plant.joints();
    let found = joints
        .find(|(_, joint)| joint.child_body() == body)
        .unwrap();
    assert_eq!(found.1.kind(), &JointKind::QuaternionFloating);
    found.0
}

/// Positions and velocities of the plant in a state of MuJoCo.
fn state_of(plant: &MultibodyPlant, joints: &Value, state: &Value) -> (Vec<f64>, Vec<f64>) {
    let (mut q, mut v) = (plant.default_positions(), vec![0.0; plant.num_velocities()]);
    let (qpos, qvel) = (list(&state["qpos"]), list(&state["qvel"]));
    for joint in joints.as_array().unwrap() {
        let found = joint_of(plant, joint);
        let to_q = &mut q[plant.position_start(found).unwrap()..];
        let to_v = &mut v[plant.velocity_start(found).unwrap()..];
        let (from_q, from_v) = (&qpos[index(&joint["q"])..], &qvel[index(&joint["v"])..]);
        let rotation =
            |q: &[f64]| UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3]));
        match index(&joint["type"]) {
            0 => {
                to_q[..4].copy_from_slice(&from_q[3..7]);
                to_q[4..7].copy_from_slice(&from_q[..3]);
                // MuJoCo measures angular velocity in the body.
                let w = rotation(&from_q[3..7]) * Vector3::from_row_slice(&from_v[3..6]);
                to_v[..3].copy_from_slice(w.as_slice());
                to_v[3..6].copy_from_slice(&from_v[..3]);
            }
            1 => {
                let r = rotation(from_q);
                to_q[..4].copy_from_slice(&from_q[..4]);
                let w = r * Vector3::from_row_slice(&from_v[..3]);
                to_v[..3].copy_from_slice(w.as_slice());
            }
            _ => (to_q[0], to_v[0]) = (from_q[0], from_v[0]),
        }
    }
    (q, v)
}

#[test]
fn measurements_are_those_of_mujoco() {
    let Some(python) = std::env::var_os("TARRAGON_MUJOCO") else {
        let why = "no mujoco (TARRAGON_MUJOCO names a Python that has it)";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return;
    };
    let sensors = sensors();
    let mut text = format!("<mujoco model='m'>{BODIES}<sensor>");
    for (i, (kind, attributes)) in sensors.iter().enumerate() {
        write!(text, "<{kind} name='s{i}' {attributes}/>").unwrap();
    }
    text.push_str("</sensor></mujoco>");
    let truth = mujoco(&python, &text);
    let model = Model::new(read(&[&text]));
    assert_eq!(model.unmeasured, []);
    let measured: Vec<_> = model.sensors.system().measured().collect();
    let (mut worst, mut cases, mut clamped) = (0.0_f64, 0, 0);
    for state in truth["states"].as_array().unwrap() {
        let (q, v) = state_of(&model.plant, &truth["joints"], state);
        let mut ctx = model.context(&q, &v);
        ctx.set_time(state["time"].as_f64().unwrap());
        let (found, expected) = (
            ctx.eval(model.sensors.sensordata).unwrap(),
            list(&state["sensordata"]),
        );
        assert_eq!(found.len(), expected.len());
        let declared = truth["sensors"].as_array().unwrap();
        assert_eq!(declared.len(), measured.len());
        for (i, (known, sensor)) in declared.iter().zip(&measured).enumerate() {
            assert_eq!(known["name"], *sensor.name);
            let start = index(&known["start"]);
            assert_eq!(sensor.range, start..start + index(&known["size"]));
            let (found, expected) = (
                &found[sensor.range.clone()],
                &expected[sensor.range.clone()],
            );
            let distance = |sign: f64| {
                let apart = found
                    .iter()
                    .zip(expected)
                    .map(|(a, b)| (sign * a - b).abs());
                apart.fold(0.0, f64::max)
            };
            let (kind, attributes) = &sensors[i];
            // Both signs of a quaternion are the same orientation.
            let error = if kind.contains("quat") {
                distance(1.0).min(distance(-1.0))
            } else {
                distance(1.0)
            };
            assert!(
                error < 1e-10,
                "<{kind} {attributes}> measures {found:?}, in MuJoCo {expected:?}"
            );
            worst = worst.max(error);
            cases += 1;
            let limited = |y: &&f64| attributes.contains("cutoff") && y.abs() == 0.4;
            clamped += expected.iter().filter(limited).count();
        }
    }
    println!("mujoco sensors: {cases} cases, {clamped} clamped numbers, worst error {worst:e}");
    assert!(clamped > 1000);
}
