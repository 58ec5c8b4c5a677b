//! YAML: poses in model directives and cameras (Drake's `schema::Transform`).

mod transform;
pub mod vector;

pub use transform::{Rotation, Transform};
