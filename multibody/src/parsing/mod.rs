//! Parsers of model files.
//!
//! A parser adds what it reads to plant and scene as it goes; if anything is wrong, all that was
//! added is taken back. It never prints: what it has to say is in [`Parser::diagnostics`].

mod curve_builder;
mod directives;
mod format;
mod mesh_files;
mod mjcf;
mod model_file;
mod obj;
mod parser;
mod sdf;
mod target;
mod urdf;

pub use directives::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
    ModelDirective, ModelDirectives, ModelInstanceInfo, flatten_model_directives,
};
pub use parser::{Parser, process_model_directives, process_model_directives_into};
