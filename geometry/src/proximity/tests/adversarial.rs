//! Positions where directions or witnesses are not unique, features coincide or shapes degenerate.
//! Results are compared with closed forms and with other kernels that must agree.

use super::*;
use crate::proximity::distance_to_point;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

fn cylinder(r: f64, l: f64) -> Shape {
    Cylinder::new(r, l).unwrap().into()
}
fn ellipsoid(a: f64, b: f64, c: f64) -> Shape {
    Ellipsoid::new(a, b, c).unwrap().into()
}
fn sphere(r: f64) -> Shape {
    Sphere::new(r).unwrap().into()
}
fn block(x: f64, y: f64, z: f64) -> Shape {
    BoxShape::new(x, y, z).unwrap().into()
}
fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}
fn corners(h: &Vector3<f64>) -> Vec<Vector3<f64>> {
    let sign = |k: usize, i: usize| if k >> i & 1 == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|k| h.component_mul(&Vector3::from_fn(|i, _| sign(k, i))))
        .collect()
}

/// Checks the distance in both orders, at rest and moved away from the axes.
#[track_caller]
fn expect(a: &Shape, x_wa: &Isometry3<f64>, b: &Shape, x_wb: &Isometry3<f64>, distance: f64) {
    let x_vw = math::pose(math::rpy(0.3, -1.1, 2.0), Vector3::new(0.4, -0.7, 0.2));
    for x in [Isometry3::identity(), x_vw] {
        for d in [
            check(a, &(x * x_wa), b, &(x * x_wb), 2e-13),
            check(b, &(x * x_wb), a, &(x * x_wa), 2e-13),
        ] {
            let error = (d.distance - distance).abs();
            assert!(error < 1e-14, "{} is not {distance}: {d:?}", d.distance);
        }
    }
}

#[test]
fn cylinder_pairs_match_closed_forms() {
    let (a, b) = (cylinder(0.1, 0.4), cylinder(0.05, 0.2));
    let o = Isometry3::identity();
    let lying = |y: f64, z: f64| math::pose(math::rotation_x(FRAC_PI_2), Vector3::new(0.0, y, z));
    // Coaxial: end to end, one inside the other, both equal.
    expect(&a, &o, &b, &at(0.0, 0.0, 0.35), 0.05);
    expect(&a, &o, &b, &at(0.0, 0.0, 0.25), -0.05);
    expect(&a, &o, &b, &o, -0.15);
    expect(&a, &o, &a, &o, -0.2);
    // Side by side, and with caps in one plane.
    expect(&a, &o, &b, &at(0.2, 0.0, 0.0), 0.05);
    expect(&a, &o, &b, &at(0.12, 0.0, 0.1), -0.03);
    expect(&a, &o, &a, &at(0.2, 0.0, 0.0), 0.0);
    // Rim next to rim, touching at one point.
    expect(&a, &o, &b, &at(0.15, 0.0, 0.3), 0.0);
    // Crossing at right angles: side on cap, side on side.
    expect(&a, &o, &b, &lying(0.0, 0.26), 0.01);
    expect(&a, &o, &b, &lying(0.0, 0.24), -0.01);
    let across = math::pose(math::rotation_x(FRAC_PI_2), Vector3::new(0.16, 0.0, 0.0));
    expect(&a, &o, &b, &across, 0.01);
}

#[test]
fn cylinders_and_other_shapes_match_closed_forms() {
    let c = cylinder(0.1, 0.4);
    let o = Isometry3::identity();
    let b = block(0.2, 0.2, 0.2);
    expect(&c, &o, &b, &at(0.0, 0.0, 0.35), 0.05);
    expect(&c, &o, &b, &at(0.21, 0.0, 0.0), 0.01);
    // An edge of the block is parallel to the axis.
    let turned = |x: f64| math::pose(math::rotation_z(FRAC_PI_4), Vector3::new(x, 0.0, 0.0));
    let reach = 0.1 * 2.0_f64.sqrt();
    expect(&c, &o, &b, &turned(reach + 0.12), 0.02);
    expect(&c, &o, &b, &turned(reach + 0.07), -0.03);
    // Concentric.
    expect(&c, &o, &b, &o, -0.2);
    expect(&c, &o, &sphere(0.05), &o, -0.15);
    expect(&c, &o, &ellipsoid(0.02, 0.03, 0.04), &o, -0.12);
    let k = Shape::from(Capsule::new(0.05, 0.1).unwrap());
    expect(&c, &o, &k, &o, -0.15);
    expect(&c, &o, &k, &at(0.0, 0.0, 0.31), 0.01);
    expect(&c, &o, &k, &at(0.16, 0.0, 0.05), 0.01);
    // A sphere over the rim.
    expect(&c, &o, &sphere(0.03), &at(0.13, 0.0, 0.24), 0.02);
    // On a half space, upright and lying.
    expect(&c, &at(0.0, 0.0, 0.2), &HalfSpace.into(), &o, 0.0);
    let lying = math::pose(math::rotation_y(FRAC_PI_2), Vector3::new(0.0, 0.0, 0.07));
    expect(&c, &lying, &HalfSpace.into(), &o, -0.03);
}

#[test]
fn ellipsoids_match_closed_forms() {
    let o = Isometry3::identity();
    let (a, b) = (ellipsoid(0.1, 0.2, 0.3), ellipsoid(0.2, 0.05, 0.1));
    expect(&a, &o, &b, &o, -0.25);
    expect(&a, &o, &b, &at(0.31, 0.0, 0.0), 0.01);
    expect(&a, &o, &b, &at(0.0, 0.0, 0.39), -0.01);
    expect(&a, &o, &HalfSpace.into(), &at(0.0, 0.0, -0.3), 0.0);
    expect(&a, &at(0.0, 0.0, 0.25), &HalfSpace.into(), &o, -0.05);
    expect(&a, &o, &block(0.2, 0.2, 0.2), &at(0.0, 0.31, 0.0), 0.01);
    // Needles of aspect ratio 1e4: tip on tip, tip on face, side by side.
    let needle = ellipsoid(1e-5, 1e-5, 0.1);
    expect(&needle, &o, &needle, &at(0.0, 0.0, 0.21), 0.01);
    expect(&needle, &o, &needle, &at(0.0, 0.0, 0.2), 0.0);
    expect(&needle, &o, &needle, &at(3e-5, 0.0, 0.0), 1e-5);
    expect(
        &needle,
        &o,
        &block(0.1, 0.1, 0.1),
        &at(0.0, 0.0, 0.149),
        -0.001,
    );
    let disk = ellipsoid(0.1, 0.1, 1e-5);
    expect(&disk, &o, &disk, &at(0.0, 0.0, 3e-5), 1e-5);
    expect(&disk, &o, &disk, &at(0.2, 0.0, 0.0), 0.0);
    expect(&disk, &o, &needle, &o, -0.10001);
}

#[test]
fn flat_hulls_match_closed_forms() {
    let o = Isometry3::identity();
    let square: Vec<_> = [
        (1.0, 1.0),
        (1.0, -1.0),
        (-1.0, 1.0),
        (-1.0, -1.0),
        (1.0, 1.0),
    ]
    .map(|(x, y)| Vector3::new(0.1 * x, 0.1 * y, 0.0))
    .to_vec();
    let square = hull(&square);
    expect(&square, &o, &sphere(0.05), &at(0.0, 0.0, 0.06), 0.01);
    expect(&square, &o, &sphere(0.05), &at(0.02, 0.01, 0.04), -0.01);
    expect(&square, &o, &sphere(0.05), &at(0.16, 0.0, 0.0), 0.01);
    expect(&square, &o, &square, &at(0.0, 0.0, 0.01), 0.01);
    // Two flat hulls in one plane overlap with depth zero: any lift separates them.
    expect(&square, &o, &square, &at(0.05, 0.0, 0.0), 0.0);
    expect(
        &square,
        &o,
        &cylinder(0.05, 0.2),
        &at(0.0, 0.0, 0.07),
        -0.03,
    );
    expect(&square, &o, &ellipsoid(0.05, 0.05, 0.02), &o, -0.02);
    expect(
        &square,
        &o,
        &block(0.1, 0.1, 0.1),
        &at(0.0, 0.0, 0.051),
        0.001,
    );
    expect(&square, &o, &HalfSpace.into(), &at(0.0, 0.0, 0.01), -0.01);
    let upright = math::pose(math::rotation_x(FRAC_PI_2), Vector3::new(0.0, 0.0, 0.08));
    expect(&square, &upright, &HalfSpace.into(), &o, -0.02);
    expect(&square, &o, &square, &upright, -0.02);
}

/// The hull of a block's corners gives the same results as the block.
#[test]
fn hull_of_a_block_matches_the_block() {
    let mut random = Random::new(21);
    for kind in 0..KINDS {
        for k in 0..300 {
            let h = Vector3::new(random.length(), random.length(), random.length()) * 0.5;
            let mut points = corners(&h);
            // Points that are not vertices of the hull: inside, on faces, on edges, duplicates.
            points.push(h * 0.5);
            points.push(Vector3::new(h.x, 0.0, 0.0));
            points.push(Vector3::new(h.x, h.y, 0.3 * h.z));
            points.push(h);
            let hull = hull(&points);
            let b = block(2.0 * h.x, 2.0 * h.y, 2.0 * h.z);
            let other = random.shape(kind);
            let reach = [0.05, 0.15, 0.5][k % 3];
            let (x_wa, x_wb) = (random.pose(reach), random.pose(reach));
            let d = check(&hull, &x_wa, &other, &x_wb, 2e-13);
            let same = signed_distance(&b, &x_wa, &other, &x_wb).unwrap();
            assert!((d.distance - same.distance).abs() < 5e-15, "{d:?} {same:?}");
            let q = random.vector() * 0.3;
            let p = distance_to_point(&hull, &x_wa, &q).unwrap();
            let same = distance_to_point(&b, &x_wa, &q).unwrap();
            assert!((p.distance - same.distance).abs() < 5e-15, "{p:?} {same:?}");
        }
    }
}

/// For points and boxes that are level with a face up to rounding, the witness is on the face, the
/// edge or the vertex, and value, normal and witness are consistent.
#[test]
fn witnesses_are_consistent_when_nearly_level_with_a_face() {
    let h = Vector3::new(0.3, 0.2, 0.1);
    let (hull, b) = (hull(&corners(&h)), block(2.0 * h.x, 2.0 * h.y, 2.0 * h.z));
    let mut random = Random::new(22);
    for exponent in 5..17 {
        for k in 0..2000 {
            let small = random.vector() * 10.0_f64.powi(-exponent);
            let mut q = random.vector() * [1.0, 5.0, 100.0][k % 3];
            // Level with one, two or all three faces of a corner.
            for axis in 0..3 {
                if ((k / 3) % 7) & (1 << axis) == 0 {
                    q[axis] = q[axis].signum() * h[axis] + small[axis];
                }
            }
            let o = Isometry3::identity();
            let found = distance_to_point(&hull, &o, &q).unwrap();
            let same = distance_to_point(&b, &o, &q).unwrap();
            let size = q.norm() + 1.0;
            let apart = (q - found.p_gn - found.grad_w * found.distance).norm();
            assert!(apart < 1e-13 * size, "{q:?} {apart:e} {found:?}");
            let off = (found.distance - same.distance).abs();
            assert!(off < 2e-14 * size, "{q:?} {off:e} {found:?} {same:?}");
            if same.distance > 1e-3 {
                let off = (found.p_gn - same.p_gn).norm();
                // Up to here, two features count as the same.
                assert!(off < 3e-13 * size, "{q:?} {off:e} {found:?} {same:?}");
            }
            // Another box, rotated by the small angles.
            let x = math::pose(math::rotation_exp(&small), q);
            check(&hull, &o, &b, &x, 3e-13 * size);
            check(&b, &x, &hull, &o, 3e-13 * size);
        }
    }
}

/// An ellipsoid with equal axes gives the same results as a sphere.
#[test]
fn round_ellipsoid_matches_a_sphere() {
    let mut random = Random::new(22);
    for kind in 0..KINDS {
        for k in 0..300 {
            let r = random.length();
            let other = random.shape(kind);
            let reach = [0.05, 0.15, 0.5][k % 3];
            let (x_wa, x_wb) = (random.pose(reach), random.pose(reach));
            let d = check(&ellipsoid(r, r, r), &x_wa, &other, &x_wb, 2e-13);
            let same = signed_distance(&sphere(r), &x_wa, &other, &x_wb).unwrap();
            assert!((d.distance - same.distance).abs() < 5e-15, "{d:?} {same:?}");
        }
    }
}

/// Quarter and eighth turns on a grid, for all pairs of shape types: parallel faces, coaxial and
/// concentric pairs, edges on edges. The depth equals that of a search over directions.
#[test]
fn depths_on_a_grid_of_positions_match_a_search() {
    let mut random = Random::new(23);
    let sizes = [0.1, 0.1, 0.2, 0.05];
    for (i, j) in pairs().filter(|(i, j)| i <= j && *i != 3 && *j != 3) {
        for _ in 0..2 {
            let mut pick = |n: usize| ((random.number() + 1.0) * 0.5 * n as f64) as usize;
            let mut shape = |kind: usize| -> Shape {
                let (x, y, z) = (sizes[pick(4)], sizes[pick(4)], sizes[pick(4)]);
                match kind {
                    0 => block(x, y, z),
                    1 => Capsule::new(x, y).unwrap().into(),
                    2 => sphere(x),
                    4 => cylinder(x, y),
                    5 => ellipsoid(x, y, z),
                    _ => hull(&corners(&Vector3::new(x, y, z))),
                }
            };
            let (a, b) = (shape(i), shape(j));
            let mut angle = || pick(8) as f64 * FRAC_PI_4;
            let r = math::rpy(angle(), angle(), angle());
            let mut step = || 0.05 * (pick(7) as f64 - 3.0);
            let x_wb = math::pose(r, Vector3::new(step(), step(), step()));
            let x_wa = Isometry3::identity();
            let d = check(&a, &x_wa, &b, &x_wb, 2e-13);
            if d.distance < 0.0 {
                let found = brute_force::searched(&a, &x_wa, &b, &x_wb);
                assert!(
                    found <= d.distance + 1e-13,
                    "{found} > {d:?}: {a:?} {b:?} {x_wb:?}"
                );
            }
        }
    }
}
