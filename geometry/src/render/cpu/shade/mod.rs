//! Shading of visible points: lights, shadows, reflection, environments.

mod environment;
mod lights;
mod pbr;
mod shader;
mod shape_normals;
mod split_sum;

pub(super) use environment::Environment;
pub(super) use lights::Lights;
pub(super) use shader::{PlacedEnvironment, Shader};
