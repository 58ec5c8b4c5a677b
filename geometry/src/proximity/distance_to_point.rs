//! Signed distance from a shape to a point.

use super::convex::{
    ConvexCore, RelativePose, convex_features, point_cylinder_features, point_ellipsoid_features,
};
use super::dispatch::NEVER;
use super::pairs::{sphere_box_features, sphere_capsule_features};
use super::rounding::check_distance;
use super::shape_core::core;
use crate::accel::IndexedSurface;
use crate::error::Result;
use crate::shape::Shape;
use crate::values::value_of;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use tarragon_framework::Scalar;

/// Signed distance from a geometry G to a point Q (Drake's `SignedDistanceToPoint`).
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{Sphere, proximity::{PointDistance, distance_to_point}};
/// let ball = Sphere::new(0.5)?.into();
/// let q = Vector3::new(2.0, 0.0, 0.0);
/// let d: PointDistance<f64> = distance_to_point(&ball, &Isometry3::identity(), &q)?;
/// assert_eq!(d.p_gn + d.grad_w * d.distance, q); // G is the world here
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PointDistance<T: Scalar> {
    /// Signed distance (m), negative inside.
    pub distance: T,
    /// Gradient of the distance with respect to the position of Q, in W; a unit vector. On the
    /// surface it is the outward normal.
    pub grad_w: Vector3<T>,
    /// The point N of the surface nearest to Q, in G (m).
    pub p_gn: Vector3<T>,
}

/// Returns the signed distance from `shape` at the pose `x_wg` to the point `p_wq` (m, in W),
/// accurate to rounding, with derivatives.
///
/// Where several points of the surface are nearest, the choices are Drake's
/// (`QueryObject::ComputeSignedDistanceToPoint`). At the centre of a sphere and on the axis of a
/// capsule, the gradient is the x axis of G. On an edge or a corner of a box, it is the mean of the
/// normals of the adjacent faces. Inside a box, the face of the first axis is taken among equally
/// near ones, and the positive side of that axis. A mesh is represented by its true surface, as is
/// a height field; the winding of its triangles determines the side, and so the sign, of the point.
/// On an edge or a vertex of a mesh, the gradient is the angle-weighted mean of the normals of the
/// adjacent faces. Derivatives at these points are one element of the generalised gradient.
///
/// # Errors
/// Returns an error if the point is more than 1e150 m away, if the shape is a cone, or if it comes
/// from a file that cannot be read or that has no triangle of nonzero area.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{BoxShape, proximity};
/// let block = BoxShape::new(0.2, 0.4, 0.6)?.into();
/// let q = Vector3::new(0.4, 0.0, 0.0);
/// let d = proximity::distance_to_point(&block, &Isometry3::identity(), &q)?;
/// assert!((d.distance - 0.3_f64).abs() < 1e-15);
/// assert_eq!(d.grad_w, Vector3::x());
/// assert!((d.p_gn - Vector3::new(0.1, 0.0, 0.0)).norm() < 1e-15);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn distance_to_point<T: Scalar>(
    shape: &Shape,
    x_wg: &Isometry3<T>,
    p_wq: &Vector3<T>,
) -> Result<PointDistance<T>> {
    let p_gq = x_wg.rotation.inverse() * (p_wq - x_wg.translation.vector);
    let p = value_of(&p_gq);
    check_distance(p)?;
    let (features, radius) = match shape {
        Shape::Box(g) => (sphere_box_features(&g.half_size(), &p, f64::INFINITY), 0.0),
        Shape::Capsule(g) => (
            sphere_capsule_features(0.5 * g.length(), &p, f64::INFINITY),
            g.radius(),
        ),
        // A sphere is a point, that is, a segment of length zero, with a margin.
        Shape::Sphere(g) => (sphere_capsule_features(0.0, &p, f64::INFINITY), g.radius()),
        Shape::HalfSpace(_) => {
            return Ok(PointDistance {
                distance: p_gq.z,
                grad_w: x_wg.rotation * Vector3::z(),
                p_gn: Vector3::new(p_gq.x, p_gq.y, T::zero()),
            });
        }
        Shape::Mesh(g) => return Ok(to_surface(g.indexed_surface()?, &p_gq, x_wg)),
        Shape::HeightField(g) => return Ok(to_surface(g.indexed_surface(), &p_gq, x_wg)),
        other => {
            let active = match core(other)? {
                ConvexCore::Cylinder { radius, half } => {
                    point_cylinder_features(radius, half, &p, f64::INFINITY)
                }
                ConvexCore::Ellipsoid(a) => point_ellipsoid_features(&a, &p, f64::INFINITY),
                core => {
                    let x = Isometry3::from_parts(p.into(), UnitQuaternion::identity());
                    convex_features(&core, &ConvexCore::Point, &x, f64::INFINITY)
                }
            };
            let x_gq = Isometry3::from_parts(Translation3::from(p_gq), UnitQuaternion::identity());
            let core = active.expect(NEVER).evaluate(&RelativePose::new(&x_gq));
            return Ok(PointDistance {
                distance: core.distance,
                grad_w: x_wg.rotation * core.n_ab,
                p_gn: core.p_a,
            });
        }
    };
    let x_gq = Isometry3::from_parts(Translation3::from(p_gq), UnitQuaternion::identity());
    let core = features.expect(NEVER).evaluate(&x_gq);
    let radius = T::from(radius);
    Ok(PointDistance {
        distance: core.distance - radius,
        grad_w: x_wg.rotation * core.n_ab,
        p_gn: core.p_a + core.n_ab * radius,
    })
}

/// Returns the signed distance from a surface at the pose `x_wg` to a point in its frame.
fn to_surface<T: Scalar>(
    surface: &IndexedSurface,
    p_gq: &Vector3<T>,
    x_wg: &Isometry3<T>,
) -> PointDistance<T> {
    let nearest = surface.nearest_feature(&value_of(p_gq)).evaluate(p_gq);
    PointDistance {
        distance: nearest.distance,
        grad_w: x_wg.rotation * nearest.n_ab,
        p_gn: nearest.p_a,
    }
}

/// Returns the signed distance, with its gradient, from a surface in the world to the point `p_WQ`
/// (m).
///
/// # Errors
/// Returns an error if the point is too far away to be measured.
pub(crate) fn distance_to_surface<T: Scalar>(
    surface: &IndexedSurface,
    p_wq: &Vector3<T>,
) -> Result<PointDistance<T>> {
    let p = value_of(p_wq);
    check_distance(p)?;
    let nearest = surface.nearest_feature(&p).evaluate(p_wq);
    Ok(PointDistance {
        distance: nearest.distance,
        grad_w: nearest.n_ab,
        p_gn: nearest.p_a,
    })
}
