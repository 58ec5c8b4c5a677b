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

/// Share of the files that must be equal.
const FLOOR: f64 = 0.97;

/// Folder of the reference models, if there is one.
fn reference() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("TARRAGON_REFERENCE").map(|named| here.join(named));
    let folder = named.unwrap_or(here.join("../../shared/reference"));
    Some(folder.join("models")).filter(|folder| folder.is_dir())
}

/// Compares a file as read by us with MuJoCo's reading; returns the differences.
fn differences(truth: &Value) -> Vec<String> {
    let file = truth["file"].as_str().unwrap();
    let mut model = load_file_as_mujoco(Path::new(file));
    let finalized = match &model.result {
        Ok(_) => model.plant.finalize_with(&mut model.scene),
        Err(error) => return vec![format!("refused: {error}")],
    };
    if let Err(error) = finalized {
        return vec![format!("refused: {error}")];
    }
    Comparison::new(&model, truth).differences
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
        usize::from(!found.is_empty())
    });
    let compared: Vec<usize> = compared.collect();
    let (cases, failed) = (compared.len(), compared.iter().sum::<usize>());
    assert!(child.wait().unwrap().success());
    println!("mujoco models: {cases} cases, {failed} failed");
    let equal = (cases - failed) as f64 / cases.max(1) as f64;
    assert!(equal >= FLOOR, "{failed} of {cases} files differ");
}
