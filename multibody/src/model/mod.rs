//! The elements of a plant as data: bodies, frames, joints and what acts on them.
//!
//! Nothing here computes. The plant checks elements against each other when they are added.

mod actuator;
mod annotations;
mod body;
pub(crate) mod checks;
mod collision_filter_group;
mod constraint;
mod equality;
mod force_element;
mod frame;
mod index;
mod joint;
mod joint_kind;
mod joint_settings;
mod visual_properties;

pub(crate) use actuator::check_effort_limit;
pub use actuator::{JointActuator, PdControllerGains};
pub use annotations::{Keyframe, ModelCamera};
pub use body::RigidBody;
pub(crate) use collision_filter_group::{CollisionFilterGroup, CollisionFilterGroupSpec};
pub use constraint::{
    BallConstraint, Constraint, CouplerConstraint, DistanceConstraint, TendonConstraint,
    WeldConstraint,
};
pub use equality::{EqualityKind, ModelEquality};
pub use force_element::ForceElement;
pub use frame::FixedOffsetFrame;
pub use index::{BodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
pub use joint::Joint;
pub(crate) use joint::JointAttachment;
pub use joint_kind::JointKind;
pub use visual_properties::VisualProperties;
