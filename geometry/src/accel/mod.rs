//! Acceleration structures.
//!
//! [`bvh`] is a bounding volume hierarchy in single precision over any items. The others preprocess
//! one mesh: [`Polytope`] holds its convex hull with the edges along which a support function
//! climbs, [`IndexedSurface`] its surface for nearest-point queries, [`TriangleBvh`] its surface
//! for ray casts.

pub(crate) mod bvh;
mod polytope;
mod triangle_bvh;
pub(crate) mod triangle_index;

pub(crate) use self::polytope::Polytope;
pub(crate) use self::triangle_bvh::{TriangleBvh, TriangleHit};
pub(crate) use self::triangle_index::IndexedSurface;
