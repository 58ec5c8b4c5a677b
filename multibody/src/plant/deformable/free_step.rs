//! Free steps of deformable bodies with derivatives by everything, for the optimization of motions
//! and materials.

use crate::error::{Error, Result};
use crate::model::DeformableBodyIndex;
use crate::plant::multibody_plant::MultibodyPlant;
use nalgebra::Vector3;
use std::sync::Arc;
use tarragon_fem::{FemModel, FreeStep, FreeStepStart, parameters_of};
use tarragon_framework::AutoDiff;

/// A step of a deformable body that nothing touches, on which gravity, elasticity, damping,
/// external forces and walls act, with its derivatives by the state at its start, by the positions
/// of held vertices, which are part of it, and by the material.
/// [`MultibodyPlant::calc_free_deformable_step`] makes it.
///
/// Derivatives follow from the implicit function theorem at the solution of the step, so a product
/// with them costs one solution of a linear system whose matrix is factored already.
#[derive(Clone, Debug)]
pub struct FreeDeformableStep {
    place: String,
    fem: Arc<FemModel>,
    start: [Vec<f64>; 2],
    step: FreeStep,
}

/// A change of the state and the material of a deformable body, or a gradient by them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformableTangent {
    /// By vertex, in W: changes of the positions (m); those of held vertices move them.
    pub positions: Vec<Vector3<f64>>,
    /// By vertex, in W: changes of the velocities (m/s); those of held vertices count for nothing.
    pub velocities: Vec<Vector3<f64>>,
    /// Changes of the material.
    pub material: MaterialTangent,
}

/// A change of the parameters of a material, or a gradient by them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaterialTangent {
    /// Young's modulus (Pa).
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    pub poissons_ratio: f64,
    /// Mass density (kg/m³).
    pub mass_density: f64,
    /// Coefficient of the mass in the damping (1/s).
    pub mass_damping_coefficient: f64,
    /// Coefficient of the stiffness in the damping (s).
    pub stiffness_damping_coefficient: f64,
}

impl MaterialTangent {
    fn to_array(self) -> [f64; 5] {
        [
            self.youngs_modulus,
            self.poissons_ratio,
            self.mass_density,
            self.mass_damping_coefficient,
            self.stiffness_damping_coefficient,
        ]
    }
    fn from_array([e, nu, rho, alpha, beta]: [f64; 5]) -> Self {
        Self {
            youngs_modulus: e,
            poissons_ratio: nu,
            mass_density: rho,
            mass_damping_coefficient: alpha,
            stiffness_damping_coefficient: beta,
        }
    }
}

fn flat(list: &[Vector3<f64>]) -> Vec<f64> {
    list.iter().flat_map(|p| p.iter().copied()).collect()
}

fn vectors(flat: &[f64]) -> Vec<Vector3<f64>> {
    let (vertices, _) = flat.as_chunks::<3>();
    vertices.iter().map(|v| Vector3::from(*v)).collect()
}

impl MultibodyPlant {
    /// Computes a step of a deformable body as if nothing touched it, with the plant's time step
    /// and gravity, from positions (m) and velocities (m/s) of its vertices in W.
    ///
    /// The result is that of the simulation where nothing touches the body, but solved to rounding,
    /// so that derivatives are exact. Contact is not looked for.
    ///
    /// ```
    /// use nalgebra::{Isometry3, Vector3};
    /// use tarragon_fem::DeformableBodyConfig;
    /// use tarragon_geometry::{GeometryInstance, SceneGraph, Sphere};
    /// use tarragon_multibody::*;
    /// let (mut plant, mut scene) = (MultibodyPlantBuilder::new(0.01)?, SceneGraph::new());
    /// plant.register_as_source_for_scene_graph(&mut scene)?;
    /// let ball = GeometryInstance::new(Isometry3::identity(), Sphere::new(0.1)?, "ball")?;
    /// let ball = ball.with_proximity(Default::default());
    /// let config = DeformableBodyConfig { mass_damping_coefficient: 1.0, ..Default::default() };
    /// let ball = plant.register_deformable_body(&mut scene, ball, &config, 0.1)?;
    /// let q = plant.deformable_body(ball)?.reference_positions().to_vec();
    /// let v = vec![Vector3::x(); q.len()];
    /// let mut step = plant.build()?.calc_free_deformable_step(ball, &q, &v)?;
    /// // The gradient of the sum of the velocities along x at the end of the step.
    /// let gradient = step.pull_back(&vec![Vector3::zeros(); q.len()], &v)?;
    /// // Damping leaves 1 / (1 + alpha dt) of the velocity, whose derivative by alpha is known.
    /// let expected = -(q.len() as f64) * 0.01 / (1.0_f64 + 0.01).powi(2);
    /// assert!((gradient.material.mass_damping_coefficient - expected).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the body is unknown, if vertices are fixed to rigid bodies, if a list
    /// has another length than there are vertices, or if a number is not finite; also if the step
    /// has no solution, or one at which its matrix is not positive definite, as in strongly
    /// compressed bodies of the nonlinear models.
    pub fn calc_free_deformable_step(
        &self,
        body: DeformableBodyIndex,
        positions: &[Vector3<f64>],
        velocities: &[Vector3<f64>],
    ) -> Result<FreeDeformableStep> {
        let body = self.deformable_body(body)?;
        body.check_free()?;
        let place = body.place();
        check_lists(&place, body.num_vertices(), [positions, velocities])?;
        let start = [flat(positions), flat(velocities)];
        let [q, v] = start.clone();
        let step = FreeStepStart {
            time_step: self.time_step,
            gravity: self.gravity_in(body.model_instance),
            positions: q,
            velocities: v,
            fixed: body.held.clone(),
            fields: body.forces.clone(),
        };
        let step = FreeStep::new(&body.fem, step).map_err(|failure| failure.error(&place))?;
        Ok(FreeDeformableStep {
            place,
            fem: body.fem.clone(),
            start,
            step,
        })
    }
}

/// Checks that two lists have one finite vector per vertex.
fn check_lists(place: &str, n: usize, lists: [&[Vector3<f64>]; 2]) -> Result<()> {
    for (name, list) in ["positions", "velocities"].iter().zip(lists) {
        let is_finite = list.iter().all(|p| p.iter().all(|x| x.is_finite()));
        if list.len() != n || !is_finite {
            return Err(Error::invalid(format!(
                "{place}: {name} must be finite and {n}, got {}",
                list.len()
            )));
        }
    }
    Ok(())
}

impl FreeDeformableStep {
    /// Returns the positions of the vertices at the end of the step, in W (m).
    pub fn positions(&self) -> Vec<Vector3<f64>> {
        vectors(self.step.positions())
    }
    /// Returns the velocities of the vertices at the end of the step, in W (m/s).
    pub fn velocities(&self) -> Vec<Vector3<f64>> {
        vectors(self.step.velocities())
    }

    /// Returns the changes of positions (m) and velocities (m/s) at the end of the step that a
    /// change at its start causes, to first order.
    ///
    /// # Errors
    /// Returns an error if a list has another length than there are vertices, if a number is not
    /// finite, or if the iteration for the change of damping does not converge.
    pub fn push_forward(&mut self, change: &DeformableTangent) -> Result<[Vec<Vector3<f64>>; 2]> {
        check_lists(
            &self.place,
            self.fem.num_vertices(),
            [&change.positions, &change.velocities],
        )?;
        let along = |x: f64, d: f64| AutoDiff::constant(x) + AutoDiff::variable(0.0, 0) * d;
        let lift = |x: &[f64], d: &[Vector3<f64>]| -> Vec<AutoDiff> {
            let d = d.iter().flat_map(|d| d.iter());
            x.iter().zip(d).map(|(x, d)| along(*x, *d)).collect()
        };
        let q = lift(&self.start[0], &change.positions);
        let v = lift(&self.start[1], &change.velocities);
        let mut parameters = parameters_of(self.fem.config()).map(AutoDiff::constant);
        for (p, d) in parameters.iter_mut().zip(change.material.to_array()) {
            *p = along(p.re, d);
        }
        let ends = self.step.push_forward(&self.fem, [&q, &v], parameters);
        let ends = ends.map_err(|failure| failure.error(&self.place))?;
        Ok(ends.map(|x| vectors(&x.iter().map(|x| x.eps[0]).collect::<Vec<f64>>())))
    }

    /// Returns the gradient of a function of the end of the step by state and material at its
    /// start, given its gradients by the positions and the velocities at the end.
    ///
    /// # Errors
    /// Returns the errors of [`Self::push_forward`].
    pub fn pull_back(
        &mut self,
        by_positions: &[Vector3<f64>],
        by_velocities: &[Vector3<f64>],
    ) -> Result<DeformableTangent> {
        let n = self.fem.num_vertices();
        check_lists(&self.place, n, [by_positions, by_velocities])?;
        let by_end = [&flat(by_positions)[..], &flat(by_velocities)];
        let gradient = self.step.pull_back(&self.fem, by_end);
        let gradient = gradient.map_err(|failure| failure.error(&self.place))?;
        Ok(DeformableTangent {
            positions: vectors(&gradient.positions),
            velocities: vectors(&gradient.velocities),
            material: MaterialTangent::from_array(gradient.parameters),
        })
    }
}
