//! The pinhole model as polynomials over the pixels.
//!
//! Everything is drawn in terms of the inverse depth w = 1/z of the ray point `X = d / w`, where
//! `d(px, py)` is the ray of a pixel with `d.z = 1`. In these terms, planes are linear functions of
//! the pixel, quadrics need one square root and no division, and a larger w is nearer.

use crate::render::CameraInfo;
use nalgebra::{Matrix3, Vector3};

/// The function `a px + b py + c` of the pixel indices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinearFunction {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) c: f64,
}

impl LinearFunction {
    /// Returns the largest value over the corners of a rectangle.
    pub(super) fn max_over(&self, [x0, y0, x1, y1]: [f64; 4]) -> f64 {
        self.c + (self.a * x0).max(self.a * x1) + (self.b * y0).max(self.b * y1)
    }
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self {
            a: self.a - other.a,
            b: self.b - other.b,
            c: self.c - other.c,
        }
    }
}

/// The function `xx px^2 + xy px py + yy py^2 + x px + y py + c` of the pixel indices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuadraticFunction {
    pub(super) xx: f64,
    pub(super) xy: f64,
    pub(super) yy: f64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) c: f64,
}

/// Pinhole projection of an image: size, focal lengths and principal point in samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) focal: [f64; 2],
    /// Principal point, in coordinates where pixel centres are whole numbers.
    pub(super) center: [f64; 2],
}

impl Pixels {
    /// Creates the projection of an image with `samples` rays along each side of a pixel of `info`.
    pub(super) fn new(info: &CameraInfo, samples: usize) -> Self {
        let s = samples as f64;
        Self {
            width: info.width() * samples,
            height: info.height() * samples,
            focal: [info.focal_x() * s, info.focal_y() * s],
            center: [info.center_x() * s - 0.5, info.center_y() * s - 0.5],
        }
    }
    /// Returns the rectangle of all pixels.
    pub(super) fn all(&self) -> PixelRect {
        PixelRect {
            x0: 0,
            y0: 0,
            x1: self.width as i32,
            y1: self.height as i32,
        }
    }
    /// Returns the ray through a pixel's centre, with z = 1.
    pub(super) fn ray(&self, px: f64, py: f64) -> Vector3<f64> {
        Vector3::new(
            (px - self.center[0]) / self.focal[0],
            (py - self.center[1]) / self.focal[1],
            1.0,
        )
    }
    /// Returns the matrix that maps `(px, py, 1)` to the ray of a pixel.
    fn ray_matrix(&self) -> Matrix3<f64> {
        let [fx, fy] = self.focal;
        let o = self.ray(0.0, 0.0);
        Matrix3::new(1.0 / fx, 0.0, o.x, 0.0, 1.0 / fy, o.y, 0.0, 0.0, 1.0)
    }
    /// Returns `n . d` as a function of the pixel.
    pub(super) fn linear(&self, n: &Vector3<f64>) -> LinearFunction {
        let row = n.transpose() * self.ray_matrix();
        LinearFunction {
            a: row.x,
            b: row.y,
            c: row.z,
        }
    }
    /// Returns `d^T q d` as a function of the pixel, for symmetric q.
    pub(super) fn quadratic(&self, q: &Matrix3<f64>) -> QuadraticFunction {
        let m = self.ray_matrix();
        let p = m.transpose() * q * m;
        QuadraticFunction {
            xx: p[(0, 0)],
            xy: 2.0 * p[(0, 1)],
            yy: p[(1, 1)],
            x: 2.0 * p[(0, 2)],
            y: 2.0 * p[(1, 2)],
            c: p[(2, 2)],
        }
    }
    /// Projects a point in front of the camera to image coordinates (pixels).
    pub(super) fn project(&self, p: &Vector3<f64>) -> [f64; 2] {
        [
            p.x / p.z * self.focal[0] + self.center[0],
            p.y / p.z * self.focal[1] + self.center[1],
        ]
    }
}

/// Rectangle of the pixels `x0..x1`, `y0..y1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PixelRect {
    pub(super) x0: i32,
    pub(super) y0: i32,
    pub(super) x1: i32,
    pub(super) y1: i32,
}

impl PixelRect {
    pub(super) fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
    pub(super) fn intersection(&self, other: &Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }
    /// Returns the indices of the corner pixels, `[x0, y0, x1 - 1, y1 - 1]`.
    pub(super) fn corners(&self) -> [f64; 4] {
        [
            f64::from(self.x0),
            f64::from(self.y0),
            f64::from(self.x1 - 1),
            f64::from(self.y1 - 1),
        ]
    }
}

/// Bounds of a body in image coordinates and depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageBounds {
    /// Image coordinates (pixels): least x and y, greatest x and y.
    span: [f64; 4],
    /// Range of z in the camera frame (m).
    z: [f64; 2],
}

impl ImageBounds {
    /// Bounds an ellipsoid-like body `{center + s}`, where `g . s` is at most `sqrt(g^T sigma
    /// g)` for every direction g: a sphere, an ellipsoid or a disc. The bounds are exact if the
    /// body is entirely in front of the camera.
    pub(super) fn of_quadric(pixels: &Pixels, center: &Vector3<f64>, sigma: &Matrix3<f64>) -> Self {
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
    pub(super) fn of_points(pixels: &Pixels, points: impl Iterator<Item = Vector3<f64>>) -> Self {
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
    pub(super) fn union(&self, other: &Self) -> Self {
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
    pub(super) fn z_min(&self) -> f64 {
        self.z[0]
    }
    /// Returns the largest absolute image coordinate of the span (pixels).
    pub(super) fn reach(&self) -> f64 {
        self.span.iter().fold(0.0, |m, x| m.max(x.abs()))
    }
    /// Returns the pixels that the body may cover; `None` if it is outside the image or the
    /// clipping planes.
    pub(super) fn rect(&self, pixels: &Pixels, near: f64, far: f64) -> Option<PixelRect> {
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
    pub(super) fn w_max(&self, near: f64) -> f32 {
        (1.0 / self.z[0].max(near) * (1.0 + 1e-5)) as f32
    }
}
