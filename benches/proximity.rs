//! Benches of proximity queries, the counterpart of `b_proximity.py` and `d_autodiff.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

#[path = "support/posed_scene.rs"]
mod posed_scene;
mod support;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::Vector3;
use posed_scene::{Scene, bench};
use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};
use support::{numbers, pose, scene};
use tarragon::framework::math::rotation_exp;
use tarragon::geometry::proximity::signed_distance_within;
use tarragon::geometry::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, InMemoryMesh, MemoryFile, Ray,
    RayOptions, Sphere,
};
use tarragon::prelude::*;

/// Loads a scene of the script.
fn load(kind: &str, n: usize) -> Option<Scene<f64>> {
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
    Some(Scene::new(touching(shapes), sets.collect(), size))
}
/// Gives shapes the proximity role.
fn touching(shapes: Vec<Shape>) -> Vec<(Shape, ProximityProperties)> {
    let role = |shape| (shape, ProximityProperties::new());
    shapes.into_iter().map(role).collect()
}

fn queries(c: &mut Criterion) {
    for kind in ["sphere", "box", "capsule", "mixed"] {
        for n in [100, 1000, 5000] {
            if n == 5000 && kind == "capsule" {
                continue;
            }
            let Some(scene) = load(kind, n) else {
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
            // A second query of the same snapshot, which the script does not time.
            scene.borrow_mut().pose();
            let again = |c: &mut Criterion, name: &str, f: &dyn Fn(&QueryObject<f64>)| {
                c.bench_function(&format!("again.{name}.{kind}/{n}"), |bencher| {
                    let scene = scene.borrow();
                    bencher.iter(|| f(scene.query()));
                });
            };
            again(c, "HasCollisions", &|q| {
                black_box(q.has_collisions().unwrap());
            });
            again(c, "SignedDistanceToPoint(0.1)", &|q| {
                black_box(q.compute_signed_distance_to_point(&middle, 0.1).unwrap());
            });
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

/// Penetrations of a context with few earlier updates. As in the script, a figure is the median of
/// three queries of one context, each after another, untimed update; the first query of a context,
/// with its update, is a separate figure.
fn transient(c: &mut Criterion) {
    for (kind, n) in [
        ("sphere", 1000),
        ("sphere", 5000),
        ("mixed", 1000),
        ("mixed", 5000),
    ] {
        let Some(scene) = load(kind, n) else {
            continue;
        };
        let penetrations = |scene: &Scene<f64>| {
            let found = scene.query().compute_point_pair_penetration();
            black_box(found.unwrap());
        };
        let cell = RefCell::new(scene);
        let id = format!("first_penetration+pose_update.{kind}/{n}");
        c.bench_function(&id, |bencher| {
            let prepare = || cell.borrow_mut().renew(0);
            let query = |()| penetrations(&cell.borrow());
            bencher.iter_batched(prepare, query, BatchSize::PerIteration);
        });
        let mut scene = cell.into_inner();
        for updates in [5, 20] {
            let id = format!("B.transient.penetration_after_{updates}_updates.{kind}/{n}");
            c.bench_function(&id, |bencher| {
                bencher.iter_custom(|count| {
                    let sample = |scene: &mut Scene<f64>| {
                        scene.pose();
                        scene.query();
                        let begin = Instant::now();
                        penetrations(scene);
                        begin.elapsed()
                    };
                    let median = |_| {
                        scene.renew(updates);
                        let mut samples = [(); 3].map(|()| sample(&mut scene));
                        samples.sort_unstable();
                        samples[1]
                    };
                    (0..count).map(median).sum()
                });
            });
        }
    }
}

/// The case of `d_autodiff.py`: a dense scene in which every pose depends on six variables.
fn autodiff(c: &mut Criterion) {
    const DIRECTIONS: usize = 6;
    for (kind, n) in [("sphere", 10), ("sphere", 100), ("spherebox", 100)] {
        // The script's numbers come from NumPy's generator; these give the same density.
        let size = (n as f64 * 0.0335).cbrt();
        let mut random = Lcg(7);
        let shape = |i: usize| -> Shape {
            if kind == "sphere" || i.is_multiple_of(2) {
                Sphere::new(0.1).unwrap().into()
            } else {
                BoxShape::new(0.16, 0.16, 0.16).unwrap().into()
            }
        };
        let shapes: Vec<Shape> = (0..n).map(shape).collect();
        let mut vector = |scale: f64| Vector3::from_fn(|_, _| scale * random.next());
        let base: Vec<_> = (0..n).map(|_| (vector(3.0), vector(size / 2.0))).collect();
        let mut pose_set = || {
            let pose = |(r, p): &(Vector3<f64>, Vector3<f64>)| {
                let shaken = p + vector(0.003);
                let mut dual = |x: f64| {
                    let mut x = AutoDiff::from(x);
                    for eps in &mut x.eps[..DIRECTIONS] {
                        *eps = vector(1.0).x;
                    }
                    x
                };
                let r = rotation_exp(&r.map(&mut dual));
                math::pose(r, shaken.map(&mut dual))
            };
            base.iter().map(pose).collect::<Vec<_>>()
        };
        let sets = vec![pose_set(), pose_set()];
        let scene = RefCell::new(Scene::<AutoDiff>::new(touching(shapes), sets, size));
        {
            let mut scene = scene.borrow_mut();
            scene.pose();
            let contacts = scene.query().compute_point_pair_penetration().unwrap();
            eprintln!("D {kind}/{n}: {} contacts", contacts.len());
        }
        let tag = format!("{kind}.AD{DIRECTIONS}/{n}");
        bench(c, format!("D.pose_update.{tag}"), &scene, true, |q| {
            black_box(q);
        });
        let mut run = |name: &str, f: &dyn Fn(&QueryObject<AutoDiff>)| {
            for (suffix, update) in [("", false), ("+pose_update", true)] {
                bench(c, format!("D.{name}{suffix}.{tag}"), &scene, update, f);
            }
        };
        run("ComputePointPairPenetration", &|q| {
            black_box(q.compute_point_pair_penetration().unwrap());
        });
        if kind == "sphere" {
            run("SignedDistancePairwise(0.1)", &|q| {
                let pairs = q.compute_signed_distance_pairwise_closest_points(0.1);
                black_box(pairs.unwrap());
            });
        }
    }
}

/// A linear congruential generator of numbers in (-1, 1): D. Knuth's MMIX.
struct Lcg(u64);
impl Lcg {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Time per pair of the narrow phase: shapes of `h_coal.py`, random poses, centres 5 to 12 cm
/// (overlap) and 35 to 60 cm apart (separated).
fn narrow(c: &mut Criterion) {
    const PAIRS: usize = 200;
    let ball = |n: usize, r: f64| {
        // Points on a sunflower spiral, as in the script.
        let golden = std::f64::consts::PI * (1.0 + 5.0_f64.sqrt());
        let mut obj = String::new();
        for i in 0..n {
            let i = i as f64 + 0.5;
            let (phi, theta) = ((1.0 - 2.0 * i / n as f64).acos(), golden * i);
            let (x, y, z) = (theta.cos() * phi.sin(), theta.sin() * phi.sin(), phi.cos());
            obj += &format!("v {} {} {}\n", r * x, r * y, r * z);
        }
        let faces: String = (3..=n)
            .map(|k| format!("f {} {} {k}\n", k - 2, k - 1))
            .collect();
        InMemoryMesh::new(MemoryFile::new(obj + &faces, ".obj", "ball"))
    };
    let shapes: [(&str, Shape); 8] = [
        ("sphere", Sphere::new(0.1).unwrap().into()),
        ("box", BoxShape::new(0.16, 0.14, 0.18).unwrap().into()),
        ("capsule", Capsule::new(0.06, 0.12).unwrap().into()),
        ("cylinder", Cylinder::new(0.08, 0.18).unwrap().into()),
        ("ellipsoid", Ellipsoid::new(0.08, 0.1, 0.12).unwrap().into()),
        ("convex42", Convex::new(ball(42, 0.1)).into()),
        ("convex500", Convex::new(ball(500, 0.1)).into()),
        ("half_space", HalfSpace.into()),
    ];
    for (i, (name_a, a)) in shapes.iter().enumerate() {
        for (name_b, b) in &shapes[i..] {
            if *name_a == "half_space" {
                continue;
            }
            for (mode, low, high) in [("overlap", 0.05, 0.12), ("separated", 0.35, 0.6)] {
                let mut random = Lcg(5);
                let mut vector = || Vector3::from_fn(|_, _| random.next());
                let mut poses = vec![];
                for _ in 0..PAIRS {
                    let (x, y) = (vector(), vector());
                    let far = low + (high - low) * 0.5 * (vector().x + 1.0);
                    // The distance applies to the surface of a half space, not to its frame.
                    let p = if *name_b == "half_space" {
                        Vector3::z() * (0.1 - far)
                    } else {
                        vector().normalize() * far
                    };
                    let turn = if *name_b == "half_space" {
                        Vector3::zeros()
                    } else {
                        y
                    };
                    let pose = |r: Vector3<f64>, p| math::pose(rotation_exp(&(r * 3.0)), p);
                    poses.push((pose(x, Vector3::zeros()), pose(turn, p)));
                }
                let limits: &[_] = if mode == "overlap" {
                    &[("collide", 0.0), ("distance", f64::INFINITY)]
                } else {
                    &[("distance", f64::INFINITY)]
                };
                for (question, limit) in limits {
                    let mut group = c.benchmark_group(format!("narrow.{question}.{mode}"));
                    group.throughput(Throughput::Elements(PAIRS as u64));
                    group.bench_function(format!("{name_a}-{name_b}"), |bencher| {
                        bencher.iter(|| {
                            for (x_wa, x_wb) in &poses {
                                let d = signed_distance_within(a, x_wa, b, x_wb, *limit);
                                black_box(d.unwrap());
                            }
                        });
                    });
                    group.finish();
                }
            }
        }
    }
}

/// Rays from the middle of the scene in all directions, and along a scan plane; time per ray.
fn rays(c: &mut Criterion) {
    for (kind, n) in [("sphere", 1000), ("mixed", 1000), ("mixed", 5000)] {
        let Some(mut scene) = load(kind, n) else {
            continue;
        };
        scene.pose();
        let middle = Vector3::repeat(scene.size / 2.0);
        let mut random = Lcg(3);
        let mut ray = || Ray::new(middle, Vector3::from_fn(|_, _| random.next()));
        let rays: Vec<Ray> = (0..10_000).map(|_| ray()).collect();
        for (name, parallel) in [("cast_rays", false), ("cast_rays.parallel", true)] {
            let query = scene.query().with_parallel(parallel);
            let mut group = c.benchmark_group(format!("{name}.{kind}"));
            group.throughput(Throughput::Elements(rays.len() as u64));
            group.bench_function(n.to_string(), |bencher| {
                let options = RayOptions::default();
                bencher.iter(|| query.cast_rays(&rays, &options).unwrap());
            });
            group.finish();
        }
    }
}

/// One thread against all of rayon's pool, with 5000 geometries.
fn parallel(c: &mut Criterion) {
    let Some(scene) = load("mixed", 5000) else {
        return;
    };
    let size = scene.size;
    let scene = RefCell::new(scene);
    let points: Vec<_> = (0..1000)
        .map(|i| {
            Vector3::new(
                i as f64 / 1000.0,
                (i % 31) as f64 / 31.0,
                (i % 7) as f64 / 7.0,
            ) * size
        })
        .collect();
    for (name, on) in [("one_thread", false), ("parallel", true)] {
        for distance in [0.0, 0.1, 0.5] {
            bench(
                c,
                format!("{name}.SignedDistancePairwise({distance}).mixed/5000"),
                &scene,
                false,
                |q| {
                    let q = q.with_parallel(on);
                    let pairs = q.compute_signed_distance_pairwise_closest_points(distance);
                    black_box(pairs.unwrap());
                },
            );
        }
        bench(
            c,
            format!("{name}.SignedDistanceToPoints(0.5).mixed/5000"),
            &scene,
            false,
            |q| {
                let q = q.with_parallel(on);
                black_box(q.compute_signed_distance_to_points(&points, 0.5).unwrap());
            },
        );
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = queries, transient, autodiff, narrow, rays, parallel
}
criterion_main!(benches);
