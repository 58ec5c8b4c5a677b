//! After a warm-up, moving and querying a scene allocates only the result, and drawing it allocates
//! nothing.
//!
//! Allocations are counted per thread.

use crate::counting_allocator::ALLOCATIONS;
use nalgebra::{Isometry3, Vector3};
use std::cell::Cell;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::*;
use tarragon_geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, FramePoseVector, GeometryFrame, GeometryInstance,
    HalfSpace, HydroelasticContactRepresentation, InMemoryMesh, MemoryFile, Mesh,
    PerceptionProperties, ProximityProperties, SceneGraph, Shape, Sphere,
};

fn allocations_of<R>(f: impl FnOnce() -> R) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    drop(f());
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn moving_and_querying_allocates_only_the_result() {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let role = ProximityProperties::new;
    let frames: Vec<_> = (0..300)
        .map(|i| {
            let frame = GeometryFrame::new(format!("f{i}"));
            let frame = graph.register_frame(source, frame).unwrap();
            let g = if i % 2 == 0 {
                let x_fg = Isometry3::translation(0.0, 0.05, 0.0);
                GeometryInstance::new(x_fg, Sphere::new(0.1).unwrap(), "g").unwrap()
            } else {
                let block = BoxShape::new(0.2, 0.2, 0.2).unwrap();
                GeometryInstance::new(Isometry3::identity(), block, "g").unwrap()
            };
            graph
                .register_geometry(source, frame, g.with_proximity(role()))
                .unwrap();
            frame
        })
        .collect();
    let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor").unwrap();
    graph
        .register_anchored_geometry(source, floor.with_proximity(role()))
        .unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene", graph);
    let mut ctx = b.build().unwrap().default_context();
    // A swarm: every shape moves on a small circle, and some jump.
    let poses = |step: usize| {
        let pose = |i: usize| {
            let place = Vector3::new((i % 20) as f64, (i / 20) as f64, 1.0) * 0.25;
            let phase = 0.3 * step as f64 + i as f64;
            let jump = if (i + step).is_multiple_of(40) {
                0.5
            } else {
                0.0
            };
            let p = place + Vector3::new(0.05 * phase.sin(), 0.05 * phase.cos(), jump);
            Isometry3::translation(p.x, p.y, p.z)
        };
        let poses = frames.iter().enumerate().map(|(i, f)| (*f, pose(i)));
        FramePoseVector::from_iter(poses)
    };
    let port = scene.source_pose_port(source).unwrap();
    let mut answers = 0;
    for step in 0..400 {
        ctx.fix(port, poses(step)).unwrap();
        let update = allocations_of(|| ctx.eval(scene.query).unwrap());
        let query = ctx.eval(scene.query).unwrap();
        let collide = allocations_of(|| query.has_collisions().unwrap());
        let penetrate = allocations_of(|| query.compute_point_pair_penetration().unwrap());
        let near = allocations_of(|| {
            query
                .compute_signed_distance_pairwise_closest_points(0.05)
                .unwrap()
        });
        answers += query.compute_point_pair_penetration().unwrap().len();
        // By then, everything has been built twice.
        if step >= 200 {
            assert_eq!((update, collide), (0, 0), "step {step}");
            assert!(
                penetrate <= 1 && near <= 1,
                "step {step}: {penetrate} {near}"
            );
        }
    }
    assert!(answers > 1000, "{answers}");
}

/// Contact surfaces of two soft balls and a block take a constant number of lists each, however
/// many faces they have.
#[test]
fn contact_surfaces_allocate_only_the_result() {
    let mut counts = vec![];
    for hint in [0.05, 0.01] {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("toys").unwrap();
        let hard = ProximityProperties::new().with_rigid_hydroelastic();
        let soft = ProximityProperties::new().with_compliant_hydroelastic(1e6);
        let soft = soft.and_then(|p| p.with_resolution_hint(hint)).unwrap();
        let ball: Shape = Sphere::new(0.2).unwrap().into();
        let block = BoxShape::new(0.6, 0.6, 0.2).unwrap().into();
        let toys = [
            (&block, hard, 0.0),
            (&ball, soft.clone(), 0.25),
            (&ball, soft, 0.6),
        ];
        let frames = toys.map(|(shape, properties, z)| {
            let frame = graph.register_frame(source, GeometryFrame::new(format!("at {z}")));
            let frame = frame.unwrap();
            let toy = GeometryInstance::new(Isometry3::identity(), shape.clone(), "toy").unwrap();
            let toy = toy.with_proximity(properties);
            graph.register_geometry(source, frame, toy).unwrap();
            (frame, z)
        });
        let mut b = DiagramBuilder::new();
        let scene = b.add("scene", graph);
        let mut ctx = b.build().unwrap().default_context();
        let port = scene.source_pose_port(source).unwrap();
        for step in 0..40 {
            let moved = |z: f64| Isometry3::translation(0.01 * f64::from(step % 5), 0.0, z);
            let poses = frames.map(|(frame, z)| (frame, moved(z)));
            ctx.fix(port, FramePoseVector::from_iter(poses)).unwrap();
            let query = ctx.eval(scene.query).unwrap();
            let polygons = HydroelasticContactRepresentation::Polygon;
            let mut faces = 0;
            let count = allocations_of(|| {
                let surfaces = query.compute_contact_surfaces(polygons).unwrap();
                assert_eq!(surfaces.len(), 2);
                faces = surfaces.iter().map(|s| s.num_faces()).sum();
                surfaces
            });
            if step >= 20 {
                counts.push(count);
            }
            assert!(faces > if hint < 0.02 { 1500 } else { 80 }, "{faces}");
        }
    }
    // Vertices, faces and data of each mesh and field, and the lists of surfaces.
    assert!(
        counts
            .iter()
            .all(|count| *count == counts[0] && *count <= 30),
        "{counts:?}"
    );
}

/// A wavy surface of 5000 triangles.
fn wave() -> Mesh {
    let mut obj = String::new();
    let n = 50;
    for k in 0..=n * (n + 2) {
        let (x, y) = (
            (k % (n + 1)) as f64 / n as f64,
            (k / (n + 1)) as f64 / n as f64,
        );
        obj += &format!("v {x} {y} {}\n", 0.1 * (9.0 * x).sin() * (7.0 * y).cos());
    }
    for k in (0..n * (n + 1)).filter(|k| k % (n + 1) < n) {
        let (a, b, c, d) = (k + 1, k + 2, k + n + 2, k + n + 3);
        obj += &format!("f {a} {b} {c}\nf {b} {d} {c}\n");
    }
    Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "wave")))
}

#[test]
fn drawing_allocates_nothing() {
    let mut graph = SceneGraph::new();
    let lamp = |x: f64| LightParameter {
        direction: Vector3::new(x, 0.5, 1.0),
        ..LightParameter::default()
    };
    let params = RenderEngineCpuParams {
        lights: vec![lamp(0.0), lamp(1.0)],
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    };
    let engine = RenderEngineCpu::new(params).unwrap();
    graph.add_renderer("cpu", engine).unwrap();
    let source = graph.register_source("toys").unwrap();
    let shapes: [Shape; 6] = [
        Sphere::new(0.2).unwrap().into(),
        BoxShape::new(0.3, 0.2, 0.4).unwrap().into(),
        Capsule::new(0.1, 0.3).unwrap().into(),
        Cylinder::new(0.1, 0.3).unwrap().into(),
        Ellipsoid::new(0.1, 0.2, 0.3).unwrap().into(),
        wave().into(),
    ];
    for k in 0..60 {
        let place = Vector3::new((k % 8) as f64 - 4.0, (k / 8) as f64 - 4.0, 5.0);
        let turn = math::rotation_exp(&Vector3::new(0.1 * k as f64, 0.5, 0.0));
        let x_wg = math::pose(turn, place * 0.6);
        let toy = GeometryInstance::new(x_wg, shapes[k % 6].clone(), &format!("toy {k}")).unwrap();
        let toy = toy.with_perception(PerceptionProperties::new());
        graph.register_anchored_geometry(source, toy).unwrap();
    }
    let world = graph.world_frame_id();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene", graph);
    let ctx = b.build().unwrap().default_context();
    let query = ctx.eval(graph.query).unwrap();
    let info = CameraInfo::from_fov_y(160, 120, 1.0).unwrap();
    let clipping = ClippingRange::new(0.1, 10.0).unwrap();
    let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
    let color_camera = ColorRenderCamera::from_core(core.clone());
    let range = DepthRange::new(0.1, 10.0).unwrap();
    let depth_camera = DepthRenderCamera::from_core(core, range).unwrap();
    let mut color = ImageRgba8U::new(160, 120);
    let mut depth = ImageDepth32F::new(160, 120);
    let mut label = ImageLabel16I::new(160, 120);
    // This thread is alone in its pool, so it draws everything itself and its count is complete.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    let pool = pool.build().unwrap();
    for frame in 0..64 {
        let x_wc = Isometry3::translation(0.3 * f64::from(frame % 16).sin(), 0.0, 0.0);
        let drawn = allocations_of(|| {
            let done = query.render_color_image(&color_camera, world, &x_wc, &mut color);
            done.unwrap();
            let done = query.render_depth_image(&depth_camera, world, &x_wc, &mut depth);
            done.unwrap();
            let done = query.render_label_image(&color_camera, world, &x_wc, &mut label);
            done.unwrap();
        });
        if frame >= 32 {
            assert_eq!(drawn, 0, "frame {frame}");
        }
    }
    drop(pool);
    let seen = depth.data().iter().filter(|d| d.is_finite()).count();
    assert!(seen > 1000, "{seen}");
}
