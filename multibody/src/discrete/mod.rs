//! Discrete steps: a convex problem whose solution is the velocity at the end of the step.
//!
//! `regularization` turns physical parameters into the laws of constraints, `problem` collects the
//! constraints at each `site` with their Jacobians (`jacobian`), and `momentum` computes the
//! quadratic part. `step` has `tarragon-contact-solvers` solve the islands of the problem, and goes
//! from forces to velocities and impulses (`step_end`). Large steps use several `threads`.
//!
//! All of that is without derivatives, which follow from the implicit function theorem
//! (`derivatives`): `step_constraints` differentiates the constraints, `contact_motion` the
//! velocities and forces at contacts, and `inverse_inertia` the norm that regularization depends
//! on. `kept_problem` tells whether the problem was solved before, as it is in all but the first
//! pass of many directions. A deformable body is a tree with three velocities for each of its
//! `vertices`.

mod contact_motion;
mod derivatives;
mod inverse_inertia;
mod jacobian;
mod kept_problem;
mod momentum;
mod optional_list;
mod problem;
mod regularization;
mod site;
mod step;
mod step_constraints;
mod step_end;
mod step_start;
mod threads;
mod trees;
mod vertices;

pub use regularization::DiscreteContactApproximation;
pub(crate) use regularization::{
    ContactParameters, ControllerParameters, SiteLaw, SoftContact, SoftRow, SpringRow, StepSettings,
};
pub(crate) use site::{BodiesSite, ContactSite, ContactSites, LengthPoint, LengthSite, Site};
pub(crate) use step::{SolvedSites, StepStorage};
pub(crate) use step_end::ConstraintEnds;
pub(crate) use step_start::{StepFailure, StepFailureKind, StepStart};
pub(crate) use threads::{AwakeThreads, CONTACTS_PER_TASK, MANY_CONTACTS, are_many, join_if};
pub(crate) use trees::Trees;
pub(crate) use vertices::{
    ActiveVertices, ContactSide, DeformableDerivatives, DeformableLaw, DeformableProblem,
    DeformableSite, DerivedVertices,
};
