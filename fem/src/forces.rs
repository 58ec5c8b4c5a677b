//! External forces at the vertices.

use super::element::FemElement;
use super::model::FemModel;
use nalgebra::{Matrix3, Vector3};
use std::fmt::Debug;
use std::sync::Arc;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Step of differences of a force density (m).
const DIFFERENCE: f64 = 1e-5;

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
/// use tarragon_fem::{ForceDensityField, ForceDensityVolume};
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
    /// Returns the derivative of the force density by the position (N/m^4), by default from central
    /// differences with steps of 1e-5 m. Only derivatives of steps need it.
    fn gradient_at(&self, p_wq: &Vector3<f64>) -> Matrix3<f64> {
        let column = |i: usize| {
            let at = |step: f64| {
                let mut p = *p_wq;
                p[i] += step;
                self.evaluate_at(&p)
            };
            (at(DIFFERENCE) - at(-DIFFERENCE)) / (2.0 * DIFFERENCE)
        };
        Matrix3::from_columns(&[column(0), column(1), column(2)])
    }
}

/// Returns the force density at a point over any scalar.
fn density_at<T: Scalar>(field: &dyn ForceDensityField, p: &Vector3<T>) -> Vector3<T> {
    let real = p.map(|x| x.re());
    let density = field.evaluate_at(&real).map(T::from);
    if p.iter().all(is_constant) {
        return density;
    }
    let moved = p - real.map(T::from);
    density + field.gradient_at(&real).map(T::from) * moved
}

impl FemModel {
    /// Adds the weight in a uniform gravity field (m/s²) to the forces at the vertices.
    pub fn add_gravity(&self, gravity: &Vector3<f64>, forces: &mut [f64]) {
        let (forces, _) = forces.as_chunks_mut::<3>();
        for (force, mass) in forces.iter_mut().zip(self.vertex_masses()) {
            for (f, g) in force.iter_mut().zip(gravity.iter()) {
                *f += mass * g;
            }
        }
    }

    /// Adds force densities at positions of the vertices (m) to the forces at the vertices.
    pub fn add_force_densities(
        &self,
        positions: &[f64],
        fields: &[Arc<dyn ForceDensityField>],
        forces: &mut [f64],
    ) {
        if fields.is_empty() {
            return;
        }
        for (_, e) in self.groups.iter().flat_map(|group| group.elements()) {
            let at = |v: u32| {
                let x = positions.get(3 * v as usize..3 * v as usize + 3);
                x.map_or_else(Vector3::zeros, Vector3::from_column_slice)
            };
            let own = self.element_densities(&e, &e.vertices.map(at), fields);
            for (v, force) in e.vertices.iter().zip(own) {
                let sum = forces.iter_mut().skip(3 * *v as usize);
                sum.zip(&force).for_each(|(sum, f)| *sum += f);
            }
        }
    }

    /// Returns the forces of densities at the vertices of an element with positions in the world.
    /// They are evaluated at the centroid, or at those of the parts into which the configuration
    /// divides the element.
    pub(super) fn element_densities<T: Scalar>(
        &self,
        e: &FemElement,
        x: &[Vector3<T>; 4],
        fields: &[Arc<dyn ForceDensityField>],
    ) -> [Vector3<T>; 4] {
        let mut forces = [Vector3::zeros(); 4];
        let share = 1.0 / self.quadrature.len() as f64;
        for field in fields {
            let volume = match field.volume() {
                ForceDensityVolume::Reference => T::from(e.volume),
                ForceDensityVolume::Current => {
                    let edges = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
                    edges[0].cross(&edges[1]).dot(&edges[2]).abs() / 6.0
                }
            };
            for weights in &self.quadrature {
                let points = x.iter().zip(weights);
                let point =
                    points.fold(Vector3::zeros(), |p, (x, weight)| p + x * T::from(*weight));
                let force = density_at(&**field, &point) * (volume * share);
                for (sum, weight) in forces.iter_mut().zip(weights) {
                    *sum += force * T::from(*weight);
                }
            }
        }
        forces
    }
}
