//! Model directives: a YAML list of models to add and of the connections between them.
//!
//! The schema is that of Drake's `ModelDirectives`; names are scoped by `::`.

mod elements;
mod flatten;
mod loader;

pub use elements::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
    ModelDirective, ModelDirectives,
};
pub use flatten::flatten_model_directives;
pub use loader::ModelInstanceInfo;
pub(crate) use loader::{add, parse};
