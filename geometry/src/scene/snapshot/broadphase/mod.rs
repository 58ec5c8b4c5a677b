//! Broad phase: candidate pairs from bounding-volume overlap.
//!
//! Each scene has one static tree of its anchored geometry. Moving geometry is in a tree that is
//! passed on from snapshot to snapshot. Most geometries move little between two snapshots, so the
//! tree holds an enlarged box of each geometry, and needs no update while the geometry stays within
//! that box. For the same reason, the pairs whose enlarged boxes overlap are kept, like the
//! neighbour lists of molecular dynamics (L. Verlet, "Computer experiments on classical fluids",
//! Physical Review 159, 1967); only geometries that left their box are looked up in the tree again.
//! The candidates returned depend only on the current boxes, not on the history. Half spaces have
//! no box; boxes are compared with their planes.

mod candidates;
mod dynamic_tree;
mod moving_boxes;
mod pair_lists;
mod role_tree;

pub(super) use self::candidates::{Candidates, unpack};
pub(super) use self::dynamic_tree::DynamicTree;
pub(super) use self::role_tree::{RoleBounds, RoleTree};
