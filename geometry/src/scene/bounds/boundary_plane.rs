//! Boundary planes of half spaces, which have no box.

use crate::accel::bvh::Box32;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// The boundary of a half space.
#[derive(Clone)]
pub(in crate::scene) struct BoundaryPlane {
    pub(in crate::scene) geometry: u32,
    normal: Vector3<f64>,
    /// Negated signed distance of the origin (m).
    offset: f64,
}

impl BoundaryPlane {
    pub(in crate::scene) fn new<T: Scalar>(geometry: u32, x_wg: &Isometry3<T>) -> Self {
        let normal = (x_wg.rotation * Vector3::z()).map(|x| x.re());
        let p = x_wg.translation.vector.map(|x| x.re());
        Self {
            geometry,
            normal,
            offset: normal.dot(&p),
        }
    }

    /// Returns a lower bound of the signed distances of all points of a box (m).
    #[inline]
    pub(in crate::scene) fn distance(&self, b: &Box32) -> f64 {
        let mut least = -self.offset;
        let mut size = self.offset.abs();
        for i in 0..3 {
            let n = self.normal[i];
            let end = if n > 0.0 { b.lower[i] } else { b.upper[i] };
            least += n * f64::from(end);
            size += f64::from(end.abs());
        }
        least - 1e-14 * size
    }
}
