//! Poses and rotations whose derivatives survive at angle zero.
//!
//! # Glossary
//! Poses are `nalgebra::Isometry3<T>`. The code uses Drake's monogram notation in snake case:
//!
//! | code | text | meaning |
//! |---|---|---|
//! | `x_wb` | `X_WB` | pose of frame B in frame W |
//! | `r_ab` | `R_AB` | rotation from B to A: `v_A = R_AB v_B` |
//! | `p_wobo_w` | `p_WoBo_W` | position from W's origin to B's origin, expressed in W |
//! | `v_wb` | `V_WB` | spatial velocity of B in W: angular over translational |
//! | `xc`, `xd`, `xa` | | continuous, discrete, abstract state; never a pose |
//!
//! # Why not nalgebra's constructors
//! `UnitQuaternion::from_scaled_axis`, `Rotation3::from_axis_angle` and their relatives test for a
//! zero angle and return the identity **without** derivatives there. They are banned in this
//! workspace (`clippy.toml`); the constructors of this module keep the derivative.

mod direction;
mod rotation;
#[cfg(test)]
mod tests;

pub use direction::direction;
pub use rotation::{
    axis_angle, normalize_or, pose, pose_xyz_rpy, quaternion_wxyz, rotation_between, rotation_exp,
    rotation_from_matrix, rotation_log, rotation_x, rotation_y, rotation_z, rpy, rpy_of, safe_norm,
};
