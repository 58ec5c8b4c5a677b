//! Written models as Drake and MuJoCo read them.
//!
//! `TARRAGON_PYDRAKE` names a Python program that can import pydrake 1.51, and `TARRAGON_MUJOCO`
//! one that can import mujoco 3.3; without them, the tests are skipped with a line that says so.

use super::FORMATS;
use super::models::{load, load_as};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tarragon_multibody::*;

/// Tolerance of the total mass, relative: Drake adds the masses in another order.
const TOLERANCE: f64 = 1e-12;

const SCRIPT: &str = "
import sys
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder
for file in sys.argv[1:]:
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
    Parser(plant).AddModels(file)
    plant.Finalize()
    mass = plant.CalcTotalMass(plant.CreateDefaultContext())
    print(repr(mass), plant.num_joints(), plant.num_positions(), plant.num_actuators())
";

#[test]
fn drake_reads_what_is_written() {
    let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
        let why = "no pydrake (TARRAGON_PYDRAKE names a Python that has it)";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/models");
    let scratch = tempfile::tempdir().unwrap();
    let (mut files, mut expected) = (vec![], vec![]);
    for model in ["arm7/arm7.urdf", "arm7/arm7.sdf", "gripper/gripper.urdf"] {
        let model = load(&examples.join(model), &[]).unwrap();
        for (format, _) in FORMATS {
            // MJCF files have MuJoCo's semantics.
            if format == OutputFormat::Mjcf {
                continue;
            }
            let name = format!("{}.{}", files.len(), format.suffix());
            let file = scratch.path().join(name);
            let writer = ModelWriter::with_scene_graph(&model.plant, &model.scene);
            writer.save(&file).unwrap();
            files.push(file);
            let plant = &model.plant;
            expected.push((
                plant.calc_total_mass(),
                [
                    plant.num_joints(),
                    plant.num_positions(),
                    plant.num_actuators(),
                ],
            ));
        }
    }
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .args(&files)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut count = 0;
    for (line, (mass, counts)) in lines.lines().zip(&expected) {
        let words: Vec<&str> = line.split(' ').collect();
        let found: f64 = words[0].parse().unwrap();
        assert!(
            (found - mass).abs() <= TOLERANCE * mass,
            "{line}, not {mass:?}"
        );
        let found: Vec<usize> = words[1..].iter().map(|w| w.parse().unwrap()).collect();
        assert_eq!(found, counts);
        count += 1;
    }
    assert_eq!(count, expected.len());
}

const MUJOCO_SCRIPT: &str = "
import sys
import mujoco
for file in sys.argv[1:]:
    model = mujoco.MjModel.from_xml_path(file)
    print(repr(float(sum(model.body_mass))), model.nq, model.nv, model.nu)
";

#[test]
fn mujoco_reads_what_is_written() {
    let Some(python) = std::env::var_os("TARRAGON_MUJOCO") else {
        let why = "no mujoco (TARRAGON_MUJOCO names a Python that has it)";
        let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/models");
    let scratch = tempfile::tempdir().unwrap();
    for name in [
        "arm7/arm7.urdf",
        "humanoid/humanoid.xml",
        "gripper/gripper.urdf",
    ] {
        // Drake's reading places the massless bodies between the joints of a body elsewhere, and
        // MuJoCo refuses massless bodies that it does not make itself.
        let model = load_as(&examples.join(name), &[], MjcfSemantics::MuJoCo).unwrap();
        let file = scratch.path().join("model.xml");
        let writer = ModelWriter::with_scene_graph(&model.plant, &model.scene);
        writer.save(&file).unwrap();
        let mut command = Command::new(&python);
        let output = command.args(["-c", MUJOCO_SCRIPT]).arg(&file).output();
        let output = output.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {errors}");
        let line = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (mass, plant) = (model.plant.calc_total_mass(), &model.plant);
        let found: f64 = words[0].parse().unwrap();
        assert!((found - mass).abs() <= TOLERANCE * mass, "{name}: {line}");
        let found: Vec<usize> = words[1..].iter().map(|w| w.parse().unwrap()).collect();
        let counts = [
            plant.num_positions(),
            plant.num_velocities(),
            plant.num_actuators(),
        ];
        assert_eq!(found, counts, "{name}");
    }
}
