//! Benches of batches: many worlds in one call, with the CPU engine and, with the feature `gpu`, on
//! the adapter whose name is printed. Images are read back to the host.
//!
//! ```text
//! cargo bench --bench render_batches --features gpu
//! ```

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]
#![allow(clippy::print_stderr, reason = "the adapter belongs to the figures")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon::framework::math::rotation_exp;
use tarragon::framework::random::RandomGenerator;
use tarragon::geometry::render::{
    CameraBatch, CameraInfo, ColorRenderCamera, DepthRenderCamera, ImageBatch, ImageDepth32F,
    ImageLabel16I, ImageRgba8U, RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView,
};
use tarragon::geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, GeometryId, Mesh, PerceptionProperties, Rgba, Shape,
    Sphere,
};

/// Engines with their names in the ids of benches.
fn engines() -> Vec<(&'static str, Box<dyn RenderEngine>)> {
    let cpu = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    #[allow(unused_mut, reason = "the feature gpu adds one")]
    let mut engines: Vec<(&'static str, Box<dyn RenderEngine>)> = vec![("cpu", Box::new(cpu))];
    #[cfg(feature = "gpu")]
    match tarragon::gpu::RenderEngineGpu::new(Default::default()) {
        Ok(gpu) => {
            for adapter in tarragon::gpu::list_adapters() {
                eprintln!("adapter: {adapter:?}");
            }
            engines.push(("gpu", Box::new(gpu)));
        }
        Err(error) => eprintln!("no GPU: {error}"),
    }
    engines
}

/// Primitives of all kinds, different in size.
fn primitives(count: usize) -> Vec<Shape> {
    let shape = |i: usize| -> Shape {
        let size = 0.1 + 0.01 * (i % 7) as f64;
        match i % 5 {
            0 => Sphere::new(size).unwrap().into(),
            1 => BoxShape::new(size, 1.5 * size, 2.0 * size).unwrap().into(),
            2 => Cylinder::new(size, 2.0 * size).unwrap().into(),
            3 => Capsule::new(size, 2.0 * size).unwrap().into(),
            _ => Ellipsoid::new(size, 1.5 * size, 0.7 * size).unwrap().into(),
        }
    };
    (0..count).map(shape).collect()
}

/// Eight links of a robot, meshes of 2,000 triangles each.
fn links() -> Vec<Shape> {
    let mut text = String::new();
    let (rows, columns) = (20, 50);
    for i in 0..=rows {
        for j in 0..columns {
            let (phi, theta) = (
                std::f64::consts::PI * f64::from(i) / f64::from(rows),
                std::f64::consts::TAU * f64::from(j) / f64::from(columns),
            );
            let r = 0.15 + 0.02 * (5.0 * theta).sin();
            let (x, y) = (r * phi.sin() * theta.cos(), r * phi.sin() * theta.sin());
            text += &format!("v {x} {y} {}\n", 0.3 * phi.cos());
        }
    }
    for i in 0..rows {
        for j in 0..columns {
            let [a, b] = [j, (j + 1) % columns].map(|j| i * columns + j + 1);
            text += &format!("f {a} {0} {b}\nf {b} {0} {1}\n", a + columns, b + columns);
        }
    }
    let file = tarragon::geometry::MemoryFile::new(text, ".obj", "link");
    let mesh = Mesh::new(tarragon::geometry::InMemoryMesh::new(file));
    vec![mesh.into(); 8]
}

type Poses = BTreeMap<GeometryId, Isometry3<f64>>;

fn bench(c: &mut Criterion, name: &str, shapes: &[Shape], worlds: usize, [w, h]: [usize; 2]) {
    for (engine_name, mut engine) in engines() {
        let mut random = RandomGenerator::new(1);
        let ids: Vec<GeometryId> = shapes
            .iter()
            .enumerate()
            .map(|(i, shape)| {
                let id = GeometryId::new();
                let shade = i as f64 / shapes.len() as f64;
                let look = PerceptionProperties::phong(Rgba::opaque(shade, 0.5, 0.3).unwrap());
                engine.register_visual(id, shape, &look).unwrap();
                id
            })
            .collect();
        let mut between = |low: f64, high: f64| random.uniform(low, high);
        let mut world = || -> Poses {
            let mut pose = || {
                let p = Vector3::new(between(-1.0, 1.0), between(-1.0, 1.0), between(2.0, 4.0));
                let q = Vector3::from_fn(|_, _| between(-2.0, 2.0));
                Isometry3::from_parts(p.into(), rotation_exp(&q))
            };
            ids.iter().map(|id| (*id, pose())).collect()
        };
        let worlds: Vec<Poses> = (0..worlds).map(|_| world()).collect();
        let poses: Vec<_> = worlds
            .iter()
            .map(|world| |id| world.get(&id).copied())
            .collect();
        let views: Vec<_> = poses
            .iter()
            .map(|poses| RenderView::new(Isometry3::identity(), poses))
            .collect();
        let info = CameraInfo::from_fov_y(w, h, 0.9).unwrap();
        let color_camera = ColorRenderCamera::new("b", info);
        let depth_camera = DepthRenderCamera::new("b", info);
        let cameras = CameraBatch::new()
            .with_label(color_camera.clone())
            .with_color(color_camera.clone())
            .with_depth(depth_camera.clone());
        let mut images = ImageBatch::default();
        let mut group = c.benchmark_group("render_batches");
        group.sample_size(10);
        group.throughput(Throughput::Elements(views.len() as u64));
        group.bench_function(
            format!("{name}.{w}x{h}.{engine_name}/{}", views.len()),
            |b| {
                b.iter(|| engine.render_batch(&views, &cameras, &mut images).unwrap());
            },
        );
        // The same images one by one, with all threads for each.
        let mut color = ImageRgba8U::new(w, h);
        let mut depth = ImageDepth32F::new(w, h);
        let mut label = ImageLabel16I::new(w, h);
        group.bench_function(
            format!("{name}.{w}x{h}.{engine_name}.loop/{}", views.len()),
            |b| {
                b.iter(|| {
                    for view in &views {
                        engine
                            .render_color(view, &color_camera, &mut color)
                            .unwrap();
                        engine
                            .render_depth(view, &depth_camera, &mut depth)
                            .unwrap();
                        engine
                            .render_label(view, &color_camera, &mut label)
                            .unwrap();
                    }
                });
            },
        );
        group.finish();
    }
}

fn batches(c: &mut Criterion) {
    bench(c, "10_primitives", &primitives(10), 4096, [64, 64]);
    bench(c, "robot_of_meshes", &links(), 1024, [128, 128]);
    bench(c, "1000_primitives", &primitives(1000), 1, [640, 480]);
}

criterion_group!(benches, batches);
criterion_main!(benches);
