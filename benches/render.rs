//! The CPU render engine on one thread: next to `e_render.py vtk 1core`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::hint::black_box;
use support::{numbers, pose, scene};
use tarragon::framework::math;
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::geometry::{BoxShape, Capsule, Cylinder, Ellipsoid, RenderLabel, Sphere};
use tarragon::prelude::*;
use tarragon::sensors::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, ImageDepth32F,
    ImageLabel16I, ImageRgba8U, RenderCameraCore,
};

/// A camera that looks at the origin from `distance`, 0.8 rad above the ground.
fn camera_pose(distance: f64, azimuth: f64) -> Isometry3<f64> {
    let (s, c) = azimuth.sin_cos();
    let p = Vector3::new(c * 0.8_f64.cos(), s * 0.8_f64.cos(), 0.8_f64.sin()) * distance;
    let z = -p.normalize();
    let x = z.cross(&Vector3::z()).normalize();
    let r = Matrix3::from_columns(&[x, z.cross(&x), z]);
    math::pose(math::rotation_from_matrix(&r), p)
}

fn properties(object: &serde_json::Value) -> PerceptionProperties {
    let c = numbers(&object["rgba"]);
    let label = RenderLabel::new(object["label"].as_i64().unwrap() as i16).unwrap();
    PerceptionProperties::with_color_and_label(Rgba::new(c[0], c[1], c[2], c[3]).unwrap(), label)
}

fn primitives(c: &mut Criterion) {
    for n in [10, 100, 1000] {
        let Some(json) = scene(&format!("render_{n}")) else {
            continue;
        };
        let mut graph = SceneGraph::new();
        let params = RenderEngineCpuParams {
            threads: Some(1),
            ..RenderEngineCpuParams::default()
        };
        graph
            .add_renderer("r", RenderEngineCpu::new(params).unwrap())
            .unwrap();
        let source = graph.register_source("s").unwrap();
        for (i, object) in json["objects"]
            .as_array()
            .unwrap()
            .iter()
            .chain([&json["ground"]])
            .enumerate()
        {
            let d = numbers(&object["dims"]);
            let shape: Shape = match object["shape"].as_str().unwrap_or("box") {
                "sphere" => Sphere::new(d[0]).unwrap().into(),
                "box" => BoxShape::new(d[0], d[1], d[2]).unwrap().into(),
                "capsule" => Capsule::new(d[0], d[1]).unwrap().into(),
                "cylinder" => Cylinder::new(d[0], d[1]).unwrap().into(),
                _ => Ellipsoid::new(d[0], d[1], d[2]).unwrap().into(),
            };
            let instance = GeometryInstance::new(pose(&object["pose"]), shape, &format!("g{i}"))
                .with_perception(properties(object));
            graph.register_anchored_geometry(source, instance).unwrap();
        }
        let world = graph.world_frame_id();
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene", graph);
        let ctx = b.build().unwrap().default_context();
        let query = ctx.eval(graph.query).unwrap();

        let info = CameraInfo::from_fov_y(640, 480, std::f64::consts::FRAC_PI_4).unwrap();
        let clipping = ClippingRange::new(0.05, 60.0).unwrap();
        let core = RenderCameraCore::new("r", info, clipping, Isometry3::identity());
        let color = ColorRenderCamera::new(core.clone());
        let depth = DepthRenderCamera::new(core, DepthRange::new(0.1, 50.0).unwrap()).unwrap();
        let distance = json["camera_distance"].as_f64().unwrap();
        let views: Vec<_> = (0..16)
            .map(|i| camera_pose(distance, 0.3 + 0.1 * f64::from(i)))
            .collect();
        let mut view = views.iter().cycle();
        let mut next = move || *view.next().unwrap();

        let mut bench = |kind: &str, draw: &mut dyn FnMut(&Isometry3<f64>)| {
            let mut group = c.benchmark_group(format!("E.vtk.1core.{kind}.prims.640x480"));
            group.sample_size(20);
            group.bench_function(n.to_string(), |bencher| bencher.iter(|| draw(&next())));
            group.finish();
        };
        let mut image = ImageRgba8U::new(640, 480);
        bench("color", &mut |x_wc| {
            query
                .render_color_image(&color, world, x_wc, &mut image)
                .unwrap();
            black_box(&image);
        });
        let mut image = ImageDepth32F::new(640, 480);
        bench("depth", &mut |x_wc| {
            query
                .render_depth_image(&depth, world, x_wc, &mut image)
                .unwrap();
            black_box(&image);
        });
        let mut image = ImageLabel16I::new(640, 480);
        bench("label", &mut |x_wc| {
            query
                .render_label_image(&color, world, x_wc, &mut image)
                .unwrap();
            black_box(&image);
        });
    }
}

criterion_group!(benches, primitives);
criterion_main!(benches);
