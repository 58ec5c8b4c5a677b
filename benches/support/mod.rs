//! Scenes and settings shared by the benches.
//!
//! The scenes are those of the reference scripts, read from the directory named by
//! `TARRAGON_BENCH_SCENES`, or else from `../shared/bench/scenes`. Benches whose scene is missing
//! print a line and are skipped.

#![allow(dead_code, reason = "every bench uses another part")]
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tarragon::formats::Parser;
use tarragon::framework::math;
use tarragon::multibody::MultibodyPlantBuilder;

/// Directory of the scenes.
pub(crate) fn scenes() -> PathBuf {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::env::var_os("TARRAGON_BENCH_SCENES")
        .map_or_else(|| here.join("../shared/bench/scenes"), Into::into)
}

/// A directory of the reference set, which `TARRAGON_REFERENCE` names, or else
/// `../shared/reference`.
pub(crate) fn reference(name: &str) -> Option<PathBuf> {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let root = std::env::var_os("TARRAGON_REFERENCE")
        .map_or_else(|| here.join("../shared/reference"), Into::into);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED {}: not found", path.display());
    None
}

/// A scene of the reference scripts.
pub(crate) fn scene(name: &str) -> Option<Value> {
    let path = scenes().join(format!("{name}.json"));
    match std::fs::read(&path) {
        Ok(text) => Some(serde_json::from_slice(&text).unwrap()),
        Err(e) => {
            eprintln!("SKIPPED {}: {e}", path.display());
            None
        }
    }
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect()
}

/// A pose from `[qw, qx, qy, qz, x, y, z]`.
pub(crate) fn pose(value: &Value) -> Isometry3<f64> {
    let p = numbers(value);
    let q = math::quaternion_wxyz([p[0], p[1], p[2], p[3]]).unwrap();
    math::pose(q, Vector3::new(p[4], p[5], p[6]))
}

/// The chain of `n` revolute joints of the scripts, alternately about z and y; its
/// first link is the world.
pub(crate) fn chain(n: usize, time_step: f64) -> MultibodyPlantBuilder {
    let mut urdf = String::from("<robot name='chain'><link name='world'/>");
    for i in 1..=n {
        let axis = ["0 0 1", "0 1 0"][i % 2];
        let parent = if i == 1 {
            "world".into()
        } else {
            format!("l{}", i - 1)
        };
        urdf += &format!(
            "<link name='l{i}'><inertial><origin xyz='0 0 .15'/><mass value='2'/>
             <inertia ixx='.02' ixy='0' ixz='0' iyy='.02' iyz='0' izz='.01'/></inertial></link>
             <joint name='j{i}' type='revolute'><parent link='{parent}'/><child link='l{i}'/>
             <origin xyz='0 0 .3' rpy='0 .1 0'/><axis xyz='{axis}'/>
             <limit lower='-3' upper='3' effort='100' velocity='10'/></joint>"
        );
    }
    let mut plant = MultibodyPlantBuilder::new(time_step).unwrap();
    Parser::new(&mut plant)
        .add_models_from_string(&(urdf + "</robot>"), "urdf")
        .unwrap();
    plant
}
