//! SceneGraph proximity queries: next to `b_proximity.py` and `d_autodiff.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

mod support;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Vector3};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;
use support::{numbers, pose, scene};
use tarragon::framework::{DiagramScalar, Scalar};
use tarragon::geometry::{BoxShape, Capsule, Sphere};
use tarragon::prelude::*;

/// Shapes on one frame each, and poses for them that come in turn.
struct Scene<T: Scalar> {
    diagram: Diagram<T>,
    ctx: Context<T>,
    query: OutputPort<QueryObject<T>>,
    port: InputPort<FramePoseVector<T>>,
    pose_sets: Vec<FramePoseVector<T>>,
    next: usize,
    /// Edge length of the scene (m).
    size: f64,
}

impl Scene<f64> {
    fn load(kind: &str, n: usize) -> Option<Self> {
        let json = scene(&format!("{kind}_{n}"))?;
        let shape = |shape: &serde_json::Value| -> Shape {
            let mut dims = shape.as_array().unwrap().clone();
            let kind = dims.remove(0);
            let d = numbers(&dims.into());
            match kind.as_str().unwrap() {
                "sphere" => Sphere::new(d[0]).unwrap().into(),
                "box" => BoxShape::new(d[0], d[1], d[2]).unwrap().into(),
                _ => Capsule::new(d[0], d[1]).unwrap().into(),
            }
        };
        let shapes: Vec<Shape> = json["shapes"]
            .as_array()
            .unwrap()
            .iter()
            .map(shape)
            .collect();
        let sets = json["pose_sets"].as_array().unwrap().iter();
        let sets = sets.map(|set| set.as_array().unwrap().iter().map(pose).collect());
        let size = json["L"].as_f64().unwrap();
        Some(Self::new(shapes, sets.collect(), size))
    }
}

impl<T: DiagramScalar> Scene<T> {
    fn new(shapes: Vec<Shape>, pose_sets: Vec<Vec<Isometry3<T>>>, size: f64) -> Self {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("s").unwrap();
        let mut frames = vec![];
        for (i, shape) in shapes.into_iter().enumerate() {
            let frame = GeometryFrame::new(format!("f{i}"));
            let frame = graph.register_frame(source, frame).unwrap();
            let instance = GeometryInstance::new(Isometry3::identity(), shape, "g")
                .with_proximity(ProximityProperties::new());
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
    /// Untimed in the script too: new poses on the input port.
    fn pose(&mut self) {
        self.next = (self.next + 1) % self.pose_sets.len();
        let poses = &self.pose_sets[self.next];
        self.ctx.fix(self.port, poses.clone()).unwrap();
    }
    fn query(&self) -> &QueryObject<T> {
        self.ctx.eval(self.query).unwrap()
    }
}

/// Times `f` at new poses; `update`: with the time that the poses take.
fn bench<T: DiagramScalar>(
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

fn queries(c: &mut Criterion) {
    for kind in ["sphere", "box", "capsule", "mixed"] {
        for n in [100, 1000, 5000] {
            if n == 5000 && kind == "capsule" {
                continue;
            }
            let Some(scene) = Scene::load(kind, n) else {
                continue;
            };
            let middle = Vector3::repeat(scene.size / 2.0);
            let scene = RefCell::new(scene);
            let mut run = |name: &str, f: &dyn Fn(&QueryObject<f64>)| {
                for (suffix, update) in [("", false), ("+pose_update", true)] {
                    bench(c, format!("B.{name}{suffix}.{kind}/{n}"), &scene, update, f);
                }
            };
            run("ComputePointPairPenetration", &|q| {
                black_box(q.compute_point_pair_penetration().unwrap());
            });
            run("HasCollisions", &|q| {
                black_box(q.has_collisions().unwrap());
            });
            run("FindCollisionCandidates", &|q| {
                black_box(q.find_collision_candidates());
            });
            run("SignedDistancePairwise(0.1)", &|q| {
                let pairs = q.compute_signed_distance_pairwise_closest_points(0.1);
                black_box(pairs.unwrap());
            });
            if n <= 100 {
                run("SignedDistancePairwise(inf)", &|q| {
                    let all = f64::INFINITY;
                    let pairs = q.compute_signed_distance_pairwise_closest_points(all);
                    black_box(pairs.unwrap());
                });
            }
            for (name, threshold) in [("inf", f64::INFINITY), ("0.1", 0.1)] {
                run(&format!("SignedDistanceToPoint({name})"), &|q| {
                    let near = q.compute_signed_distance_to_point(&middle, threshold);
                    black_box(near.unwrap());
                });
            }
            let id = format!("B.pose_update(FullPoseUpdate).{kind}/{n}");
            bench(c, id, &scene, true, |q| {
                black_box(q);
            });
            let s = scene.borrow();
            c.bench_function(&format!("B.Context.Clone.{kind}/{n}"), |bencher| {
                bencher.iter_with_large_drop(|| s.ctx.clone());
            });
            c.bench_function(&format!("B.CreateDefaultContext.{kind}/{n}"), |bencher| {
                bencher.iter_with_large_drop(|| s.diagram.default_context());
            });
        }
    }
}

/// The penetrations of a context that has seen few updates, as the script has it: Drake's tree gets
/// better with each.
fn transient(c: &mut Criterion) {
    for (kind, n) in [
        ("sphere", 1000),
        ("sphere", 5000),
        ("mixed", 1000),
        ("mixed", 5000),
    ] {
        let Some(mut scene) = Scene::load(kind, n) else {
            continue;
        };
        let mut cold = |c: &mut Criterion, id: String, updates: usize| {
            let scene = RefCell::new(&mut scene);
            let prepare = || {
                let mut scene = scene.borrow_mut();
                scene.ctx = scene.diagram.default_context();
                for _ in 0..updates {
                    scene.pose();
                    scene.query();
                }
                scene.pose();
            };
            c.bench_function(&id, |bencher| {
                let query = |()| {
                    let scene = scene.borrow();
                    scene.query().compute_point_pair_penetration().unwrap()
                };
                bencher.iter_batched(prepare, query, BatchSize::PerIteration);
            });
        };
        cold(c, format!("first_penetration+pose_update.{kind}/{n}"), 0);
        for updates in [5, 20] {
            let name = "B.transient.penetration_after";
            cold(c, format!("{name}_{updates}_updates.{kind}/{n}"), updates);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = queries, transient
}
criterion_main!(benches);
