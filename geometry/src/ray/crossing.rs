//! Points where a ray crosses a surface, and their derivatives.

use super::half_line::Ray;
use crate::values::value_of;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Point where a ray crosses a surface.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use tarragon_geometry::{Ray, Sphere, SurfaceHit, cast_ray};
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
    /// The crossing point, in the world (m).
    pub p_wc: Vector3<T>,
    /// Unit normal at that point, out of the shape, in the world.
    pub nhat_w: Vector3<T>,
}

/// A piece of a surface, in the frame of its shape.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CrossedSurface {
    /// A plane with this outward normal.
    Flat(Vector3<f64>),
    /// A sphere around this centre.
    Round(Vector3<f64>),
    /// The side of a cylinder around the z axis.
    Side,
    /// An ellipsoid with these squared semi-axes.
    Ellipsoid(Vector3<f64>),
}

impl CrossedSurface {
    /// Returns the outward unit normal at a point.
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

/// Point where a ray with a direction of unit length crosses a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) distance: f64,
    surface: CrossedSurface,
}

impl Crossing {
    pub(super) fn new(distance: f64, surface: CrossedSurface) -> Self {
        Self { distance, surface }
    }

    /// Returns the hit with its derivatives. The ray must have a direction of unit length.
    pub(crate) fn lift<T: Scalar>(&self, x_wg: &Isometry3<T>, ray: &Ray<T>) -> SurfaceHit<T> {
        let o = x_wg.rotation.inverse() * (ray.origin_w - x_wg.translation.vector);
        let d = x_wg.rotation.inverse() * ray.direction_w;
        let mut distance = T::from(self.distance);
        // At a fixed distance, the point moves by `moved`, along or off the surface. The change of
        // the distance keeps it on the surface.
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

/// Interval of a line in a convex set: where it enters and where it leaves, possibly behind its
/// origin.
pub(super) type Passage = (Crossing, Crossing);
