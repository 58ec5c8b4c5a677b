//! Where a ray first crosses the surface of a shape.
//!
//! Exact for every shape: closed forms for spheres, capsules, boxes, cylinders, ellipsoids and half
//! spaces, the planes of the hull for `Convex`, the triangles for `Mesh`. Which part of the surface
//! is hit is decided on values; derivatives follow from that part, so they are exact where the ray
//! does not graze the surface.

mod polygons;
mod solids;
#[cfg(test)]
mod tests;
pub(crate) mod triangles;

use crate::error::{Error, Result};
use crate::shapes::Shape;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// A half line.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::Ray;
/// let down = Ray::new(Vector3::new(0.0, 0.0, 2.0), -Vector3::z());
/// assert_eq!(down.origin_w + down.direction_w * 2.0, Vector3::zeros());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray<T: Scalar = f64> {
    /// Where it starts, in the world (m).
    pub origin_w: Vector3<T>,
    /// Where it goes, in the world; of any length but zero.
    pub direction_w: Vector3<T>,
}

impl<T: Scalar> Ray<T> {
    /// From a point (m) in a direction of any length but zero.
    pub fn new(origin_w: Vector3<T>, direction_w: Vector3<T>) -> Self {
        Self {
            origin_w,
            direction_w,
        }
    }

    /// The ray with a direction of length one.
    ///
    /// # Errors
    /// If the origin or the direction is not finite or the direction has no length; `name` is what
    /// the message calls the ray.
    pub(crate) fn normalized(&self, name: impl Fn() -> String) -> Result<Self> {
        let (origin, direction) = (value_of(&self.origin_w), value_of(&self.direction_w));
        if !origin.iter().all(|x| x.is_finite()) {
            return Err(Error::invalid(format!(
                "{} starts at {:?}, finite coordinates in metres are expected",
                name(),
                origin.as_slice()
            )));
        }
        // Scaled first: the square of a short direction would be zero.
        let size = direction.amax();
        if !size.is_normal() {
            return Err(Error::invalid(format!(
                "{} has the direction {:?}, a finite one of nonzero length is expected",
                name(),
                direction.as_slice()
            )));
        }
        let scaled = self.direction_w.map(|x| x / T::from(size));
        let length = scaled.norm_squared().sqrt();
        Ok(Self::new(self.origin_w, scaled / length))
    }
}

/// Where a ray crosses a surface.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{Ray, Sphere, ray::{SurfaceHit, cast_ray}};
/// let ray = Ray::new(Vector3::zeros(), Vector3::x());
/// let far = Isometry3::translation(3.0, 0.0, 0.0);
/// let hit: SurfaceHit<f64> = cast_ray(&Sphere::new(1.0)?.into(), &far, &ray, 10.0)?.unwrap();
/// assert_eq!((hit.distance, hit.nhat_w, hit.p_wc), (2.0, -Vector3::x(), Vector3::x() * 2.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit<T: Scalar> {
    /// Distance from the origin of the ray (m).
    pub distance: T,
    /// The point, in the world (m).
    pub p_wc: Vector3<T>,
    /// Unit normal there, in the world, out of the shape.
    pub nhat_w: Vector3<T>,
}

/// Where `ray` first crosses the surface of `shape` at the pose `x_wg`, at most `max_distance` (m)
/// from its origin; `None` if it does not.
///
/// A ray that starts inside meets the surface where it leaves; the normal points out of the shape
/// there as everywhere, along the ray. Triangles of a `Mesh` are hit from both sides; the normal
/// follows their winding. Where the ray only grazes the surface, derivatives of the distance are
/// zero.
///
/// # Errors
/// If the ray is not finite or has no direction, `max_distance` is negative or NaN, a mesh can not
/// be read, or the shape is a `MeshcatCone`, which is for visualizers only.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{BoxShape, Ray, ray::cast_ray};
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
            "cast_ray: max_distance is {max_distance}, a distance of at least 0 m is expected"
        )));
    }
    let ray = ray.normalized(|| "cast_ray: the ray".into())?;
    let (o, d) = (value_of(&ray.origin_w), value_of(&ray.direction_w));
    let found = first_crossing(shape, x_wg, &o, &d, max_distance)?;
    Ok(found.map(|crossing| crossing.lift(x_wg, &ray)))
}

/// A piece of surface, in the frame of its shape.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Surface {
    /// With this outward normal.
    Flat(Vector3<f64>),
    /// Around a centre.
    Round(Vector3<f64>),
    /// Around the z axis.
    Side,
    /// With these squares of the semi-axes.
    Ellipsoid(Vector3<f64>),
}

impl Surface {
    /// Outward unit normal at a point.
    fn normal<T: Scalar>(&self, q: &Vector3<T>) -> Vector3<T> {
        let n = match self {
            Self::Flat(n) => return n.map(T::from),
            Self::Round(center) => q - center.map(T::from),
            Self::Side => Vector3::new(q.x, q.y, T::zero()),
            Self::Ellipsoid(squares) => q.component_div(&squares.map(T::from)),
        };
        n / n.norm_squared().sqrt()
    }
}

/// Where a ray with a direction of length one crosses a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) distance: f64,
    surface: Surface,
}

impl Crossing {
    fn new(distance: f64, surface: Surface) -> Self {
        Self { distance, surface }
    }

    /// The hit with its derivatives. The ray has a direction of length one.
    pub(crate) fn lift<T: Scalar>(&self, x_wg: &Isometry3<T>, ray: &Ray<T>) -> SurfaceHit<T> {
        let o = x_wg.rotation.inverse() * (ray.origin_w - x_wg.translation.vector);
        let d = x_wg.rotation.inverse() * ray.direction_w;
        let mut distance = T::from(self.distance);
        // At a distance held fixed the point moves by `moved`, along or off the surface; the
        // distance changes so that it stays there.
        let q = o + d * distance;
        let values = value_of(&q);
        let n = self.surface.normal(&values);
        let slope = n.dot(&value_of(&d));
        if slope != 0.0 {
            let moved = q - values.map(T::from);
            distance -= n.map(T::from).dot(&moved) / T::from(slope);
        }
        SurfaceHit {
            distance,
            p_wc: ray.origin_w + ray.direction_w * distance,
            nhat_w: x_wg.rotation * self.surface.normal(&(o + d * distance)),
        }
    }
}

/// Where a ray is in a convex set: it enters and leaves, maybe behind its origin.
type Passage = (Crossing, Crossing);

/// The first crossing of a ray in the world, with a direction of length one, up to `limit`.
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
        // The frame of a sphere may be turned: its normal is that of the centre.
        Shape::Sphere(s) => solids::sphere(s.radius(), &Vector3::zeros(), &o, &d),
        Shape::Box(s) => solids::cuboid(&s.half_size(), &o, &d),
        Shape::Capsule(s) => solids::capsule(s.radius(), 0.5 * s.length(), &o, &d),
        Shape::Cylinder(s) => solids::cylinder(s.radius(), 0.5 * s.length(), &o, &d),
        Shape::Ellipsoid(s) => solids::ellipsoid(&s.semi_axes(), &o, &d),
        Shape::HalfSpace(_) => solids::half_space(&o, &d),
        Shape::Convex(s) => polygons::polytope(s.polytope()?, &o, &d),
        Shape::Mesh(s) => return Ok(s.triangles()?.first_crossing(&o, &d, limit)),
        Shape::MeshcatCone(_) => {
            return Err(Error::invalid(
                "cast_ray: a MeshcatCone can not be hit, it is for visualizers only",
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

/// The vector of values.
pub(crate) fn value_of<T: Scalar>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.re())
}
