//! Discrete steps and derivatives of continuous time.

pub(super) mod continuous;
pub(super) mod controllers;
pub(super) mod discrete;
pub(super) mod dry_friction;
pub(super) mod dynamics_result;
mod explicit_forces;
pub(super) mod force_ports;
pub(super) mod forward_dynamics;
pub(super) mod sleep;
mod step_failure;
pub(super) mod step_sites;
mod step_work;
pub(super) mod tendon_rates;
pub(super) mod transmissions;
