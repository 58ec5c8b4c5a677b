//! Shading of visible points: lights, shadows, reflection, environments.

mod environment;
mod lights;
mod mesh_samples;
mod pbr;
mod shader;
mod shape_normals;

pub(super) use shader::{PlacedEnvironment, Shader};
