//! Deformable bodies: linear finite elements on tetrahedra, and their motion in one step.
//!
//! A [`FemModel`] is a body of a material ([`DeformableBodyConfig`]). [`FemStep`] moves it over a
//! time step, as far as nothing touches it, and answers what impulses on some of its vertices would
//! do: that is all that a solver of contact needs to know of it. [`FemDerivatives`] are the
//! derivatives of both. A [`FreeStep`] is a whole step without contact, solved to rounding, with
//! its derivatives by the start and by the material.
//!
//! `config` and `material` are the constitutive models, with rotations of `polar` and the positive
//! semidefinite derivatives of `projection`. A `model` is a mesh with its `element`s, its sparsity
//! `pattern` and the `ordering` of its elimination. Elements are computed four at a time (`lanes`)
//! by the `passes` of an `assembly`. Matrices are factored by the [`SparseCholesky`] of
//! `tarragon-contact-solvers`. `step` computes `free_motion` from its `start`, by `newton` with
//! `acceleration` in the nonlinear models. Bodies on which no impulse acts do with the factor of
//! their `rest_matrix`, or with `conjugate_gradients`. External `forces` are evaluated at the
//! points of `quadrature`. The derivatives of a `free_step` come from the `residual` and from the
//! nonlinear models' damping (`damping_change`). `step_derivatives` adds the derivatives of the
//! response to impulses, by the change of the `step_matrix`.
//!
//! [`SparseCholesky`]: tarragon_contact_solvers::sparse::SparseCholesky

mod acceleration;
mod assembly;
mod config;
mod conjugate_gradients;
mod damping_change;
mod eigen;
mod element;
mod forces;
mod free_motion;
mod free_step;
mod lanes;
mod material;
mod model;
mod newton;
mod ordering;
mod passes;
mod pattern;
mod polar;
mod projection;
mod quadrature;
mod residual;
mod rest_matrix;
mod start;
mod step;
mod step_derivatives;
mod step_matrix;

#[cfg(test)]
mod tests;

pub use config::{DeformableBodyConfig, MaterialModel};
pub use forces::{ForceDensityField, ForceDensityVolume};
pub use free_step::{FreeStep, FreeStepGradient, FreeStepStart};
pub use model::FemModel;
pub use residual::{NUM_PARAMETERS, parameters_of};
pub use start::{FemStepFailure, FemStepStart};
pub use step::FemStep;
pub use step_derivatives::FemDerivatives;
