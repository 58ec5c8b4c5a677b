//! Energy, momentum, forces and accelerations in the state of a context, with its parameters.

use crate::dynamics::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives, MultibodyForces};
use crate::error::Result;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::plant::calculations::calculation::Calculation;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::ports::MultibodyPlantPorts;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use crate::tree::CoordinateKind;
use nalgebra::{DMatrix, Matrix3xX, Vector3};
use tarragon_framework::{Context, Scalar};

/// A plant in the state of a context, with the masses, damping, motors, springs and bushings of the
/// context. It is made by [`MultibodyPlantPorts::in_context`], which computes the kinematics once
/// for all quantities.
#[derive(Clone, Debug)]
pub struct PlantInContext<'a, T: Scalar> {
    plant: &'a MultibodyPlant,
    positions: PositionKinematics<T>,
    velocities: VelocityKinematics<T>,
    parameters: ModelParameters<T>,
}

impl<T: Scalar> MultibodyPlantPorts<T> {
    /// Reads the positions, velocities and parameters of a context, and returns the plant with
    /// these values. If the input port of the positions has no value, the default positions are
    /// used; if the port of the velocities has none, velocities are 0.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_framework::prelude::*;
    /// use tarragon_multibody::{ModelInstanceIndex, MultibodyPlantBuilder, SpatialInertia};
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let light = SpatialInertia::plausible(1.0, Vector3::zeros())?;
    /// let ball = plant.add_rigid_body("ball", ModelInstanceIndex::DEFAULT, light)?;
    /// let plant = plant.build()?;
    /// let mut b = DiagramBuilder::new();
    /// let plant = b.add("plant", plant);
    /// let mut ctx = b.build()?.default_context();
    /// plant.set_velocities(&mut ctx, &[0.0, 0.0, 0.0, 2.0, 0.0, 0.0])?;
    /// plant.set_mass(&mut ctx, ball, 10.0)?;
    /// let here = plant.in_context(&ctx)?;
    /// assert_eq!(here.calc_kinetic_energy(), 20.0); // m v^2 / 2
    /// assert_eq!(here.calc_mass_matrix()[(3, 3)], 10.0);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the context belongs to another diagram.
    pub fn in_context(&self, context: &Context<T>) -> Result<PlantInContext<'_, T>> {
        let read = |which| self.coordinates_or_defaults(which, context);
        let positions = self.calc_position_kinematics(&read(CoordinateKind::Positions)?)?;
        let v = read(CoordinateKind::Velocities)?;
        let velocities = self.calc_velocity_kinematics(&positions, &v)?;
        // A plant that is moved through ports has no parameters in the context.
        let parameters = if self.dynamics().is_ok() {
            self.reader(context)?.all()
        } else {
            self.model_parameters()
        };
        Ok(PlantInContext {
            plant: self,
            positions,
            velocities,
            parameters,
        })
    }
}

impl<T: Scalar> PlantInContext<'_, T> {
    fn calculation(&self) -> Calculation<'_, T> {
        Calculation {
            plant: self.plant,
            positions: &self.positions,
            parameters: &self.parameters,
        }
    }

    /// Returns the positions of joints, and the poses of bodies.
    pub fn positions(&self) -> &PositionKinematics<T> {
        &self.positions
    }
    /// Returns the velocities of joints and bodies.
    pub fn velocities(&self) -> &VelocityKinematics<T> {
        &self.velocities
    }
    /// Returns the mass of all bodies (kg).
    pub fn calc_total_mass(&self) -> T {
        self.calculation().total_mass()
    }
    /// Computes the kinetic energy of all bodies and rotors (J).
    pub fn calc_kinetic_energy(&self) -> T {
        self.calculation().kinetic_energy(&self.velocities)
    }
    /// Computes the potential energy (J) of gravity and of springs. The energy of gravity is 0 if
    /// the centre of mass is at the world's origin.
    pub fn calc_potential_energy(&self) -> T {
        self.calculation().potential_energy()
    }
    /// Computes the power (W) of gravity and of springs: the rate at which the potential energy
    /// falls.
    pub fn calc_conservative_power(&self) -> T {
        self.calculation().conservative_power(&self.velocities)
    }
    /// Computes the power (W) of dampers, hinge friction and bushings, without joint damping.
    pub fn calc_non_conservative_power(&self) -> T {
        self.calculation().non_conservative_power(&self.velocities)
    }
    /// Computes the mass matrix M(q), as [`MultibodyPlant::calc_mass_matrix`] does.
    pub fn calc_mass_matrix(&self) -> DMatrix<T> {
        self.calculation().mass_matrix()
    }
    /// Computes the forces `C(q, v) v` (N, N m) of centripetal and Coriolis acceleration.
    pub fn calc_bias_term(&self) -> Vec<T> {
        self.calculation().bias_term(&self.velocities)
    }
    /// Computes the generalized forces of gravity (N, N m).
    pub fn calc_gravity_generalized_forces(&self) -> Vec<T> {
        self.calculation().gravity_forces()
    }
    /// Computes the forces of gravity, springs, dampers, bushings and joint damping.
    pub fn calc_force_elements_contribution(&self) -> MultibodyForces<T> {
        self.calculation().force_elements(&self.velocities)
    }

    /// Computes the position of the centre of mass of all bodies in the world, `p_WoScm_W` (m).
    ///
    /// # Errors
    /// Returns an error if no body has mass.
    pub fn calc_center_of_mass_position_in_world(&self) -> Result<Vector3<T>> {
        self.calculation().center_of_mass()
    }
    /// Computes the velocity of the centre of mass in the world, `v_WScm_W` (m/s).
    ///
    /// # Errors
    /// Returns an error if no body has mass.
    pub fn calc_center_of_mass_translational_velocity_in_world(&self) -> Result<Vector3<T>> {
        self.calculation().center_of_mass_velocity(&self.velocities)
    }
    /// Computes the Jacobian of the velocity of the centre of mass: `v_WScm_W = J v`.
    ///
    /// # Errors
    /// Returns an error if no body has mass.
    pub fn calc_jacobian_center_of_mass_translational_velocity(&self) -> Result<Matrix3xX<T>> {
        self.calculation().center_of_mass_jacobian()
    }
    /// Computes the spatial momentum of all bodies in the world about a point P, `L_WSP_W` (N m s,
    /// N s); `p_wop_w` is the position of P (m).
    pub fn calc_spatial_momentum_in_world(&self, p_wop_w: &Vector3<T>) -> SpatialVector<T> {
        self.calculation()
            .spatial_momentum(&self.velocities, p_wop_w)
    }

    /// Computes the generalized forces `tau = M(q) vdot + C(q, v) v` (N, N m) that produce the
    /// accelerations `vdot`, without gravity and damping.
    ///
    /// # Errors
    /// Returns an error if `vdot` has the wrong length or a value that is not finite.
    pub fn calc_inverse_dynamics(&self, vdot: &[T]) -> Result<Vec<T>> {
        let here = self.calculation();
        here.inverse_dynamics(&self.velocities, vdot, None)
    }
    /// Computes the generalized forces `tau` (N, N m) that, together with `forces`, produce the
    /// accelerations `vdot`.
    ///
    /// # Errors
    /// Returns an error if the forces belong to another plant, or if `vdot` has the wrong length or
    /// a value that is not finite.
    pub fn calc_inverse_dynamics_with_forces(
        &self,
        vdot: &[T],
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        self.plant.check_forces(forces)?;
        let here = self.calculation();
        here.inverse_dynamics(&self.velocities, vdot, Some(forces))
    }
    /// Computes the accelerations `vdot` that forces cause: `M(q) vdot + C(q, v) v = tau`.
    ///
    /// # Errors
    /// Returns an error if the forces belong to another plant, or if a joint moves neither mass nor
    /// rotational inertia.
    pub fn calc_forward_dynamics(&self, forces: &MultibodyForces<T>) -> Result<Vec<T>> {
        self.plant.check_forces(forces)?;
        self.calculation()
            .forward_dynamics(&self.velocities, forces)
    }
}

impl PlantInContext<'_, f64> {
    /// Computes the derivatives of [`MultibodyPlant::calc_inverse_dynamics_derivatives`] in the
    /// context.
    ///
    /// # Errors
    /// Returns an error if the forces belong to another plant, or if `vdot` has the wrong length or
    /// a value that is not finite.
    pub fn calc_inverse_dynamics_derivatives(
        &self,
        vdot: &[f64],
        applied: &MultibodyForces<f64>,
    ) -> Result<InverseDynamicsDerivatives> {
        self.plant.check_forces(applied)?;
        let here = self.calculation();
        here.inverse_dynamics_derivatives(&self.velocities, vdot, applied)
    }
    /// Computes the derivatives of [`MultibodyPlant::calc_forward_dynamics_derivatives`] in the
    /// context.
    ///
    /// # Errors
    /// Returns an error if the forces belong to another plant, or if a joint moves neither mass nor
    /// rotational inertia.
    pub fn calc_forward_dynamics_derivatives(
        &self,
        applied: &MultibodyForces<f64>,
    ) -> Result<ForwardDynamicsDerivatives> {
        self.plant.check_forces(applied)?;
        let here = self.calculation();
        here.forward_dynamics_derivatives(&self.velocities, applied)
    }
}
