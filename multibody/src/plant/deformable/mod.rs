//! Deformable bodies of a plant: what belongs to them, their state, and their part of a step.
//!
//! They are registered with their geometry (`registration`); some of their vertices may be held at
//! walls or fixed to rigid bodies (`boundary`). In a `step`, the bodies move freely first. Then
//! `sites` finds where they touch others, the convex problem of the plant decides how the vertices
//! there move, and all others follow. `results` reports the contacts, `ports` are those of the
//! plant.

mod boundary;
mod ports;
mod registration;
mod results;
mod sites;
mod step;
#[cfg(test)]
mod tests;

pub use self::ports::DeformablePorts;
pub(super) use self::ports::{DeformableEntries, DeformableStates};
pub use self::results::DeformableContactInfo;
pub(super) use self::step::{DeformableEnd, DeformableWork};
