//! The pinhole model as polynomials over the pixels.
//!
//! Everything is drawn in terms of the inverse depth w = 1/z of the ray point `X = d / w`, where
//! `d(px, py)` is the ray of a pixel with `d.z = 1`. In these terms, planes are linear functions of
//! the pixel, quadrics need one square root and no division, and a larger w is nearer.

use super::rect::PixelRect;
use crate::render::CameraInfo;
use nalgebra::{Matrix3, Vector3};

/// The function `a px + b py + c` of the pixel indices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinearFunction {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
}

impl LinearFunction {
    /// Returns the largest value over the corners of a rectangle.
    pub(crate) fn max_over(&self, [x0, y0, x1, y1]: [f64; 4]) -> f64 {
        self.c + (self.a * x0).max(self.a * x1) + (self.b * y0).max(self.b * y1)
    }
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self {
            a: self.a - other.a,
            b: self.b - other.b,
            c: self.c - other.c,
        }
    }
}

/// The function `xx px^2 + xy px py + yy py^2 + x px + y py + c` of the pixel indices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuadraticFunction {
    pub(crate) xx: f64,
    pub(crate) xy: f64,
    pub(crate) yy: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) c: f64,
}

/// Pinhole projection of an image: size, focal lengths and principal point in samples.
#[derive(Clone, Copy, Debug)]
pub struct Pixels {
    /// Number of samples per row.
    pub width: usize,
    /// Number of rows of samples.
    pub height: usize,
    /// Focal lengths in x and y (samples).
    pub focal: [f64; 2],
    /// Principal point, in coordinates where pixel centres are whole numbers.
    pub center: [f64; 2],
}

impl Pixels {
    /// Creates the projection of an image with `samples` rays along each side of a pixel of `info`.
    pub fn new(info: &CameraInfo, samples: usize) -> Self {
        let s = samples as f64;
        Self {
            width: info.width() * samples,
            height: info.height() * samples,
            focal: [info.focal_x() * s, info.focal_y() * s],
            center: [info.center_x() * s - 0.5, info.center_y() * s - 0.5],
        }
    }
    /// Returns the rectangle of all pixels.
    pub fn all(&self) -> PixelRect {
        PixelRect {
            x0: 0,
            y0: 0,
            x1: self.width as i32,
            y1: self.height as i32,
        }
    }
    /// Returns the ray through a pixel's centre, with z = 1.
    pub fn ray(&self, px: f64, py: f64) -> Vector3<f64> {
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
    pub(crate) fn linear(&self, n: &Vector3<f64>) -> LinearFunction {
        let row = n.transpose() * self.ray_matrix();
        LinearFunction {
            a: row.x,
            b: row.y,
            c: row.z,
        }
    }
    /// Returns `d^T q d` as a function of the pixel, for symmetric q.
    pub(crate) fn quadratic(&self, q: &Matrix3<f64>) -> QuadraticFunction {
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
    pub fn project(&self, p: &Vector3<f64>) -> [f64; 2] {
        [
            p.x / p.z * self.focal[0] + self.center[0],
            p.y / p.z * self.focal[1] + self.center[1],
        ]
    }
}
