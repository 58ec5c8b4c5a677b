//! Moving a scene and asking it allocates nothing but the answer, once it has taken what it needs.
//!
//! Allocations are counted per thread.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator can not be written without; this one forwards to that of the system"
)]

use nalgebra::{Isometry3, Vector3};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, FramePoseVector, GeometryFrame, GeometryInstance, HalfSpace, ProximityProperties,
    SceneGraph, Sphere,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is done by the allocator of the system; counting does not allocate, because the
// thread-local counter is initialized by a constant and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller promises what `System` asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations_of<R>(f: impl FnOnce() -> R) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    drop(f());
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn moving_and_asking_allocates_nothing_but_the_answer() {
    let mut graph = SceneGraph::new();
    let source = graph.register_source("toys").unwrap();
    let role = ProximityProperties::new;
    let frames: Vec<_> = (0..300)
        .map(|i| {
            let frame = GeometryFrame::new(format!("f{i}"));
            let frame = graph.register_frame(source, frame).unwrap();
            let g = if i % 2 == 0 {
                let x_fg = Isometry3::translation(0.0, 0.05, 0.0);
                GeometryInstance::new(x_fg, Sphere::new(0.1).unwrap(), "g")
            } else {
                let block = BoxShape::new(0.2, 0.2, 0.2).unwrap();
                GeometryInstance::new(Isometry3::identity(), block, "g")
            };
            graph
                .register_geometry(source, frame, g.with_proximity(role()))
                .unwrap();
            frame
        })
        .collect();
    let floor = GeometryInstance::new(Isometry3::identity(), HalfSpace, "floor");
    graph
        .register_anchored_geometry(source, floor.with_proximity(role()))
        .unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene", graph);
    let mut ctx = b.build().unwrap().default_context();
    // A swarm: everybody moves on a small circle, some jump.
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
        // Everything has been built twice by then.
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
