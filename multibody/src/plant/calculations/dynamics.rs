//! Mass matrix, forces, momentum and energy of a plant.

use crate::dynamics::{self, Inertias};
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use crate::tree::CoordinateKind;
use nalgebra::{DMatrix, Matrix3xX, Vector3};
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the mass matrix M(q), `num_velocities` square (kg, kg m, kg m^2): kinetic energy is
    /// `v^T M v / 2`. The reflected inertia of rotors (times the gear ratio squared) is on the
    /// diagonal.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the positions belong to another plant.
    pub fn calc_mass_matrix<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<DMatrix<T>> {
        let tree = self.tree_of("calc_mass_matrix", positions)?;
        Ok(dynamics::mass_matrix(
            tree,
            &Inertias::of_model(),
            positions,
        ))
    }

    /// Computes the generalized forces of gravity (N, N m), in the order of v: `tau_g(q)` of `M(q)
    /// vdot + C(q, v) v = tau_g(q) + tau`.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the positions belong to another plant.
    pub fn calc_gravity_generalized_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of("calc_gravity_generalized_forces", positions)?;
        let mut weights = self.zero_forces();
        let model = Inertias::of_model();
        weights.add_gravity(tree, &model, positions, |body| self.gravity_on(body));
        Ok(dynamics::project(tree, positions, &weights.spatial))
    }

    /// Computes the generalized forces `tau = M(q) vdot + C(q, v) v` (N, N m) that produce the
    /// accelerations `vdot`, without gravity and damping. Rotors contribute their reflected
    /// inertia.
    ///
    /// # Errors
    /// Returns an error before `finalize`, if positions or velocities belong to another plant, or
    /// `vdot` has the wrong length or a value that is not finite.
    pub fn calc_inverse_dynamics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
    ) -> Result<Vec<T>> {
        let asked = "calc_inverse_dynamics";
        let tree = self.tree_of(asked, positions)?;
        let topology = self.finalized(asked)?;
        topology.check(CoordinateKind::Accelerations, vdot)?;
        velocities.check(tree)?;
        Ok(dynamics::inverse_dynamics(
            tree,
            &Inertias::of_model(),
            positions,
            velocities,
            Some(vdot),
            None,
        ))
    }

    /// Computes the forces `C(q, v) v` (N, N m) of centripetal and Coriolis acceleration, in the
    /// order of v.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if positions or velocities belong to another plant.
    pub fn calc_bias_term<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of("calc_bias_term", positions)?;
        velocities.check(tree)?;
        Ok(dynamics::inverse_dynamics(
            tree,
            &Inertias::of_model(),
            positions,
            velocities,
            None,
            None,
        ))
    }

    /// Computes the position of the centre of mass of all bodies in the world, `p_WoScm_W` (m).
    ///
    /// # Errors
    /// Returns an error before `finalize`, if the positions belong to another plant, or if no body
    /// has mass.
    pub fn calc_center_of_mass_position_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let tree = self.tree_of("calc_center_of_mass_position_in_world", positions)?;
        Ok(dynamics::first_moment(tree, positions) * T::from(1.0 / total))
    }

    /// Computes the velocity of the centre of mass in the world, `v_WScm_W` (m/s).
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_center_of_mass_position_in_world`], and an error if the
    /// velocities belong to another plant.
    pub fn calc_center_of_mass_translational_velocity_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vector3<T>> {
        let total = self.moving_mass()?;
        let origin = Vector3::zeros();
        let momentum = self.calc_spatial_momentum_in_world(positions, velocities, &origin)?;
        Ok(momentum.translational * T::from(1.0 / total))
    }

    /// Computes the Jacobian of the velocity of the centre of mass, 3 by `num_velocities`:
    /// `v_WScm_W = J v`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_center_of_mass_position_in_world`].
    pub fn calc_jacobian_center_of_mass_translational_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Matrix3xX<T>> {
        let total = self.moving_mass()?;
        let asked = "calc_jacobian_center_of_mass_translational_velocity";
        let tree = self.tree_of(asked, positions)?;
        Ok(dynamics::center_of_mass_jacobian(tree, positions, total))
    }

    /// Computes the spatial momentum of all bodies in the world about a point P, `L_WSP_W` (N m s,
    /// N s); `p_wop_w` is the position of P (m).
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if positions or velocities belong to another plant.
    pub fn calc_spatial_momentum_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        p_wop_w: &Vector3<T>,
    ) -> Result<SpatialVector<T>> {
        let tree = self.tree_of("calc_spatial_momentum_in_world", positions)?;
        velocities.check(tree)?;
        Ok(dynamics::spatial_momentum(
            tree, positions, velocities, p_wop_w,
        ))
    }

    /// Computes the kinetic energy of all bodies and rotors (J).
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if positions or velocities belong to another plant.
    pub fn calc_kinetic_energy<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        let tree = self.tree_of("calc_kinetic_energy", positions)?;
        velocities.check(tree)?;
        Ok(dynamics::kinetic_energy(tree, positions, velocities))
    }

    /// Computes the potential energy (J) of gravity, 0 where the centre of mass is at the world's
    /// origin, and of springs. Bushings contribute nothing, because their forces have no potential
    /// in general.
    ///
    /// # Errors
    /// Returns an error before `finalize`, or if the positions belong to another plant.
    pub fn calc_potential_energy<T: Scalar>(&self, positions: &PositionKinematics<T>) -> Result<T> {
        let tree = self.tree_of("calc_potential_energy", positions)?;
        let body_moment = |body| dynamics::first_moment_of(tree, positions, body);
        let mut energy = T::zero();
        for (body, _) in self.bodies().skip(1) {
            let (moment, g) = (body_moment(body), self.gravity_on(body));
            energy -= moment.x * g.x + moment.y * g.y + moment.z * g.z;
        }
        let at_rest = VelocityKinematics::at_rest(tree);
        let elements = self.element_powers(positions, &at_rest)?;
        Ok(elements.iter().fold(energy, |sum, e| sum + e.energy))
    }

    /// Returns the mass of all bodies, which must be positive for a centre of mass to exist.
    fn moving_mass(&self) -> Result<f64> {
        match self.calc_total_mass() {
            total if total > 0.0 => Ok(total),
            total => Err(Error::invalid(format!(
                "the total mass of all bodies must be positive for a centre of mass, got \
                 {total:?} kg"
            ))),
        }
    }
}
