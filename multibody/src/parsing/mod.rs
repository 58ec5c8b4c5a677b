//! Parsers of model files.
//!
//! A parser reads a file into a model of its own, checks everything it can, and only then adds it to
//! the plant; if that fails after all, what was added is taken back. It never prints: what it has to say is in [`Parser::diagnostics`].

mod diagnostic;
mod model;
mod package_map;
mod parser;
mod plant_mark;
mod urdf;
mod xml;

pub use diagnostic::{Diagnostic, Severity};
pub use package_map::PackageMap;
pub use parser::Parser;
