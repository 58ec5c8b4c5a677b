//! Pairs that may be near each other, from boxes around geometries.
//!
//! Anchored geometry is in one static tree per scene, moving geometry in a tree that goes from
//! snapshot to snapshot. Most things move little from one moment to the next, so the tree does not
//! hold the box of a geometry but a larger one, and nothing is to be done while a geometry stays
//! within it. For the same reason the pairs whose larger boxes meet are kept, like the neighbour
//! lists of molecular dynamics (L. Verlet, "Computer experiments on classical fluids", Physical
//! Review 159, 1967); only geometries that left their box are looked up in the tree again. What is
//! handed out depends on the boxes of the moment alone, not on the history. Half spaces have no
//! box; boxes are compared with their planes.

mod candidates;
mod dynamic_tree;
mod moving_boxes;
mod pair_lists;
mod role_tree;

pub(super) use self::candidates::{Candidates, unpack};
pub(super) use self::dynamic_tree::DynamicTree;
pub(super) use self::role_tree::{RoleBounds, RoleTree};
