//! Systems, diagrams and contexts.
//!
//! Reading order: [`leaf`] and [`declare`] (declarations of a system), [`diagram`] (wiring and
//! conversion of systems), `plan` (the compiled form of a diagram), [`context`] (values),
//! [`leaf_context`] (evaluation), `cache`.

pub mod cache;
pub mod context;
mod convert;
pub mod declare;
pub mod dependency;
pub mod diagram;
pub(crate) mod dispatch;
pub mod elements;
pub mod event;
pub(crate) mod event_table;
pub mod exports;
mod feeds;
pub mod handles;
mod introspection;
pub mod leaf;
pub mod leaf_context;
mod lookup;
mod loops;
mod plan;
mod random_context;
mod slots;
pub mod value;
mod velocities;
