//! Face data common to triangle and polygon surfaces.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::{Scalar, math};

/// Precomputed areas, normals and centroids of faces.
#[derive(Clone, Debug, Default)]
pub(super) struct FaceData<T: Scalar> {
    pub(super) areas: Vec<T>,
    pub(super) normals: Vec<Vector3<T>>,
    pub(super) centroids: Vec<Vector3<T>>,
    pub(super) total_area: T,
    pub(super) centroid: Vector3<T>,
}

impl<T: Scalar> FaceData<T> {
    /// Computes the data from the corners of the faces, which must be planar and convex.
    pub(super) fn new<'a>(faces: impl Iterator<Item = &'a [u32]>, vertices: &[Vector3<T>]) -> Self {
        let zero = Vector3::from_element(T::from(0.0));
        let mut data = Self {
            areas: Vec::new(),
            normals: Vec::new(),
            centroids: Vec::new(),
            total_area: T::from(0.0),
            centroid: zero,
        };
        for face in faces {
            let at = |i: usize| vertices[face[i] as usize];
            let first = at(0);
            // Unit normal times twice the area: of a fan's triangle, and summed over the fan.
            let fan = |i: usize| (at(i) - first).cross(&(at(i + 1) - first));
            let n = face.len();
            let doubled = (1..n - 1).fold(zero, |sum, i| sum + fan(i));
            let length = math::safe_norm(&doubled);
            let has_area = length.re() > 0.0;
            let normal = if has_area { doubled / length } else { zero };
            // Relative to the first corner, so that small faces far away keep their precision.
            let centroid = if has_area && n > 3 {
                let moment = (1..n - 1).fold(zero, |sum, i| {
                    sum + (at(i) + at(i + 1) - first * T::from(2.0)) * fan(i).dot(&normal)
                });
                first + moment / (length * T::from(3.0))
            } else {
                face.iter().fold(zero, |sum, &v| sum + vertices[v as usize]) / T::from(n as f64)
            };
            let area = length * T::from(0.5);
            data.total_area += area;
            data.centroid += centroid * area;
            data.areas.push(area);
            data.normals.push(normal);
            data.centroids.push(centroid);
        }
        data.centroid = if data.total_area.re() > 0.0 {
            data.centroid / data.total_area
        } else {
            zero
        };
        data
    }

    /// Expresses all data in frame N, given the pose of frame M in N.
    pub(super) fn transform(&mut self, x_nm: &Isometry3<T>) {
        let moved = |p: &Vector3<T>| x_nm.rotation * p + x_nm.translation.vector;
        self.normals
            .iter_mut()
            .for_each(|n| *n = x_nm.rotation * *n);
        self.centroids.iter_mut().for_each(|c| *c = moved(c));
        if self.total_area.re() > 0.0 {
            self.centroid = moved(&self.centroid);
        }
    }
}
