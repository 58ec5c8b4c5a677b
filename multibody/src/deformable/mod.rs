//! Deformable bodies: linear finite elements on tetrahedra, and their motion in one step.
//!
//! `config` and `material` are the constitutive models, with rotations of `polar` and the
//! positive semidefinite derivatives of `projection`. A `model` is a mesh with its `element`s, its
//! sparsity `pattern` and the `ordering` of its elimination. Elements are computed four at a time
//! (`lanes`) by the `passes` of an `assembly`. `fronts` and `factor` are the symbolic and the
//! numeric part of a sparse Cholesky factorization on `tile`s, with the dense parts `eliminate` and
//! `solve`. `step` computes `free_motion` from its `start`, by `newton` with `acceleration` in the
//! nonlinear models, and answers what impulses do. Bodies on which no impulse acts do with the
//! factor of their `rest_matrix`. External `forces` are evaluated at the points of `quadrature`. A
//! `free_step` has derivatives, by those of the `residual` and of the nonlinear models' damping
//! (`damping_change`); `step_derivatives` adds those of the response to impulses, by the change of
//! the `step_matrix`.

mod acceleration;
mod assembly;
mod config;
mod conjugate_gradients;
mod damping_change;
mod eigen;
mod element;
mod eliminate;
mod factor;
mod forces;
mod free_motion;
mod free_step;
mod fronts;
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
mod solution;
mod solve;
mod start;
mod step;
mod step_derivatives;
mod step_matrix;
mod tile;
mod tile_vector;

#[cfg(test)]
mod tests;

pub use config::{DeformableBodyConfig, MaterialModel};
pub use forces::{ForceDensityField, ForceDensityVolume};
pub(crate) use free_step::{FreeStep, FreeStepStart};
pub(crate) use model::FemModel;
pub(crate) use residual::parameters_of;
pub(crate) use start::{FemStepFailure, FemStepStart};
pub(crate) use step::FemStep;
pub(crate) use step_derivatives::FemDerivatives;
