//! Shapes as cores with a margin, and the canonical order of two of them.

use super::convex::ConvexCore;
use crate::error::{Error, Result};
use crate::shape::Shape;
use nalgebra::Isometry3;
use std::cmp::Ordering;
use tarragon_framework::Scalar;

/// The rank of shapes without a kernel.
pub(super) const UNKNOWN: u8 = 8;

/// Returns the rank of a shape type in the canonical order; kernels exist for pairs in this order.
pub(super) fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::HalfSpace(_) => 0,
        Shape::Convex(_) | Shape::Mesh(_) => 1,
        Shape::Box(_) => 2,
        Shape::Cylinder(_) => 3,
        Shape::Ellipsoid(_) => 4,
        Shape::Capsule(_) => 5,
        Shape::Sphere(_) => 6,
        Shape::HeightField(_) => 7,
        Shape::MeshcatCone(_) => UNKNOWN,
    }
}

/// Returns the core of a shape: the set that its margin is swept along. Half spaces have none.
#[inline]
pub(super) fn core(shape: &Shape) -> Result<ConvexCore<'_>> {
    Ok(match shape {
        Shape::Box(s) => ConvexCore::Box(s.half_size()),
        Shape::Capsule(s) => ConvexCore::Segment {
            half: 0.5 * s.length(),
        },
        Shape::Cylinder(s) => ConvexCore::Cylinder {
            radius: s.radius(),
            half: 0.5 * s.length(),
        },
        Shape::Ellipsoid(s) => ConvexCore::Ellipsoid(s.semi_axes()),
        Shape::Sphere(_) => ConvexCore::Point,
        Shape::Convex(s) => ConvexCore::Polytope(s.polytope()?),
        Shape::Mesh(s) => ConvexCore::Polytope(s.polytope()?),
        Shape::HeightField(_) => {
            return Err(Error::unsupported(
                "HeightField: it is not convex, so this query must use its true surface",
            ));
        }
        other => {
            return Err(Error::unsupported(format!(
                "{} cannot be used in proximity queries, it is for visualizers only; use another \
                 shape",
                other.type_name()
            )));
        }
    })
}

/// Radius of the sphere swept along the core of a shape (m).
#[inline]
pub(super) fn margin(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Capsule(s) => s.radius(),
        _ => 0.0,
    }
}

/// Returns the size of a bounded shape (m), the scale of its rounding errors.
#[inline(always)]
pub(super) fn extent(shape: &Shape) -> f64 {
    match shape {
        Shape::Box(s) => s.size().sum(),
        Shape::Capsule(s) => s.length() + s.radius(),
        Shape::Sphere(s) => s.radius(),
        Shape::Cylinder(s) => s.length() + s.radius(),
        Shape::Ellipsoid(s) => s.semi_axes().max(),
        Shape::Convex(_) | Shape::Mesh(_) => core(shape).map_or(0.0, |c| c.extent()),
        Shape::HeightField(s) => s.calc_bounding_box().1.sum(),
        Shape::HalfSpace(_) | Shape::MeshcatCone(_) => 0.0,
    }
}

/// Returns whether two shapes of one type are in canonical order: by dimensions, then by pose.
#[inline]
pub(super) fn precedes<T: Scalar>(
    dimensions_a: &[f64],
    x_wa: &Isometry3<T>,
    dimensions_b: &[f64],
    x_wb: &Isometry3<T>,
) -> bool {
    let pose = |x: &Isometry3<T>| {
        let (p, q) = (x.translation.vector, x.rotation.coords);
        [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x.re())
    };
    let order = dimensions_a
        .partial_cmp(dimensions_b)
        .unwrap_or(Ordering::Equal);
    match order {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => pose(x_wa) <= pose(x_wb),
    }
}
