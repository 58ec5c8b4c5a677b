//! Written models as Drake and MuJoCo read them.
//!
//! `TARRAGON_PYDRAKE` names a Python program that can import pydrake 1.51, and `TARRAGON_MUJOCO`
//! one that can import mujoco 3.3; without them, the tests are skipped with a line that says so.

use super::FORMATS;
use super::models::{load, model_files};
use crate::support::mujoco;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tarragon_formats::*;
use tarragon_geometry::SceneGraph;
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

/// Prints counts and masses of pairs of models, and how far the accelerations of equal joints are
/// apart, relative to the largest.
const MUJOCO_SCRIPT: &str = "
import sys
import mujoco
def state(file):
    model = mujoco.MjModel.from_xml_path(file)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.timestep, model.opt.density, model.opt.viscosity = 0.002, 0, 0
    model.opt.wind[:], model.opt.magnetic[:] = 0, 0
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.1
    of_joint = {}
    for joint in range(model.njnt):
        address = model.jnt_dofadr[joint]
        size = {0: 6, 1: 3, 2: 1, 3: 1}[model.jnt_type[joint]]
        if size == 1:
            data.qpos[model.jnt_qposadr[joint]] += 0.1
        data.qvel[address:address + size] = 0.2
        of_joint[model.joint(joint).name] = (address, size)
    mujoco.mj_forward(model, data)
    accelerations = {n: data.qacc[a:a + s] for n, (a, s) in of_joint.items() if n}
    counts = model.nq, model.nv, model.nu, model.neq, model.npair, model.nexclude, model.nkey
    tendons = model.ntendon, sum(model.tendon_limited), sum(model.tendon_stiffness)
    sums = sum(model.eq_active0), sum(model.dof_frictionloss)
    numbers = [sum(model.body_mass), *counts, *tendons, *sums]
    return [float(x) for x in numbers], accelerations
for ours, written in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        a, qa = state(ours)
    except ValueError:
        print('refused')
        continue
    try:
        b, qb = state(written)
    except ValueError as error:
        sys.exit(f'{ours}: {error}')
    size = max([1.0] + [abs(x) for q in qa.values() for x in q])
    far = [abs(x - y) / size for n in qa if n in qb for x, y in zip(qa[n], qb[n])]
    print(*map(repr, a), *map(repr, b), max(far + [0.0]), len(far))
";

/// Numbers of a model in the output of the script.
const NUM_NUMBERS: usize = 13;

/// A model with everything that the script counts, and with a body between two joints.
const EVERYTHING: &str = "<mujoco model='m'><compiler angle='radian' autolimits='true'/>
    <worldbody>
      <body name='arm' pos='0 0 1'><joint name='a' axis='1 0 0' frictionloss='.1'/>
        <joint name='b' axis='0 1 0' frictionloss='.2'/><geom name='ga' size='.1'/></body>
      <body name='hand' pos='1 0 1'><joint name='c' type='slide'/><geom name='gh' size='.1'/></body>
    </worldbody>
    <contact><pair geom1='ga' geom2='gh'/><exclude body1='arm' body2='hand'/></contact>
    <tendon><fixed name='t' range='-1 1'><joint joint='a' coef='2'/><joint joint='c' coef='1'/>
      </fixed></tendon>
    <equality><weld body1='arm' body2='hand' active='false'/><joint joint1='a' joint2='c'/></equality>
    <actuator><motor joint='a'/><position joint='c' kp='3'/></actuator>
    <keyframe><key name='k' qpos='1 2 3' ctrl='4 5'/></keyframe></mujoco>";

/// Returns all MJCF files of the examples and of the reference set.
fn mujoco_files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("TARRAGON_REFERENCE").map(|named| here.join(named));
    let models = named.unwrap_or(here.join("../../shared/reference"));
    let mut files = model_files(&here.join("../examples/models"));
    let models = models.join("models");
    if models.is_dir() {
        files.extend(model_files(&models));
    }
    files.retain(|file| file.extension().is_some_and(|suffix| suffix == "xml"));
    files
}

#[test]
fn mujoco_reads_what_is_written() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let mut pairs = vec![];
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tendons = ["wrap", "flexor", "tendon_servo"]
        .map(|name| here.join(format!("tests/mjcf/motion/models/{name}.xml")));
    for (number, file) in mujoco_files().into_iter().chain(tendons).enumerate() {
        let (mut plant, mut scene) = (
            MultibodyPlantBuilder::new(0.001).unwrap(),
            SceneGraph::new(),
        );
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let read = parser.add_models(&file);
        let remarks = parser.diagnostics().iter();
        let is_complete = remarks
            .into_iter()
            .all(|d| d.message.contains("keyframes hold neither"));
        if read.is_err() {
            continue;
        }
        let plant = plant.build_with_scene(&mut scene).unwrap();
        let written = scratch.path().join(format!("model{number}.xml"));
        let writer = ModelWriter::with_scene_graph(&plant, &scene);
        // Sites of constraints and tendons, and geoms that tendons wrap around, change no motion.
        let told = writer.save(&written).unwrap();
        if told.iter().all(|d| d.message.contains("is added to body")) {
            pairs.push((file, written, is_complete));
        }
    }
    let file = scratch.path().join("everything.xml");
    std::fs::write(&file, EVERYTHING).unwrap();
    let written = scratch.path().join("everything_again.xml");
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.001).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    parser.add_models(&file).unwrap();
    // MuJoCo does not know the first, which moves with one joint only.
    let [between, hand] = ["arm0", "hand"].map(|name| plant.body_by_name(name).unwrap());
    plant.exclude_collisions_between(between, hand).unwrap();
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let told = ModelWriter::with_scene_graph(&plant, &scene)
        .save(&written)
        .unwrap();
    let [told] = &*told else { panic!("{told:?}") };
    let words = "collision filters of body 'arm0': left out";
    assert!(told.to_string().contains(words), "{told}");
    pairs.push((file, written, true));
    let files = pairs.iter().flat_map(|(file, written, _)| [file, written]);
    let mut command = Command::new(&python);
    let output = command.args(["-c", MUJOCO_SCRIPT]).args(files).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut accelerations = 0;
    assert_eq!(lines.lines().count(), pairs.len());
    let results = lines.lines().zip(&pairs);
    let results: Vec<_> = results.filter(|(line, _)| *line != "refused").collect();
    let count = results.len();
    for (line, (file, _, is_complete)) in results {
        let found: Vec<f64> = line.split(' ').map(|w| w.parse().unwrap()).collect();
        let (numbers, [far, joints]) = found.split_at(2 * NUM_NUMBERS) else {
            panic!("{line}")
        };
        let (ours, again) = numbers.split_at(NUM_NUMBERS);
        let file = file.display();
        assert_eq!(ours[1..3], again[1..3], "{file}: {line}");
        // Readers left nothing out.
        if *is_complete {
            // MuJoCo's meshes are in single precision, and sums have another order.
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-7 * a;
            assert!(ours.iter().zip(again).all(is_near), "{file}: {line}");
            // Inertias are turned and moved to other frames, and inverted.
            assert!(*far <= 1e-8, "{file}: {line}");
            accelerations += *joints as usize;
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "writing for MuJoCo: {count} cases, {accelerations} accelerations, 0 failed"
    );
    assert!(
        count >= 2 && accelerations > 0,
        "{count} files, {accelerations} numbers"
    );
}

/// Prints the largest difference of the rows of constraints of pairs of models in random states,
/// by positions and by elements of the Jacobian, and the number of rows.
const ROW_SCRIPT: &str = "
import sys
import mujoco
import numpy as np
def rows(model, positions):
    data = mujoco.MjData(model)
    names = [model.joint(joint).name for joint in range(model.njnt)]
    assert model.nv == len(names)
    data.qpos[:] = [positions[name] for name in names]
    mujoco.mj_forward(model, data)
    dense = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(dense, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr,
                                data.efc_J_colind)
    else:
        dense[:] = data.efc_J.reshape(data.nefc, model.nv)
    order = sorted(range(model.nv), key=lambda k: names[k])
    return sorted([float(p), *row[order].tolist()] for p, row in zip(data.efc_pos, dense))
rng = np.random.default_rng(3)
far, count = 0.0, 0
for ours, written in zip(sys.argv[1::2], sys.argv[2::2]):
    a, b = [mujoco.MjModel.from_xml_path(file) for file in (ours, written)]
    for _ in range(20):
        at = {a.joint(k).name: a.qpos0[k] + rng.uniform(-0.3, 0.3) for k in range(a.njnt)}
        one, two = rows(a, at), rows(b, at)
        assert len(one) == len(two), (ours, len(one), len(two))
        far = max([far, *(abs(x - y) for p, q in zip(one, two) for x, y in zip(p, q))])
        count += len(one)
print(repr(far), count)
";

/// Tendons with limits, lengths and polynomials, and joints on polynomials, have the same rows in
/// MuJoCo after they were written.
#[test]
fn constraints_of_written_tendons_are_those_of_the_file() {
    let Some(python) = mujoco::python() else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mjcf/motion/constrained");
    let mut files = vec![];
    for name in ["couple", "parabola", "string", "tie", "winch"] {
        let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
        let mut parser = Parser::new(&mut plant);
        parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
        let file = here.join(format!("{name}.xml"));
        parser.add_models(&file).unwrap();
        let plant = plant.build().unwrap();
        let written = scratch.path().join(format!("{name}.xml"));
        ModelWriter::new(&plant).save(&written).unwrap();
        files.extend([file, written]);
    }
    let mut command = Command::new(&python);
    let output = command.args(["-c", ROW_SCRIPT]).args(files).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (far, count) = text.trim().split_once(' ').unwrap();
    println!("rows of written tendons: worst difference {far}, {count} rows");
    // Poses and reference lengths are moved to other frames and back.
    assert!(far.parse::<f64>().unwrap() < 1e-12, "{text}");
    assert!(count.parse::<usize>().unwrap() > 150, "{text}");
}
