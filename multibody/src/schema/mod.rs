//! Poses in the YAML of model directives and cameras (Drake's `schema::Transform`).

mod transform;
pub mod vector;

pub use transform::{Rotation, Transform};
