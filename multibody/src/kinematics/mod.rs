//! Poses, velocities and accelerations of all bodies, and the Jacobians and maps that relate them
//! to generalized positions and velocities.

mod across_joint;
mod jacobian;
mod pose;
mod position;
mod position_rates;
mod velocity;

pub(crate) use across_joint::turned;
pub use jacobian::JacobianWrt;
pub(crate) use jacobian::jacobian_spatial_velocity;
pub use position::PositionKinematics;
pub(crate) use position::{BodyPoses, calc_body_poses};
pub(crate) use position_rates::{
    SingularPitch, advance_positions, qdot_to_velocity, velocity_to_qdot,
};
pub use velocity::VelocityKinematics;
pub(crate) use velocity::{
    acceleration_across, spatial_accelerations, spatial_accelerations_of, spatial_velocities_of,
};
