//! SceneGraph proximity queries: next to `b_proximity.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nalgebra::Isometry3;
use std::hint::black_box;
use support::{numbers, pose, scene};
use tarragon::geometry::{BoxShape, Capsule, Sphere};
use tarragon::prelude::*;

struct Scene {
    ctx: Context<f64>,
    query: OutputPort<QueryObject<f64>>,
    port: InputPort<FramePoseVector<f64>>,
    pose_sets: Vec<FramePoseVector<f64>>,
    next: usize,
}

impl Scene {
    fn load(kind: &str, n: usize) -> Option<Self> {
        let json = scene(&format!("{kind}_{n}"))?;
        let mut graph = SceneGraph::new();
        let source = graph.register_source("s").unwrap();
        let mut frames = vec![];
        for (i, shape) in json["shapes"].as_array().unwrap().iter().enumerate() {
            let frame = graph
                .register_frame(source, GeometryFrame::new(format!("f{i}")))
                .unwrap();
            let mut dims = shape.as_array().unwrap().clone();
            let kind = dims.remove(0);
            let d = numbers(&dims.into());
            let shape: Shape = match kind.as_str().unwrap() {
                "sphere" => Sphere::new(d[0]).unwrap().into(),
                "box" => BoxShape::new(d[0], d[1], d[2]).unwrap().into(),
                _ => Capsule::new(d[0], d[1]).unwrap().into(),
            };
            let instance = GeometryInstance::new(Isometry3::identity(), shape, "g")
                .with_proximity(ProximityProperties::new());
            graph.register_geometry(source, frame, instance).unwrap();
            frames.push(frame);
        }
        let pose_sets = json["pose_sets"].as_array().unwrap().iter().map(|set| {
            let poses = set.as_array().unwrap().iter().map(pose);
            FramePoseVector::from_iter(frames.iter().copied().zip(poses))
        });
        let pose_sets = pose_sets.collect();
        let mut b = DiagramBuilder::new();
        let graph = b.add("scene", graph);
        Some(Self {
            ctx: b.build().unwrap().default_context(),
            query: graph.query,
            port: graph.source_pose_port(source).unwrap(),
            pose_sets,
            next: 0,
        })
    }
    /// Untimed in the script too: new poses on the input port.
    fn pose(&mut self) {
        self.next = (self.next + 1) % self.pose_sets.len();
        self.ctx
            .fix(self.port, self.pose_sets[self.next].clone())
            .unwrap();
    }
}

fn proximity(c: &mut Criterion) {
    for (kind, n) in [
        ("sphere", 100),
        ("sphere", 1000),
        ("box", 1000),
        ("capsule", 1000),
        ("mixed", 1000),
    ] {
        let Some(scene) = Scene::load(kind, n) else {
            continue;
        };
        let scene = std::cell::RefCell::new(scene);
        let bench = |c: &mut Criterion, name: &str, update: bool, f: &dyn Fn(&QueryObject<f64>)| {
            let mut group = c.benchmark_group(format!("B.{name}.{kind}"));
            let prepare = || {
                let mut s = scene.borrow_mut();
                s.pose();
                if !update {
                    s.ctx.eval(s.query).unwrap();
                }
            };
            group.bench_function(n.to_string(), |bencher| {
                bencher.iter_batched(
                    prepare,
                    |()| {
                        let s = scene.borrow();
                        f(s.ctx.eval(s.query).unwrap());
                    },
                    BatchSize::PerIteration,
                );
            });
            group.finish();
        };
        bench(c, "pose_update(FullPoseUpdate)", true, &|q| {
            black_box(q);
        });
        bench(c, "ComputePointPairPenetration", false, &|q| {
            black_box(q.compute_point_pair_penetration().unwrap());
        });
        bench(c, "ComputePointPairPenetration+pose_update", true, &|q| {
            black_box(q.compute_point_pair_penetration().unwrap());
        });
        bench(c, "SignedDistancePairwise(0.1)", false, &|q| {
            black_box(
                q.compute_signed_distance_pairwise_closest_points(0.1)
                    .unwrap(),
            );
        });
    }
}

criterion_group!(benches, proximity);
criterion_main!(benches);
