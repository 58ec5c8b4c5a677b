//! Methods that read or change a context.

pub(super) mod constraint_status;
pub(super) mod coordinates;
pub(super) mod deformable;
pub(super) mod force_parameters;
pub(super) mod in_context;
pub(super) mod parameters;
pub(super) mod quantities;
