//! Publishing allocates nothing once everything has been sent. Allocations are counted per thread.

use crate::counting_allocator::ALLOCATIONS;
use crate::drake_visualizer::scene::{Form, Frame, Geometry, Scene};
use nalgebra::Isometry3;
use std::cell::Cell;
use tarragon_framework::prelude::*;
use tarragon_geometry::FramePoseVector;
use tarragon_lcm::Lcm;
use tarragon_visualization::DrakeVisualizer;

#[test]
fn publishing_poses_allocates_nothing() {
    let frames = (0..300).map(|i| Frame {
        source: 0,
        name: format!("f{i}"),
        group: 0,
        parent: None,
        pose: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    });
    let scene = Scene {
        frames: frames.collect(),
        geometries: (0..300)
            .map(|i| Geometry::new(Some(i), "ball", Form::Sphere(0.1)))
            .collect(),
        ..Scene::anchored()
    };
    let (graph, sources, frames) = scene.register();
    // A bus without subscriptions that stores nothing, so that its own memory does not count.
    let log = tempfile::tempdir().unwrap();
    let path = log.path().join("a.lcm");
    let lcm = Lcm::with_url(&format!("file://{}?mode=w", path.display())).unwrap();
    let mut b = DiagramBuilder::new();
    let graph = b.add("scene_graph", graph);
    let bus = Some(lcm.clone());
    DrakeVisualizer::add_to_builder(&mut b, graph.query, bus, Default::default()).unwrap();
    let mut ctx = b.build().unwrap().default_context();
    let port = graph.source_pose_port(sources[0]).unwrap();
    for k in 0..20 {
        let at = Isometry3::translation(f64::from(k), 0.0, 0.0);
        let poses = FramePoseVector::from_iter(frames.iter().map(|f| (*f, at)));
        ctx.fix(port, poses).unwrap();
        ctx.eval(graph.query).unwrap();
        let before = ALLOCATIONS.with(Cell::get);
        ctx.force_publish().unwrap();
        let allocated = ALLOCATIONS.with(Cell::get) - before;
        // The dispatcher of a forced publish allocates a little itself, however many poses there
        // are.
        assert!(
            k == 0 || allocated <= 4,
            "publish {k} allocated {allocated} times"
        );
    }
    assert_eq!(lcm.statistics().published, 41);
}
