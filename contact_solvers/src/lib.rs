//! Numerical solvers for discrete steps with contact.
//!
//! [`sparse`] factors the large matrices of deformable bodies.

pub mod sparse;
