//! Poses in YAML files (Drake's `schema::Transform`), of model directives and of cameras.

mod three;
mod transform;

pub use three::{Three, vector};
pub use transform::{Rotation, Transform};
