//! External forces at the vertices.

use super::model::FemModel;
use nalgebra::Vector3;
use std::fmt::Debug;

/// Volume that a force density refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceDensityVolume {
    /// Volume of the reference configuration.
    Reference,
    /// Volume at the given positions.
    Current,
}

/// A force per volume that acts inside a deformable body (Drake's `ForceDensityField`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::{ForceDensityField, ForceDensityVolume};
/// /// A wind that grows with the height.
/// #[derive(Debug)]
/// struct Wind;
/// impl ForceDensityField for Wind {
///     fn evaluate_at(&self, p_wq: &Vector3<f64>) -> Vector3<f64> {
///         Vector3::x() * 100.0 * p_wq.z
///     }
///     fn volume(&self) -> ForceDensityVolume {
///         ForceDensityVolume::Current
///     }
/// }
/// assert_eq!(Wind.evaluate_at(&Vector3::z()).x, 100.0);
/// ```
pub trait ForceDensityField: Debug + Send + Sync {
    /// Returns the force density (N/m^3) at a point Q, expressed in W like its position (m).
    fn evaluate_at(&self, p_wq: &Vector3<f64>) -> Vector3<f64>;
    /// Returns the volume that the density refers to, by default that of the reference
    /// configuration.
    fn volume(&self) -> ForceDensityVolume {
        ForceDensityVolume::Reference
    }
}

impl FemModel {
    /// Adds the weight in a uniform gravity field (m/s²) to the forces at the vertices.
    pub(crate) fn add_gravity(&self, gravity: &Vector3<f64>, forces: &mut [f64]) {
        let (forces, _) = forces.as_chunks_mut::<3>();
        for (force, mass) in forces.iter_mut().zip(self.vertex_masses()) {
            for (f, g) in force.iter_mut().zip(gravity.iter()) {
                *f += mass * g;
            }
        }
    }

    /// Adds a force density (N/m³), a function of the position in the world, to the forces at the
    /// vertices. It is evaluated at the centroids of the elements, or of the parts into which the
    /// configuration divides them.
    pub(crate) fn add_force_density(
        &self,
        positions: &[f64],
        volume: ForceDensityVolume,
        mut density: impl FnMut(&Vector3<f64>) -> Vector3<f64>,
        forces: &mut [f64],
    ) {
        let at = |v: usize| {
            let x = positions.get(3 * v..3 * v + 3);
            x.map_or_else(Vector3::zeros, Vector3::from_column_slice)
        };
        let share = 1.0 / self.quadrature.len() as f64;
        for group in &self.groups {
            for (k, reference) in group.volume.0.into_iter().enumerate() {
                if reference == 0.0 {
                    continue;
                }
                let vertices = group.vertices.map(|v| v[k] as usize);
                let x = vertices.map(at);
                let part = share
                    * match volume {
                        ForceDensityVolume::Reference => reference,
                        ForceDensityVolume::Current => {
                            let edges = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
                            edges[0].cross(&edges[1]).dot(&edges[2]).abs() / 6.0
                        }
                    };
                for weights in &self.quadrature {
                    let point = x[0] * weights[0] + x[1] * weights[1];
                    let point = point + x[2] * weights[2] + x[3] * weights[3];
                    let force = density(&point) * part;
                    for (v, weight) in vertices.iter().zip(weights) {
                        for (i, f) in forces.iter_mut().skip(3 * v).take(3).enumerate() {
                            *f += weight * force[i];
                        }
                    }
                }
            }
        }
    }
}
