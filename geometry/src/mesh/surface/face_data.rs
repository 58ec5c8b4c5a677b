//! Face data common to triangle and polygon surfaces.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::{Scalar, math};

/// Precomputed areas, normals and centroids of faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaceData<T: Scalar> {
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
        data.finish();
        data
    }

    /// Computes the data from the corners of the faces and their unit normals. Faces whose area is
    /// mere rounding thus keep a normal.
    pub(super) fn with_normals<'a>(
        faces: impl Iterator<Item = &'a [u32]>,
        vertices: &[Vector3<T>],
        normals: Vec<Vector3<T>>,
    ) -> Self {
        let own = faces.zip(&normals).map(|(face, normal)| {
            area_and_centroid(face.iter().map(|v| vertices[*v as usize]), normal)
        });
        let data = Self::of_areas_and_centroids(own, normals.len());
        Self { normals, ..data }
    }

    /// Creates the data of faces, of which the normals are still missing.
    pub(crate) fn of_areas_and_centroids(
        faces: impl Iterator<Item = (T, Vector3<T>)>,
        num_faces: usize,
    ) -> Self {
        let mut data = Self {
            areas: Vec::with_capacity(num_faces),
            centroids: Vec::with_capacity(num_faces),
            normals: vec![],
            total_area: T::from(0.0),
            centroid: Vector3::from_element(T::from(0.0)),
        };
        let (mut total, mut moment) = (data.total_area, data.centroid);
        for (area, centroid) in faces {
            total += area;
            moment += centroid * area;
            data.areas.push(area);
            data.centroids.push(centroid);
        }
        (data.total_area, data.centroid) = (total, moment);
        data.finish();
        data
    }

    /// Turns the sum of the weighted centroids into their mean.
    fn finish(&mut self) {
        self.centroid = if self.total_area.re() > 0.0 {
            self.centroid / self.total_area
        } else {
            Vector3::from_element(T::from(0.0))
        };
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

/// Returns area and centroid of a convex polygon with a unit normal; without area, the mean of its
/// corners.
#[inline]
pub(crate) fn area_and_centroid<T: Scalar>(
    corners: impl ExactSizeIterator<Item = Vector3<T>> + Clone,
    normal: &Vector3<T>,
) -> (T, Vector3<T>) {
    let zero = Vector3::from_element(T::from(0.0));
    // Area vectors are along the normal, so its derivatives do not change their lengths.
    let normal = normal.map(|x| x.re());
    let mut rest = corners.clone();
    let (Some(first), Some(second)) = (rest.next(), rest.next()) else {
        return (T::from(0.0), corners.fold(zero, |_, corner| corner));
    };
    let (mut doubled, mut moment) = (T::from(0.0), zero);
    let mut last = second - first;
    for corner in rest {
        let next = corner - first;
        let turned = cross_constant(&next, &normal);
        let area = last.x * turned.x + last.y * turned.y + last.z * turned.z;
        // Rounding alone turns a triangle of a convex polygon over. Its area would cancel that
        // of others, and the centroid of a sliver would be outside.
        if area.re() > 0.0 {
            doubled += area;
            moment += (last + next) * area;
        }
        last = next;
    }
    if doubled.re() > 0.0 {
        let from_first = moment / (doubled * 3.0);
        (doubled * 0.5, first + from_first)
    } else {
        let count = T::from(corners.len() as f64);
        let sum = corners.fold(zero, |sum, corner| sum + (corner - first));
        (T::from(0.0), first + sum / count)
    }
}

/// Returns the cross product with a constant vector.
#[inline]
fn cross_constant<T: Scalar>(a: &Vector3<T>, b: &Vector3<f64>) -> Vector3<T> {
    Vector3::new(
        a.y * b.z - a.z * b.y,
        a.z * b.x - a.x * b.z,
        a.x * b.y - a.y * b.x,
    )
}
