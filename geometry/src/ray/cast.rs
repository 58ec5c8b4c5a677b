//! Casting of a ray at a shape.

use super::crossing::{CrossedSurface, Crossing, SurfaceHit};
use super::half_line::Ray;
use super::{polygons, solids};
use crate::accel::{TriangleBvh, TriangleHit};
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::values::value_of;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Returns where `ray` first crosses the surface of `shape` at the pose `x_wg`, or `None` if it
/// does not cross it within `max_distance` (m) of its origin.
///
/// A ray that starts inside hits the surface where it leaves; the normal points out of the shape
/// there too, and so along the ray. Triangles of a `Mesh` or a `HeightField` are hit from both
/// sides; the normal follows their winding. Where the ray only grazes the surface, the derivatives
/// of the distance are zero.
///
/// # Errors
/// Returns an error if the ray is not finite or has no direction, if `max_distance` is negative or
/// NaN, if a mesh cannot be read, or if the shape is a `MeshcatCone`, which is for visualizers
/// only.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{BoxShape, Ray, cast_ray};
/// let room = BoxShape::new(4.0, 4.0, 2.0)?.into();
/// let up = Ray::new(Vector3::zeros(), Vector3::z() * 0.1);
/// let ceiling = cast_ray(&room, &Isometry3::identity(), &up, f64::INFINITY)?.unwrap();
/// assert_eq!((ceiling.distance, ceiling.nhat_w), (1.0, Vector3::z()));
/// assert!(cast_ray(&room, &Isometry3::identity(), &up, 0.5)?.is_none());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn cast_ray<T: Scalar>(
    shape: &Shape,
    x_wg: &Isometry3<T>,
    ray: &Ray<T>,
    max_distance: f64,
) -> Result<Option<SurfaceHit<T>>> {
    if max_distance.is_nan() || max_distance < 0.0 {
        return Err(Error::invalid(format!(
            "cast_ray: max_distance must be at least 0 m, got {max_distance:?} m"
        )));
    }
    let ray = ray.normalized(|| "cast_ray: the ray".into())?;
    let (o, d) = (value_of(&ray.origin_w), value_of(&ray.direction_w));
    let found = first_crossing(shape, x_wg, &o, &d, max_distance)?;
    Ok(found.map(|crossing| crossing.lift(x_wg, &ray)))
}

/// Returns the first crossing of a ray in the world, with a direction of unit length, up to `limit`
/// (m).
pub(crate) fn first_crossing<T: Scalar>(
    shape: &Shape,
    x_wg: &Isometry3<T>,
    origin: &Vector3<f64>,
    direction: &Vector3<f64>,
    limit: f64,
) -> Result<Option<Crossing>> {
    let p = value_of(&x_wg.translation.vector);
    let (o, d) = if let Shape::Sphere(_) = shape {
        (origin - p, *direction)
    } else {
        let q = x_wg.rotation.coords.map(|x| x.re());
        let r = nalgebra::UnitQuaternion::new_unchecked(q.into());
        let r = r.to_rotation_matrix();
        (
            r.inverse_transform_vector(&(origin - p)),
            r.inverse_transform_vector(direction),
        )
    };
    let passage = match shape {
        // The frame of a sphere may be rotated: its normal depends only on the centre.
        Shape::Sphere(s) => solids::sphere(s.radius(), &Vector3::zeros(), &o, &d),
        Shape::Box(s) => solids::cuboid(&s.half_size(), &o, &d),
        Shape::Capsule(s) => solids::capsule(s.radius(), 0.5 * s.length(), &o, &d),
        Shape::Cylinder(s) => solids::cylinder(s.radius(), 0.5 * s.length(), &o, &d),
        Shape::Ellipsoid(s) => solids::ellipsoid(&s.semi_axes(), &o, &d),
        Shape::HalfSpace(_) => solids::half_space(&o, &d),
        Shape::Convex(s) => polygons::polytope(s.polytope()?, &o, &d),
        Shape::Mesh(s) => {
            return Ok(first_crossing_of_triangles(
                s.triangle_bvh()?,
                &o,
                &d,
                limit,
            ));
        }
        Shape::HeightField(s) => {
            let hit = s.indexed_surface().first_hit(&o, &d, limit);
            return Ok(hit.map(|hit| crossing(&hit)));
        }
        Shape::MeshcatCone(_) => {
            return Err(Error::unsupported(
                "cast_ray: a MeshcatCone cannot be hit, it is for visualizers only",
            ));
        }
    };
    Ok(passage.and_then(|(enters, leaves)| {
        let first = if enters.distance >= 0.0 {
            enters
        } else {
            leaves
        };
        let t = first.distance;
        (0.0 <= t && t <= limit && t.is_finite()).then_some(first)
    }))
}

/// Returns the first crossing of a ray with triangles in its own frame, within a limit (m).
pub(crate) fn first_crossing_of_triangles(
    triangles: &TriangleBvh,
    origin: &Vector3<f64>,
    direction: &Vector3<f64>,
    limit: f64,
) -> Option<Crossing> {
    let hit = triangles.first_hit(origin, direction, limit)?;
    Some(crossing(&hit))
}

fn crossing(hit: &TriangleHit) -> Crossing {
    Crossing::new(hit.distance, CrossedSurface::Flat(hit.normal))
}
