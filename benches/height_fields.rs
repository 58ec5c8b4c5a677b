//! Benches of height fields: loading one of a million points, and a step of a quadruped that stands
//! on it or on a plane. On `steep` hills, it falls over and lies on its back.
//!
//! The robot has few geometries, so its steps are short and the ground takes a larger share of them
//! than with a real robot. The records have the figures of this bench and of a Unitree Go1.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::fmt::Write;
use std::path::Path;
use tarragon::formats::{MjcfSemantics, Parser};
use tarragon::framework::Simulator;
use tarragon::multibody::{ContactModel, MultibodyPlantBuilder, add_multibody_plant_scene_graph};
use tarragon::prelude::*;

/// Points along each side.
const SIDE: u32 = 1024;

/// Writes gentle hills in MuJoCo's format.
fn write_terrain(file: &Path) {
    let mut bytes: Vec<u8> = [SIDE, SIDE].iter().flat_map(|n| n.to_le_bytes()).collect();
    for (r, c) in (0..SIDE).flat_map(|r| (0..SIDE).map(move |c| (r, c))) {
        let (x, y) = (f64::from(c) * 0.02, f64::from(r) * 0.02);
        let height = (1.3 * x).sin() * (1.7 * y).cos() + 0.05 * (31.0 * x + 17.0 * y).sin();
        bytes.extend((height as f32).to_le_bytes());
    }
    std::fs::write(file, bytes).unwrap();
}

/// A trunk with four legs of three joints, which are held in place.
fn quadruped(ground: &str, height: f64) -> String {
    let (mut legs, mut motors) = (String::new(), String::new());
    for (leg, (x, y)) in [(0.2, 0.14), (0.2, -0.14), (-0.2, 0.14), (-0.2, -0.14)]
        .into_iter()
        .enumerate()
    {
        write!(
            legs,
            "<body pos='{x} {y} 0'><joint name='a{leg}' axis='1 0 0' damping='1'/>\
             <geom type='cylinder' size='.04 .02' mass='.6'/>\
             <body><joint name='b{leg}' axis='0 1 0' damping='1'/>\
             <geom type='capsule' size='.02' fromto='0 0 0 -.1 0 -.19' mass='.9'/>\
             <body pos='-.1 0 -.19'><joint name='c{leg}' axis='0 1 0' damping='1'/>\
             <geom type='capsule' size='.015' fromto='0 0 0 .1 0 -.19' mass='.2'/>\
             <geom type='sphere' size='.022' pos='.1 0 -.19' mass='.05' friction='.8'/>\
             </body></body></body>"
        )
        .unwrap();
        for joint in ["a", "b", "c"] {
            write!(motors, "<position joint='{joint}{leg}' kp='120' kv='3'/>").unwrap();
        }
    }
    format!(
        "<mujoco model='m'>{ground}<body name='trunk' pos='0.013 0.017 {height}'><freejoint/>\
         <geom type='box' size='.25 .1 .06' mass='7'/>{legs}</body></worldbody>\
         <actuator>{motors}</actuator></mujoco>"
    )
}

/// Terrain whose highest point is `height` (m) above the lowest.
fn on_field(file: &Path, height: f64) -> String {
    format!(
        "<asset><hfield name='hills' file='{}' size='10 10 {height} .5'/></asset><worldbody>\
         <geom type='hfield' hfield='hills' pos='0 0 {}'/>",
        file.display(),
        -0.5 * height
    )
}

fn read(text: &str) -> (MultibodyPlantBuilder, SceneGraph) {
    let (mut plant, mut scene) = (
        MultibodyPlantBuilder::new(0.002).unwrap(),
        SceneGraph::new(),
    );
    let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
    parser.set_mjcf_semantics(MjcfSemantics::MuJoCo);
    parser.add_models_from_string(text, "xml").unwrap();
    (plant, scene)
}

fn height_fields(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hills.hf");
    write_terrain(&file);
    let alone = format!(
        "<mujoco model='m'>{}</worldbody></mujoco>",
        on_field(&file, 0.2)
    );
    c.bench_function("H.load/1024x1024", |bencher| {
        bencher.iter_batched(|| (), |()| read(&alone), BatchSize::PerIteration);
    });
    let grounds = [
        (
            "plane",
            "<worldbody><geom type='plane' size='10 10 1'/>".to_owned(),
        ),
        ("gentle", on_field(&file, 0.05)),
        ("field", on_field(&file, 0.2)),
        ("steep", on_field(&file, 0.4)),
    ];
    for (name, contact) in [
        ("points", ContactModel::Point),
        ("manifolds", ContactModel::PointManifold),
    ] {
        for (ground, text) in &grounds {
            let (mut plant, scene) = read(&quadruped(text, 0.55));
            plant.set_contact_model(contact);
            let mut b = DiagramBuilder::new();
            let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
            let diagram = b.build().unwrap();
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(2.0).unwrap();
            let trunk = plant.body_by_name("trunk").unwrap();
            let pose = sim.context().eval(plant.body_poses).unwrap()[trunk.index()];
            let stands = pose.translation.z > 0.3;
            assert_eq!(stands, *ground != "steep", "{ground}: {pose}");
            let mut t = 2.0;
            c.bench_function(&format!("H.step/{name}/{ground}"), |bencher| {
                bencher.iter(|| {
                    t += 0.002;
                    sim.advance_to(t).unwrap();
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = height_fields
}
criterion_main!(benches);
