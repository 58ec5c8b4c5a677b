//! YAML: its reader, and poses in model directives and cameras (Drake's `schema::Transform`).

mod transform;
pub mod vector;
pub mod yaml;

pub use transform::{Rotation, Transform};
