//! Sparse Cholesky factorization of symmetric matrices of 3x3 blocks (multifrontal method).
//!
//! A [`BlockPattern`] says which blocks of a matrix are stored. An [`EliminationTree`] is the order
//! in which vertices are eliminated: [`EliminationTree::minimum_degree`] finds one from the pattern
//! alone, and the model of a mesh has one from its points. A [`SparseCholesky`] factors matrices
//! and solves systems.
//!
//! `fronts` is the symbolic part, `factor` the numeric one, on `tile`s with the dense parts
//! `eliminate` and `solve`. A `solution` may use several threads. `minimum_degree` orders the
//! vertices, and `amalgamation` merges them into the nodes of a `tree`.

mod amalgamation;
mod eliminate;
mod factor;
mod fronts;
mod minimum_degree;
mod pattern;
mod solution;
mod solve;
mod tile;
mod tile_vector;
mod tree;

#[cfg(test)]
mod tests;

pub use factor::SparseCholesky;
pub use pattern::BlockPattern;
pub use tree::EliminationTree;
