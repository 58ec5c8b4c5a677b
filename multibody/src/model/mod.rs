//! Elements of a plant as data: bodies, frames and joints, with their actuators, constraints and
//! force elements.
//!
//! This module computes nothing. The plant checks each element against the others when it is added.

mod actuator;
mod affine_control;
mod annotations;
mod body;
pub(crate) mod checks;
mod collision_filter_group;
mod constraint;
mod contact_margin;
mod contact_pair;
mod equality;
mod force_element;
mod frame;
mod impedance;
mod index;
mod joint;
mod joint_kind;
mod joint_settings;
mod mujoco_contact;
mod sensor;
mod tendon;
mod tendon_path;
mod visual_properties;

pub use actuator::{JointActuator, PdControllerGains};
pub(crate) use actuator::{Transmission, check_effort_limit};
pub use affine_control::AffineControl;
pub(crate) use affine_control::clamp_to;
pub use annotations::{Keyframe, KeyframeLoss, KeyframePart, ModelCamera};
pub use body::RigidBody;
pub use collision_filter_group::{CollisionFilterGroup, CollisionFilterGroupSpec};
pub use constraint::{
    BallConstraint, Constraint, CouplerConstraint, DistanceConstraint, PolynomialConstraint,
    SpatialTendonConstraint, TendonConstraint, WeldConstraint,
};
pub use contact_margin::ContactMargin;
pub use contact_pair::ContactPairProperties;
pub use equality::{EqualityKind, ModelEquality};
pub use force_element::{DoorHingeConfig, ForceElement};
pub use frame::FixedOffsetFrame;
pub use index::{
    BodyIndex, DeformableBodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex,
};
pub use joint::Joint;
pub(crate) use joint::JointAttachment;
pub use joint_kind::JointKind;
pub(crate) use joint_kind::Limited;
pub(crate) use mujoco_contact::MujocoCompliance;
pub use mujoco_contact::MujocoContact;
pub use sensor::{ModelSensor, SensorSubject, SubjectKind, subject_kind};
pub use tendon::Tendon;
pub use tendon_path::{TendonPart, TendonWrap, WrapShape, wrong_tendon_part};
pub use visual_properties::VisualProperties;
