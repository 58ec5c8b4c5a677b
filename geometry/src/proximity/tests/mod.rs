//! Tests that hold for every pair. Special points and closed forms are in the sibling modules.

mod adversarial;
mod brute_force;
mod derivatives;
mod height_field_depth;
mod height_fields;
mod independent;
mod properties;
mod special_points;

use super::{PairDistance, signed_distance};
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::shape::{BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere};
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;

/// A small deterministic generator of random numbers in (-1, 1).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub(super) fn number(&mut self) -> f64 {
        // xorshift64* (Vigna 2016).
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 / (1_u64 << 52) as f64 - 1.0
    }
    pub(super) fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.number(), self.number(), self.number())
    }
    pub(super) fn pose(&mut self, reach: f64) -> Isometry3<f64> {
        let r = math::rotation_exp(&(self.vector() * 3.0));
        math::pose(r, self.vector() * reach)
    }
    /// Returns a length in [0.05, 0.25].
    pub(super) fn length(&mut self) -> f64 {
        0.15 + 0.1 * self.number()
    }
    /// Returns a random shape of a type, by number: 0: box, 1: capsule, 2: sphere, 3: half space,
    /// 4: cylinder, 5: ellipsoid, 6: convex.
    pub(super) fn shape(&mut self, kind: usize) -> Shape {
        let (x, y, z) = (self.length(), self.length(), self.length());
        match kind {
            0 => BoxShape::new(x, y, z).unwrap().into(),
            1 => Capsule::new(0.5 * x, y).unwrap().into(),
            2 => Sphere::new(x).unwrap().into(),
            4 => Cylinder::new(0.5 * x, y).unwrap().into(),
            5 => Ellipsoid::new(0.5 * x, 0.5 * y, 0.5 * z).unwrap().into(),
            6 => {
                let count = 4 + (10.0 * (self.number() + 1.0)) as usize;
                let size = Vector3::new(x, y, z) * 0.5;
                let mut points: Vec<_> = (0..count)
                    .map(|_| self.vector().component_mul(&size))
                    .collect();
                // Some vertices occur twice, as in exported meshes.
                points.extend_from_within(..2);
                hull(&points)
            }
            _ => HalfSpace.into(),
        }
    }
}

/// Number of shape types that [`Random::shape`] makes.
pub(super) const KINDS: usize = 7;

/// Returns all supported pairs of shape types, in both orders.
pub(super) fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..KINDS * KINDS)
        .map(|k| (k / KINDS, k % KINDS))
        .filter(|k| *k != (3, 3))
}

/// Returns the tolerance for witnesses facing each other (m, for shapes of about 0.2 m): rounding
/// for closed forms; for the general solver, rounding times the curvature of the surfaces.
pub(super) fn tolerance(i: usize, j: usize) -> f64 {
    if i < 4 && j < 4 { 5e-15 } else { 2e-13 }
}

/// Returns the hull of points, by way of a file in memory.
pub(super) fn hull(points: &[Vector3<f64>]) -> Shape {
    use std::fmt::Write;
    let mut obj = String::new();
    for p in points {
        writeln!(obj, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    for i in 2..points.len() {
        writeln!(obj, "f {} {} {}", i - 1, i, i + 1).unwrap();
    }
    Convex::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "points"))).into()
}

/// Returns the largest value of `d.p` over the shape at `x`; infinite for most directions of a half
/// space.
pub(super) fn support(shape: &Shape, x: &Isometry3<f64>, d: &Vector3<f64>) -> f64 {
    let d_g = x.rotation.inverse() * d;
    let local = match shape {
        Shape::Box(b) => b.half_size().dot(&d_g.abs()),
        Shape::Capsule(c) => 0.5 * c.length() * d_g.z.abs() + c.radius() * d.norm(),
        Shape::Sphere(s) => s.radius() * d.norm(),
        Shape::Cylinder(c) => 0.5 * c.length() * d_g.z.abs() + c.radius() * d_g.xy().norm(),
        Shape::Ellipsoid(e) => e.semi_axes().component_mul(&d_g).norm(),
        Shape::Convex(c) => {
            let vertices = c.polytope().unwrap().vertices().iter();
            vertices
                .map(|v| v.dot(&d_g))
                .fold(f64::NEG_INFINITY, f64::max)
        }
        _ if d_g.z > 0.0 && d_g.xy().norm() < 1e-12 => 0.0,
        _ => f64::INFINITY,
    };
    local + d.dot(&x.translation.vector)
}

/// Returns the separating margin of the direction `n` from A to B.
pub(super) fn separating_margin(
    a: &Shape,
    x_wa: &Isometry3<f64>,
    b: &Shape,
    x_wb: &Isometry3<f64>,
    n: &Vector3<f64>,
) -> f64 {
    -support(b, x_wb, &-n) - support(a, x_wa, n)
}

/// Checks everything that a result promises: the normal has unit length, the witnesses are on the
/// surfaces, the distance along the normal separates them, and the margin of the normal is the
/// distance. This certificate proves the distance of a separated pair. For an overlapping pair it
/// proves that the depth is not smaller.
#[track_caller]
pub(super) fn check(
    a: &Shape,
    x_wa: &Isometry3<f64>,
    b: &Shape,
    x_wb: &Isometry3<f64>,
    tolerance: f64,
) -> PairDistance<f64> {
    let d = signed_distance(a, x_wa, b, x_wb).unwrap();
    let case = || format!("{a:?} {x_wa:?} {b:?} {x_wb:?} {d:?}");
    assert!((d.nhat_ba_w.norm() - 1.0).abs() < 1e-14, "{}", case());
    let off = (d.p_wca - d.p_wcb - d.nhat_ba_w * d.distance).norm();
    assert!(off <= tolerance, "witnesses off by {off:e}: {}", case());
    for (shape, x, p) in [(a, x_wa, &d.p_wca), (b, x_wb, &d.p_wcb)] {
        let on = super::distance_to_point(shape, x, p).unwrap().distance;
        assert!(on.abs() <= tolerance, "witness {on:e} off: {}", case());
    }
    let margin = separating_margin(a, x_wa, b, x_wb, &-d.nhat_ba_w);
    let gap = (margin - d.distance).abs();
    assert!(gap <= tolerance, "margin off by {gap:e}: {}", case());
    d
}
