//! Estimation of normals from neighbouring points.

use super::kd_tree::{KdTree, Neighbour};
use super::{BaseField, NAN, PointCloud};
use crate::{Error, Result};
use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use rayon::prelude::*;
use std::collections::BinaryHeap;

impl PointCloud {
    /// Sets the normal of each point to that of a plane (Drake's `EstimateNormals`). The plane is
    /// fitted to the nearest points within `radius` (m), at most `num_closest` including the point
    /// itself. The sign of a normal is arbitrary; see
    /// [`flip_normals_toward_point`](Self::flip_normals_toward_point). Without another point within
    /// the radius the normal is NaN; with one other point it is some direction perpendicular to the
    /// line through both.
    ///
    /// Returns true if every normal is estimated from at least three points. Runs on rayon's
    /// threads; the result is the same to the bit for any number of threads.
    ///
    /// # Errors
    /// Returns an error if there are no positions, the radius is not positive, or `num_closest` is
    /// less than 3.
    pub fn estimate_normals(&mut self, radius: f64, num_closest: usize) -> Result<bool> {
        self.expect_xyzs("estimate_normals")?;
        if radius.is_nan() || radius <= 0.0 || num_closest < 3 {
            return Err(Error::invalid(format!(
                "PointCloud::estimate_normals: radius must be positive and num_closest at least \
                 3, got {radius:?} m and {num_closest}"
            )));
        }
        let tree = KdTree::new(&self.xyzs);
        let (mut fields, xyzs) = (self.fields, &self.xyzs);
        let normal = |found: &mut BinaryHeap<Neighbour>, xyz: &Vector3<f32>| {
            if !xyz.iter().all(|x| x.is_finite()) {
                return (NAN, false);
            }
            tree.nearest(xyz, radius as f32, num_closest, found);
            let neighbours = found.iter().map(|n| &xyzs[n.number as usize]);
            match found.len() {
                0 | 1 => (NAN, false),
                n => (plane_normal(xyz, neighbours, n), n > 2),
            }
        };
        let estimated = xyzs.par_iter().map_init(BinaryHeap::new, normal);
        let (normals, enough): (Vec<_>, Vec<_>) = estimated.unzip();
        fields.base_fields = fields.base_fields | BaseField::NORMALS;
        self.fields = fields;
        self.normals = normals;
        Ok(enough.into_iter().all(|enough| enough))
    }
}

/// Returns the direction in which the points vary least.
fn plane_normal<'a>(
    origin: &Vector3<f32>,
    points: impl Iterator<Item = &'a Vector3<f32>>,
    count: usize,
) -> Vector3<f32> {
    // Relative to `origin`, which avoids cancellation far from the origin of the frame.
    let (mut sum, mut squares) = (Vector3::<f64>::zeros(), Matrix3::<f64>::zeros());
    for point in points {
        let p = (point - origin).cast::<f64>();
        sum += p;
        squares += p * p.transpose();
    }
    let mean = sum / count as f64;
    let covariance = squares / count as f64 - mean * mean.transpose();
    let eigen = SymmetricEigen::new(covariance);
    let normal = eigen.eigenvectors.column(eigen.eigenvalues.imin());
    normal.normalize().cast()
}
