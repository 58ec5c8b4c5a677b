//! Systems, diagrams and contexts.
//!
//! Reading order: [`leaf`] and [`declare`] (what a system declares), [`diagram`] (how systems are wired and
//! converted), `plan` (what a diagram is compiled to), [`context`] (values), [`leaf_context`] (evaluation), `cache`.

pub mod cache;
pub mod context;
pub mod declare;
pub mod dependency;
pub mod diagram;
pub mod event;
pub mod handles;
mod introspection;
pub mod leaf;
pub mod leaf_context;
mod plan;
mod slots;
pub mod value;
