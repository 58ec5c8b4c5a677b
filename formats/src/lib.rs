//! Models of robots in files: readers and writers of URDF, SDFormat, MJCF, OBJ, and lists of model
//! directives.
//!
//! A [`Parser`] adds what a file describes to a
//! [`MultibodyPlantBuilder`](tarragon_multibody::MultibodyPlantBuilder) and its
//! [`SceneGraph`](tarragon_geometry::SceneGraph), and reports what it does not use. A
//! [`ModelWriter`] writes a plant in one of three formats.

mod mjcf;
mod model_config;
mod model_directives;
mod model_file;
mod model_source;
mod model_writer;
mod obj;
mod parser;
mod reading;
mod sdf;
mod urdf;
mod writing;

pub mod schema;

/// Scenes as YAML lists of what to add to a plant and how to connect it (Drake's
/// `ModelDirectives`).
pub mod directives {
    pub use crate::model_directives::{
        AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
        ModelDirective, ModelDirectives, ModelInstanceInfo, flatten_model_directives,
    };
    pub use crate::parser::{process_model_directives, process_model_directives_into};
}

pub use model_config::FromModel;
pub use model_writer::ModelWriter;
pub use parser::Parser;
pub use reading::{MODEL_SUFFIXES, MjcfSemantics, ModelOptions, OnWarning};
pub use tarragon_framework::{Error, ErrorKind, Result};
pub use writing::{OutputFormat, WrittenFile, WrittenModel};
