//! Systems, diagrams and contexts.
//!
//! Each module imports only those above it in this list: handles and values, `plan` (the compiled
//! form of a diagram), `declare` (what a system declares), `compile` (declarations to a plan),
//! `evaluate` (slots on demand), `context` (values), `not_a_number` (NaN in the state), `dispatch`
//! (events), `diagram` (wiring and conversion of systems).

pub(crate) mod compile;
pub(crate) mod context;
pub(crate) mod data;
pub(crate) mod declare;
pub(crate) mod dependency;
pub(crate) mod diagram;
pub(crate) mod dispatch;
pub(crate) mod elements;
pub(crate) mod evaluate;
pub(crate) mod event;
pub(crate) mod event_table;
pub(crate) mod files;
pub(crate) mod handles;
pub(crate) mod into_value;
pub(crate) mod not_a_number;
pub(crate) mod plan;
pub(crate) mod port_names;
pub(crate) mod storage;
pub(crate) mod value;
