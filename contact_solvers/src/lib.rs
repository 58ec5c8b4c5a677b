//! Solvers for discrete steps with contact: convex problems, and sparse Cholesky factorizations.
//!
//! A step of size dt takes the velocities v of some bodies to the minimum of a convex cost,
//!
//! ```text
//! v = argmin 1/2 (v - v*)^T A (v - v*) + sum_c l_c(J_c v).
//! ```
//!
//! A is their inertia, and `v*` the velocities that forces alone lead to. Each constraint c has a
//! velocity `J_c v` and a [`Law`] with the cost `l_c`, whose negative gradient is its impulse. The
//! velocities are divided among trees ([`TreeVelocities`]), whose inertias are independent
//! ([`QuadraticCost`]).
//!
//! [`ProblemIslands`] splits a [`ConvexProblem`] into parts that no constraint connects. An
//! [`IslandSolver`] solves one of them ([`IslandProblem`]) by Newton's method with a line search,
//! and solves for derivatives at the solution. This crate knows neither robots nor geometry:
//! `tarragon-multibody` fills the problem, and distributes islands among threads.
//!
//! [`sparse`] factors the matrices of deformable bodies and of large islands.
//!
//! # Example
//! A mass of 2 kg touches the ground and falls at 0.3 m/s; z is up. The ground is a spring of
//! 5000 N/m, whose impulse over the step is `gamma = -k (dt v) dt`.
//!
//! ```
//! use tarragon_contact_solvers::{
//!     BlockColumns, ConvexConstraint, ConvexConstraints, ConvexProblem, IslandProblem,
//!     IslandSolver, JacobianBlock, Law, ProblemIslands, QuadraticCost, RowLaw, TreeVelocities,
//! };
//!
//! let (m, g, k, dt, v0) = (2.0, 9.81, 5000.0, 0.01, -0.3);
//! let mut trees = TreeVelocities::default();
//! trees.push(1);
//! let quadratic = QuadraticCost {
//!     a: vec![m],
//!     starts: vec![0, 1],
//!     inverse_diagonal: vec![1.0 / m],
//!     v_star: vec![v0 - dt * g],
//!     guess: vec![v0],
//! };
//! let normal = JacobianBlock {
//!     tree: 0,
//!     start: 0,
//!     columns: BlockColumns::All,
//! };
//! let ground = ConvexConstraint {
//!     law: Law::single(RowLaw::one_sided(1.0 / (k * dt * dt), 0.0)),
//!     blocks: [normal].into_iter().collect(),
//!     inverse_inertia: 1.0 / m,
//! };
//! let constraints = ConvexConstraints {
//!     list: vec![ground],
//!     jacobian: vec![1.0],
//!     vertices: vec![],
//! };
//! let problem = ConvexProblem {
//!     trees: &trees,
//!     quadratic: &quadratic,
//!     constraints: &constraints,
//!     with_derivatives: false,
//! };
//!
//! let mut islands = ProblemIslands::default();
//! islands.update(&trees, &constraints);
//! let mut v = quadratic.v_star.clone();
//! let mut solver = IslandSolver::default();
//! for (i, island) in islands.list().iter().enumerate() {
//!     solver.solve(&IslandProblem::new(problem, &islands, i))?;
//!     solver.scatter(&trees, island, &mut v);
//! }
//!
//! // m (v - v*) = -k dt^2 v
//! let expected = m * (v0 - dt * g) / (m + k * dt * dt);
//! assert!((v[0] - expected).abs() < 1e-12);
//! assert!((solver.end_of(0).impulse[0] + k * dt * dt * expected).abs() < 1e-12);
//! # Ok::<(), tarragon_contact_solvers::NewtonFailure>(())
//! ```
//!
//! # Modules
//! `law` holds the costs, `problem` the data of a problem with `trees` and the blocks of
//! `jacobian`, some of which have the columns of `vertex_columns`. `islands` splits a problem,
//! `newton` solves the parts (`island_problem`) with `line_search` and `hessian`, factored by
//! `cholesky` (with `dense_cholesky` and `dense_tiles`) or, if large, by `multifrontal`, and the
//! products of `blocks`. `jacobian_product` multiplies with derivatives.
//!
//! Source: A. Castro, F. Permenter, X. Han, "An Unconstrained Convex Formulation of Compliant
//! Contact", IEEE Transactions on Robotics, 2022.

mod blocks;
mod cholesky;
mod dense_cholesky;
mod dense_tiles;
mod hessian;
mod island_problem;
mod islands;
mod jacobian;
mod jacobian_product;
mod law;
mod line_search;
mod multifrontal;
mod newton;
mod problem;
pub mod sparse;
mod trees;
mod vertex_columns;

pub use dense_cholesky::{factor_dense, solve_dense};
pub use island_problem::IslandProblem;
pub use islands::{ProblemIsland, ProblemIslands};
pub use jacobian::{BlockColumns, JacobianBlock, JacobianBlocks};
pub use jacobian_product::JacobianProduct;
pub use law::{ConstraintEnd, ContactLaw, HuntCrossley, Law, RowLaw, Stiffness};
pub use newton::{IslandSolver, NewtonFailure};
pub use problem::{ConvexConstraint, ConvexConstraints, ConvexProblem, QuadraticCost};
pub use trees::TreeVelocities;
pub use vertex_columns::VertexColumns;
