//! Every reference model, converted to every format and loaded by the program of that format:
//! MJCF by MuJoCo, URDF and SDFormat by Drake.
//!
//! `TARRAGON_MUJOCO` names a Python program with mujoco 3.3, and `TARRAGON_PYDRAKE` one with
//! pydrake 1.51; without them, the tests are skipped with a line that says so. What the program
//! refuses must have been told by a diagnostic of the writer.

use super::models::{examples_and_reference_models, load, say};
use crate::support::mujoco;
use rayon::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use tarragon_formats::*;

/// Prints a line per file: nothing, or why it is refused.
const MUJOCO_SCRIPT: &str = "
import sys
import mujoco
for file in open(sys.argv[1]).read().split('\\n'):
    try:
        mujoco.MjModel.from_xml_path(file)
        print(flush=True)
    except ValueError as error:
        print(' '.join(str(error).split()), flush=True)
";
const DRAKE_SCRIPT: &str = "
import logging
import sys
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder
logging.getLogger('drake').setLevel(logging.CRITICAL)
for file in open(sys.argv[1]).read().split('\\n'):
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
    try:
        Parser(plant).AddModels(file)
        plant.Finalize()
        print(flush=True)
    except Exception as error:
        print(' '.join(str(error).split()), flush=True)
";

/// A model in the format of a program.
struct Converted {
    from: PathBuf,
    to: PathBuf,
    told: Vec<String>,
}

/// Converts all models to some formats, into a folder.
fn convert(formats: &[OutputFormat], folder: &Path) -> Vec<Converted> {
    let (files, all) = examples_and_reference_models();
    let cases: Vec<(usize, PathBuf)> = files.into_iter().enumerate().collect();
    let converted = cases.into_par_iter().filter_map(|(number, from)| {
        let model = load(&from, &all)?;
        let writer = ModelWriter::with_scene_graph(&model.plant, &model.scene);
        let each = formats.iter().map(|format| {
            let own = folder.join(format!("{number}_{}", format.suffix()));
            std::fs::create_dir(&own).unwrap();
            let to = own.join(format!("model.{}", format.suffix()));
            let told = writer.save(&to).unwrap();
            Converted {
                from: from.clone(),
                to,
                told: told.into_iter().map(|d| d.message).collect(),
            }
        });
        Some(each.collect::<Vec<_>>())
    });
    converted
        .collect::<Vec<_>>()
        .into_iter()
        .flatten()
        .collect()
}

/// Has a program load all models, which must be loaded or told about by `is_told`.
fn check(
    peer: &str,
    (python, script): (OsString, &str),
    formats: &[OutputFormat],
    is_told: impl Fn(&str) -> bool,
) {
    let scratch = tempfile::tempdir().unwrap();
    let converted = convert(formats, scratch.path());
    let list = scratch.path().join("files.txt");
    let names: Vec<String> = converted
        .iter()
        .map(|c| c.to.display().to_string())
        .collect();
    std::fs::write(&list, names.join("\n")).unwrap();
    let mut command = Command::new(python);
    let output = command.args(["-c", script]).arg(&list).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = text.lines().collect();
    let next = converted.get(answers.len()).map(|c| c.from.display());
    assert!(output.status.success(), "{next:?}: {errors}");
    assert_eq!(answers.len(), converted.len());
    let (mut loaded, mut told, mut wrong) = (0, 0, vec![]);
    for (case, answer) in converted.iter().zip(answers) {
        if answer.is_empty() {
            loaded += 1;
        } else if case.told.iter().any(|t| is_told(t)) {
            told += 1;
        } else {
            let (from, to) = (case.from.display(), case.to.extension().unwrap_or_default());
            wrong.push(format!("{from} as {}: {answer}", to.display()));
        }
    }
    say(&format!(
        "loading by {peer}: {} files, {loaded} loaded, {told} refused as told, {} failed",
        converted.len(),
        wrong.len()
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mujoco_loads_all_converted_models() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let script = (python, MUJOCO_SCRIPT);
    check("MuJoCo", script, &[OutputFormat::Mjcf], |told| {
        told.contains("MuJoCo refuses")
    });
}

#[test]
fn drake_loads_all_converted_models() {
    let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
        say("SKIPPED: no pydrake (TARRAGON_PYDRAKE names a Python that has it)");
        return;
    };
    let formats = [OutputFormat::Urdf, OutputFormat::Sdf];
    check("Drake", (python, DRAKE_SCRIPT), &formats, |told| {
        told.contains("Drake refuses")
    });
}
