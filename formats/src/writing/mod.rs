//! Parts that writers of several formats share.
//!
//! A writer emits exactly what the reader of the format accepts. What the format cannot say is a
//! diagnostic that names the element.

pub(crate) mod document;
pub(crate) mod extent;
pub(crate) mod filter_groups;
pub(crate) mod format;
pub(crate) mod frames;
pub(crate) mod geometries;
pub(crate) mod instances;
pub(crate) mod layout;
pub(crate) mod leftovers;
pub(crate) mod limits;
pub(crate) mod mesh_conversion;
pub(crate) mod poses;
pub(crate) mod subjects;
pub(crate) mod written_model;
pub(crate) mod xml;

pub use format::OutputFormat;
pub use written_model::{WrittenFile, WrittenModel};
