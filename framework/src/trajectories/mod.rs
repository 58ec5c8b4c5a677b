//! Vector-valued functions of time (Drake's `trajectories`).
//!
//! | type | function |
//! |---|---|
//! | [`Polynomial`] | one polynomial for all time |
//! | [`PiecewisePolynomial`] | polynomials between breaks: holds, lines, splines, interpolants |
//! | [`BsplineTrajectory`] | control points over a [`BsplineBasis`] |
//! | [`PiecewiseQuaternionSlerp`] | orientations, each turning to the next the shortest way |
//! | [`PiecewisePose`] | a position and an orientation |
//! | [`PiecewiseConstantCurvatureTrajectory`] | arcs and lines in a plane, by arclength |
//!
//! All implement [`Trajectory`], as can any type of a user's program; a
//! [`TrajectorySource`](crate::primitives::TrajectorySource) turns any of them into a signal.

mod breaks;
mod bspline_basis;
mod bspline_trajectory;
mod cubic_spline;
mod editing;
mod pchip;
mod piecewise_constant_curvature;
mod piecewise_polynomial;
mod piecewise_pose;
mod piecewise_quaternion;
mod polynomial;
mod trajectory;

pub use bspline_basis::{BsplineBasis, KnotVectorType};
pub use bspline_trajectory::BsplineTrajectory;
pub use cubic_spline::SplineEnds;
pub use piecewise_constant_curvature::PiecewiseConstantCurvatureTrajectory;
pub use piecewise_polynomial::PiecewisePolynomial;
pub use piecewise_pose::PiecewisePose;
pub use piecewise_quaternion::PiecewiseQuaternionSlerp;
pub use polynomial::Polynomial;
pub use trajectory::Trajectory;
