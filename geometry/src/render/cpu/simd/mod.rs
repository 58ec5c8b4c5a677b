//! SIMD arithmetic on eight pixels at a time.

mod power;
mod vector3x8;

pub(super) use power::power;
pub(super) use vector3x8::{BLOCK, Vector3x8, dot, splat_all, splat3, unit};
