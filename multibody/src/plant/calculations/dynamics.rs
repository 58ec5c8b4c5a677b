//! Mass matrix, forces, momentum and energy of a plant.

use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use nalgebra::{DMatrix, Matrix3xX, Vector3};
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the mass matrix M(q), `num_velocities` square (kg, kg m, kg m^2): kinetic energy is
    /// `v^T M v / 2`. The reflected inertia of rotors (times the gear ratio squared) is on the
    /// diagonal.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant.
    pub fn calc_mass_matrix<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<DMatrix<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        Ok(here.mass_matrix())
    }

    /// Computes the diagonal of the mass matrix M(q), without its other elements: the inertia along
    /// each velocity while all others are 0.
    ///
    /// Uses the masses of the model.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant.
    pub fn calc_mass_matrix_diagonal<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        Ok(here.mass_matrix_diagonal())
    }

    /// Computes the generalized forces of gravity (N, N m), in the order of v: `tau_g(q)` of `M(q)
    /// vdot + C(q, v) v = tau_g(q) + tau`.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant.
    pub fn calc_gravity_generalized_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        Ok(here.gravity_forces())
    }

    /// Computes the generalized forces `tau = M(q) vdot + C(q, v) v` (N, N m) that produce the
    /// accelerations `vdot`, without gravity and damping. Rotors contribute their reflected
    /// inertia.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant, or `vdot` has the wrong
    /// length or a value that is not finite.
    pub fn calc_inverse_dynamics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        here.inverse_dynamics(velocities, vdot, None)
    }

    /// Computes the forces `C(q, v) v` (N, N m) of centripetal and Coriolis acceleration, in the
    /// order of v.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_bias_term<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        Ok(here.bias_term(velocities))
    }

    /// Computes the position of the centre of mass of all bodies in the world, `p_WoScm_W` (m).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant, or if no body has mass.
    pub fn calc_center_of_mass_position_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Vector3<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        here.center_of_mass()
    }

    /// Computes the velocity of the centre of mass in the world, `v_WScm_W` (m/s).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_center_of_mass_position_in_world`], and an error if the
    /// velocities belong to another plant.
    pub fn calc_center_of_mass_translational_velocity_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<Vector3<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        here.center_of_mass_velocity(velocities)
    }

    /// Computes the Jacobian of the velocity of the centre of mass, 3 by `num_velocities`:
    /// `v_WScm_W = J v`.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_center_of_mass_position_in_world`].
    pub fn calc_jacobian_center_of_mass_translational_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<Matrix3xX<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        here.center_of_mass_jacobian()
    }

    /// Computes the spatial momentum of all bodies in the world about a point P, `L_WSP_W` (N m s,
    /// N s); `p_wop_w` is the position of P (m).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_spatial_momentum_in_world<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        p_wop_w: &Vector3<T>,
    ) -> Result<SpatialVector<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        Ok(here.spatial_momentum(velocities, p_wop_w))
    }

    /// Computes the kinetic energy of all bodies and rotors (J).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_kinetic_energy<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        Ok(here.kinetic_energy(velocities))
    }

    /// Computes the potential energy (J) of gravity, 0 where the centre of mass is at the world's
    /// origin, and of springs. Bushings contribute nothing, because their forces have no potential
    /// in general.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant.
    pub fn calc_potential_energy<T: Scalar>(&self, positions: &PositionKinematics<T>) -> Result<T> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        Ok(here.potential_energy())
    }
}
