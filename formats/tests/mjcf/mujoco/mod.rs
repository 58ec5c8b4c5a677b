//! MJCF files as MuJoCo reads them.
//!
//! `TARRAGON_MUJOCO` names a Python program that can import mujoco 3.3; without it, this test is
//! skipped. It reads the models of the reference set (`TARRAGON_REFERENCE`, else
//! `../shared/reference`) and those of the packages dm_control, gymnasium, gymnasium_robotics and
//! robosuite as far as that Python program has them.

mod compare;

use super::load_file_as_mujoco;
use crate::support::mujoco;
use compare::Comparison;
use rayon::prelude::*;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folder of the reference models, if there is one.
fn reference() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("TARRAGON_REFERENCE").map(|named| here.join(named));
    let folder = named.unwrap_or(here.join("../../shared/reference"));
    Some(folder.join("models")).filter(|folder| folder.is_dir())
}

/// Returns true if MuJoCo found a collision geom with a margin or a gap.
fn has_margins(truth: &Value) -> bool {
    let bodies = truth["bodies"].as_array().into_iter().flatten();
    let mut geoms = bodies.flat_map(|body| body["collision"].as_array().into_iter().flatten());
    let is_set = |x: &Value| x.as_f64().is_some_and(|x| x != 0.0);
    geoms.any(|geom| is_set(&geom["margin"]) || is_set(&geom["gap"]))
}

/// Compares a file as read by us with MuJoCo's reading; returns the differences.
fn differences(truth: &Value) -> Vec<String> {
    let file = truth["file"].as_str().unwrap();
    let mut model = load_file_as_mujoco(Path::new(file));
    let built = model
        .result
        .and_then(|_| model.plant.build_with_scene(&mut model.scene));
    match built {
        Ok(plant) => Comparison::new(&plant, &model.scene, truth).differences,
        Err(error) => vec![format!("refused: {error}")],
    }
}

#[test]
fn files_are_read_as_by_mujoco() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/mujoco/peer.py");
    let mut command = Command::new(python);
    command.arg(script).args(reference()).stdout(Stdio::piped());
    // It says why it refuses files, which is of no interest here.
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let compared = lines.par_bridge().map(|line| {
        let truth: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let found = differences(&truth);
        if let Some(first) = found.first() {
            let (file, count) = (&truth["file"], found.len());
            println!("DIFFERENT {file}: {first} ({count} in all)");
        }
        [!found.is_empty(), has_margins(&truth)]
    });
    let compared: Vec<[bool; 2]> = compared.collect();
    let count = |which: usize| compared.iter().filter(|of| of[which]).count();
    let (cases, failed, margins) = (compared.len(), count(0), count(1));
    assert!(child.wait().unwrap().success());
    println!("mujoco models: {cases} cases, {failed} failed, {margins} with margins");
    assert_eq!(failed, 0, "files that differ");
    assert!(cases > 0);
}
