//! Shapes at sets of poses, and the timing of queries about them.

#![allow(dead_code, reason = "every bench uses another part")]
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use criterion::{BatchSize, Criterion};
use nalgebra::Isometry3;
use std::cell::RefCell;
use tarragon::framework::{DiagramScalar, Scalar};
use tarragon::prelude::*;

/// Shapes on one frame each, with sets of poses that are used in turn.
pub(crate) struct Scene<T: Scalar> {
    pub(crate) diagram: Diagram<T>,
    pub(crate) ctx: Context<T>,
    query: OutputPort<QueryObject<T>>,
    port: InputPort<FramePoseVector<T>>,
    pose_sets: Vec<FramePoseVector<T>>,
    next: usize,
    /// Edge length of the scene (m).
    pub(crate) size: f64,
}

impl<T: DiagramScalar> Scene<T> {
    pub(crate) fn new(
        shapes: Vec<(Shape, ProximityProperties)>,
        pose_sets: Vec<Vec<Isometry3<T>>>,
        size: f64,
    ) -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("s").unwrap();
        let mut frames = vec![];
        for (i, (shape, properties)) in shapes.into_iter().enumerate() {
            let frame = GeometryFrame::new(format!("f{i}"));
            let frame = graph.register_frame(source, frame).unwrap();
            let instance = GeometryInstance::new(Isometry3::identity(), shape, "g")
                .unwrap()
                .with_proximity(properties);
            graph.register_geometry(source, frame, instance).unwrap();
            frames.push(frame);
        }
        let pose_sets = pose_sets
            .into_iter()
            .map(|set| FramePoseVector::from_iter(frames.iter().copied().zip(set)))
            .collect();
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene", graph);
        let diagram = b.build().unwrap().to_scalar::<T>().unwrap();
        let ports = diagram.ports(&graph).unwrap();
        Self {
            ctx: diagram.default_context(),
            query: ports.query,
            port: ports.source_pose_port(source).unwrap(),
            diagram,
            pose_sets,
            next: 0,
            size,
        }
    }
    /// Sets new poses on the input port; untimed in the script, too.
    pub(crate) fn pose(&mut self) {
        self.next = (self.next + 1) % self.pose_sets.len();
        let poses = &self.pose_sets[self.next];
        self.ctx.fix(self.port, poses.clone()).unwrap();
    }
    pub(crate) fn query(&self) -> &QueryObject<T> {
        self.ctx.eval(self.query).unwrap()
    }
    /// Creates a context with `updates` earlier updates, and sets new poses.
    pub(crate) fn renew(&mut self, updates: usize) {
        self.ctx = self.diagram.default_context();
        for _ in 0..updates {
            self.pose();
            self.query();
        }
        self.pose();
    }
}

/// Times `f` at new poses; with `update`, the time of the pose update is included.
pub(crate) fn bench<T: DiagramScalar>(
    c: &mut Criterion,
    id: String,
    scene: &RefCell<Scene<T>>,
    update: bool,
    f: impl Fn(&QueryObject<T>),
) {
    let prepare = || {
        let mut scene = scene.borrow_mut();
        scene.pose();
        if !update {
            scene.query();
        }
    };
    c.bench_function(&id, |bencher| {
        bencher.iter_batched(
            prepare,
            |()| f(scene.borrow().query()),
            BatchSize::PerIteration,
        );
    });
}
