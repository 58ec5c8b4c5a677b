//! Poses in YAML files (Drake's `schema::Transform`), of model directives and of cameras.

mod transform;
pub mod vector;

pub use transform::{Rotation, Transform};
