//! Parsers of model files.
//!
//! A parser adds what it reads to plant and scene as it goes; if anything is wrong, all that was
//! added is taken back. It never prints: what it has to say is in [`Parser::diagnostics`].

mod curves;
mod diagnostic;
mod directives;
mod input;
mod mesh_files;
mod mjcf;
mod number;
mod obj;
mod package_map;
mod parser;
mod plant_mark;
mod prepared;
mod sdf;
mod target;
mod urdf;
mod xml;

pub use diagnostic::{Diagnostic, Severity};
pub use directives::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
    ModelDirective, ModelDirectives, ModelInstanceInfo, flatten_model_directives,
};
pub use package_map::{ArchiveType, PackageMap, RemoteParams, RemoteSettings, ResolvedUrl};
pub use parser::{Parser, process_model_directives, process_model_directives_into};
pub(crate) use target::FilterGroup;
