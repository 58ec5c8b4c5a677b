//! Exact shapes, intersected with the ray of each pixel in f64: curved bodies that the near plane
//! cuts or that contain the camera, and all translucent shapes.

use crate::render::projection::Pixels;
use crate::shape::Shape;
use nalgebra::{Matrix3, Vector3};

/// Depths at which a ray enters and leaves a convex body.
type DepthSpan = Option<(f64, f64)>;

/// A shape with the camera's pose in the shape's frame and the near plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactShape {
    pixels: Pixels,
    /// `R_GC`.
    r_gc: Matrix3<f64>,
    /// Position of the camera in G (m).
    o: Vector3<f64>,
    near: f64,
    body: ExactBody,
}

#[derive(Clone, Copy, Debug)]
enum ExactBody {
    Ellipsoid(Vector3<f64>),
    Cylinder { radius: f64, half: f64 },
    Capsule { radius: f64, half: f64 },
    Cuboid(Vector3<f64>),
    HalfSpace,
}

impl ExactShape {
    /// Creates the exact form of a shape; `None` for meshes.
    pub(crate) fn new(
        pixels: &Pixels,
        r: &Matrix3<f64>,
        p: &Vector3<f64>,
        shape: &Shape,
        near: f64,
    ) -> Option<Self> {
        let body = match shape {
            Shape::Sphere(s) => ExactBody::Ellipsoid(Vector3::repeat(s.radius())),
            Shape::Ellipsoid(s) => ExactBody::Ellipsoid(s.semi_axes()),
            Shape::Cylinder(s) => ExactBody::Cylinder {
                radius: s.radius(),
                half: 0.5 * s.length(),
            },
            Shape::Capsule(s) => ExactBody::Capsule {
                radius: s.radius(),
                half: 0.5 * s.length(),
            },
            Shape::Box(s) => ExactBody::Cuboid(s.half_size()),
            Shape::HalfSpace(_) => ExactBody::HalfSpace,
            _ => return None,
        };
        let r_gc = r.transpose();
        Some(Self {
            pixels: *pixels,
            r_gc,
            o: -(r_gc * p),
            near,
            body,
        })
    }
    /// Returns w of a pixel, 0 if the ray misses: that of the front, or of the inside of the back
    /// where the near plane cuts the front away.
    pub(crate) fn w(&self, px: f64, py: f64) -> f32 {
        let d = self.r_gc * self.pixels.ray(px, py);
        match self.range(&d) {
            Some((t, _)) if t >= self.near => (1.0 / t) as f32,
            Some((_, t)) if t >= self.near => (1.0 / t) as f32,
            _ => 0.0,
        }
    }
    /// Returns w of the front and of the back, 0 where there is none.
    pub(crate) fn layers(&self, px: f64, py: f64) -> [f32; 2] {
        let d = self.r_gc * self.pixels.ray(px, py);
        let w = |t: f64| {
            if t >= self.near && t.is_finite() {
                (1.0 / t) as f32
            } else {
                0.0
            }
        };
        match self.range(&d) {
            // A half space is a surface without a back.
            Some((t, _)) if matches!(self.body, ExactBody::HalfSpace) => [w(t), 0.0],
            Some((front, back)) => [w(front), w(back)],
            None => [0.0, 0.0],
        }
    }
    fn range(&self, d: &Vector3<f64>) -> DepthSpan {
        let o = &self.o;
        match self.body {
            ExactBody::Cuboid(half) => meet(
                slab(o.x, d.x, half.x),
                meet(slab(o.y, d.y, half.y), slab(o.z, d.z, half.z)),
            ),
            ExactBody::HalfSpace => (d.z != 0.0).then(|| (-o.z / d.z, -o.z / d.z)),
            ExactBody::Ellipsoid(axes) => {
                unit_sphere(&o.component_div(&axes), &d.component_div(&axes))
            }
            ExactBody::Cylinder { radius, half } => meet(
                unit_sphere(
                    &Vector3::new(o.x / radius, o.y / radius, 0.0),
                    &Vector3::new(d.x / radius, d.y / radius, 0.0),
                ),
                slab(o.z, d.z, half),
            ),
            ExactBody::Capsule { radius, half } => {
                let side = meet(
                    unit_sphere(
                        &Vector3::new(o.x / radius, o.y / radius, 0.0),
                        &Vector3::new(d.x / radius, d.y / radius, 0.0),
                    ),
                    slab(o.z, d.z, half),
                );
                let cap = |z: f64| unit_sphere(&((o - Vector3::z() * z) / radius), &(d / radius));
                join(side, join(cap(half), cap(-half)))
            }
        }
    }
}

/// Returns the range of t in which `o + t d` is within the unit sphere.
fn unit_sphere(o: &Vector3<f64>, d: &Vector3<f64>) -> DepthSpan {
    let (a, b, c) = (d.norm_squared(), o.dot(d), o.norm_squared() - 1.0);
    if a == 0.0 {
        return (c <= 0.0).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let discriminant = a - o.cross(d).norm_squared();
    if discriminant < 0.0 {
        return None;
    }
    // The root of larger magnitude first; the other from the product of both, without cancellation.
    let q = -(b + discriminant.sqrt().copysign(b));
    let (t0, t1) = if q == 0.0 { (0.0, 0.0) } else { (q / a, c / q) };
    Some((t0.min(t1), t0.max(t1)))
}

/// Returns the range of t in which `|o + t d| <= half`.
fn slab(o: f64, d: f64, half: f64) -> DepthSpan {
    if d == 0.0 {
        return (o.abs() <= half).then_some((f64::NEG_INFINITY, f64::INFINITY));
    }
    let (t0, t1) = ((-half - o) / d, (half - o) / d);
    Some((t0.min(t1), t0.max(t1)))
}

fn meet(a: DepthSpan, b: DepthSpan) -> DepthSpan {
    let (a, b) = (a?, b?);
    let (t0, t1) = (a.0.max(b.0), a.1.min(b.1));
    (t0 <= t1).then_some((t0, t1))
}

fn join(a: DepthSpan, b: DepthSpan) -> DepthSpan {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, None) | (None, one) => one,
    }
}
