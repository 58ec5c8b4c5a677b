//! Forces on a plant and the accelerations that they cause.

use crate::dynamics::{self, ForceElementState, Inertias, MultibodyForces, SingularInertia};
use crate::error::{Error, Result};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::checks::{check_length, check_numbers};
use crate::model::{BodyIndex, ModelInstanceIndex};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_plant::MultibodyPlant;
use crate::plant::values::model_parameters::ModelParameters;
use crate::spatial::SpatialVector;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// Adds the forces of joint damping, given by velocity.
pub(in crate::plant) fn add_damping<T: Scalar>(
    damping: &[T],
    velocities: &VelocityKinematics<T>,
    forces: &mut MultibodyForces<T>,
) {
    let joints = damping.iter().zip(&velocities.v);
    for (f, (damping, v)) in forces.generalized.iter_mut().zip(joints) {
        *f -= *v * *damping;
    }
}

impl MultibodyPlantBuilder {
    /// Turns gravity on or off for the bodies of a model instance; it is on by default (Drake's
    /// `set_gravity_enabled`).
    ///
    /// # Errors
    /// Returns an error if the instance is unknown.
    pub fn set_gravity_enabled(
        &mut self,
        instance: ModelInstanceIndex,
        enabled: bool,
    ) -> Result<()> {
        self.check_instance(instance)?;
        if enabled {
            self.model.weightless.remove(&instance)
        } else {
            self.model.weightless.insert(instance)
        };
        Ok(())
    }

    /// Sets the fraction of a body's weight that an opposite force at its center of mass carries
    /// (MuJoCo's `gravcomp`): a body with 1 floats, one with more rises. It is 0 by default. Forces
    /// of gravity and the potential energy are those of the rest of the weight.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::{ModelInstanceIndex, MultibodyPlantBuilder, SpatialInertia};
    /// let mut plant = MultibodyPlantBuilder::new(0.0)?;
    /// let inertia = SpatialInertia::plausible(2.0, Vector3::zeros())?;
    /// let balloon = plant.add_rigid_body("balloon", ModelInstanceIndex::DEFAULT, inertia)?;
    /// plant.set_gravity_compensation(balloon, 0.75)?;
    /// let plant = plant.build()?;
    /// let positions = plant.calc_position_kinematics(&plant.default_positions())?;
    /// let weight = plant.calc_gravity_generalized_forces(&positions)?; // moment, then force (N)
    /// assert!((weight[5] - -0.25 * 2.0 * 9.81).abs() < 1e-12);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the body is unknown or the fraction is not finite.
    pub fn set_gravity_compensation(&mut self, body: BodyIndex, fraction: f64) -> Result<()> {
        let name = &self.body(body)?.name;
        check_numbers(
            &format!("gravity compensation of body '{name}'"),
            &[("fraction", fraction)],
        )?;
        self.model.bodies[body.index()].gravity_compensation = fraction;
        Ok(())
    }
}

impl MultibodyPlant {
    /// Returns true if gravity acts on the bodies of a model instance.
    pub fn is_gravity_enabled(&self, instance: ModelInstanceIndex) -> bool {
        !self.weightless.contains(&instance)
    }

    /// Returns the acceleration of gravity (m/s^2) on a body, less what is compensated.
    pub(in crate::plant) fn gravity_on(&self, body: BodyIndex) -> Vector3<f64> {
        let body = &self.bodies[body.index()];
        self.gravity_in(body.model_instance) * (1.0 - body.gravity_compensation)
    }
    /// Returns the acceleration of gravity (m/s^2) on the bodies of a model instance.
    pub(in crate::plant) fn gravity_in(&self, instance: ModelInstanceIndex) -> Vector3<f64> {
        if self.is_gravity_enabled(instance) {
            self.gravity
        } else {
            Vector3::zeros()
        }
    }

    /// Computes the forces of gravity, springs, dampers and bushings, without joint damping, in
    /// place of what `forces` holds.
    pub(in crate::plant) fn spring_and_gravity_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        parameters: &ModelParameters<T>,
        forces: &mut MultibodyForces<T>,
    ) {
        let tree = &self.topology.tree;
        forces.reset(tree.nodes.len() + 1, tree.num_velocities);
        let inertias = &parameters.inertias;
        forces.add_gravity(tree, inertias, positions, |body| self.gravity_on(body));
        let state = self.element_state(positions, velocities, &parameters.elements);
        for element in self.force_elements.iter().enumerate() {
            state.add_force(element, forces);
        }
    }

    pub(in crate::plant) fn element_state<'a, T: Scalar>(
        &'a self,
        positions: &'a PositionKinematics<T>,
        velocities: &'a VelocityKinematics<T>,
        constants: &'a [Vec<T>],
    ) -> ForceElementState<'a, T> {
        ForceElementState {
            topology: &self.topology,
            frames: &self.frames,
            positions,
            velocities,
            constants,
        }
    }

    /// Returns the parameters of the model, with joint damping by velocity.
    pub(in crate::plant) fn model_parameters<T: Scalar>(&self) -> ModelParameters<T> {
        let mut model = ModelParameters::empty();
        for joint in &self.topology.order {
            let damping = &self.joints[joint.index()].damping;
            model.damping.extend(damping.iter().map(|d| T::from(*d)));
        }
        model
    }

    /// Computes the forces of gravity, springs, dampers, bushings and joint damping (Drake's
    /// `CalcForceElementsContribution`).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_force_elements_contribution<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<MultibodyForces<T>> {
        let model = self.model_parameters();
        let here = self.calculation(positions, &model)?;
        Ok(here.at(velocities)?.force_elements(velocities))
    }

    /// Computes the generalized forces (N, N m) equivalent to all forces (Drake's
    /// `CalcGeneralizedForces`).
    ///
    /// # Errors
    /// Returns an error if positions or forces belong to another plant.
    pub fn calc_generalized_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of(positions)?;
        self.check_forces(forces)?;
        let mut tau = dynamics::project(tree, positions, &forces.spatial);
        for (sum, f) in tau.iter_mut().zip(&forces.generalized) {
            *sum += *f;
        }
        Ok(tau)
    }

    /// Computes the accelerations `vdot` that forces cause, by the articulated-body algorithm:
    /// `M(q) vdot + C(q, v) v = tau`. In scalars with derivatives, these follow from one pass of
    /// inverse dynamics, not from the algorithm itself.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions, velocities or forces belong to another plant, or if a joint
    /// moves neither mass nor rotational inertia; the message names the body.
    pub fn calc_forward_dynamics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?;
        self.check_forces(forces)?;
        here.at(velocities)?.forward_dynamics(velocities, forces)
    }

    /// Computes the accelerations that forces on bodies with other inertias cause; the caller has
    /// checked all arguments.
    pub(in crate::plant) fn forward_dynamics<T: Scalar>(
        &self,
        inertias: &Inertias<T>,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        let tree = self.tree_of(positions)?;
        let vdot = dynamics::forward_dynamics(tree, inertias, positions, velocities, forces);
        vdot.map_err(|at| self.singular_inertia(&at))
    }

    /// Computes the generalized forces `tau` (N, N m) that, together with `forces`, produce the
    /// accelerations `vdot`: `M(q) vdot + C(q, v) v = tau + tau_forces` (Drake's
    /// `CalcInverseDynamics` with external forces).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions, velocities or forces belong to another plant, or `vdot` has
    /// the wrong length or a value that is not finite.
    pub fn calc_inverse_dynamics_with_forces<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
        forces: &MultibodyForces<T>,
    ) -> Result<Vec<T>> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        self.check_forces(forces)?;
        here.inverse_dynamics(velocities, vdot, Some(forces))
    }

    /// Returns forces of zero on all bodies and joints.
    pub fn zero_forces<T: Scalar>(&self) -> MultibodyForces<T> {
        MultibodyForces::zero(self.bodies.len(), self.num_velocities())
    }

    /// Computes the power (W) of gravity and of springs: the rate at which the potential energy
    /// falls (Drake's `CalcConservativePower`).
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_conservative_power<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        Ok(here.conservative_power(velocities))
    }

    /// Computes the power (W) of dampers, hinge friction and bushings; that of joint damping is not
    /// in it, as in Drake's `CalcNonConservativePower`.
    ///
    /// Uses the masses, damping and springs of the model;
    /// [`in_context`](crate::MultibodyPlantPorts::in_context) uses the context's.
    ///
    /// # Errors
    /// Returns an error if positions or velocities belong to another plant.
    pub fn calc_non_conservative_power<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
    ) -> Result<T> {
        let model = ModelParameters::empty();
        let here = self.calculation(positions, &model)?.at(velocities)?;
        Ok(here.non_conservative_power(velocities))
    }

    /// Computes the forces that joints exert on their child bodies, by joint: moment about Jc, the
    /// origin of the joint's frame on the child, and force, `F_CJc_Jc`, expressed in that frame.
    pub(super) fn reaction_forces<T: Scalar>(
        &self,
        inertias: &Inertias<T>,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
        spatial: &[SpatialVector<T>],
    ) -> Vec<SpatialVector<T>> {
        let topology = &self.topology;
        let tree = &topology.tree;
        let on_body =
            dynamics::reaction_forces(tree, inertias, positions, velocities, vdot, spatial);
        let reaction = |joint: &crate::model::Joint, index: usize| {
            let child = joint.child;
            let forward = topology.inboard[child.index()].map(|j| j.index()) == Some(index);
            let x_wj = positions.x_wb(child) * crate::tree::mobilizer::lift(&joint.x_bm);
            let origin = |body: BodyIndex| positions.x_wb(body).translation.vector;
            let p_j = x_wj.translation.vector;
            let force = if forward {
                on_body[child.index()].force_at(&(p_j - origin(child)))
            } else {
                let parent = joint.parent;
                -on_body[parent.index()].force_at(&(p_j - origin(parent)))
            };
            SpatialVector {
                rotational: x_wj.rotation.inverse() * force.rotational,
                translational: x_wj.rotation.inverse() * force.translational,
            }
        };
        let joints = self.joints.iter().enumerate();
        joints.map(|(i, joint)| reaction(joint, i)).collect()
    }

    pub(in crate::plant) fn check_forces<T: Scalar>(
        &self,
        forces: &MultibodyForces<T>,
    ) -> Result<()> {
        check_length("body forces", forces.spatial.len(), self.bodies.len())?;
        let n = self.num_velocities();
        check_length("generalized forces", forces.generalized.len(), n)
    }

    #[cold]
    pub(super) fn singular_inertia(&self, at: &SingularInertia) -> Error {
        let name = self.topology.velocity_names.get(at.velocity);
        let otherwise = if self.is_floating_base(at.body) {
            "weld its base to the world (`weld_frames`)"
        } else {
            "the joint's motor rotor inertia"
        };
        Error::invalid(format!(
            "body '{}': its inertia along velocity {} ('{}'), with that of the bodies outboard of \
             it, must be positive, got {:?}; give the body mass and rotational inertia, or {otherwise}",
            self.scoped_body_name(at.body),
            at.velocity,
            name.map_or("", |name| name),
            at.pivot
        ))
    }
}
