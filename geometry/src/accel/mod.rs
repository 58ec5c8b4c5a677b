//! Acceleration structures: what a mesh is turned into before it is searched.
//!
//! [`bvh`] is a tree of boxes in single precision, over anything. The others hold one mesh:
//! [`Polytope`] its convex hull with the edges along which a support function climbs,
//! [`IndexedSurface`] its surface for nearest points, [`TriangleBvh`] its surface for rays.

pub(crate) mod bvh;
mod polytope;
mod triangle_bvh;
pub(crate) mod triangle_index;

pub(crate) use self::polytope::Polytope;
pub(crate) use self::triangle_bvh::TriangleBvh;
pub(crate) use self::triangle_index::IndexedSurface;
