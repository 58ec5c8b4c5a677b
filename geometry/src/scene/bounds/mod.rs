//! How far geometry reaches: boxes, and the planes of half spaces.

mod boundary_plane;
mod local_bound;
mod static_tree;

pub(super) use boundary_plane::BoundaryPlane;
pub(super) use local_bound::LocalBound;
pub(super) use static_tree::StaticTree;
