//! Signed distance of two shapes: the choice of the kernel for each pair.

use super::answer::PairAnswer;
use super::convex::{
    ActiveFeatures, RelativePose, convex_features, half_space_convex_features,
    point_cylinder_features, point_ellipsoid_features,
};
use super::core_distance::CoreDistance;
use super::pairs::{
    box_box_features, capsule_box_features, capsule_capsule_features, half_space_features,
    sphere_box_features, sphere_capsule_features, sphere_sphere_distance,
};
use super::rounding::{NEGLIGIBLE, check_distance};
use super::shape_core::{core, extent, margin, precedes, rank};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::values::{value_of, values_of_pose};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use tarragon_framework::Scalar;

/// The reason why a kernel without a distance limit always returns a result.
pub(super) const NEVER: &str = "no distance is beyond infinity";

/// Returns the signed distance of two convex shapes or half spaces, or `None` beyond
/// `max_distance`. A mesh is its hull.
#[inline]
pub(crate) fn closest<T: Scalar, A: PairAnswer<T>>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    // Kernels stop early only at positive limits: they always compute the depth of an overlap.
    let found: Option<A> = in_any_order(a, x_wa, b, x_wb, max_distance.max(0.0))?;
    Ok(found.filter(|found| found.distance().re() <= max_distance))
}

/// Brings the pair into canonical order, and the result back into the order of the arguments.
#[inline]
fn in_any_order<T: Scalar, A: PairAnswer<T>>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    if let (Shape::Sphere(a), Shape::Sphere(b)) = (a, b) {
        // This kernel is symmetric by itself.
        check_distance((x_wb.translation.vector - x_wa.translation.vector).map(|x| x.re()))?;
        let found = sphere_sphere_distance(a, x_wa, b, x_wb, max_distance);
        return Ok(found.map(|found| A::in_world(found, x_wa, x_wb)));
    }
    let ordered = match (a, b) {
        (Shape::Box(a), Shape::Box(b)) => {
            precedes(a.size().as_slice(), x_wa, b.size().as_slice(), x_wb)
        }
        (Shape::Capsule(a), Shape::Capsule(b)) => precedes(
            &[a.radius(), a.length()],
            x_wa,
            &[b.radius(), b.length()],
            x_wb,
        ),
        (Shape::Cylinder(a), Shape::Cylinder(b)) => precedes(
            &[a.radius(), a.length()],
            x_wa,
            &[b.radius(), b.length()],
            x_wb,
        ),
        (Shape::Ellipsoid(a), Shape::Ellipsoid(b)) => precedes(
            a.semi_axes().as_slice(),
            x_wa,
            b.semi_axes().as_slice(),
            x_wb,
        ),
        (Shape::Convex(_) | Shape::Mesh(_), Shape::Convex(_) | Shape::Mesh(_)) => {
            let key = |s: &Shape| core(s).map(|c| c.key());
            precedes(&key(a)?, x_wa, &key(b)?, x_wb)
        }
        _ => rank(a) <= rank(b),
    };
    if ordered {
        in_order(a, x_wa, b, x_wb, max_distance)
    } else {
        let found: Option<A> = in_order(b, x_wb, a, x_wa, max_distance)?;
        Ok(found.map(A::swapped))
    }
}

/// Calls the kernel of the pair, which decides the features on plain values, and evaluates them in
/// `T`.
#[inline]
fn in_order<T: Scalar, A: PairAnswer<T>>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    let p_ab = x_wa.rotation.inverse() * (x_wb.translation.vector - x_wa.translation.vector);
    // The orientation of a sphere does not matter.
    let r_ab = match b {
        Shape::Sphere(_) => UnitQuaternion::identity(),
        _ => x_wa.rotation.inverse() * x_wb.rotation,
    };
    let x_ab = Isometry3::from_parts(Translation3::from(p_ab), r_ab);
    let (ra, rb) = (margin(a), margin(b));
    check_distance(value_of(&p_ab))?;
    // A margin for rounding: the exact comparison uses the final distance.
    let size = value_of(&p_ab).amax() + extent(a) + extent(b);
    let reach = ra + rb + max_distance + NEGLIGIBLE * size;
    let Some(core) = core_distance(a, b, &x_ab, reach)? else {
        return Ok(None);
    };
    let (ra, rb) = (T::from(ra), T::from(rb));
    let surfaces = CoreDistance {
        distance: core.distance - (ra + rb),
        n_ab: core.n_ab,
        p_a: core.p_a + core.n_ab * ra,
        p_b: core.p_b - core.n_ab * rb,
    };
    Ok(Some(A::in_a(surfaces, x_wa, x_wb, &p_ab)))
}

/// Returns the distance of the cores of a pair in canonical order, or `None` beyond `reach`. Always
/// inlined with the short kernels, and so without copies of their features.
#[inline(always)]
fn core_distance<T: Scalar>(
    a: &Shape,
    b: &Shape,
    x_ab: &Isometry3<T>,
    reach: f64,
) -> Result<Option<CoreDistance<T>>> {
    let x = values_of_pose(x_ab);
    let p = x.translation.vector;
    let upright = |half: f64| Vector3::new(0.0, 0.0, half);
    let features = match (a, b) {
        (Shape::HalfSpace(_), Shape::Box(b)) => half_space_features(&b.half_size(), &x, reach),
        (Shape::HalfSpace(_), Shape::Capsule(b)) => {
            half_space_features(&upright(0.5 * b.length()), &x, reach)
        }
        (Shape::HalfSpace(_), Shape::Sphere(_)) => half_space_features(&upright(0.0), &x, reach),
        (Shape::Box(a), Shape::Box(b)) => {
            box_box_features(&a.half_size(), &b.half_size(), &x, reach)
        }
        (Shape::Box(a), Shape::Capsule(b)) => {
            capsule_box_features(&a.half_size(), 0.5 * b.length(), &x, reach)
        }
        (Shape::Box(a), Shape::Sphere(_)) => sphere_box_features(&a.half_size(), &p, reach),
        (Shape::Capsule(a), Shape::Capsule(b)) => {
            capsule_capsule_features(0.5 * a.length(), 0.5 * b.length(), &x, reach)
        }
        (Shape::Capsule(a), Shape::Sphere(_)) => {
            sphere_capsule_features(0.5 * a.length(), &p, reach)
        }
        _ => return general_distance(a, b, x_ab, reach),
    };
    Ok(features.map(|features| features.evaluate(x_ab)))
}

/// Same as [`core_distance`], for pairs that need the general solver or a closed form of their own.
/// Not inlined: its results are large, and the pairs above should not pay for them.
#[inline(never)]
fn general_distance<T: Scalar>(
    a: &Shape,
    b: &Shape,
    x_ab: &Isometry3<T>,
    reach: f64,
) -> Result<Option<CoreDistance<T>>> {
    let x = values_of_pose(x_ab);
    let p = x.translation.vector;
    let active: Option<ActiveFeatures> = match (a, b) {
        (Shape::HalfSpace(_), Shape::HalfSpace(_)) => {
            return Err(Error::unsupported(
                "signed_distance: two half spaces have no signed distance, both are unbounded; \
                 filter the pair",
            ));
        }
        (Shape::Cylinder(a), Shape::Sphere(_)) => {
            point_cylinder_features(a.radius(), 0.5 * a.length(), &p, reach)
        }
        (Shape::Ellipsoid(a), Shape::Sphere(_)) => {
            point_ellipsoid_features(&a.semi_axes(), &p, reach)
        }
        (Shape::HalfSpace(_), b) => half_space_convex_features(&core(b)?, &x, reach),
        (a, b) => convex_features(&core(a)?, &core(b)?, &x, reach),
    };
    Ok(active.map(|active| active.evaluate(&RelativePose::new(x_ab))))
}
