//! Parts that readers of several formats share.
//!
//! A reader adds what it finds to plant and scene as it goes ([`target`]); after an error, the
//! parser removes everything that was added. `vocabulary` has the names of a format, so that all
//! others are reported.

pub(crate) mod convex_pieces;
pub(crate) mod curve_builder;
pub(crate) mod format;
pub(crate) mod mesh_files;
pub(crate) mod mjcf_semantics;
pub(crate) mod model_options;
pub(crate) mod obj_objects;
pub(crate) mod on_warning;
pub(crate) mod parser_packages;
pub(crate) mod png_image;
pub(crate) mod target;
pub(crate) mod vocabulary;

pub use format::MODEL_SUFFIXES;
pub use mjcf_semantics::MjcfSemantics;
pub use model_options::ModelOptions;
pub use on_warning::OnWarning;
