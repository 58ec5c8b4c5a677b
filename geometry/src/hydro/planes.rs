//! Planes, and angles between them.

use nalgebra::{Matrix3, Vector3};
use wide::f64x4;

/// A plane: its unit normal and its offset along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub(super) normal: Vector3<f64>,
    pub(super) offset: f64,
}

impl Plane {
    /// Returns the signed distance of a point (m). That of the opposite plane is the exact
    /// negative.
    #[inline]
    pub(super) fn height(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(p) - self.offset
    }
    pub(super) fn opposite(&self) -> Self {
        Self {
            normal: -self.normal,
            offset: -self.offset,
        }
    }
}

/// Four planes, side by side, such as those of the faces of a tetrahedron.
#[derive(Clone, Copy, Debug)]
pub(super) struct FourPlanes {
    /// Normals by coordinate.
    normals: [f64x4; 3],
    offsets: f64x4,
}

impl FourPlanes {
    pub(super) fn new(planes: &[Plane; 4]) -> Self {
        Self {
            normals: [0, 1, 2].map(|i| f64x4::new(planes.each_ref().map(|plane| plane.normal[i]))),
            offsets: f64x4::new(planes.each_ref().map(|plane| plane.offset)),
        }
    }
    /// Creates three planes; all is below the fourth.
    pub(super) fn of_three([a, b, c]: [Plane; 3]) -> Self {
        let above_all = Plane {
            normal: Vector3::zeros(),
            offset: f64::MAX,
        };
        Self::new(&[a, b, c, above_all])
    }
    #[inline]
    pub(super) fn normal(&self, k: usize) -> Vector3<f64> {
        let [x, y, z] = &self.normals;
        Vector3::new(x.as_array()[k], y.as_array()[k], z.as_array()[k])
    }
    #[inline]
    pub(super) fn plane(&self, k: usize) -> Plane {
        Plane {
            normal: self.normal(k),
            offset: self.offsets.as_array()[k],
        }
    }
    pub(super) fn planes(&self) -> [Plane; 4] {
        [0, 1, 2, 3].map(|k| self.plane(k))
    }
    /// Returns the signed distances of a point (m).
    #[inline(always)]
    pub(super) fn heights(&self, p: &Vector3<f64>) -> f64x4 {
        self.heights_at(p.x, p.y, p.z)
    }
    /// Returns the signed distances of the point with some coordinates (m).
    #[inline(always)]
    pub(super) fn heights_at(&self, px: f64, py: f64, pz: f64) -> f64x4 {
        let [x, y, z] = self.normals;
        x * px + y * py + z * pz - self.offsets
    }
    /// Returns the planes in another frame, in which theirs has a rotation and a position.
    #[inline(always)]
    pub(super) fn posed(&self, r: &Matrix3<f64>, p: &Vector3<f64>) -> Self {
        let [x, y, z] = self.normals;
        let turned = |i: usize| x * r[(i, 0)] + y * r[(i, 1)] + z * r[(i, 2)];
        let [x, y, z] = [turned(0), turned(1), turned(2)];
        let offsets = self.offsets + (x * p.x + y * p.y + z * p.z);
        Self {
            normals: [x, y, z],
            offsets,
        }
    }
}

/// Cosine of the largest angle, 5/8 π, between the normal of a face and the gradient of pressure,
/// as in Drake. Thus the back of a thin rigid shape does not count.
const LEAST_COSINE: f64 = -0.382_683_432_365_089_8;

/// Returns true if a normal of any length points along a gradient, or not too far from it.
#[inline]
pub(super) fn is_along(normal: &Vector3<f64>, gradient: &Vector3<f64>) -> bool {
    let along = normal.dot(gradient);
    along >= 0.0 || along > LEAST_COSINE * normal.norm() * gradient.norm()
}

/// Rounding (m) of coordinates up to some size, after a few operations.
pub(super) fn rounding_at(reach: f64) -> f64 {
    8.0 * f64::EPSILON * reach
}
