//! Bounds of geometry: boxes, and the planes of half spaces.

mod boundary_plane;
mod local_bound;
mod static_tree;

pub(super) use self::boundary_plane::BoundaryPlane;
pub(super) use self::local_bound::LocalBound;
pub(super) use self::static_tree::StaticTree;
