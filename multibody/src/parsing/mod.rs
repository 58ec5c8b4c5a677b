//! Parsers of model files.
//!
//! A parser adds what it reads to plant and scene as it goes; after an error, it removes everything
//! that it has added. Its warnings and errors are in [`Parser::diagnostics`]; only [`OnWarning`]
//! decides whether warnings are printed too.

mod convex_pieces;
mod curve_builder;
mod directives;
mod format;
mod mesh_files;
mod mjcf;
mod mjcf_semantics;
mod model_config;
mod model_file;
mod model_options;
mod model_source;
mod obj;
mod obj_objects;
mod on_warning;
mod parser;
mod parser_packages;
mod png_image;
mod sdf;
mod target;
mod urdf;
mod vocabulary;

pub use directives::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
    ModelDirective, ModelDirectives, ModelInstanceInfo, flatten_model_directives,
};
pub use format::MODEL_SUFFIXES;
pub use mjcf_semantics::MjcfSemantics;
pub use model_options::ModelOptions;
pub(crate) use obj_objects::first_object;
pub use on_warning::OnWarning;
pub use parser::{Parser, process_model_directives, process_model_directives_into};
