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
use tarragon::framework::math;

/// Directory of the scenes.
pub(crate) fn scenes() -> PathBuf {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    std::env::var_os("TARRAGON_BENCH_SCENES")
        .map_or_else(|| here.join("../shared/bench/scenes"), Into::into)
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
