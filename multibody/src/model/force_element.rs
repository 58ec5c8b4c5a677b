//! Springs and dampers. The plant stores them for dynamics.

use super::index::{BodyIndex, FrameIndex, JointIndex};
use super::tendon_path::TendonPart;
use nalgebra::Vector3;

/// A source of forces other than gravity (Drake's `ForceElement`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let door = plant.add_rigid_body("door", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// let joint = plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, door, Vector3::z())?)?;
/// let spring = ForceElement::RevoluteSpring { joint, nominal_angle: 0.0, stiffness: 2.0 };
/// plant.add_force_element(spring.clone())?;
/// assert_eq!(plant.force_elements(), [spring]);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ForceElement {
    /// A torque `stiffness * (nominal_angle - q)` on a revolute joint.
    RevoluteSpring {
        /// The joint.
        joint: JointIndex,
        /// Angle at which the torque is zero (rad).
        nominal_angle: f64,
        /// Stiffness (N m/rad).
        stiffness: f64,
    },
    /// A force `stiffness * (nominal_position - q)` on a prismatic joint.
    PrismaticSpring {
        /// The joint.
        joint: JointIndex,
        /// Position at which the force is zero (m).
        nominal_position: f64,
        /// Stiffness (N/m).
        stiffness: f64,
    },
    /// A spring and a damper between point P of body A and point Q of body B.
    LinearSpringDamper {
        /// Body A.
        body_a: BodyIndex,
        /// Position of P in A (m).
        p_ap: Vector3<f64>,
        /// Body B.
        body_b: BodyIndex,
        /// Position of Q in B (m).
        p_bq: Vector3<f64>,
        /// Length at which the spring force is zero (m).
        free_length: f64,
        /// Stiffness (N/m).
        stiffness: f64,
        /// Damping (N s/m).
        damping: f64,
    },
    /// A spring and a damper along a tendon whose length is a sum of joint positions with
    /// coefficients.
    TendonSpring {
        /// Joints with one degree of freedom, and the length per position of each (m/rad, or 1 for
        /// a position in m).
        joints: Vec<(JointIndex, f64)>,
        /// Range of lengths in which the spring force is zero (m).
        free_lengths: [f64; 2],
        /// Stiffness (N/m).
        stiffness: f64,
        /// Damping (N s/m).
        damping: f64,
    },
    /// A spring and a damper along a path over sites, around geoms and by pulleys.
    SpatialTendon {
        /// The parts of the path.
        path: Vec<TendonPart>,
        /// Range of lengths in which the spring force is zero (m).
        free_lengths: [f64; 2],
        /// Stiffness (N/m).
        stiffness: f64,
        /// Damping (N s/m).
        damping: f64,
    },
    /// The spring, the catch and the friction of a door on a revolute joint.
    DoorHinge {
        /// The joint.
        joint: JointIndex,
        /// The parameters.
        config: DoorHingeConfig,
    },
    /// A bushing between two frames: torques from roll, pitch and yaw, forces from the three
    /// displacements.
    LinearBushingRollPitchYaw {
        /// Frame A.
        frame_a: FrameIndex,
        /// Frame C.
        frame_c: FrameIndex,
        /// Torque per angle (N m/rad), for roll, pitch and yaw.
        torque_stiffness: Vector3<f64>,
        /// Torque per angular rate (N m s/rad), for roll, pitch and yaw.
        torque_damping: Vector3<f64>,
        /// Force per displacement (N/m), for x, y and z.
        force_stiffness: Vector3<f64>,
        /// Force per speed (N s/m), for x, y and z.
        force_damping: Vector3<f64>,
    },
}

/// Parameters of a door's hinge (Drake's `DoorHingeConfig`, with its defaults, which apply no
/// torque). With the smooth step `s(t, x) = tanh(x/t)` and the bump `b(t, x) = 2 s (1 -
/// s^2)`, the torque at angle q and rate w is
/// - `-spring_constant (q - spring_zero_angle_rad)`, the spring;
/// - `catch_torque b(catch_width/2, q - catch_width/2)`, the catch;
/// - `-dynamic_friction_torque s(motion_threshold, w) - static_friction_torque b(motion_threshold,
///   w) - viscous_friction w`, the friction, without its first two terms if the threshold is 0.
///
/// ```
/// use tarragon_multibody::DoorHingeConfig;
/// let heavy = DoorHingeConfig { spring_constant: 10.0, ..DoorHingeConfig::default() };
/// assert_eq!(heavy.catch_width, 0.0); // There is no catch.
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoorHingeConfig {
    /// Angle at which the spring's torque is zero (rad).
    pub spring_zero_angle_rad: f64,
    /// Stiffness of the spring (N m/rad).
    pub spring_constant: f64,
    /// Friction while the door moves (N m).
    pub dynamic_friction_torque: f64,
    /// Additional friction where the door begins to move (N m).
    pub static_friction_torque: f64,
    /// Damping (N m s/rad).
    pub viscous_friction: f64,
    /// Range of angles in which the catch acts (rad); 0 means there is no catch.
    pub catch_width: f64,
    /// Strength of the catch (N m).
    pub catch_torque: f64,
    /// Rate at which friction begins to count as dynamic (rad/s); 0 means there is none.
    pub motion_threshold: f64,
}

impl Default for DoorHingeConfig {
    fn default() -> Self {
        Self {
            spring_zero_angle_rad: -1.5,
            spring_constant: 0.0,
            dynamic_friction_torque: 0.0,
            static_friction_torque: 0.0,
            viscous_friction: 0.0,
            catch_width: 0.0,
            catch_torque: 0.0,
            motion_threshold: 0.001,
        }
    }
}

impl ForceElement {
    /// Returns Drake's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::RevoluteSpring { .. } => "RevoluteSpring",
            Self::PrismaticSpring { .. } => "PrismaticSpring",
            Self::DoorHinge { .. } => "DoorHinge",
            Self::LinearSpringDamper { .. } => "LinearSpringDamper",
            Self::TendonSpring { .. } => "TendonSpring",
            Self::SpatialTendon { .. } => "SpatialTendon",
            Self::LinearBushingRollPitchYaw { .. } => "LinearBushingRollPitchYaw",
        }
    }
    /// Returns the constants that a context may change: stiffness, then damping; for a bushing
    /// those of torque before those of force. Hinges have none.
    pub(crate) fn constants(&self) -> Vec<f64> {
        match self {
            Self::RevoluteSpring { stiffness, .. } | Self::PrismaticSpring { stiffness, .. } => {
                vec![*stiffness]
            }
            Self::LinearSpringDamper {
                stiffness, damping, ..
            }
            | Self::TendonSpring {
                stiffness, damping, ..
            }
            | Self::SpatialTendon {
                stiffness, damping, ..
            } => vec![*stiffness, *damping],
            Self::DoorHinge { .. } => vec![],
            Self::LinearBushingRollPitchYaw { .. } => self.numbers().0,
        }
    }
    /// Returns the parameters that must not be negative, then those that need only be finite, but
    /// for those of the parts of a path.
    pub(crate) fn numbers(&self) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::RevoluteSpring {
                nominal_angle: nominal,
                stiffness,
                ..
            }
            | Self::PrismaticSpring {
                nominal_position: nominal,
                stiffness,
                ..
            } => (vec![*stiffness], vec![*nominal]),
            Self::LinearSpringDamper {
                p_ap,
                p_bq,
                free_length,
                stiffness,
                damping,
                ..
            } => (
                vec![*free_length, *stiffness, *damping],
                p_ap.iter().chain(p_bq).copied().collect(),
            ),
            Self::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => {
                let coefficients = joints.iter().map(|(_, coefficient)| *coefficient);
                let any = free_lengths.iter().copied().chain(coefficients);
                (vec![*stiffness, *damping], any.collect())
            }
            Self::SpatialTendon {
                free_lengths,
                stiffness,
                damping,
                ..
            } => (vec![*stiffness, *damping], free_lengths.to_vec()),
            Self::DoorHinge { config, .. } => (
                vec![
                    config.spring_constant,
                    config.dynamic_friction_torque,
                    config.static_friction_torque,
                    config.viscous_friction,
                    config.catch_width,
                    config.motion_threshold,
                ],
                vec![config.spring_zero_angle_rad, config.catch_torque],
            ),
            Self::LinearBushingRollPitchYaw {
                torque_stiffness,
                torque_damping,
                force_stiffness,
                force_damping,
                ..
            } => {
                let all = [
                    torque_stiffness,
                    torque_damping,
                    force_stiffness,
                    force_damping,
                ];
                (all.iter().flat_map(|v| v.iter()).copied().collect(), vec![])
            }
        }
    }
}
