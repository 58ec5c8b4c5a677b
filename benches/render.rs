//! Benches of the CPU render engine and of cameras that write files, the counterpart of
//! `e_render.py vtk 1core` and `4core`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/render_scene.rs"]
mod render_scene;
mod support;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Matrix3, Translation3, Vector3};
use rayon::prelude::*;
use render_scene::render_objects;
use std::hint::black_box;
use support::{scene, scenes};
use tarragon::framework::math;
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::geometry::{FrameId, FramePoseVector, Mesh, RenderLabel};
use tarragon::prelude::*;
use tarragon::sensors::{
    CameraInfo, ClippingRange, ColorRenderCamera, Depth32F, DepthRange, DepthRenderCamera,
    ImageDepth32F, ImageLabel16I, ImageRgba8U, Label16I, RenderCameraCore, Rgba8U,
};

/// Pose of a camera that looks at the origin from `distance`, 0.8 rad above the ground.
fn camera_pose(distance: f64, azimuth: f64) -> Isometry3<f64> {
    let (s, c) = azimuth.sin_cos();
    let p = Vector3::new(c * 0.8_f64.cos(), s * 0.8_f64.cos(), 0.8_f64.sin()) * distance;
    let z = -p.normalize();
    let x = z.cross(&Vector3::z()).normalize();
    let r = Matrix3::from_columns(&[x, z.cross(&x), z]);
    math::pose(math::rotation_from_matrix(&r), p)
}

/// A scene of the script, and the viewing distance.
struct Stage {
    /// Tag of the scene in bench ids, and the number after it.
    name: &'static str,
    n: usize,
    json: Option<serde_json::Value>,
    mesh: Option<Mesh>,
    distance: f64,
}

impl Stage {
    fn primitives(n: usize) -> Option<Self> {
        let json = scene(&format!("render_{n}"))?;
        Some(Self {
            name: "prims",
            n,
            distance: json["camera_distance"].as_f64().unwrap(),
            json: Some(json),
            mesh: None,
        })
    }

    /// The mesh of 101,760 triangles, which the script keeps next to its scenes.
    fn mesh(name: &'static str, extension: &str) -> Option<Self> {
        let path = scenes().join(format!("../meshes/bumpyn.{extension}"));
        if !path.exists() {
            eprintln!("SKIPPED {}: no such file", path.display());
            return None;
        }
        Some(Self {
            name,
            n: 1,
            json: None,
            mesh: Some(Mesh::new(path)),
            distance: 2.0,
        })
    }

    /// The script's objects: shape, pose and properties.
    fn objects(&self) -> Vec<(Shape, Isometry3<f64>, PerceptionProperties)> {
        let mut objects = self.json.as_ref().map_or_else(Vec::new, render_objects);
        if let Some(mesh) = &self.mesh {
            let color = Rgba::new(0.8, 0.5, 0.2, 1.0).unwrap();
            let label = RenderLabel::new(1).unwrap();
            let properties = PerceptionProperties::phong(color).with_label(label);
            objects.push((mesh.clone().into(), Isometry3::identity(), properties));
        }
        objects
    }

    /// A scene graph with all objects anchored, and a renderer "r".
    fn graph(&self, threads: Option<usize>) -> SceneGraph {
        let mut graph = SceneGraph::new();
        add_renderer(&mut graph, threads);
        let source = graph.register_source("s").unwrap();
        for (i, (shape, pose, properties)) in self.objects().into_iter().enumerate() {
            let instance = GeometryInstance::new(pose, shape, &format!("g{i}"))
                .unwrap()
                .with_perception(properties);
            graph.register_anchored_geometry(source, instance).unwrap();
        }
        graph
    }
}

fn add_renderer(graph: &mut SceneGraph, threads: Option<usize>) {
    let params = RenderEngineCpuParams {
        threads,
        ..RenderEngineCpuParams::default()
    };
    let engine = RenderEngineCpu::new(params).unwrap();
    graph.add_renderer("r", engine).unwrap();
}

fn cameras(width: usize, height: usize) -> (ColorRenderCamera, DepthRenderCamera) {
    let info = CameraInfo::from_fov_y(width, height, std::f64::consts::FRAC_PI_4).unwrap();
    let clipping = ClippingRange::new(0.05, 60.0).unwrap();
    let core = RenderCameraCore::new("r", info, clipping, Isometry3::identity());
    let range = DepthRange::new(0.1, 50.0).unwrap();
    let depth = DepthRenderCamera::from_core(core.clone(), range).unwrap();
    (ColorRenderCamera::from_core(core), depth)
}

/// A query object with a snapshot of the scene.
fn snapshot(graph: SceneGraph) -> QueryObject<f64> {
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene", graph);
    let ctx = b.build().unwrap().default_context();
    ctx.eval(graph.query).unwrap().clone()
}

/// One frame per iteration, from 16 viewpoints in turn.
fn frames(c: &mut Criterion) {
    let stages = [10, 100, 1000].map(Stage::primitives);
    let meshes = ["obj", "gltf"].map(|extension| {
        let name = if extension == "obj" {
            "mesh101760tri.obj"
        } else {
            "mesh101760tri.gltf"
        };
        Stage::mesh(name, extension)
    });
    for stage in stages.into_iter().chain(meshes).flatten() {
        for (tag, threads) in [("1core", Some(1)), ("4core", Some(4))] {
            let graph = stage.graph(threads);
            let world = graph.world_frame_id();
            let query = snapshot(graph);
            let views: Vec<_> = (0..16)
                .map(|i| camera_pose(stage.distance, 0.3 + 0.1 * f64::from(i)))
                .collect();
            let mut view = views.iter().cycle();
            let mut next = move || *view.next().unwrap();
            for (width, height) in [(640, 480), (1280, 720)] {
                let (color, depth) = cameras(width, height);
                let mut bench = |kind: &str, draw: &mut dyn FnMut(&Isometry3<f64>)| {
                    let id = format!("E.vtk.{tag}.{kind}.{}.{width}x{height}", stage.name);
                    let mut group = c.benchmark_group(id);
                    group.sample_size(20);
                    let id = stage.n.to_string();
                    group.bench_function(id, |bencher| bencher.iter(|| draw(&next())));
                    group.finish();
                };
                let mut image = ImageRgba8U::new(width, height);
                bench("color", &mut |x_wc| {
                    let done = query.render_color_image(&color, world, x_wc, &mut image);
                    done.unwrap();
                    black_box(&image);
                });
                let mut image = ImageDepth32F::new(width, height);
                bench("depth", &mut |x_wc| {
                    let done = query.render_depth_image(&depth, world, x_wc, &mut image);
                    done.unwrap();
                    black_box(&image);
                });
                let mut image = ImageLabel16I::new(width, height);
                bench("label", &mut |x_wc| {
                    let done = query.render_label_image(&color, world, x_wc, &mut image);
                    done.unwrap();
                    black_box(&image);
                });
            }
        }
    }
}

/// Sixteen cameras on one scene: colour images of 320x240, drawn one after the other with all
/// threads each, or all at once.
fn sixteen_cameras(c: &mut Criterion) {
    let Some(stage) = Stage::primitives(100) else {
        return;
    };
    let (color, _) = cameras(320, 240);
    let views: Vec<_> = (0..16)
        .map(|i| camera_pose(stage.distance, 0.39 * f64::from(i)))
        .collect();
    for (name, threads, side_by_side) in [
        ("one_thread", Some(1), false),
        ("threads_in_each", None, false),
        ("side_by_side", None, true),
    ] {
        let graph = stage.graph(threads);
        let world = graph.world_frame_id();
        let query = snapshot(graph);
        let mut images = vec![ImageRgba8U::new(320, 240); views.len()];
        c.bench_function(&format!("cameras16.{name}/100"), |bencher| {
            let draw = |(x_wc, image): (&Isometry3<f64>, &mut ImageRgba8U)| {
                query
                    .render_color_image(&color, world, x_wc, image)
                    .unwrap();
            };
            bencher.iter(|| {
                if side_by_side {
                    views.par_iter().zip(&mut images).for_each(draw);
                } else {
                    views.iter().zip(&mut images).for_each(draw);
                }
            });
        });
    }
}

/// A system in which all objects rise by 0.2 m in 2 s.
struct Rising {
    frames: Vec<(FrameId, Isometry3<f64>)>,
}

impl LeafSystem<f64> for Rising {
    type Ports = OutputPort<FramePoseVector<f64>>;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let none = FramePoseVector::default();
        d.output("poses", none, Dep::Time, |this, ctx, poses| {
            let up = Translation3::new(0.0, 0.0, 0.1 * ctx.time().min(2.0));
            *poses = this.frames.iter().map(|(id, x)| (*id, up * x)).collect();
            Ok(())
        })
    }
}

/// A camera at 30 Hz that writes its images to disk, 2 s per iteration.
fn sensor_and_writer(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    for stage in [10, 100].into_iter().filter_map(Stage::primitives) {
        for kinds in [&["color"][..], &["depth"], &["color", "depth", "label"]] {
            let mut graph = SceneGraph::new();
            add_renderer(&mut graph, Some(1));
            let source = graph.register_source("s").unwrap();
            let mut frames = vec![];
            // The script draws the objects without the ground here.
            let objects = stage.objects().into_iter().take(stage.n);
            for (i, (shape, x_wg, properties)) in objects.enumerate() {
                let frame = GeometryFrame::new(format!("f{i}"));
                let frame = graph.register_frame(source, frame).unwrap();
                let instance = GeometryInstance::new(Isometry3::identity(), shape, "v").unwrap();
                let instance = instance.with_perception(properties);
                graph.register_geometry(source, frame, instance).unwrap();
                frames.push((frame, x_wg));
            }
            let world = graph.world_frame_id();
            let (color, depth) = cameras(640, 480);
            let mut b = DiagramBuilder::new();
            let graph = b.add_f64("scene_graph", graph);
            let poses = b.add_f64("poses", Rising { frames });
            b.connect(*poses, graph.source_pose_port(source).unwrap());
            let x_wb = camera_pose(stage.distance, 0.3);
            let camera = b.add_f64("camera", RgbdSensor::new(world, x_wb, color, depth));
            b.connect(graph.query, camera.geometry_query);
            let mut writer = ImageWriter::new();
            let path = |kind: &str| format!("{}/{kind}_{{count:04}}", folder.path().display());
            let period = 1.0 / 30.0;
            let (mut colors, mut depths, mut labels) = (None, None, None);
            for kind in kinds {
                let path = path(kind);
                match *kind {
                    "color" => {
                        colors = Some(
                            writer
                                .declare_image_input_port::<Rgba8U>(kind, &path, period, 0.0)
                                .unwrap(),
                        )
                    }
                    "depth" => {
                        depths = Some(
                            writer
                                .declare_image_input_port::<Depth32F>(kind, &path, period, 0.0)
                                .unwrap(),
                        )
                    }
                    _ => {
                        labels = Some(
                            writer
                                .declare_image_input_port::<Label16I>(kind, &path, period, 0.0)
                                .unwrap(),
                        )
                    }
                }
            }
            let writer = b.add_f64("writer", writer);
            if let Some(port) = colors {
                b.connect(camera.color_image, writer.image_port(port).unwrap());
            }
            if let Some(port) = depths {
                b.connect(camera.depth_image_32f, writer.image_port(port).unwrap());
            }
            if let Some(port) = labels {
                b.connect(camera.label_image, writer.image_port(port).unwrap());
            }
            let diagram = b.build().unwrap();
            let id = format!(
                "E.vtk.1core.RgbdSensor+ImageWriter.30Hz.2s.{}",
                kinds.join("+")
            );
            let mut group = c.benchmark_group(id);
            group.sample_size(10);
            group.bench_function(stage.n.to_string(), |bencher| {
                let prepare = || {
                    let mut simulator =
                        Simulator::new(&diagram, diagram.default_context()).unwrap();
                    simulator.initialize().unwrap();
                    simulator
                };
                let run = |mut simulator: Simulator<f64>| simulator.advance_to(2.0).unwrap();
                bencher.iter_batched(prepare, run, BatchSize::PerIteration);
            });
            group.finish();
        }
    }
}

criterion_group!(benches, frames, sixteen_cameras, sensor_and_writer);
criterion_main!(benches);
