//! Publishing a scene allocates nothing once everything has been sent.
//!
//! Allocations are counted per thread.

use crate::counting_allocator::ALLOCATIONS;
use nalgebra::Isometry3;
use std::cell::Cell;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    FrameId, FramePoseVector, GeometryFrame, GeometryInstance, IllustrationProperties, SceneGraph,
    Sphere,
};
use tarragon_visualization::{MeshcatVisualizer, MeshcatVisualizerParams};

#[test]
fn publishing_poses_allocates_nothing() {
    let meshcat = crate::support::server();
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let frames: Vec<FrameId> = (0..300)
        .map(|i| {
            let frame = GeometryFrame::new(format!("f{i}"));
            let frame = scene.register_frame(source, frame).unwrap();
            let ball = Sphere::new(0.1).unwrap();
            let ball = GeometryInstance::new(Isometry3::identity(), ball, "ball")
                .unwrap()
                .with_illustration(IllustrationProperties::new());
            scene.register_geometry(source, frame, ball).unwrap();
            frame
        })
        .collect();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let params = MeshcatVisualizerParams {
        enable_alpha_slider: true,
        ..Default::default()
    };
    let shown = meshcat.clone();
    let visualizer = MeshcatVisualizer::add_to_builder(&mut b, scene.query, shown, params).unwrap();
    assert_eq!(visualizer.system().params().prefix, "visualizer");
    let diagram = b.build().unwrap();
    let mut ctx = diagram.default_context();
    let port = scene.source_pose_port(source).unwrap();
    for k in 0..20 {
        let at = Isometry3::translation(f64::from(k), 0.0, 0.0);
        let poses = FramePoseVector::from_iter(frames.iter().map(|f| (*f, at)));
        ctx.fix(port, poses).unwrap();
        ctx.eval(scene.query).unwrap();
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
}
