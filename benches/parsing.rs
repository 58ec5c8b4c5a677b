//! Benches of reading model files, the counterpart of `f_parsing.py`, and of
//! `engines/mujoco/f_mjcf.py` for MJCF files.
//!
//! The URDF and SDFormat files are Drake's own, below `TARRAGON_BENCH_MODELS` (the folder
//! `share/drake` of Drake's Python package), or those of the reference set.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "skipped parts are printed")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::path::{Path, PathBuf};
use tarragon::formats::{MjcfSemantics, Parser};
use tarragon::multibody::MultibodyPlantBuilder;
use tarragon::prelude::*;

/// The script's files that can be read without other packages.
const FILES: [&str; 9] = [
    "examples/acrobot/Acrobot.urdf",
    "examples/acrobot/Acrobot_no_collision.urdf",
    "examples/acrobot/Acrobot.sdf",
    "examples/pendulum/Pendulum.urdf",
    "examples/multibody/cart_pole/cart_pole.sdf",
    "examples/quadrotor/office.urdf",
    "examples/quadrotor/warehouse.sdf",
    "examples/planar_gripper/planar_gripper.sdf",
    "examples/kuka_iiwa_arm/models/objects/simple_cylinder.urdf",
];

fn models() -> PathBuf {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    match std::env::var_os("TARRAGON_BENCH_MODELS") {
        Some(folder) => here.join(folder),
        None => here.join("../shared/reference/models/drake"),
    }
}

fn new() -> (MultibodyPlantBuilder, SceneGraph) {
    let plant = MultibodyPlantBuilder::new(0.001).unwrap();
    (plant, SceneGraph::new())
}

fn parse(c: &mut Criterion) {
    for file in FILES {
        let path = models().join(file);
        if !path.is_file() {
            println!("SKIPPED {file}: not in {}", models().display());
            continue;
        }
        let load = |plant: &mut MultibodyPlantBuilder, scene: &mut SceneGraph| {
            Parser::with_scene_graph(plant, scene)
                .add_models(&path)
                .unwrap();
        };
        let (mut plant, mut scene) = new();
        load(&mut plant, &mut scene);
        let bodies = plant.num_bodies();
        c.bench_function(&format!("F.parse(AddModels).{file}/{bodies}"), |bencher| {
            bencher.iter_batched(
                new,
                |(mut plant, mut scene)| {
                    load(&mut plant, &mut scene);
                    (plant, scene)
                },
                BatchSize::SmallInput,
            );
        });
        c.bench_function(&format!("F.finalize.{file}/{bodies}"), |bencher| {
            bencher.iter_batched(
                || (plant.clone(), scene.clone()),
                |(plant, mut scene)| {
                    let plant = plant.build_with_scene(&mut scene).unwrap();
                    (plant, scene)
                },
                BatchSize::SmallInput,
            );
        });
        let id = format!("F.parse+finalize_without_SceneGraph.{file}/{bodies}");
        c.bench_function(&id, |bencher| {
            bencher.iter_batched(
                || MultibodyPlantBuilder::new(0.001).unwrap(),
                |mut plant| {
                    Parser::new(&mut plant).add_models(&path).unwrap();
                    plant.build().unwrap()
                },
                BatchSize::SmallInput,
            );
        });
    }
}

/// Reading of an MJCF file into a plant with a scene, ready for a diagram, as MuJoCo makes a model.
fn parse_mjcf(c: &mut Criterion) {
    let here = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mujoco = "models/mujoco/test/engine/testdata/collision_driver/humanoid.xml";
    let files = [
        (
            "humanoid",
            here.join("examples/models/humanoid/humanoid.xml"),
        ),
        (
            "100_humanoids",
            here.join("benches/models/100_humanoids.xml"),
        ),
    ];
    let mujoco = support::reference(mujoco).map(|path| ("mujoco_humanoid", path));
    for (name, path) in files.into_iter().chain(mujoco) {
        let read = |(mut plant, mut scene): (MultibodyPlantBuilder, SceneGraph)| {
            let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
            parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
            parser.add_models(&path).unwrap();
            let plant = plant.build_with_scene(&mut scene).unwrap();
            (plant, scene)
        };
        let velocities = read(new()).0.num_velocities();
        c.bench_function(&format!("F.mjcf.{name}/{velocities}"), |bencher| {
            bencher.iter_batched(new, read, BatchSize::SmallInput);
        });
    }
}

criterion_group!(benches, parse, parse_mjcf);
criterion_main!(benches);
