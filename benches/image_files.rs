//! Benches of image files and videos, the counterpart of `e_render.py vtk 1core` with `PARTS=io`.
//!
//! With `TARRAGON_BENCH_IMAGES=DIR`, the three images are also left in that directory as files, so
//! that another writer can be timed on them.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/render_scene.rs"]
mod render_scene;
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Matrix3, Vector3};
use render_scene::render_objects;
use std::path::Path;
use support::scene;
use tarragon::framework::math;
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::prelude::*;
use tarragon::sensors::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, ImageAny,
    ImageDepth32F, ImageFileFormat, ImageIo, ImageLabel16I, ImageRgba8U, RenderCameraCore,
    VideoFile, color_map,
};

struct Images {
    color: ImageRgba8U,
    depth: ImageDepth32F,
    label: ImageLabel16I,
}

/// The images that the script's camera takes of its scene of 100 objects.
fn images() -> Option<Images> {
    let json = scene("render_100")?;
    let mut graph = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    graph.add_renderer("r", engine).unwrap();
    let source = graph.register_source("s").unwrap();
    for (i, (shape, pose, looks)) in render_objects(&json).into_iter().enumerate() {
        let instance = GeometryInstance::new(pose, shape, &format!("g{i}")).unwrap();
        graph
            .register_anchored_geometry(source, instance.with_perception(looks))
            .unwrap();
    }
    let world = graph.world_frame_id();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene", graph);
    let ctx = b.build().unwrap().default_context();
    let query = ctx.eval(graph.query).unwrap();

    let (s, c) = 0.3_f64.sin_cos();
    let from = Vector3::new(c * 0.8_f64.cos(), s * 0.8_f64.cos(), 0.8_f64.sin());
    let x = Vector3::z().cross(&from).normalize();
    let r = Matrix3::from_columns(&[x, x.cross(&from), -from]);
    let distance = json["camera_distance"].as_f64().unwrap();
    let x_wc = math::pose(math::rotation_from_matrix(&r), from * distance);
    let info = CameraInfo::from_fov_y(640, 480, std::f64::consts::FRAC_PI_4).unwrap();
    let clipping = ClippingRange::new(0.05, 60.0).unwrap();
    let core = RenderCameraCore::new("r", info, clipping, Isometry3::identity());
    let range = DepthRange::new(0.1, 50.0).unwrap();
    let color_camera = ColorRenderCamera::from_core(core.clone());
    let depth_camera = DepthRenderCamera::from_core(core, range).unwrap();
    let mut images = Images {
        color: ImageRgba8U::new(640, 480),
        depth: ImageDepth32F::new(640, 480),
        label: ImageLabel16I::new(640, 480),
    };
    query
        .render_color_image(&color_camera, world, &x_wc, &mut images.color)
        .unwrap();
    query
        .render_depth_image(&depth_camera, world, &x_wc, &mut images.depth)
        .unwrap();
    query
        .render_label_image(&color_camera, world, &x_wc, &mut images.label)
        .unwrap();
    Some(images)
}

fn files(c: &mut Criterion) {
    let Some(Images {
        color,
        depth,
        label,
    }) = images()
    else {
        return;
    };
    let io = ImageIo::new();
    let folder = std::env::temp_dir().join(format!("tarragon-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let files: [(&str, ImageAny, &str); 5] = [
        ("color", color.clone().into(), "png"),
        ("depth32F", depth.clone().into(), "tiff"),
        ("label16I", label.into(), "png"),
        ("color", color.clone().into(), "jpg"),
        ("color", color.clone().into(), "tiff"),
    ];
    for (kind, image, extension) in &files {
        let path = folder.join(format!("{kind}.{extension}"));
        let id = |what| format!("E.vtk.1core.ImageIo.{what}.{kind}.{extension}.640x480");
        let mut bench = |what, act: &mut dyn FnMut()| {
            let mut group = c.benchmark_group(id(what));
            group.sample_size(30);
            group.bench_function("1", |b| b.iter(&mut *act));
            group.finish();
        };
        bench("Save", &mut || io.save(image, &path).unwrap());
        bench("Load", &mut || drop(io.load(&path).unwrap()));
        let format = ImageFileFormat::of_path(&path).unwrap();
        bench("Encode", &mut || {
            io.save_to_buffer(image, format).unwrap();
        });
        if let Some(out) = std::env::var_os("TARRAGON_BENCH_IMAGES") {
            std::fs::copy(&path, Path::new(&out).join(path.file_name().unwrap())).unwrap();
        }
    }
    for extension in ["avi", "png"] {
        let path = folder.join(format!("video.{extension}"));
        let mut video = VideoFile::create(&path, 30.0).unwrap();
        c.bench_function(&format!("video_frame.color.{extension}.640x480"), |b| {
            b.iter(|| video.write_frame(&color).unwrap());
        });
        drop(video);
        std::fs::remove_file(&path).unwrap();
    }
    let mut picture = ImageRgba8U::new(640, 480);
    let range = DepthRange::new(0.1, 10.0).unwrap();
    c.bench_function("colorize_depth.640x480", |b| {
        b.iter(|| color_map::colorize_depth(&depth, range, &mut picture));
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

criterion_group!(benches, files);
criterion_main!(benches);
