//! A bounding volume hierarchy of axis-aligned boxes, refitted in place and traversed without
//! allocation.
//!
//! It is a binary tree with one item per leaf, stored in pre-order: the left child of a node is the
//! next node, and its right child is linked. Children have larger indices than their parents, so a
//! complete refit is one pass from the back. A node takes 32 bytes.
//!
//! The tree is built top-down with the binned surface area heuristic: I. Wald, "On fast
//! construction of SAH-based bounding volume hierarchies", IEEE Symposium on Interactive Ray
//! Tracing, 2007. Up to about a thousand items, a space-filling curve divides them.

mod box32;
mod build;
mod morton;
mod ray;
mod tree;

pub(crate) use self::box32::{Box32, up};
pub(crate) use self::ray::RayBox;
pub(crate) use self::tree::Bvh;

#[cfg(test)]
mod tests;
