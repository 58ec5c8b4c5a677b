//! Bounds of bodies in image coordinates.

use super::pixels::Pixels;
use super::pose::PoseInCamera;
use super::rect::PixelRect;
use crate::shape::Shape;
use nalgebra::{Matrix3, Vector3};

/// Bounds of a body in image coordinates and depth.
#[derive(Clone, Copy, Debug)]
pub struct ImageBounds {
    /// Image coordinates (pixels): least x and y, greatest x and y.
    span: [f64; 4],
    /// Range of z in the camera frame (m).
    z: [f64; 2],
}

impl ImageBounds {
    /// Bounds an ellipsoid-like body `{center + s}`, where `g . s` is at most `sqrt(g^T sigma
    /// g)` for every direction g: a sphere, an ellipsoid or a disc. The bounds are exact if the
    /// body is entirely in front of the camera.
    pub fn of_quadric(pixels: &Pixels, center: &Vector3<f64>, sigma: &Matrix3<f64>) -> Self {
        let dz = sigma[(2, 2)].max(0.0).sqrt();
        let z = [center.z - dz, center.z + dz];
        let mut span = [
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
            f64::INFINITY,
            f64::INFINITY,
        ];
        if z[0] > 0.0 {
            for k in 0..2 {
                // Planes X_k = t Z that touch the body:
                // (c_k - t c_z)^2 = g^T sigma g with g = e_k - t e_z.
                let a = center.z * center.z - sigma[(2, 2)];
                let b = center[k] * center.z - sigma[(k, 2)];
                let c = center[k] * center[k] - sigma[(k, k)];
                let root = (b * b - a * c).max(0.0).sqrt();
                span[k] = (b - root) / a * pixels.focal[k] + pixels.center[k];
                span[k + 2] = (b + root) / a * pixels.focal[k] + pixels.center[k];
            }
        }
        Self { span, z }
    }
    /// Bounds the convex hull of points.
    pub fn of_points(pixels: &Pixels, points: impl Iterator<Item = Vector3<f64>>) -> Self {
        let mut span = [
            f64::INFINITY,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NEG_INFINITY,
        ];
        let mut z = [f64::INFINITY, f64::NEG_INFINITY];
        for p in points {
            z = [z[0].min(p.z), z[1].max(p.z)];
            if z[0] > 0.0 {
                let [x, y] = pixels.project(&p);
                span = [
                    span[0].min(x),
                    span[1].min(y),
                    span[2].max(x),
                    span[3].max(y),
                ];
            }
        }
        if z[0] <= 0.0 {
            span = [
                f64::NEG_INFINITY,
                f64::NEG_INFINITY,
                f64::INFINITY,
                f64::INFINITY,
            ];
        }
        Self { span, z }
    }
    /// Returns the bounds of two bodies together.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let (a, b) = (self.span, other.span);
        Self {
            span: [
                a[0].min(b[0]),
                a[1].min(b[1]),
                a[2].max(b[2]),
                a[3].max(b[3]),
            ],
            z: [self.z[0].min(other.z[0]), self.z[1].max(other.z[1])],
        }
    }
    /// Returns the smallest z (m).
    pub(crate) fn z_min(&self) -> f64 {
        self.z[0]
    }
    /// Returns the largest absolute image coordinate of the span (pixels).
    pub(crate) fn reach(&self) -> f64 {
        self.span.iter().fold(0.0, |m, x| m.max(x.abs()))
    }
    /// Returns the pixels that the body may cover between the clipping planes at `near` and `far`
    /// (m); `None` if it is outside the image or the
    /// clipping planes.
    pub fn rect(&self, pixels: &Pixels, near: f64, far: f64) -> Option<PixelRect> {
        // Covers the rounding errors of the bounds.
        const SLACK: f64 = 1e-6;
        if self.z[1] < near * (1.0 - SLACK) || self.z[0] > far * (1.0 + SLACK) {
            return None;
        }
        let clamp = |x: f64, size: usize| x.clamp(0.0, size as f64) as i32;
        let rect = PixelRect {
            x0: clamp((self.span[0] - SLACK).ceil(), pixels.width),
            y0: clamp((self.span[1] - SLACK).ceil(), pixels.height),
            x1: clamp((self.span[2] + SLACK).floor() + 1.0, pixels.width),
            y1: clamp((self.span[3] + SLACK).floor() + 1.0, pixels.height),
        };
        (!rect.is_empty()).then_some(rect)
    }
    /// Returns an upper bound of w over the drawn part of the body, slightly above the exact
    /// maximum.
    pub(crate) fn w_max(&self, near: f64) -> f32 {
        (1.0 / self.z[0].max(near) * (1.0 + 1e-5)) as f32
    }
}

/// Returns the bounds of a shape in the image; `None` if the shape is unbounded or a mesh.
pub fn shape_bounds(pixels: &Pixels, o: &PoseInCamera, shape: &Shape) -> Option<ImageBounds> {
    let axis: Vector3<f64> = o.r.column(2).into();
    let sphere = |p: Vector3<f64>, radius: f64| {
        let sigma = Matrix3::from_diagonal_element(radius * radius);
        ImageBounds::of_quadric(pixels, &p, &sigma)
    };
    Some(match shape {
        Shape::Sphere(s) => sphere(o.p, s.radius()),
        Shape::Ellipsoid(s) => {
            let d = Matrix3::from_diagonal(&s.semi_axes().component_mul(&s.semi_axes()));
            ImageBounds::of_quadric(pixels, &o.p, &(o.r * d * o.r.transpose()))
        }
        Shape::Capsule(s) => {
            let z = axis * (0.5 * s.length());
            sphere(o.p + z, s.radius()).union(&sphere(o.p - z, s.radius()))
        }
        Shape::Cylinder(s) => {
            let z = axis * (0.5 * s.length());
            let disc = (Matrix3::identity() - axis * axis.transpose()) * s.radius().powi(2);
            let end = |p: Vector3<f64>| ImageBounds::of_quadric(pixels, &p, &disc);
            end(o.p + z).union(&end(o.p - z))
        }
        Shape::Box(s) => {
            ImageBounds::of_points(pixels, box_corners(o, &-s.half_size(), &s.half_size()))
        }
        _ => return None,
    })
}

/// Returns the corners of the box from `low` to `high` (m, in G), in the camera frame.
pub fn box_corners(
    o: &PoseInCamera,
    low: &Vector3<f64>,
    high: &Vector3<f64>,
) -> impl Iterator<Item = Vector3<f64>> {
    (0..8).map(move |k: usize| {
        let pick = |axis: usize| {
            if k >> axis & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        o.r * Vector3::from_fn(|axis, _| pick(axis)) + o.p
    })
}
