//! Triangles of a surface, with a tree to find them and their neighbours.

mod box_tree;
mod indexed_surface;
mod topology;
mod triangle;

pub(crate) use box_tree::{Box3, Children};
pub(crate) use indexed_surface::IndexedSurface;
pub(crate) use topology::Pseudonormal;
pub(crate) use triangle::Triangle;
