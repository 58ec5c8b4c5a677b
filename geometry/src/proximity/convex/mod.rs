//! Any two bounded convex cores: cylinders, ellipsoids and polytopes against all cores.
//!
//! The signed distance is the largest value of the separating margin `g(n)` over unit vectors `n`
//! (see the parent module). [`gjk`] finds the region of the maximum for separated cores, [`epa`]
//! for overlapping ones. Both need only support points, and their results are approximate.
//! [`active`] guesses which features (point, edge, face, rim, surface of an ellipsoid) support the
//! cores there, and solves for the stationary point of the margin exactly by Newton's method.
//! [`region`] checks that these features really face each other. For a separated or touching pair,
//! this check completes the proof, since `g` has no other maximum. For overlapping cores, the
//! polytope of EPA bounds the depth in all other directions.

mod active;
mod core;
mod epa;
mod gjk;
mod half_space;
mod local;
mod parallel;
mod penetration;
mod point_cylinder;
mod point_ellipsoid;
mod region;
mod solve;
mod stationary;
mod touching;

pub(super) use self::core::ConvexCore;
pub(super) use active::{ActiveFeatures, RelativePose};
pub(super) use gjk::{NearPoint, near_point};
pub(super) use half_space::{half_space_convex_features, middle_of_support};
pub(super) use local::LocalFeature;
pub(super) use point_cylinder::point_cylinder_features;
pub(super) use point_ellipsoid::point_ellipsoid_features;
pub(super) use solve::convex_features;
