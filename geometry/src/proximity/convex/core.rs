//! The bounded convex sets that the general solver supports, each in its own frame.

use super::local::{LocalFeature, NormalConstraint, SupportPiece};
use super::region::SupportRegion;
use crate::accel::Polytope;
use crate::accel::triangle_index::Triangle;
use nalgebra::Vector3;
use std::cell::Cell;

/// A convex set, centred at the origin of its frame unless it is a polytope.
#[derive(Clone, Copy, Debug)]
pub(in crate::proximity) enum ConvexCore<'a> {
    Point,
    /// `|z| <= half`.
    Segment {
        half: f64,
    },
    /// Half edges.
    Box(Vector3<f64>),
    /// Axis along z, `|z| <= half`.
    Cylinder {
        radius: f64,
        half: f64,
    },
    /// Semi-axes.
    Ellipsoid(Vector3<f64>),
    Polytope(&'a Polytope),
    /// A triangle of a surface.
    Triangle(&'a Triangle),
}

impl ConvexCore<'_> {
    /// Returns the size of the set (m), the scale of its rounding errors.
    pub(in crate::proximity) fn extent(&self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Segment { half } => 2.0 * half,
            Self::Box(h) => 2.0 * h.norm(),
            Self::Cylinder { radius, half } => 2.0 * (radius + half),
            Self::Ellipsoid(semi_axes) => 2.0 * semi_axes.max(),
            Self::Polytope(p) => p.extent(),
            Self::Triangle(t) => {
                let [a, b, c] = t.corners;
                (b - a).norm() + (c - a).norm()
            }
        }
    }

    /// Returns true if every support is one of finitely many vertices.
    pub(super) fn is_flat(&self) -> bool {
        !matches!(self, Self::Cylinder { .. } | Self::Ellipsoid(_))
    }

    /// Returns numbers that distinguish polytopes, for ordering two of them.
    pub(in crate::proximity) fn key(&self) -> [f64; 5] {
        match self {
            Self::Polytope(p) => {
                let v = p.vertices()[0];
                [p.vertices().len() as f64, p.extent(), v.x, v.y, v.z]
            }
            _ => [0.0; 5],
        }
    }

    /// Returns a point inside the set.
    pub(in crate::proximity) fn center(&self) -> Vector3<f64> {
        match self {
            Self::Polytope(p) => *p.center(),
            Self::Triangle(t) => t.corners.iter().sum::<Vector3<f64>>() / 3.0,
            _ => Vector3::zeros(),
        }
    }

    /// Returns a point farthest along `d`, which need not be of unit length.
    #[inline]
    pub(in crate::proximity) fn support(&self, d: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Point => Vector3::zeros(),
            Self::Segment { half } => Vector3::new(0.0, 0.0, half.copysign(d.z)),
            Self::Box(h) => h.zip_map(d, f64::copysign),
            Self::Cylinder { radius, half } => {
                let across = (d.x * d.x + d.y * d.y).sqrt();
                let (x, y) = if across > 0.0 {
                    (d.x * (radius / across), d.y * (radius / across))
                } else {
                    (0.0, 0.0)
                };
                Vector3::new(x, y, half.copysign(d.z))
            }
            Self::Ellipsoid(semi_axes) => {
                let scaled = d.component_mul(semi_axes);
                let length = scaled.norm();
                if length > 0.0 {
                    scaled.component_mul(semi_axes) / length
                } else {
                    Vector3::zeros()
                }
            }
            Self::Polytope(p) => p.vertices()[p.support(d)],
            Self::Triangle(t) => t.corners[highest_corner(t, d)],
        }
    }

    /// Same as [`ConvexCore::support`], but faster if `last` is the vertex returned by the last
    /// call in a similar direction.
    #[inline]
    pub(super) fn support_near(&self, last: &Cell<usize>, d: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Polytope(p) => {
                last.set(p.support_near(last.get(), d));
                p.vertices()[last.get()]
            }
            other => other.support(d),
        }
    }

    /// Returns the features that support the set in directions within about the angle `tolerance`
    /// (rad) of the unit vector `n`.
    pub(in crate::proximity) fn local(&self, n: &Vector3<f64>, tolerance: f64) -> LocalFeature {
        let along_z = n.z.abs() <= tolerance;
        match self {
            Self::Point => LocalFeature::point(Vector3::zeros()),
            Self::Segment { .. } => {
                let flat = if along_z {
                    NormalConstraint::Edge(Vector3::z())
                } else {
                    NormalConstraint::None
                };
                LocalFeature::new(SupportPiece::Point(self.support(n)), flat)
            }
            Self::Box(_) => {
                let mut free = n.map(|n| n.abs() <= tolerance);
                let axis = n.iamax();
                free[axis] = false;
                let flat = match free.iter().filter(|f| **f).count() {
                    0 => NormalConstraint::None,
                    1 => NormalConstraint::Edge(free.map(|f| if f { 1.0 } else { 0.0 })),
                    _ => NormalConstraint::Face(Vector3::ith(axis, 1.0_f64.copysign(n[axis]))),
                };
                LocalFeature::new(SupportPiece::Point(self.support(n)), flat)
            }
            Self::Cylinder { radius, half } => {
                let circle = |z: f64| SupportPiece::Circle {
                    center: Vector3::new(0.0, 0.0, z),
                    axis: Vector3::z(),
                    radius: *radius,
                };
                if n.x.hypot(n.y) <= tolerance {
                    let up = Vector3::new(0.0, 0.0, half.copysign(n.z));
                    let normal = Vector3::new(0.0, 0.0, 1.0_f64.copysign(n.z));
                    LocalFeature::new(SupportPiece::Point(up), NormalConstraint::Face(normal))
                } else if along_z {
                    LocalFeature::new(circle(0.0), NormalConstraint::Edge(Vector3::z()))
                } else {
                    LocalFeature::new(circle(half.copysign(n.z)), NormalConstraint::None)
                }
            }
            Self::Ellipsoid(semi_axes) => {
                LocalFeature::new(SupportPiece::Ellipsoid(*semi_axes), NormalConstraint::None)
            }
            Self::Polytope(p) => polytope_local(p, n, tolerance),
            Self::Triangle(t) => triangle_local(t, n, tolerance),
        }
    }

    /// Returns all points whose height along the unit vector `n` is within `tolerance` (m) of the
    /// largest.
    pub(super) fn region(&self, n: &Vector3<f64>, tolerance: f64) -> SupportRegion {
        let s = self.support(n);
        match self {
            Self::Point | Self::Ellipsoid(_) => SupportRegion::point(s),
            Self::Segment { half } => {
                if 2.0 * half * n.z.abs() <= tolerance {
                    SupportRegion::segment(
                        Vector3::new(0.0, 0.0, -half),
                        Vector3::new(0.0, 0.0, *half),
                    )
                } else {
                    SupportRegion::point(s)
                }
            }
            Self::Box(h) => {
                let free = h.zip_map(n, |h, n| 2.0 * h * n.abs() <= tolerance);
                let mut corners = vec![s];
                for axis in (0..3).filter(|i| free[*i]) {
                    // Backward through the list, so that the corners stay in the order of a loop.
                    for i in (0..corners.len()).rev() {
                        let mut other: Vector3<f64> = corners[i];
                        other[axis] = -other[axis];
                        corners.push(other);
                    }
                }
                corners.truncate(4);
                SupportRegion::polygon(corners)
            }
            Self::Cylinder { radius, half } => {
                if 2.0 * radius * n.x.hypot(n.y) <= tolerance {
                    SupportRegion::disk(Vector3::new(0.0, 0.0, s.z), *radius)
                } else if 2.0 * half * n.z.abs() <= tolerance {
                    SupportRegion::segment(
                        Vector3::new(s.x, s.y, -half),
                        Vector3::new(s.x, s.y, *half),
                    )
                } else {
                    SupportRegion::point(s)
                }
            }
            Self::Polytope(p) => polytope_region(p, n, tolerance),
            Self::Triangle(t) => {
                let high = |v: &Vector3<f64>| (s - v).dot(n) <= tolerance;
                SupportRegion::polygon(t.corners.into_iter().filter(high).collect())
            }
        }
    }
}

fn highest_corner(t: &Triangle, d: &Vector3<f64>) -> usize {
    let [a, b, c] = t.corners.map(|v| v.dot(d));
    if a >= b && a >= c {
        0
    } else if b >= c {
        1
    } else {
        2
    }
}

fn triangle_local(t: &Triangle, n: &Vector3<f64>, tolerance: f64) -> LocalFeature {
    let top = highest_corner(t, n);
    let v = t.corners[top];
    let to = |k: usize| v - t.corners[(top + k) % 3];
    let level = |e: &Vector3<f64>| e.dot(n) <= tolerance * e.norm();
    let (e, f) = (to(1), to(2));
    let flat = match (level(&e), level(&f)) {
        (false, false) => NormalConstraint::None,
        (true, false) => NormalConstraint::Edge(e.normalize()),
        (false, true) => NormalConstraint::Edge(f.normalize()),
        (true, true) => NormalConstraint::Face(t.normal * 1.0_f64.copysign(t.normal.dot(n))),
    };
    LocalFeature::new(SupportPiece::Point(v), flat)
}

fn polytope_local(p: &Polytope, n: &Vector3<f64>, tolerance: f64) -> LocalFeature {
    let top = p.support(n);
    let v = p.vertices()[top];
    let mut level = None;
    let mut count = 0;
    for &i in p.neighbors(top) {
        let e = v - p.vertices()[i as usize];
        if e.dot(n) <= tolerance * e.norm() {
            count += 1;
            level = Some(e);
        }
    }
    let flat = match (count, level) {
        (1, Some(e)) => NormalConstraint::Edge(e.normalize()),
        (0, _) | (_, None) => NormalConstraint::None,
        _ => match p.face_toward(top, n) {
            Some(face) => NormalConstraint::Face(*p.plane(face).0),
            None => NormalConstraint::None,
        },
    };
    let on = match flat {
        // A vertex of that face, which need not be the highest vertex.
        NormalConstraint::Face(normal) => p.vertices()[p.support(&normal)],
        _ => v,
    };
    LocalFeature::new(SupportPiece::Point(on), flat)
}

/// Returns a vertex, an edge, a face whose corners are all high enough, or, where several faces are
/// nearly coplanar, the hull of their vertices.
fn polytope_region(p: &Polytope, n: &Vector3<f64>, tolerance: f64) -> SupportRegion {
    let top = p.support(n);
    let v = p.vertices()[top];
    let high = |i: u32| (v - p.vertices()[i as usize]).dot(n) <= tolerance;
    let mut members = vec![top as u32];
    let mut next = 0;
    while next < members.len() {
        for &i in p.neighbors(members[next] as usize) {
            if high(i) && !members.contains(&i) {
                members.push(i);
            }
        }
        next += 1;
    }
    let points = members.iter().map(|i| p.vertices()[*i as usize]);
    SupportRegion::hull(points.collect(), n)
}
