//! The triangles of a surface, with a search tree and their connectivity.

mod box_tree;
mod first_hit;
mod height_minima;
mod height_surface;
mod indexed_surface;
mod topology;
mod triangle;

pub(crate) use self::box_tree::{Box3, Children};
pub(crate) use self::height_minima::HeightMinima;
pub(crate) use self::indexed_surface::IndexedSurface;
pub(crate) use self::topology::Pseudonormal;
pub(crate) use self::triangle::Triangle;
