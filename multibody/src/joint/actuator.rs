//! Motors on joints.

use crate::error::{Error, Result};
use crate::index::{JointActuatorIndex, JointIndex, ModelInstanceIndex};
use crate::plant::MultibodyPlant;

/// A motor on a joint (Drake's `JointActuator`). Kept for dynamics and for those who ask.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_joint_actuator("motor", hinge, 50.0)?;
/// let motor: &JointActuator = &plant.actuators()[0];
/// assert_eq!((motor.joint(), motor.effort_limit()), (hinge, 50.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointActuator {
    pub(crate) name: String,
    pub(crate) joint: JointIndex,
    pub(crate) model_instance: ModelInstanceIndex,
    pub(crate) effort_limit: f64,
    pub(crate) rotor_inertia: f64,
    pub(crate) gear_ratio: f64,
    pub(crate) controller_gains: Option<PdControllerGains>,
}

/// Gains of the controller within an actuator: effort = `p (q_d - q) + d (v_d - v)` (Drake's
/// `PdControllerGains`).
///
/// ```
/// let gains = tarragon_multibody::PdControllerGains { p: 100.0, d: 10.0 };
/// assert!(gains.p > gains.d);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdControllerGains {
    /// Of the position error (N m/rad or N/m).
    pub p: f64,
    /// Of the velocity error (N m s/rad or N s/m).
    pub d: f64,
}

impl JointActuator {
    /// Name, unique within the model instance of its joint.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The joint it drives.
    pub fn joint(&self) -> JointIndex {
        self.joint
    }
    /// The model instance it belongs to, that of its joint.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance
    }
    /// Gains of its controller; none for a plain motor.
    pub fn controller_gains(&self) -> Option<&PdControllerGains> {
        self.controller_gains.as_ref()
    }
    /// Largest effort (N m or N), infinite without a limit.
    pub fn effort_limit(&self) -> f64 {
        self.effort_limit
    }
    /// Rotor inertia (kg m^2, or kg for a slide).
    pub fn default_rotor_inertia(&self) -> f64 {
        self.rotor_inertia
    }
    /// Rotor speed over joint speed.
    pub fn default_gear_ratio(&self) -> f64 {
        self.gear_ratio
    }
    /// Inertia of the rotor as the joint feels it, `gear_ratio^2 * rotor_inertia`.
    pub fn calc_reflected_inertia(&self) -> f64 {
        self.gear_ratio * self.gear_ratio * self.rotor_inertia
    }
}

impl MultibodyPlant {
    /// Adds a motor on a joint.
    ///
    /// # Errors
    /// If the joint is unknown or has other than one degree of freedom, the effort limit is not
    /// positive, the name is empty or taken within the joint's instance, or after `finalize`.
    pub fn add_joint_actuator(
        &mut self,
        name: &str,
        joint: JointIndex,
        effort_limit: f64,
    ) -> Result<JointActuatorIndex> {
        self.check_open(|| format!("actuator '{name}'"))?;
        let driven = self.joint(joint)?;
        let instance = driven.model_instance();
        if driven.num_velocities() != 1 {
            return Err(Error::invalid(format!(
                "actuator '{name}': joint '{}' has {} degrees of freedom, one is expected",
                driven.name,
                driven.num_velocities()
            )));
        }
        check_effort_limit(effort_limit)
            .map_err(|why| Error::invalid(format!("actuator '{name}': {why}")))?;
        self.check_new("actuator", instance, name, &self.taken.actuators)?;
        self.taken.actuators.insert((instance, name.into()));
        self.actuators.push(JointActuator {
            name: name.into(),
            joint,
            model_instance: instance,
            effort_limit,
            rotor_inertia: 0.0,
            gear_ratio: 1.0,
            controller_gains: None,
        });
        Ok(JointActuatorIndex::new(self.actuators.len() - 1))
    }

    /// Gives an actuator a controller.
    ///
    /// # Errors
    /// If the actuator is unknown, a gain is negative or not finite, or after `finalize`.
    pub fn set_controller_gains(
        &mut self,
        actuator: JointActuatorIndex,
        gains: PdControllerGains,
    ) -> Result<()> {
        self.check_open(|| "controller gains".into())?;
        self.joint_actuator(actuator)?;
        if [gains.p, gains.d]
            .iter()
            .any(|x| !(*x >= 0.0 && x.is_finite()))
        {
            let why = format!(
                "the controller gains must be finite and at least 0, got p = {} and d = {}",
                gains.p, gains.d
            );
            return Err(self.actuator_error(actuator, &why));
        }
        self.actuators[actuator.index()].controller_gains = Some(gains);
        Ok(())
    }

    /// Sets rotor inertia (kg m^2 or kg) and gear ratio of an actuator, also after `finalize`.
    ///
    /// # Errors
    /// If the actuator is unknown or a value is not finite.
    pub fn set_default_rotor(
        &mut self,
        actuator: JointActuatorIndex,
        rotor_inertia: f64,
        gear_ratio: f64,
    ) -> Result<()> {
        self.joint_actuator(actuator)?;
        if !(rotor_inertia >= 0.0 && rotor_inertia.is_finite() && gear_ratio.is_finite()) {
            let why = format!(
                "the rotor inertia must be finite and at least 0 and the gear ratio finite, got \
                 {rotor_inertia} and {gear_ratio}"
            );
            return Err(self.actuator_error(actuator, &why));
        }
        let found = &mut self.actuators[actuator.index()];
        (found.rotor_inertia, found.gear_ratio) = (rotor_inertia, gear_ratio);
        let joint = found.joint;
        // The tree holds what the joint feels of its motors.
        let (reflected, child) = (
            self.reflected_inertia(joint),
            self.joints[joint.index()].child,
        );
        if let Some(topology) = &mut self.topology {
            topology.set_reflected(joint, child, reflected);
        }
        Ok(())
    }

    /// Names an actuator before a refusal.
    #[cold]
    pub(crate) fn actuator_error(&self, actuator: JointActuatorIndex, why: &str) -> Error {
        let found = &self.actuators[actuator.index()];
        let taken = &self.taken.actuators;
        let name = self.name_to_tell(found.model_instance, &found.name, taken);
        Error::invalid(format!("actuator '{name}': {why}"))
    }
}

pub(crate) fn check_effort_limit(limit: f64) -> Result<(), String> {
    match limit > 0.0 {
        true => Ok(()),
        false => Err(format!("the effort limit must be positive, got {limit}")),
    }
}
