//! Any two bounded convex cores: cylinders, ellipsoids and polytopes against everything.
//!
//! The signed distance is the largest value of the separating margin `g(n)` over unit vectors `n`
//! (see the module above). [`gjk`] finds the region of the maximum for separated cores, [`epa`] for
//! overlapping ones. Both only need support points. What they find is approximate: [`active`]
//! guesses which features (point, edge, face, rim, surface of an ellipsoid) support the cores
//! there, solves for the stationary point of the margin exactly by Newton's method, and [`region`]
//! checks that the features then really face each other. A separated or touching pair with that
//! certificate is done, since `g` has no other maximum; for overlapping cores the polytope of EPA
//! bounds what other directions can give.

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

pub(super) use self::core::Core;
pub(super) use active::{ActiveFeatures, RelativePose};
pub(super) use gjk::{NearPoint, near_point};
pub(super) use half_space::{half_space_convex_features, middle_of_support};
pub(super) use local::LocalFeature;
pub(super) use point_cylinder::point_cylinder_features;
pub(super) use point_ellipsoid::point_ellipsoid_features;
pub(super) use solve::convex_features;
