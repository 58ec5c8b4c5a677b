//! The active feature of one body: its support, and the directions along which the support is free.

use crate::values::lift;
use nalgebra::{Matrix2, Vector3};
use tarragon_framework::Scalar;

/// A smooth support of a body, in its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) enum SupportPiece {
    Point(Vector3<f64>),
    /// A circle around the unit vector `axis`.
    Circle {
        center: Vector3<f64>,
        axis: Vector3<f64>,
        radius: f64,
    },
    /// An ellipsoid around the origin with these semi-axes.
    Ellipsoid(Vector3<f64>),
}

/// A constraint on the normal: the directions it must stay perpendicular to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) enum NormalConstraint {
    None,
    /// A direction along which the support is free.
    Edge(Vector3<f64>),
    /// A plane with this outward normal.
    Face(Vector3<f64>),
}

/// The active feature of one body, in its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::proximity) struct LocalFeature {
    pub(super) piece: SupportPiece,
    pub(super) flat: NormalConstraint,
}

impl LocalFeature {
    pub(super) fn new(piece: SupportPiece, flat: NormalConstraint) -> Self {
        Self { piece, flat }
    }
    pub(in crate::proximity) fn point(p: Vector3<f64>) -> Self {
        Self::new(SupportPiece::Point(p), NormalConstraint::None)
    }
    pub(in crate::proximity) fn face(on: Vector3<f64>, normal: Vector3<f64>) -> Self {
        Self::new(SupportPiece::Point(on), NormalConstraint::Face(normal))
    }

    /// Returns all points, edges and faces through some of the vertices; the normals of faces point
    /// toward `outward`.
    pub(super) fn through_some_of(points: &[Vector3<f64>], outward: &Vector3<f64>) -> Vec<Self> {
        let mut locals = vec![];
        for (i, p) in points.iter().enumerate() {
            let on = SupportPiece::Point(*p);
            locals.push(Self::new(on, NormalConstraint::None));
            for (j, q) in points.iter().enumerate().skip(i + 1) {
                let edge = (q - p).try_normalize(0.0);
                locals.extend(edge.map(|e| Self::new(on, NormalConstraint::Edge(e))));
                for r in &points[j + 1..] {
                    let normal = (q - p).cross(&(r - p)).try_normalize(0.0);
                    let normal = normal.map(|n| n * 1.0_f64.copysign(n.dot(outward)));
                    locals.extend(normal.map(|n| Self::new(on, NormalConstraint::Face(n))));
                }
            }
        }
        locals
    }

    /// Returns the same feature, but no longer free to slide along its flat: `p` is the point of it
    /// that counts.
    pub(super) fn held_at(&self, p: &Vector3<f64>) -> Self {
        let piece = match (self.piece, self.flat) {
            (
                SupportPiece::Circle {
                    center,
                    axis,
                    radius,
                },
                NormalConstraint::Edge(_),
            ) => SupportPiece::Circle {
                center: center + axis * axis.dot(&(p - center)),
                axis,
                radius,
            },
            (piece, NormalConstraint::None) => piece,
            _ => SupportPiece::Point(*p),
        };
        Self::new(piece, NormalConstraint::None)
    }
}

impl SupportPiece {
    /// Returns the point farthest along the unit vector `n`.
    pub(super) fn support<T: Scalar>(&self, n: &Vector3<T>) -> Vector3<T> {
        match self {
            Self::Point(p) => lift(p),
            Self::Circle {
                center,
                axis,
                radius,
            } => {
                let axis: Vector3<T> = lift(axis);
                let across = n - axis * axis.dot(n);
                let length2 = across.norm_squared();
                if length2.re() <= 0.0 {
                    return lift(center);
                }
                lift::<T>(center) + across * (T::from(*radius) / length2.sqrt())
            }
            Self::Ellipsoid(semi_axes) => {
                let semi_axes: Vector3<T> = lift(semi_axes);
                let scaled = n.component_mul(&semi_axes);
                scaled.component_mul(&semi_axes) / scaled.norm_squared().sqrt()
            }
        }
    }

    /// Returns the derivative of [`SupportPiece::support`] between two directions; it is positive
    /// semidefinite.
    pub(super) fn curvature(&self, n: &Vector3<f64>, t: &[Vector3<f64>; 2]) -> Matrix2<f64> {
        match self {
            Self::Point(_) => Matrix2::zeros(),
            Self::Circle { axis, radius, .. } => {
                let q = axis.cross(n);
                let length2 = q.norm_squared();
                if length2 <= 0.0 {
                    return Matrix2::zeros();
                }
                let (x, y) = (q.dot(&t[0]), q.dot(&t[1]));
                Matrix2::new(x * x, x * y, x * y, y * y) * (radius / (length2 * length2.sqrt()))
            }
            Self::Ellipsoid(semi_axes) => {
                let scaled = n.component_mul(semi_axes);
                let s = scaled.norm();
                let t = t.map(|t| t.component_mul(semi_axes));
                let along = t.map(|t| t.dot(&scaled) / s);
                let entry = |i: usize, j: usize| (t[i].dot(&t[j]) - along[i] * along[j]) / s;
                let off = entry(0, 1);
                Matrix2::new(entry(0, 0), off, off, entry(1, 1))
            }
        }
    }
}
