//! Height fields against an independent search over all of their triangles.

use super::Random;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::proximity::{Body, contact_manifold, distance_to_point, signed_distance};
use crate::ray::{Ray, cast_ray};
use crate::shape::{
    BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Shape, Sphere,
};
use nalgebra::{Isometry3, Vector3};
use parry3d_f64::query;
use parry3d_f64::shape as parry;
use std::fmt::Write;
use tarragon_framework::{AutoDiff, Scalar, math};

/// Terrain of 6 x 8 cells on 2.4 m x 1.5 m with heights between -0.3 and 0.3 m.
fn terrain(seed: u64) -> HeightField {
    let mut random = Random::new(seed);
    let heights = (0..7 * 9).map(|_| 0.3 * random.number()).collect();
    HeightField::new(7, 9, heights, [2.4, 1.5], 0.2).unwrap()
}

fn corner(field: &HeightField, row: usize, column: usize) -> Vector3<f64> {
    let [x, y] = field.size();
    let along = |i: usize, n: usize, size: f64| size * (i as f64 / (n - 1) as f64 - 0.5);
    Vector3::new(
        along(column, field.columns(), x),
        along(row, field.rows(), y),
        field.heights()[row * field.columns() + column],
    )
}

/// The two triangles of every cell, as MuJoCo has them, then four walls of strips and the base.
fn triangles(field: &HeightField) -> Vec<[Vector3<f64>; 3]> {
    let (rows, columns) = (field.rows(), field.columns());
    let at = |r: usize, c: usize| corner(field, r, c);
    let below = |p: Vector3<f64>| Vector3::new(p.x, p.y, field.base());
    let mut all = vec![];
    for r in 0..rows - 1 {
        for c in 0..columns - 1 {
            all.push([at(r, c), at(r, c + 1), at(r + 1, c + 1)]);
            all.push([at(r, c), at(r + 1, c + 1), at(r + 1, c)]);
        }
    }
    let mut wall = |p: Vector3<f64>, q: Vector3<f64>| {
        all.push([p, below(p), below(q)]);
        all.push([p, below(q), q]);
    };
    for c in 0..columns - 1 {
        wall(at(0, c), at(0, c + 1));
        wall(at(rows - 1, c + 1), at(rows - 1, c));
    }
    for r in 0..rows - 1 {
        wall(at(r, columns - 1), at(r + 1, columns - 1));
        wall(at(r + 1, 0), at(r, 0));
    }
    let ends = [
        (0, 0),
        (0, columns - 1),
        (rows - 1, columns - 1),
        (rows - 1, 0),
    ];
    let [a, b, c, d] = ends.map(|(r, c)| below(at(r, c)));
    all.extend([[a, c, b], [a, d, c]]);
    all
}

fn mesh_of(field: &HeightField) -> Mesh {
    let mut obj = String::new();
    for (i, t) in triangles(field).iter().enumerate() {
        for p in t {
            writeln!(obj, "v {:?} {:?} {:?}", p.x, p.y, p.z).unwrap();
        }
        writeln!(obj, "f {} {} {}", 3 * i + 1, 3 * i + 2, 3 * i + 3).unwrap();
    }
    Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "terrain")))
}

/// Distance of a point from a triangle: its plane if the foot is inside, else the nearest edge.
fn to_triangle(t: &[Vector3<f64>; 3], p: &Vector3<f64>) -> f64 {
    let [a, b, c] = t;
    let n = (b - a).cross(&(c - a)).normalize();
    let inside = (0..3).all(|i| {
        let (from, to) = (t[i], t[(i + 1) % 3]);
        n.cross(&(to - from)).dot(&(p - from)) >= 0.0
    });
    if inside {
        return n.dot(&(p - a)).abs();
    }
    let to_edge = |i: usize| {
        let (from, e) = (t[i], t[(i + 1) % 3] - t[i]);
        let s = (e.dot(&(p - from)) / e.norm_squared()).clamp(0.0, 1.0);
        (from + e * s - p).norm()
    };
    (0..3).map(to_edge).fold(f64::INFINITY, f64::min)
}

/// Whether a point is in one of the prisms below the triangles.
fn is_inside(field: &HeightField, p: &Vector3<f64>) -> bool {
    let top = |t: &[Vector3<f64>; 3]| {
        let [a, b, c] = *t;
        let cross = |u: Vector3<f64>, v: Vector3<f64>| u.x * v.y - u.y * v.x;
        let area = cross(b - a, c - a);
        let weights = [
            cross(b - p, c - p),
            cross(c - p, a - p),
            cross(a - p, b - p),
        ];
        weights.iter().all(|w| *w >= 0.0).then(|| {
            let z = [a.z, b.z, c.z];
            weights.iter().zip(z).map(|(w, z)| w * z).sum::<f64>() / area
        })
    };
    let count = 2 * (field.rows() - 1) * (field.columns() - 1);
    let tops = triangles(field);
    p.z > field.base() && tops[..count].iter().filter_map(top).any(|z| p.z < z)
}

fn signed(field: &HeightField, p: &Vector3<f64>) -> f64 {
    let all = triangles(field);
    let least = all.iter().map(|t| to_triangle(t, p));
    let least = least.fold(f64::INFINITY, f64::min);
    if is_inside(field, p) { -least } else { least }
}

#[test]
fn distance_to_points_and_balls_is_that_of_the_nearest_triangle() {
    let mut random = Random::new(1);
    let ball: Shape = Sphere::new(0.2).unwrap().into();
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..20 {
        let field = terrain(seed);
        let shape: Shape = field.clone().into();
        let x_wg = random.pose(1.0);
        for _ in 0..100 {
            let p_g = random.vector().component_mul(&Vector3::new(1.6, 1.1, 0.7));
            let p_w = (x_wg * nalgebra::Point3::from(p_g)).coords;
            let expected = signed(&field, &p_g);
            let found = distance_to_point(&shape, &x_wg, &p_w).unwrap();
            assert!((found.distance - expected).abs() < 1e-13, "{seed} {p_g}");
            let x_wb = math::pose(random.pose(0.0).rotation, p_w);
            for swapped in [false, true] {
                let found = if !swapped {
                    signed_distance(&shape, &x_wg, &ball, &x_wb)
                } else {
                    signed_distance(&ball, &x_wb, &shape, &x_wg)
                };
                let found = found.unwrap().distance;
                assert!((found + 0.2 - expected).abs() < 1e-13, "{seed} {p_g}");
            }
            if expected < 0.0 {
                inside += 1
            } else {
                outside += 1
            }
        }
    }
    assert!(inside > 300 && outside > 300, "{inside} {outside}");
}

/// Normals of edges and vertices, also at the border and on the walls, are those of the same
/// surface as a mesh.
#[test]
fn queries_agree_with_the_same_surface_as_a_mesh() {
    let mut random = Random::new(2);
    for seed in 0..10 {
        let field = terrain(seed);
        let (mesh, shape): (Shape, Shape) = (mesh_of(&field).into(), field.clone().into());
        let o = Isometry3::identity();
        let all = triangles(&field);
        let mut points: Vec<Vector3<f64>> = all.iter().flatten().copied().collect();
        points.extend(all.iter().map(|[a, b, _]| (a + b) * 0.5));
        points.extend(all.iter().map(|[_, b, c]| b * 0.25 + c * 0.75));
        points
            .extend((0..200).map(|_| random.vector().component_mul(&Vector3::new(1.4, 1.0, 0.6))));
        // The base of the mesh has no vertices within its edges, but the walls above have.
        let is_on_base = |p: &Vector3<f64>| p.z < field.base() + 1e-9;
        for p in points.into_iter().filter(|p| !is_on_base(p)) {
            let of_mesh = distance_to_point(&mesh, &o, &p).unwrap();
            let of_field = distance_to_point(&shape, &o, &p).unwrap();
            assert!((of_mesh.distance - of_field.distance).abs() < 1e-14, "{p}");
            assert!(
                (of_mesh.grad_w - of_field.grad_w).norm() < 1e-9,
                "{seed} {p}"
            );
        }
    }
}

#[test]
fn bodies_apart_have_the_least_distance_of_all_triangles() {
    let mut random = Random::new(3);
    let vector = |v: &Vector3<f64>| parry3d_f64::math::Vector::new(v.x, v.y, v.z);
    let mut count = 0;
    for seed in 0..40 {
        let field = terrain(seed);
        let shape: Shape = field.clone().into();
        let all = triangles(&field);
        for kind in 0..2 {
            let (x, y, z) = (random.length(), random.length(), random.length());
            let (body, theirs): (Shape, Box<dyn parry::Shape>) = match kind {
                0 => (
                    BoxShape::new(x, y, z).unwrap().into(),
                    Box::new(parry::Cuboid::new(vector(&Vector3::new(x, y, z)) * 0.5)),
                ),
                _ => (
                    Capsule::new(0.3 * x, y).unwrap().into(),
                    Box::new(parry::Capsule::new_z(0.5 * y, 0.3 * x)),
                ),
            };
            let x_gb = random.pose(0.9);
            let q = x_gb.rotation.coords;
            let pose = parry3d_f64::math::Pose::from_parts(
                vector(&x_gb.translation.vector),
                parry3d_f64::math::Rotation::from_xyzw(q.x, q.y, q.z, q.w),
            );
            let found = signed_distance(&shape, &Isometry3::identity(), &body, &x_gb).unwrap();
            if found.distance <= 1e-3 {
                continue;
            }
            let o = parry3d_f64::math::Pose::IDENTITY;
            let distances = all.iter().map(|t| {
                let t = t.map(|p| vector(&p));
                let t = parry::Triangle::new(t[0], t[1], t[2]);
                query::distance(&o, &t, &pose, &*theirs).unwrap().distance
            });
            let expected = distances.fold(f64::INFINITY, f64::min);
            assert!(!is_inside(&field, &x_gb.translation.vector));
            assert!(
                (found.distance - expected).abs() < 1e-6,
                "{seed} {found:?} {expected}"
            );
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

/// The depth of a capsule and a box is that of the deepest of many of their points, or of the
/// deepest point of the field in them.
#[test]
fn depth_of_an_overlap_is_that_of_the_deepest_point() {
    let mut random = Random::new(4);
    let mut count = 0;
    for seed in 0..60 {
        let field = terrain(seed);
        let shape: Shape = field.clone().into();
        let is_box = seed % 2 == 0;
        let body: Shape = if is_box {
            BoxShape::new(0.3, 0.2, 0.25).unwrap().into()
        } else {
            Capsule::new(0.05, 0.4).unwrap().into()
        };
        let mut x_gb = random.pose(0.5);
        x_gb.translation.vector.z = 0.15 * random.number();
        let found = signed_distance(&shape, &Isometry3::identity(), &body, &x_gb).unwrap();
        if found.distance >= 0.0 {
            continue;
        }
        count += 1;
        let n = 8;
        let part = |i: i32| f64::from(i) / f64::from(n) - 0.5;
        let depth =
            |p_b: Vector3<f64>| -signed(&field, &(x_gb * nalgebra::Point3::from(p_b)).coords);
        let mut deepest = f64::NEG_INFINITY;
        let size = Vector3::new(0.3, 0.2, 0.25);
        for k in 0..=n {
            if !is_box {
                deepest = deepest.max(depth(Vector3::new(0.0, 0.0, 0.4 * part(k))) + 0.05);
                continue;
            }
            for (i, j) in (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))) {
                let p = Vector3::new(part(i), part(j), part(k)).component_mul(&size);
                deepest = deepest.max(depth(p));
            }
        }
        // Points of the field in the box.
        if is_box {
            for r in 0..field.rows() {
                for c in 0..field.columns() {
                    let p = x_gb
                        .inverse_transform_point(&corner(&field, r, c).into())
                        .coords;
                    deepest = deepest.max((size * 0.5 - p.abs()).min());
                }
            }
        }
        // The true depth changes by at most half of the distance of neighbouring samples; the
        // short search on height fields is too low by up to 0.025 here, mostly by less than 0.01.
        let step = if is_box { size.norm() } else { 0.4 } / f64::from(n) / 2.0;
        let off = -found.distance - deepest;
        assert!(
            (-3e-2 * deepest - 1e-12..=step).contains(&off),
            "{seed} {found:?} {deepest}"
        );
    }
    assert!(count > 20, "{count}");
}

#[test]
fn rays_hit_the_first_triangle() {
    let mut random = Random::new(5);
    let mut hits = 0;
    for seed in 0..20 {
        let field = terrain(seed);
        let (shape, all) = (Shape::from(field.clone()), triangles(&field));
        for k in 0..200 {
            let origin = random.vector().component_mul(&Vector3::new(2.0, 1.5, 1.0));
            let mut direction = random.vector();
            if k % 10 == 0 {
                // Along an axis, which makes some quotients infinite.
                direction = Vector3::ith(k / 10 % 3, direction.x);
            }
            let unit = direction.normalize();
            let cross = |t: &[Vector3<f64>; 3]| {
                let [a, b, c] = *t;
                let n = (b - a).cross(&(c - a));
                let s = n.dot(&(a - origin)) / n.dot(&unit);
                let p = origin + unit * s;
                let inside = [(a, b), (b, c), (c, a)];
                let inside = inside
                    .iter()
                    .all(|(u, v)| n.cross(&(v - u)).dot(&(p - u)) >= 0.0);
                (s >= 0.0 && inside).then_some(s)
            };
            let expected = all.iter().filter_map(cross).fold(f64::INFINITY, f64::min);
            let ray = Ray::new(origin, direction);
            let o = Isometry3::identity();
            let found = cast_ray(&shape, &o, &ray, f64::INFINITY).unwrap();
            let distance = found.map_or(f64::INFINITY, |hit| hit.distance);
            let same = distance == expected || (distance - expected).abs() < 1e-12;
            assert!(same, "{seed} {origin} {unit}: {distance} {expected}");
            if let Some(hit) = found {
                hits += 1;
                let short = cast_ray(&shape, &o, &ray, 0.999 * hit.distance).unwrap();
                assert!(short.is_none());
                let exact = cast_ray(&shape, &o, &ray, hit.distance).unwrap();
                assert_eq!(exact.map(|h| h.distance), Some(hit.distance));
            }
        }
    }
    assert!(hits > 500, "{hits}");
}

/// Returns the pose of a body moved by x.
fn moved<T: Scalar>(x_wb: &Isometry3<f64>, x: &[T; 6]) -> Isometry3<T> {
    math::pose(
        math::rotation_exp(&Vector3::new(x[3], x[4], x[5])) * x_wb.cast::<T>().rotation,
        x_wb.cast::<T>().translation.vector + Vector3::new(x[0], x[1], x[2]),
    )
}

#[test]
fn derivatives_agree_with_central_differences() {
    let mut random = Random::new(6);
    let (mut apart, mut overlapping) = (0, 0);
    for seed in 0..90 {
        let shape: Shape = terrain(seed).into();
        let body: Shape = match seed % 3 {
            0 => Sphere::new(0.1).unwrap().into(),
            1 => Capsule::new(0.08, 0.2).unwrap().into(),
            _ => BoxShape::new(0.2, 0.3, 0.1).unwrap().into(),
        };
        let mut x_wb = random.pose(0.6);
        x_wb.translation.vector.z = 0.25 + 0.2 * random.number();
        let o = Isometry3::identity();
        let at = |i: usize, step: f64| {
            let mut x = [0.0; 6];
            x[i] = step;
            let found = signed_distance(&shape, &o, &body, &moved(&x_wb, &x)).unwrap();
            found.distance
        };
        let x: [AutoDiff; 6] = std::array::from_fn(|i| AutoDiff::variable(0.0, i));
        let found = signed_distance(&shape, &o.cast(), &body, &moved(&x_wb, &x)).unwrap();
        let (h, value) = (1e-6, found.distance.re);
        assert_eq!(value, at(0, 0.0));
        for i in 0..6 {
            let (ahead, behind) = ((at(i, h) - value) / h, (value - at(i, -h)) / h);
            let exact = found.distance.eps[i];
            assert!(exact.is_finite());
            // Where edges cross, the derivatives of the depth of a box are those of its deepest
            // point, which the search finds only approximately.
            let is_exact = value > 0.0 || seed % 3 != 2;
            let is_smooth = is_exact && (ahead - behind).abs() < 1e-4;
            if is_smooth {
                let central = 0.5 * (ahead + behind);
                assert!(
                    (exact - central).abs() < 1e-4,
                    "{seed} {i}: {exact} {central}"
                );
                if value > 0.0 {
                    apart += 1
                } else {
                    overlapping += 1
                }
            }
        }
    }
    assert!(apart > 60 && overlapping > 60, "{apart} {overlapping}");
}

/// Returns the points of a body on a field, and the depths, positions and normals on a half space.
fn points(field: &HeightField, body: &Shape, x_wb: &Isometry3<f64>) -> Vec<[Vector3<f64>; 2]> {
    let (shape, o) = (Shape::from(field.clone()), Isometry3::identity());
    let found = signed_distance(body, x_wb, &shape, &o).unwrap();
    let all = contact_manifold(Body::of(body), x_wb, Body::of(&shape), &o, &found, 0.0);
    all.iter()
        .map(|p| [p.p_wcb, p.nhat_ba_w * p.depth])
        .collect()
}

/// A flat field of many cells has the points of a plane: no edge inside it is felt.
#[test]
fn points_on_a_flat_field_are_those_of_a_half_space() {
    let flat = HeightField::new(101, 81, vec![0.3; 101 * 81], [3.0, 2.0], 1.0).unwrap();
    let plane: Shape = HalfSpace.into();
    let x_plane = Isometry3::translation(0.0, 0.0, 0.3);
    let mut random = Random::new(7);
    for body in [
        Shape::from(BoxShape::new(0.2, 0.3, 0.1).unwrap()),
        Sphere::new(0.1).unwrap().into(),
        Capsule::new(0.05, 0.3).unwrap().into(),
    ] {
        for k in 0..200 {
            let mut x = math::pose(
                math::rpy(0.0, 0.0, 3.0 * random.number()),
                Vector3::new(random.number(), 0.7 * random.number(), 0.0),
            );
            // On cells' edges and vertices, too.
            if k % 4 == 0 {
                x.translation.vector.x = 0.0;
            }
            let lying = match body {
                Shape::Capsule(_) => math::rpy(0.0, std::f64::consts::FRAC_PI_2, 0.0),
                _ => math::rpy(0.0, 0.0, 0.0),
            };
            x.rotation *= lying;
            let half = if let Shape::Sphere(_) = body {
                0.1
            } else {
                0.05
            };
            x.translation.vector.z = 0.3 + half - 1e-4;
            let found = points(&flat, &body, &x);
            let d = signed_distance(&body, &x, &plane, &x_plane).unwrap();
            let on_plane =
                contact_manifold(Body::of(&body), &x, Body::of(&plane), &x_plane, &d, 0.0);
            let expected = on_plane.len().max(1);
            assert_eq!(found.len(), expected, "{body:?} {x}");
            for [p, n] in &found {
                assert!((n - Vector3::z() * 1e-4).norm() < 1e-14, "{body:?} {x} {n}");
                let near = on_plane.iter().map(|q| (q.p_wcb - p).norm());
                let near = near.fold(f64::INFINITY, f64::min);
                assert!(on_plane.is_empty() || near < 1e-14, "{near}");
            }
        }
    }
}

/// A ball in a pit touches both of the sides that are nearest.
#[test]
fn ball_in_a_pit_touches_both_sides() {
    let pit = vec![1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let field = HeightField::new(3, 3, pit, [2.0, 2.0], 0.1).unwrap();
    let ball = Sphere::new(0.05).unwrap().into();
    let height = 0.05 * 3.0_f64.sqrt() - 1e-6;
    let found = points(&field, &ball, &Isometry3::translation(0.0, 0.0, height));
    assert_eq!(found.len(), 2, "{found:?}");
    let sum = found[0][1] + found[1][1];
    assert!(sum.xy().norm() < 1e-15 && sum.z > 0.0, "{sum}");
}

/// Every pair has an answer, in both orders, with the same bits.
#[test]
fn all_pairs_are_answered_in_both_orders() {
    let mut random = Random::new(8);
    let field: Shape = terrain(3).into();
    let others: [Shape; 8] = [
        BoxShape::new(0.2, 0.3, 0.1).unwrap().into(),
        Sphere::new(0.1).unwrap().into(),
        Capsule::new(0.05, 0.3).unwrap().into(),
        Cylinder::new(0.1, 0.2).unwrap().into(),
        Ellipsoid::new(0.1, 0.2, 0.15).unwrap().into(),
        HalfSpace.into(),
        random.shape(6),
        terrain(4).into(),
    ];
    for other in &others {
        for _ in 0..10 {
            let (xa, xb) = (random.pose(0.7), random.pose(0.7));
            let ab = signed_distance(&field, &xa, other, &xb).unwrap();
            let ba = signed_distance(other, &xb, &field, &xa).unwrap().swapped();
            assert_eq!(ab.distance, ba.distance, "{other:?}");
            assert_eq!(ab.nhat_ba_w, ba.nhat_ba_w, "{other:?}");
            let off = ab.p_wca - ab.p_wcb - ab.nhat_ba_w * ab.distance;
            assert!(off.norm() < 1e-12, "{other:?} {off}");
        }
    }
    // The lowest corner decides above a plane.
    let x = Isometry3::translation(0.0, 0.0, 2.0);
    let d = signed_distance(&field, &x, &HalfSpace.into(), &Isometry3::identity()).unwrap();
    let Shape::HeightField(f) = &field else {
        unreachable!()
    };
    assert!((d.distance - (2.0 + f.base())).abs() < 1e-15);
}
