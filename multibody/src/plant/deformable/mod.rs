//! Deformable bodies of a plant: what belongs to them, their state, and their part of a step.
//!
//! They are registered with their geometry (`registration`); some of their vertices may be held at
//! walls or fixed to rigid bodies (`boundary`). In a `step`, the bodies move freely first. Then
//! `sites` finds where they touch others, the convex problem of the plant decides how the vertices
//! there move, and all others follow. A `derived_step` adds derivatives by the state, a `free_step`
//! has them by the material, too. `results` reports the contacts, `ports` are those of the plant.

mod boundary;
#[cfg(test)]
mod constrained_derivative_tests;
#[cfg(test)]
mod derivative_tests;
mod derived_step;
#[cfg(test)]
mod equilibrium_tests;
mod free_step;
mod ports;
mod registration;
mod results;
mod scalar_cast;
mod sites;
mod step;
#[cfg(test)]
mod tests;

pub use self::free_step::{DeformableTangent, FreeDeformableStep, MaterialTangent};
pub(super) use self::ports::{DeformableEntries, DeformablePorts, DeformableStates};
pub use self::results::DeformableContactInfo;
pub(super) use self::results::EndedSites;
pub(super) use self::step::{DeformableEnd, DeformableStart, DeformableWork};
