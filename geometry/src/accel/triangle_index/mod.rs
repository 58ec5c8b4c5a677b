//! Triangles of a surface, with a tree to find them and their neighbours.

mod box_tree;
mod indexed_surface;
mod topology;
mod triangle;

pub(crate) use self::box_tree::{Box3, Children};
pub(crate) use self::indexed_surface::IndexedSurface;
pub(crate) use self::topology::Pseudonormal;
pub(crate) use self::triangle::Triangle;
