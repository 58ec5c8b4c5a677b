//! Discrete steps: a convex problem whose solution is the velocity at the end of the step.
//!
//! `law` and `regularization` turn physical parameters into convex costs, `problem` collects the
//! constraints at each `site` with their Jacobians (`jacobian`), `momentum` computes its quadratic
//! part, `islands` splits the problem, `newton` solves the parts (`island_problem`) with
//! `line_search` and `hessian`, factored by `cholesky` (with `dense_cholesky` and `dense_tiles`)
//! or, if large, by `multifrontal`, and the products of `blocks`, and `step` goes from forces to
//! velocities and impulses (`step_end`). Large steps use several `threads`.
//!
//! All of that is without derivatives, which follow from the implicit function theorem
//! (`derivatives`): `step_constraints` finds those of the constraints (with `jacobian_product`),
//! `contact_motion` those of velocities and forces at contacts, and `inverse_inertia` those of the
//! norm that regularization depends on. `kept_problem` tells whether the problem was solved before,
//! as it is in all but the first pass of many directions. Deformable bodies are trees whose
//! velocities are those of their `vertices`.
//!
//! Source: A. Castro, F. Permenter, X. Han, "An Unconstrained Convex Formulation of Compliant
//! Contact", IEEE Transactions on Robotics, 2022.

mod blocks;
mod cholesky;
mod contact_motion;
mod dense_cholesky;
mod dense_tiles;
mod derivatives;
mod hessian;
mod inverse_inertia;
mod island_problem;
mod islands;
mod jacobian;
mod jacobian_product;
mod kept_problem;
mod law;
mod line_search;
mod momentum;
mod multifrontal;
mod newton;
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

pub(crate) use law::ConstraintEnd;
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
