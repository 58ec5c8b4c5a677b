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
mod local;
mod parallel;
mod point_cylinder;
mod point_ellipsoid;
mod region;
mod solve;

pub(super) use self::active::{Active, Placed};
pub(super) use self::core::Core;
pub(super) use self::gjk::{NearPoint, near_point};
pub(super) use self::local::Local;
pub(super) use self::point_cylinder::point_cylinder_features;
pub(super) use self::point_ellipsoid::point_ellipsoid_features;
pub(super) use self::solve::{convex_features, half_space_convex_features, middle_of_support};
