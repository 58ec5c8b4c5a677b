//! Reduction of the number of points.

use super::{BaseField, PointCloud};
use crate::{Error, Result};
use nalgebra::Vector3;
use std::collections::HashMap;

/// The sum and the number of finite values.
#[derive(Clone, Copy)]
struct Mean<const N: usize> {
    sum: [f64; N],
    count: u32,
}

impl<const N: usize> Default for Mean<N> {
    fn default() -> Self {
        Self {
            sum: [0.0; N],
            count: 0,
        }
    }
}

impl<const N: usize> Mean<N> {
    fn add(&mut self, values: [f64; N]) {
        if values.iter().all(|x| x.is_finite()) {
            self.sum
                .iter_mut()
                .zip(values)
                .for_each(|(sum, x)| *sum += x);
            self.count += 1;
        }
    }
    /// Returns the mean, or NaN without values.
    fn get(&self) -> [f64; N] {
        self.sum.map(|sum| sum / f64::from(self.count))
    }
}

fn numbers(v: &Vector3<f32>) -> [f64; 3] {
    [v.x, v.y, v.z].map(f64::from)
}

fn vector(v: [f64; 3]) -> Vector3<f32> {
    Vector3::from(v.map(|x| x as f32))
}

impl PointCloud {
    /// Merges the points in each cell of a grid into one (Drake's `VoxelizedDownSample`). A new
    /// point has the mean of the positions, colours (rounded) and descriptors, and the normalized
    /// mean of the normals. Cells are cubes with the given side (m), and corners at its multiples.
    /// Points that are not finite are left out, as are other values that are not finite. The new
    /// points are in the order of the first points of their cells.
    ///
    /// # Errors
    /// Returns an error if there are no positions, or `voxel_size` is not positive and finite.
    pub fn voxelized_down_sample(&self, voxel_size: f64) -> Result<Self> {
        self.expect_xyzs("voxelized_down_sample")?;
        if !(voxel_size > 0.0 && voxel_size.is_finite()) {
            return Err(Error::invalid(format!(
                "PointCloud::voxelized_down_sample: voxel_size must be positive and finite, got \
                 {voxel_size:?} m"
            )));
        }
        // Index of the new point for each cell, and for each old point.
        let mut cells: HashMap<[i64; 3], u32> = HashMap::new();
        let mut targets: Vec<Option<u32>> = Vec::with_capacity(self.size);
        for xyz in &self.xyzs {
            let finite = xyz.iter().all(|x| x.is_finite());
            targets.push(finite.then(|| {
                let cell = numbers(xyz).map(|x| (x / voxel_size).floor() as i64);
                let next = cells.len() as u32;
                *cells.entry(cell).or_insert(next)
            }));
        }
        let count = cells.len();
        let mean = |values: &[Vector3<f32>]| {
            let mut means = vec![Mean::<3>::default(); count];
            for (value, target) in values.iter().zip(&targets) {
                if let Some(target) = target {
                    means[*target as usize].add(numbers(value));
                }
            }
            means
        };
        let mut cloud = Self::new(count, self.fields);
        let has = |field| self.fields.base_fields.contains(field);
        for (to, mean) in cloud.xyzs.iter_mut().zip(mean(&self.xyzs)) {
            *to = vector(mean.get());
        }
        if has(BaseField::NORMALS) {
            for (to, mean) in cloud.normals.iter_mut().zip(mean(&self.normals)) {
                *to = vector(mean.get()).normalize();
            }
        }
        if has(BaseField::RGBS) {
            let mut means = vec![Mean::<3>::default(); count];
            for (rgb, target) in self.rgbs.iter().zip(&targets) {
                if let Some(target) = target {
                    means[*target as usize].add(rgb.map(f64::from));
                }
            }
            for (to, mean) in cloud.rgbs.iter_mut().zip(means) {
                *to = mean.get().map(|x| x.round() as u8);
            }
        }
        if let Some(n) = self.fields.descriptor.map(|d| d.size()).filter(|n| *n > 0) {
            let mut means = vec![Mean::<1>::default(); count * n];
            for (values, target) in self.descriptors.chunks_exact(n).zip(&targets) {
                let Some(target) = target else { continue };
                let means = &mut means[*target as usize * n..][..n];
                means
                    .iter_mut()
                    .zip(values)
                    .for_each(|(mean, x)| mean.add([f64::from(*x)]));
            }
            for (to, mean) in cloud.descriptors.iter_mut().zip(means) {
                *to = mean.get()[0] as f32;
            }
        }
        Ok(cloud)
    }
}
