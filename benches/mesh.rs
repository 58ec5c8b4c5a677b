//! Benches of meshes by their true surfaces, the counterpart of the last part of `b_proximity.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Vector3};
use std::fmt::Write;
use std::hint::black_box;
use tarragon::geometry::proximity::signed_distance_true_surface;
use tarragon::geometry::{BoxShape, Convex, InMemoryMesh, MemoryFile, Mesh, MeshSource, Shape};
use tarragon::prelude::*;

/// A bumpy sphere, as written by the script, and its number of triangles.
fn bumpy(rings: usize, around: usize) -> (MeshSource, usize) {
    let (pi, r) = (std::f64::consts::PI, 0.5);
    let mut obj = format!("v 0 0 {r}\n");
    for i in 1..rings {
        let polar = pi * i as f64 / rings as f64;
        for j in 0..around {
            let azimuth = 2.0 * pi * j as f64 / around as f64;
            let r = r * (1.0 + 0.1 * (5.0 * polar).sin() * (4.0 * azimuth).cos());
            let (s, c) = polar.sin_cos();
            let (x, y, z) = (r * s * azimuth.cos(), r * s * azimuth.sin(), r * c);
            writeln!(obj, "v {x:.9} {y:.9} {z:.9}").unwrap();
        }
    }
    writeln!(obj, "v 0 0 {}", -r).unwrap();
    let last = 2 + (rings - 1) * around;
    let at = |i: usize, j: usize| 2 + (i - 1) * around + j % around;
    let mut triangles = 0;
    let mut face = |a: usize, b: usize, c: usize| {
        writeln!(obj, "f {a} {b} {c}").unwrap();
        triangles += 1;
    };
    for j in 0..around {
        face(1, at(1, j), at(1, j + 1));
        face(last, at(rings - 1, j + 1), at(rings - 1, j));
    }
    for i in 1..rings - 1 {
        for j in 0..around {
            let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1));
            face(a, c, b);
            face(b, c, d);
        }
    }
    let file = MemoryFile::new(obj, ".obj", format!("bumpy_{rings}x{around}"));
    (InMemoryMesh::new(file).into(), triangles)
}

/// Generator of numbers in [-1, 1).
fn uniform() -> impl FnMut() -> f64 {
    let mut state = 1_u64;
    move || {
        // Knuth's MMIX generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn points() -> Vec<Vector3<f64>> {
    let mut next = uniform();
    (0..200).map(|_| Vector3::from_fn(|_, _| next())).collect()
}

/// Queries of random points, in turn.
fn point(c: &mut Criterion) {
    for (rings, around) in [(16, 32), (50, 100), (160, 320)] {
        let (source, triangles) = bumpy(rings, around);
        let properties = ProximityProperties::new().with_true_surface();
        let shapes: [(&str, Shape); 2] = [
            ("Mesh", Mesh::new(source.clone()).into()),
            ("Convex", Convex::new(source.clone()).into()),
        ];
        for (name, shape) in shapes {
            let mut graph = SceneGraph::new();
            let id = graph.register_source("s").unwrap();
            let mesh = GeometryInstance::new(Isometry3::identity(), shape, "m")
                .unwrap()
                .with_proximity(properties.clone());
            graph.register_anchored_geometry(id, mesh).unwrap();
            let mut b = DiagramBuilder::new();
            let graph = b.add("scene", graph);
            let ctx = b.build().unwrap().default_context();
            let query = ctx.eval(graph.query).unwrap();
            let points = points();
            let mut i = 0;
            let mut group = c.benchmark_group(format!("B.SignedDistanceToPoint.{name}"));
            group.bench_function(BenchmarkId::from_parameter(triangles), |b| {
                b.iter(|| {
                    i = (i + 1) % points.len();
                    let found = query.compute_signed_distance_to_point(&points[i], f64::INFINITY);
                    black_box(found.unwrap());
                });
            });
            group.finish();
        }
        // From reading the file to the first answer.
        let mut group = c.benchmark_group("B.register_geometry_proximity.Mesh");
        group.sample_size(10);
        group.bench_function(BenchmarkId::from_parameter(triangles), |b| {
            let first = |mesh: Shape| {
                let o = Isometry3::<f64>::identity();
                tarragon::geometry::proximity::distance_to_point(&mesh, &o, &Vector3::zeros())
            };
            let mesh = || Mesh::new(source.clone()).into();
            b.iter_batched(
                mesh,
                |mesh| black_box(first(mesh).unwrap()),
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

/// A box near a mesh: centimetres apart, and penetrating by a millimetre. Drake has hulls only.
fn pair(c: &mut Criterion) {
    for (rings, around) in [(16, 32), (160, 320)] {
        let (source, triangles) = bumpy(rings, around);
        let mesh: Shape = Mesh::new(source).into();
        let block: Shape = BoxShape::new(0.2, 0.15, 0.1).unwrap().into();
        let o = Isometry3::<f64>::identity();
        let distance = |other: &Shape, x: &Isometry3<f64>| {
            let far = f64::INFINITY;
            signed_distance_true_surface(&mesh, true, &o, other, true, x, far)
        };
        for (what, other) in [("box", &block), ("mesh", &mesh)] {
            for (name, gap) in [("apart", 0.03), ("in_contact", -0.001)] {
                let mut next = uniform();
                let poses: Vec<_> = (0..50)
                    .map(|_| {
                        let r = Vector3::from_fn(|_, _| 3.0 * next());
                        let away = Vector3::from_fn(|_, _| next()).normalize() * 2.0;
                        let r = math::rotation_exp(&r);
                        let mut x = Isometry3::from_parts(away.into(), r);
                        for _ in 0..20 {
                            let d = distance(other, &x).unwrap().unwrap();
                            x.translation.vector += d.nhat_ba_w * (d.distance - gap);
                        }
                        x
                    })
                    .collect();
                let mut i = 0;
                let mut group = c.benchmark_group(format!("true_surface.{what}.{name}"));
                group.bench_function(BenchmarkId::from_parameter(triangles), |b| {
                    b.iter(|| {
                        i = (i + 1) % poses.len();
                        black_box(distance(other, &poses[i]).unwrap());
                    });
                });
                group.finish();
            }
        }
    }
}

criterion_group!(benches, point, pair);
criterion_main!(benches);
