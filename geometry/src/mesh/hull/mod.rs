//! Convex hulls of points.
//!
//! Quickhull (Barber, Dobkin & Huhdanpaa, "The Quickhull Algorithm for Convex Hulls", 1996) on
//! triangles, with exact predicates where they matter (Shewchuk, "Adaptive Precision Floating-Point
//! Arithmetic and Fast Robust Geometric Predicates", 1997), so that the triangles always bound a
//! convex body. Triangles that are coplanar within rounding are merged into faces afterwards.

mod convex_hull;
mod merge;
mod planar;
mod quickhull;

pub use self::convex_hull::{ConvexHull, convex_hull};
pub(crate) use self::planar::ring as convex_ring;

#[cfg(test)]
mod tests;
