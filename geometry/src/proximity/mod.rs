//! Exact distance queries between two shapes: the narrow phase.
//!
//! # Signed distance
//! For convex A and B, separated or overlapping,
//!
//! ```text
//! phi(A, B) = max over unit n of  g(n),    g(n) = min_{b in B} n.b - max_{a in A} n.a
//! ```
//!
//! the largest separating margin: the distance of the closest points when separated, minus the
//! length of the shortest translation that separates them when overlapping (the global minimum,
//! also in deep overlap).
//!
//! # How
//! A sphere is a point and a capsule a segment, each with a margin; every other shape is itself, a
//! mesh its convex hull. Pairs of points, segments, boxes and half spaces have a file each that
//! decides, on values, which features are active; `features` turns them into value, normal and
//! witnesses in `T`. Cylinders, ellipsoids and hulls are solved by `convex`, which finds the region
//! of the optimum by GJK or EPA and the optimum itself by Newton's method on the active features.
//! No search is ever differentiated: derivatives come from the features. Every kernel works with
//! the pose of the one body in the other, so results do not depend on how far from the origin a
//! pair is.
//!
//! Values are accurate to rounding (some 1e-16 of the larger extent), witnesses to rounding times
//! how strongly the surfaces turn (1e-12 of the extent for needles of aspect ratio 1e4), and so are
//! derivatives.
//!
//! How well that holds is measured in `docs/proximity_accuracy.md`. Limits: of thin cylinders,
//! ellipsoids and hulls that are apart by less than 1e-6 of their extents the wrong one of two
//! neighbouring features may be taken, and the distance is then good to a tenth of itself; where
//! cores nearly touch at a vertex or an edge, the normal is the direction of a short difference,
//! rounded by 1e-16 of the extents over its length.
//!
//! # Where there is a choice
//! A query never fails and never returns NaN for valid shapes at finite poses. Where the normal or
//! the witnesses are not unique one is chosen, and derivatives are one element of the generalised
//! gradient:
//!
//! | where | choice |
//! |---|---|
//! | centre of a sphere on the axis of a capsule | x axis of the capsule |
//! | concentric spheres | x axis of the frame of the larger one |
//! | crossing axes of two capsules | common perpendicular |
//! | overlapping axes of two capsules on one line | x axis of one of them |
//! | centre of a sphere in a box, faces equally near | face of the first axis, positive side |
//! | centre of a sphere on an edge or corner of a box | mean of the normals there |
//! | parallel faces, edges, rims | middle of the region where they face each other |
//! | boxes touching at edges or vertices | best of the separating axes |
//! | several directions equally deep (coaxial cylinders, concentric shapes) | the one that the search meets first, the same on every run |
//! | flat hulls cut by another shape | both sides of a flat hull are boundary |
//! | several features of a true surface equally near | the one that the search meets first, the same on every run |
//!
//! Two bodies are compared in a canonical order of shape type, dimensions and pose, so exchanging
//! the arguments exchanges the results bit for bit, unless the two are identical in all of these.
//!
//! # True surfaces of meshes
//! Distance to a point always sees the true surface of a mesh. In pairs a mesh is its convex hull,
//! as in Drake, unless its properties ask for its true surface ([`add_true_surface`]); then
//! [`signed_distance_true_surface`] answers. A surface that is closed (every edge has as many
//! triangles on one side as on the other) and encloses a positive volume is the boundary of a
//! *solid*; every other one is a *sheet*, without inside.
//!
//! * **Separated**: the least distance of all triangles to the other body, exact.
//! * **Half space**: the lowest vertex, exact.
//! * **Margins**: a sphere is its centre and a capsule its axis, the radius is subtracted at the
//!   end. So for a sphere the answer is the distance of its centre to the surface less the radius:
//!   exact, in any depth.
//! * **A convex body that overlaps a solid**: minus the larger of two depths: that of its deepest
//!   point below the surface of the mesh, and that of the deepest vertex of the mesh below the
//!   surface of the body. The second is exact. The first is found by branch and bound: at most one
//!   thousandth of it (or 1e-9 of the size of the body) too small, unless 20,000 parts of the body
//!   do not suffice for that. It is exact, as far as rounding goes, where the deepest point is what
//!   supports the body along the normal of the face that is nearest to it: wherever a body sinks
//!   into a flat side by less than the thickness of the mesh.
//! * **Two meshes that overlap**: minus the larger of the depths of the deepest points of the edges
//!   of each below the surface of the other, if that is a solid; as exact as above.
//! * **Sheets** that cut the other body: minus the largest penetration of one of their triangles
//!   into the body or into a triangle of it (the shortest translation that separates the two).
//!
//! All of these are 0 where the bodies touch, and continuous. Depths are those of points, not the
//! length of the shortest translation that separates the bodies, which for non-convex bodies may be
//! anything; where a body sinks into a flat side both are the same, where edges cross the depth is
//! less. The normal is that of the surface at the point nearest to the deepest one.
//!
//! Derivatives are exact where one feature of each body decides. Where several features of the
//! surface are equally near to the deepest point (in deep overlap, and where edges cross) they are
//! those of the depth of that point, held fixed in its body, below one of them.

mod answer;
mod box_box;
mod capsule_box;
mod capsule_capsule;
mod convex;
mod distance_to_point;
mod features;
mod half_space;
mod point_cylinder;
mod point_ellipsoid;
pub(crate) mod polytope;
mod separated_boxes;
mod separating_axis;
mod sphere_box;
mod sphere_capsule;
mod sphere_sphere;
pub(crate) mod surface;
#[cfg(test)]
mod tests;

pub use answer::PairDistance;
pub(crate) use answer::{Answer, WitnessPair};
pub use distance_to_point::{PointDistance, distance_to_point};
pub(crate) use surface::has_true_surface;
pub use surface::{add_true_surface, signed_distance_true_surface};

use crate::error::{Error, Result};
use crate::shapes::Shape;
use convex::{Active, Core, Placed, half_space_features};
use features::CoreDistance;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::cmp::Ordering;
use tarragon_framework::Scalar;

/// Lengths below this fraction of the extents of a pair are rounding: they have no direction.
const NEGLIGIBLE: f64 = 1e-14;
/// Directions count as parallel below this sine of the angle between them, which is the rounding of
/// a product of rotations.
const PARALLEL: f64 = 2e-15;
/// Coordinates of one body seen from another (m) above this overflow when they are squared.
const LARGEST: f64 = 1e150;
/// Why a kernel without a distance limit always answers.
const NEVER: &str = "no distance is beyond infinity";

/// Signed distance of shape `a` at the pose `x_wa` and shape `b` at `x_wb`.
///
/// # Errors
/// If the pair is not supported, see [`is_supported`], or more than 1e150 m apart.
///
/// ```
/// use nalgebra::{Isometry3, Translation3, Vector3};
/// use tarragon_geometry::{BoxShape, Sphere, proximity};
/// let ball = Sphere::new(0.5)?.into();
/// let block = BoxShape::new(2.0, 2.0, 2.0)?.into();
/// let x_wa: Isometry3<f64> = Translation3::new(0.0, 0.0, 1.75).into();
/// let d = proximity::signed_distance(&ball, &x_wa, &block, &Isometry3::identity())?;
/// assert_eq!((d.distance, d.nhat_ba_w), (0.25, Vector3::z()));
/// assert_eq!((d.p_wca.z, d.p_wcb.z), (1.25, 1.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn signed_distance<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
) -> Result<PairDistance<T>> {
    Ok(closest(a, x_wa, b, x_wb, f64::INFINITY)?.expect(NEVER))
}

/// As [`signed_distance`], but `None` if the distance is above `max_distance` (m), which is often
/// found early. With `max_distance` 0 this is a penetration query, with a negative one a query for
/// penetrations that are at least that deep.
///
/// # Errors
/// If the pair is not supported: see [`is_supported`].
pub fn signed_distance_within<T: Scalar>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<PairDistance<T>>> {
    closest(a, x_wa, b, x_wb, max_distance)
}

/// [`signed_distance_within`] with the witnesses where the caller wants them.
#[inline]
pub(crate) fn closest<T: Scalar, A: Answer<T>>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    // Kernels look no further than to contact; how deep it is they always compute.
    let found: Option<A> = in_any_order(a, x_wa, b, x_wb, max_distance.max(0.0))?;
    Ok(found.filter(|found| found.distance().re() <= max_distance))
}

/// True if [`signed_distance`] answers for these two types of shape: all but two half spaces, which
/// either overlap without bound or are not comparable, and cones, which are for visualizers only.
pub fn is_supported(a: &Shape, b: &Shape) -> bool {
    let known = |s: &Shape| rank(s) < UNKNOWN;
    let half_spaces = matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_)));
    known(a) && known(b) && !half_spaces
}

/// The rank of shapes without a kernel.
const UNKNOWN: u8 = 8;

/// The canonical order of shape types; kernels exist for pairs in this order.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::HalfSpace(_) => 0,
        Shape::Convex(_) | Shape::Mesh(_) => 1,
        Shape::Box(_) => 2,
        Shape::Cylinder(_) => 3,
        Shape::Ellipsoid(_) => 4,
        Shape::Capsule(_) => 5,
        Shape::Sphere(_) => 6,
        Shape::MeshcatCone(_) => UNKNOWN,
    }
}

/// Brings the pair into canonical order and the answer back.
#[inline]
fn in_any_order<T: Scalar, A: Answer<T>>(
    a: &Shape,
    x_wa: &Isometry3<T>,
    b: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<A>> {
    if let (Shape::Sphere(a), Shape::Sphere(b)) = (a, b) {
        // Symmetric by itself.
        check_distance((x_wb.translation.vector - x_wa.translation.vector).map(|x| x.re()))?;
        let found = sphere_sphere::signed_distance(a, x_wa, b, x_wb, max_distance);
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

/// The kernels: decides the features on values, then evaluates them in `T`.
#[inline]
fn in_order<T: Scalar, A: Answer<T>>(
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
    // Room for rounding: the exact comparison is made on the final distance.
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

/// The set that a shape is, but for its margin; half spaces have none.
#[inline]
fn core(shape: &Shape) -> Result<Core<'_>> {
    Ok(match shape {
        Shape::Box(s) => Core::Box(s.half_size()),
        Shape::Capsule(s) => Core::Segment {
            half: 0.5 * s.length(),
        },
        Shape::Cylinder(s) => Core::Cylinder {
            radius: s.radius(),
            half: 0.5 * s.length(),
        },
        Shape::Ellipsoid(s) => Core::Ellipsoid(s.semi_axes()),
        Shape::Sphere(_) => Core::Point,
        Shape::Convex(s) => Core::Polytope(s.polytope()?),
        Shape::Mesh(s) => Core::Polytope(s.polytope()?),
        other => {
            return Err(Error::invalid(format!(
                "{} has no proximity: it is for visualizers only",
                other.type_name()
            )));
        }
    })
}

/// Refuses positions whose distance cannot be computed.
#[inline]
fn check_distance(p_ab: Vector3<f64>) -> Result<()> {
    let largest = p_ab.amax();
    // False for what is not a number.
    if largest <= LARGEST {
        return Ok(());
    }
    Err(too_far(largest))
}

#[cold]
fn too_far(largest: f64) -> Error {
    Error::invalid(format!(
        "positions must be within {LARGEST:e} m of each other, got {largest:e} m; check the units of the \
         poses"
    ))
}

/// Distance of the cores of a pair in canonical order; `None` beyond `reach`.
#[inline]
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
        (Shape::HalfSpace(_), Shape::Box(b)) => half_space::features(&b.half_size(), &x, reach),
        (Shape::HalfSpace(_), Shape::Capsule(b)) => {
            half_space::features(&upright(0.5 * b.length()), &x, reach)
        }
        (Shape::HalfSpace(_), Shape::Sphere(_)) => half_space::features(&upright(0.0), &x, reach),
        (Shape::Box(a), Shape::Box(b)) => {
            box_box::features(&a.half_size(), &b.half_size(), &x, reach)
        }
        (Shape::Box(a), Shape::Capsule(b)) => {
            capsule_box::features(&a.half_size(), 0.5 * b.length(), &x, reach)
        }
        (Shape::Box(a), Shape::Sphere(_)) => sphere_box::features(&a.half_size(), &p, reach),
        (Shape::Capsule(a), Shape::Capsule(b)) => {
            capsule_capsule::features(0.5 * a.length(), 0.5 * b.length(), &x, reach)
        }
        (Shape::Capsule(a), Shape::Sphere(_)) => {
            sphere_capsule::features(0.5 * a.length(), &p, reach)
        }
        _ => return general_distance(a, b, x_ab, reach),
    };
    Ok(features.map(|features| features.evaluate(x_ab)))
}

/// As [`core_distance`], for pairs that need the general solver or a form of their own. Not
/// inlined: its results are large, and the pairs above should not pay for them.
#[inline(never)]
fn general_distance<T: Scalar>(
    a: &Shape,
    b: &Shape,
    x_ab: &Isometry3<T>,
    reach: f64,
) -> Result<Option<CoreDistance<T>>> {
    let x = values_of_pose(x_ab);
    let p = x.translation.vector;
    let active: Option<Active> = match (a, b) {
        (Shape::HalfSpace(_), Shape::HalfSpace(_)) => {
            return Err(Error::invalid(
                "signed_distance: the distance of two half spaces is not defined, both are \
                 unbounded; filter the pair",
            ));
        }
        (Shape::Cylinder(a), Shape::Sphere(_)) => {
            point_cylinder::features(a.radius(), 0.5 * a.length(), &p, reach)
        }
        (Shape::Ellipsoid(a), Shape::Sphere(_)) => {
            point_ellipsoid::features(&a.semi_axes(), &p, reach)
        }
        (Shape::HalfSpace(_), b) => half_space_features(&core(b)?, &x, reach),
        (a, b) => convex::features(&core(a)?, &core(b)?, &x, reach),
    };
    Ok(active.map(|active| active.evaluate(&Placed::new(x_ab))))
}

/// Radius of the sphere swept along the core of a shape (m).
#[inline]
fn margin(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere(s) => s.radius(),
        Shape::Capsule(s) => s.radius(),
        _ => 0.0,
    }
}

/// Whether two shapes of one type are in canonical order: by dimensions, then by pose.
#[inline]
fn precedes<T: Scalar>(
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

/// The size of a bounded shape (m), to which rounding is compared.
#[inline(always)]
fn extent(shape: &Shape) -> f64 {
    match shape {
        Shape::Box(s) => s.size().sum(),
        Shape::Capsule(s) => s.length() + s.radius(),
        Shape::Sphere(s) => s.radius(),
        Shape::Cylinder(s) => s.length() + s.radius(),
        Shape::Ellipsoid(s) => s.semi_axes().max(),
        Shape::Convex(_) | Shape::Mesh(_) => core(shape).map_or(0.0, |c| c.extent()),
        Shape::HalfSpace(_) | Shape::MeshcatCone(_) => 0.0,
    }
}

/// True if a squared core distance is above `reach`.
#[inline]
fn is_beyond(d2: f64, reach: f64) -> bool {
    d2 > reach * reach
}

/// A constant vector in `T`.
#[inline]
fn lift<T: Scalar>(v: &Vector3<f64>) -> Vector3<T> {
    v.map(T::from)
}

/// The vector of values.
#[inline]
fn value_of<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}

/// The pose of values.
#[inline]
fn values_of_pose<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    Isometry3::from_parts(
        value_of(&x.translation.vector).into(),
        UnitQuaternion::new_unchecked(x.rotation.coords.map(|q| q.re()).into()),
    )
}

/// A constant vector of B, in A.
#[inline]
fn rotate<T: Scalar>(x_ab: &Isometry3<T>, v_b: &Vector3<f64>) -> Vector3<T> {
    x_ab.rotation * lift(v_b)
}
