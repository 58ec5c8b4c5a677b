//! Benches of Meshcat without a connected page, the counterpart of `g_meshcat.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{Isometry3, Vector3};
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::{numbers, scene};
use tarragon::framework::primitives::TrajectorySource;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::geometry::{BoxShape, Capsule, FrameId, Sphere};
use tarragon::multibody::{
    ModelInstanceIndex, MultibodyPlantBuilder, PositionSource, SpatialInertia, VisualProperties,
    add_multibody_plant_scene_graph,
};
use tarragon::prelude::*;
use tarragon::visualization::{Meshcat, MeshcatParams, MeshcatVisualizer};

fn server() -> Meshcat {
    let port = Some(0);
    let params = MeshcatParams {
        port,
        ..Default::default()
    };
    Meshcat::new(params).unwrap()
}

fn start(c: &mut Criterion) {
    c.bench_function("G.Meshcat_start/1", |bencher| {
        bencher.iter_batched(|| (), |()| server(), BatchSize::PerIteration);
    });
}

/// The script's diagram: free bodies of the scene `mixed_n` moving along straight lines.
struct Stage {
    diagram: Diagram<f64>,
    scene: Block<SceneGraph>,
    visualizer: Block<MeshcatVisualizer>,
    last_frame: FrameId,
}

fn shape_of(value: &serde_json::Value) -> Shape {
    let size = |i: usize| value[i].as_f64().unwrap();
    match value[0].as_str().unwrap() {
        "sphere" => Sphere::new(size(1)).unwrap().into(),
        "box" => BoxShape::new(size(1), size(2), size(3)).unwrap().into(),
        "capsule" => Capsule::new(size(1), size(2)).unwrap().into(),
        other => panic!("{other}"),
    }
}

fn stage(n: usize, meshcat: &Meshcat) -> Option<Stage> {
    let json = scene(&format!("mixed_{n}"))?;
    let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01).unwrap(), SceneGraph::new());
    plant.set_position_source(PositionSource::InputPort);
    plant
        .register_as_source_for_scene_graph(&mut scene)
        .unwrap();
    for (i, shape) in json["shapes"].as_array().unwrap().iter().enumerate() {
        let inertia = SpatialInertia::plausible(1.0, Vector3::zeros()).unwrap();
        let body = plant
            .add_rigid_body(&format!("b{i}"), ModelInstanceIndex::DEFAULT, inertia)
            .unwrap();
        let blue = Rgba::new(0.2, 0.4, 0.8, 1.0).unwrap();
        let name = format!("v{i}");
        let properties = VisualProperties {
            illustration: Some(IllustrationProperties::phong(blue)),
            perception: None,
        };
        let pose = Isometry3::identity();
        plant
            .register_visual_geometry(&mut scene, body, pose, shape_of(shape), &name, properties)
            .unwrap();
    }
    let plant = plant.build_with_scene(&mut scene).unwrap();
    let last_frame = scene.model_inspector().frame_ids().last().unwrap();

    let poses = json["pose_sets"][0].as_array().unwrap();
    let q0: Vec<f64> = poses.iter().flat_map(numbers).collect();
    let mut q1 = q0.clone();
    q1.iter_mut().skip(6).step_by(7).for_each(|z| *z += 1.0);
    let line = PiecewisePolynomial::first_order_hold(&[0.0, 10.0], &[q0, q1]).unwrap();
    let mut b = DiagramBuilder::new();
    let source = b.add("source", TrajectorySource::new(line, 0));
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant, scene).unwrap();
    b.connect(source.y, plant.position().unwrap());
    let (query, shown) = (scene.query, meshcat.clone());
    let visualizer =
        MeshcatVisualizer::add_to_builder(&mut b, query, shown, Default::default()).unwrap();
    Some(Stage {
        diagram: b.build().unwrap(),
        scene,
        visualizer,
        last_frame,
    })
}

fn publish(c: &mut Criterion) {
    for n in [100, 1000] {
        let meshcat = server();
        let Some(stage) = stage(n, &meshcat) else {
            continue;
        };
        let id = |what: &str| format!("G.{what}/{n}");
        c.bench_function(&id("first_publish(set objects)"), |bencher| {
            let fresh = || {
                meshcat.delete("");
                stage.diagram.default_context()
            };
            let publish = |ctx: Context<f64>| {
                ctx.force_publish().unwrap();
                ctx
            };
            bencher.iter_batched(fresh, publish, BatchSize::PerIteration);
        });
        meshcat.delete("");
        let mut ctx = stage.diagram.default_context();
        ctx.force_publish().unwrap();
        let mut k = 0;
        let mut next = |ctx: &mut Context<f64>| {
            k += 1;
            ctx.set_time(f64::from(k % 1000) * 0.01);
        };
        let name = id("publish_per_frame(incl. TrajectorySource+pose)");
        c.bench_function(&name, |bencher| {
            bencher.iter_custom(|times| {
                let mut total = Duration::ZERO;
                for _ in 0..times {
                    next(&mut ctx);
                    let start = Instant::now();
                    ctx.force_publish().unwrap();
                    total += start.elapsed();
                }
                total
            });
        });
        c.bench_function(&id("publish_per_frame(poses cached)"), |bencher| {
            bencher.iter_custom(|times| {
                let mut total = Duration::ZERO;
                for _ in 0..times {
                    next(&mut ctx);
                    let query = ctx.eval(stage.scene.query).unwrap();
                    black_box(query.pose_in_world(stage.last_frame).unwrap());
                    let start = Instant::now();
                    ctx.force_publish().unwrap();
                    total += start.elapsed();
                }
                total
            });
        });
        let mut group = c.benchmark_group("G.simulator_publish64Hz_per_frame");
        group.throughput(Throughput::Elements(64));
        group.bench_function(n.to_string(), |bencher| {
            let mut sim = Simulator::new(&stage.diagram, stage.diagram.default_context()).unwrap();
            sim.initialize().unwrap();
            let mut time = 0.0;
            bencher.iter(|| {
                time += 1.0;
                sim.advance_to(time).unwrap();
            });
        });
        group.finish();
        pages(c, n, &meshcat, &stage);
    }
}

fn pages(c: &mut Criterion, n: usize, meshcat: &Meshcat, stage: &Stage) {
    let has_viewer = match meshcat.static_html() {
        Ok(page) => {
            eprintln!("StaticHtml/{n}: {} bytes", page.len());
            c.bench_function(&format!("G.StaticHtml/{n}"), |bencher| {
                bencher.iter(|| meshcat.static_html().unwrap());
            });
            true
        }
        Err(e) => {
            eprintln!("SKIPPED StaticHtml: {e}");
            false
        }
    };
    let visualizer = stage.visualizer.system();
    let mut ctx = stage.diagram.default_context();
    visualizer.start_recording(true).unwrap();
    for k in 0..64 {
        ctx.set_time(f64::from(k) * 0.01);
        ctx.force_publish().unwrap();
    }
    visualizer.stop_recording();
    c.bench_function(&format!("G.PublishRecording(64 frames)/{n}"), |bencher| {
        bencher.iter(|| visualizer.publish_recording());
    });
    if has_viewer {
        let page = meshcat.static_html().unwrap();
        eprintln!(
            "StaticHtml_with_64frame_animation/{n}: {} bytes",
            page.len()
        );
        let name = format!("G.StaticHtml_with_64frame_animation/{n}");
        c.bench_function(&name, |bencher| {
            bencher.iter(|| meshcat.static_html().unwrap());
        });
    }
}

fn set_transform(c: &mut Criterion) {
    let meshcat = server();
    let red = Rgba::new(1.0, 0.0, 0.0, 1.0).unwrap();
    let ball = Sphere::new(0.1).unwrap().into();
    let paths: Vec<String> = (0..1000).map(|i| format!("o/{i}")).collect();
    for path in &paths {
        meshcat.set_object(path, &ball, red).unwrap();
    }
    let mut group = c.benchmark_group("G.Meshcat.SetTransform(python loop)");
    group.throughput(Throughput::Elements(1000));
    group.bench_function("1000", |bencher| {
        let mut pose = Isometry3::identity();
        bencher.iter(|| {
            // An equal pose would not count as a change.
            pose.translation.x += 0.001;
            for path in &paths {
                meshcat.set_transform(path, &pose);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, start, publish, set_transform);
criterion_main!(benches);
