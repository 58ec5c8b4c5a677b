//! Writers of model files.
//!
//! A writer emits exactly what the reader of the format accepts. What the format cannot say is a
//! diagnostic that names the element.

mod document;
mod extent;
mod filter_groups;
mod format;
mod frames;
mod geometries;
mod instances;
mod layout;
mod leftovers;
mod limits;
mod mesh_conversion;
mod mjcf;
mod model_writer;
mod poses;
mod sdf;
mod subjects;
mod urdf;
mod written_model;
mod xml;

pub use format::OutputFormat;
pub use model_writer::ModelWriter;
pub use written_model::{WrittenFile, WrittenModel};
