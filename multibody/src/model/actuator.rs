//! Actuators on joints and tendons.

use super::affine_control::AffineControl;
use super::index::{JointIndex, ModelInstanceIndex};
use super::tendon_path::TendonPart;

/// A motor on a joint (Drake's `JointActuator`), on several joints, or on a spatial tendon, whose
/// length takes the place of a position and whose tension that of an effort. The plant stores it;
/// it is data for dynamics and for callers.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let hinge = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// plant.add_joint_actuator("motor", hinge, 50.0)?;
/// let motor: &JointActuator = &plant.actuators()[0];
/// assert_eq!((motor.joint(), motor.effort_limit()), (Some(hinge), 50.0));
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointActuator {
    pub(crate) name: String,
    pub(crate) transmission: Transmission,
    pub(crate) model_instance: ModelInstanceIndex,
    pub(crate) effort_limit: f64,
    pub(crate) rotor_inertia: f64,
    pub(crate) gear_ratio: f64,
    pub(crate) controller_gains: Option<PdControllerGains>,
    pub(crate) affine_control: Option<AffineControl>,
}

/// Parts of a plant that an actuator drives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transmission {
    /// A joint, and further joints with their effort per effort at it.
    Joints(JointIndex, Vec<(JointIndex, f64)>),
    /// The path of a spatial tendon.
    Path(Vec<TendonPart>),
}

/// Gains of an actuator's built-in controller: effort = `p (q_d - q) + d (v_d - v)` (Drake's
/// `PdControllerGains`).
///
/// ```
/// let gains = tarragon_multibody::PdControllerGains { p: 100.0, d: 10.0 };
/// assert!(gains.p > gains.d);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PdControllerGains {
    /// Gain of the position error (N m/rad or N/m).
    pub p: f64,
    /// Gain of the velocity error (N m s/rad or N s/m).
    pub d: f64,
}

impl JointActuator {
    /// Returns the name, unique within the model instance.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Returns the driven joint, or the first one if there are several; `None` for a spatial
    /// tendon.
    pub fn joint(&self) -> Option<JointIndex> {
        match &self.transmission {
            Transmission::Joints(joint, _) => Some(*joint),
            Transmission::Path(_) => None,
        }
    }
    /// Returns the other driven joints, with their effort per effort at the first joint.
    pub fn coupled_joints(&self) -> &[(JointIndex, f64)] {
        match &self.transmission {
            Transmission::Joints(_, others) => others,
            Transmission::Path(_) => &[],
        }
    }
    /// Returns all driven joints, with their effort per effort at the first joint.
    pub fn joints(&self) -> impl Iterator<Item = (JointIndex, f64)> {
        let first = self.joint().map(|joint| (joint, 1.0));
        first
            .into_iter()
            .chain(self.coupled_joints().iter().copied())
    }
    /// Returns the path of the spatial tendon that the actuator pulls; `None` if it drives joints.
    pub fn path(&self) -> Option<&[TendonPart]> {
        match &self.transmission {
            Transmission::Joints(..) => None,
            Transmission::Path(path) => Some(path),
        }
    }
    /// Returns the model instance, which is that of the joint if there is one.
    pub fn model_instance(&self) -> ModelInstanceIndex {
        self.model_instance
    }
    /// Returns the gains of the built-in controller; `None` for a plain motor.
    pub fn controller_gains(&self) -> Option<&PdControllerGains> {
        self.controller_gains.as_ref()
    }
    /// Returns the control that the input is, if it is not an effort.
    pub fn affine_control(&self) -> Option<&AffineControl> {
        self.affine_control.as_ref()
    }
    /// Returns least and largest effort (N m or N).
    pub fn effort_range(&self) -> [f64; 2] {
        let limit = self.effort_limit;
        match &self.affine_control {
            None => [-limit, limit],
            Some(control) => control.effort_range.map(|x| x.clamp(-limit, limit)),
        }
    }
    /// Returns the largest effort (N m or N), infinite without a limit.
    pub fn effort_limit(&self) -> f64 {
        self.effort_limit
    }
    /// Returns the rotor inertia (kg m^2, or kg on a prismatic joint).
    pub fn default_rotor_inertia(&self) -> f64 {
        self.rotor_inertia
    }
    /// Returns the ratio of rotor speed to joint speed.
    pub fn default_gear_ratio(&self) -> f64 {
        self.gear_ratio
    }
    /// Returns the rotor inertia reflected to the joint, `gear_ratio^2 * rotor_inertia`.
    pub fn calc_reflected_inertia(&self) -> f64 {
        self.gear_ratio * self.gear_ratio * self.rotor_inertia
    }
}

pub(crate) fn check_effort_limit(limit: f64) -> Result<(), String> {
    if limit > 0.0 {
        Ok(())
    } else {
        Err(format!("the effort limit must be positive, got {limit:?}"))
    }
}
