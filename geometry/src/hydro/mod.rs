//! Hydroelastic contact: shapes as meshes with a field of pressure.
//!
//! A compliant shape is a volume whose pressure rises from 0 at the surface to its modulus where it
//! is deepest; a rigid one is a surface. Meshes have the vertices and elements of Drake 1.51, so
//! that moduli and resolution hints that were tuned there mean the same here.
//!
//! Sources: R. Elandt et al., "A pressure field model for fast, robust approximation of net contact
//! force and moment between nominally rigid objects", 2019; J. Masterjohn et al., "Velocity level
//! approximation of pressure field contact patches", 2022; Drake's documentation.

mod adaptive_hint;
mod adjacency;
mod clip;
mod contact_surface;
mod elements;
mod field_tetrahedron;
mod follow;
mod form;
mod gap;
mod hydroelastic_mesh;
mod lift;
mod mesh;
mod obb_pairs;
mod obb_tree;
mod one_curve;
mod pair_set;
mod plane;
mod planes;
mod posed_tetrahedra;
mod raw_surface;
mod shared_meshes;
mod skin_part;
mod slopes;
#[cfg(test)]
mod tests;
mod tet_tet;
mod tetrahedron;
mod tri_tet;
mod vector_balls;

pub use self::contact_surface::{ContactSurface, HydroelasticContactRepresentation};
pub(crate) use self::elements::CompliantMesh;
pub(crate) use self::field_tetrahedron::{
    EqualFields, FieldClipper, FieldTetrahedron, gradient_of,
};
pub(crate) use self::form::{HydroelasticForm, check_pair, contact_surface};
pub use self::hydroelastic_mesh::{HydroelasticMesh, make_hydroelastic_mesh};
pub(crate) use self::mesh::distances_from_boundary;
pub(crate) use self::tri_tet::{PartSide, TriangleClipper, TrianglePart};
