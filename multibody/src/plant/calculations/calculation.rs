//! Dynamics of a plant at given positions, with given parameters.

use crate::dynamics::{
    self, BodyForces, ElementPower, ForceElementState, ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives, MultibodyForces,
};
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::BodyIndex;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::steps::forward_dynamics::add_damping;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use crate::tree::{CoordinateKind, KinematicTree};
use nalgebra::{DMatrix, Matrix3xX, Vector3};
use tarragon_framework::Scalar;

/// A plant at given positions, with its parameters. The positions are known to belong to the plant.
#[derive(Clone, Copy)]
pub(in crate::plant) struct Calculation<'a, T: Scalar> {
    pub(in crate::plant) plant: &'a MultibodyPlant,
    pub(in crate::plant) positions: &'a PositionKinematics<T>,
    pub(in crate::plant) parameters: &'a ModelParameters<T>,
}

impl MultibodyPlant {
    /// Prepares the function `asked` at given positions, with given parameters.
    pub(in crate::plant) fn calculation<'a, T: Scalar>(
        &'a self,
        positions: &'a PositionKinematics<T>,
        parameters: &'a ModelParameters<T>,
    ) -> Result<Calculation<'a, T>> {
        self.tree_of(positions)?;
        Ok(Calculation {
            plant: self,
            positions,
            parameters,
        })
    }
}

impl<'a, T: Scalar> Calculation<'a, T> {
    /// Checks that velocities belong to the plant.
    pub(in crate::plant) fn at(self, velocities: &VelocityKinematics<T>) -> Result<Self> {
        velocities.check(self.tree())?;
        Ok(self)
    }
    fn tree(&self) -> &'a KinematicTree {
        &self.plant.topology.tree
    }
    fn check_accelerations(&self, vdot: &[T]) -> Result<()> {
        self.plant
            .topology
            .check(CoordinateKind::Accelerations, vdot)
    }

    pub(in crate::plant) fn mass_matrix(&self) -> DMatrix<T> {
        dynamics::mass_matrix(self.tree(), &self.parameters.inertias, self.positions)
    }

    pub(super) fn mass_matrix_diagonal(&self) -> Vec<T> {
        let (tree, inertias) = (self.tree(), &self.parameters.inertias);
        dynamics::mass_matrix_diagonal(tree, 0..tree.nodes.len(), inertias, self.positions)
    }

    fn weights(&self) -> MultibodyForces<T> {
        let mut weights = self.plant.zero_forces();
        let gravity = |body| self.plant.gravity_on(body);
        weights.add_gravity(
            self.tree(),
            &self.parameters.inertias,
            self.positions,
            gravity,
        );
        weights
    }

    pub(in crate::plant) fn gravity_forces(&self) -> Vec<T> {
        dynamics::project(self.tree(), self.positions, &self.weights().spatial)
    }

    pub(in crate::plant) fn bias_term(&self, velocities: &VelocityKinematics<T>) -> Vec<T> {
        let inertias = &self.parameters.inertias;
        dynamics::inverse_dynamics(
            self.tree(),
            inertias,
            self.positions,
            velocities,
            None,
            None,
        )
    }

    pub(in crate::plant) fn inverse_dynamics(
        &self,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
        forces: Option<&MultibodyForces<T>>,
    ) -> Result<Vec<T>> {
        self.check_accelerations(vdot)?;
        let mut tau = dynamics::inverse_dynamics(
            self.tree(),
            &self.parameters.inertias,
            self.positions,
            velocities,
            Some(vdot),
            forces.map(|forces| &*forces.spatial),
        );
        if let Some(forces) = forces {
            for (tau, f) in tau.iter_mut().zip(&forces.generalized) {
                *tau -= *f;
            }
        }
        Ok(tau)
    }

    /// Returns the mass of all bodies.
    pub(in crate::plant) fn total_mass(&self) -> T {
        let own = &self.parameters.inertias.bodies;
        let bodies = self.plant.bodies.iter().enumerate();
        bodies.fold(T::zero(), |sum, (i, body)| {
            sum + match own.get(i) {
                Some(Some(own)) => own.mass,
                _ => T::from(body.inertia.mass()),
            }
        })
    }

    /// Returns the mass of all bodies, or an error unless it is positive: without mass, there is no
    /// centre of mass.
    fn moving_mass(&self) -> Result<T> {
        match self.total_mass() {
            total if total.re() > 0.0 => Ok(total),
            total => Err(Error::invalid(format!(
                "the total mass of all bodies must be positive for a centre of mass, got {:?} kg",
                total.re()
            ))),
        }
    }

    pub(in crate::plant) fn center_of_mass(&self) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let moment = dynamics::first_moment(self.tree(), &self.parameters.inertias, self.positions);
        Ok(moment * (T::one() / total))
    }

    pub(in crate::plant) fn center_of_mass_velocity(
        &self,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let momentum = self.spatial_momentum(velocities, &Vector3::zeros());
        Ok(momentum.translational * (T::one() / total))
    }

    pub(in crate::plant) fn center_of_mass_jacobian(&self) -> Result<Matrix3xX<T>> {
        let (total, inertias) = (self.moving_mass()?, &self.parameters.inertias);
        let jacobian =
            dynamics::center_of_mass_jacobian(self.tree(), inertias, self.positions, total);
        Ok(jacobian)
    }

    pub(in crate::plant) fn spatial_momentum(
        &self,
        velocities: &VelocityKinematics<T>,
        p_wop_w: &Vector3<T>,
    ) -> SpatialVector<T> {
        let inertias = &self.parameters.inertias;
        dynamics::spatial_momentum(self.tree(), inertias, self.positions, velocities, p_wop_w)
    }

    pub(in crate::plant) fn kinetic_energy(&self, velocities: &VelocityKinematics<T>) -> T {
        let inertias = &self.parameters.inertias;
        dynamics::kinetic_energy(self.tree(), inertias, self.positions, velocities)
    }

    pub(in crate::plant) fn potential_energy(&self) -> T {
        let mut energy = T::zero();
        for (body, _) in self.plant.bodies().skip(1) {
            let inertias = &self.parameters.inertias;
            let moment = dynamics::first_moment_of(self.tree(), inertias, self.positions, body);
            let g = self.plant.gravity_on(body);
            energy -= moment.x * g.x + moment.y * g.y + moment.z * g.z;
        }
        let elements = self.element_powers(&VelocityKinematics::at_rest(self.tree()));
        elements.iter().fold(energy, |sum, e| sum + e.energy)
    }

    /// Returns energy and power of all force elements except gravity and joint damping.
    fn element_powers(&self, velocities: &VelocityKinematics<T>) -> Vec<ElementPower<T>> {
        let state = self.element_state(velocities);
        let elements = self.plant.force_elements.iter().enumerate();
        elements.map(|e| state.power(e)).collect()
    }

    fn element_state<'b>(
        &'b self,
        velocities: &'b VelocityKinematics<T>,
    ) -> ForceElementState<'b, T> {
        let constants = &self.parameters.elements;
        self.plant
            .element_state(self.positions, velocities, constants)
    }

    pub(in crate::plant) fn conservative_power(&self, velocities: &VelocityKinematics<T>) -> T {
        let weights = self.weights();
        let powers = weights.spatial.iter().zip(&velocities.v_wb);
        let gravity = powers.fold(T::zero(), |sum, (f, v)| sum + f.dot(v));
        let elements = self.element_powers(velocities);
        elements.iter().fold(gravity, |sum, e| sum + e.conservative)
    }

    pub(in crate::plant) fn non_conservative_power(&self, velocities: &VelocityKinematics<T>) -> T {
        let elements = self.element_powers(velocities);
        let powers = elements.iter().map(|e| e.non_conservative);
        powers.fold(T::zero(), |sum, power| sum + power)
    }

    pub(in crate::plant) fn force_elements(
        &self,
        velocities: &VelocityKinematics<T>,
    ) -> MultibodyForces<T> {
        let mut forces = self.weights();
        let state = self.element_state(velocities);
        for element in self.plant.force_elements.iter().enumerate() {
            state.add_force(element, &mut forces);
        }
        add_damping(&self.parameters.damping, velocities, &mut forces);
        forces
    }

    pub(in crate::plant) fn forward_dynamics(
        &self,
        velocities: &VelocityKinematics<T>,
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        let inertias = &self.parameters.inertias;
        self.plant
            .forward_dynamics(inertias, self.positions, velocities, forces)
    }
}

impl Calculation<'_, f64> {
    pub(in crate::plant) fn inverse_dynamics_derivatives(
        &self,
        velocities: &VelocityKinematics<f64>,
        vdot: &[f64],
        applied: &MultibodyForces<f64>,
    ) -> Result<InverseDynamicsDerivatives> {
        self.check_accelerations(vdot)?;
        let forces = BodyForces {
            gravity: |body: BodyIndex| self.plant.gravity_on(body),
            constant: &applied.spatial,
        };
        let inertias = &self.parameters.inertias;
        let mut derivatives = dynamics::inverse_dynamics_derivatives(
            self.tree(),
            inertias,
            self.positions,
            velocities,
            vdot,
            &forces,
        );
        for (k, damping) in self.parameters.damping.iter().enumerate() {
            derivatives.tau[k] += damping * velocities.v[k] - applied.generalized[k];
            derivatives.dtau_dv[(k, k)] += damping;
        }
        let state = self.element_state(velocities);
        self.plant.subtract_elements(&state, &mut derivatives)?;
        Ok(derivatives)
    }

    pub(in crate::plant) fn forward_dynamics_derivatives(
        &self,
        velocities: &VelocityKinematics<f64>,
        applied: &MultibodyForces<f64>,
    ) -> Result<ForwardDynamicsDerivatives> {
        let mut forces = self.force_elements(velocities);
        for (sum, f) in forces.generalized.iter_mut().zip(&applied.generalized) {
            *sum += f;
        }
        for (sum, f) in forces.spatial.iter_mut().zip(&applied.spatial) {
            *sum += *f;
        }
        let vdot = self.forward_dynamics(velocities, &forces)?;
        let inverse = self.inverse_dynamics_derivatives(velocities, &vdot, applied)?;
        inverse.inverted(vdot).ok_or_else(|| {
            Error::invalid(
                "MultibodyPlant: the mass matrix must be positive definite; give the outermost \
                 bodies of all joints mass and rotational inertia",
            )
        })
    }
}
