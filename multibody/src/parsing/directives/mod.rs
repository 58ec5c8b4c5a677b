//! Model directives: a YAML list of models to add and of the connections between them.
//!
//! The schema is that of Drake's `ModelDirectives`; names are scoped by `::`.

mod flatten;
mod loader;
mod model_directives;

pub use flatten::flatten_model_directives;
pub use loader::ModelInstanceInfo;
pub(super) use loader::{add, parse};
pub use model_directives::{
    AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
    ModelDirective, ModelDirectives,
};
