//! Readers of mesh files: OBJ, STL, glTF, Collada and VTK.

mod affine;
mod dae;
mod gltf;
mod lines;
mod mtl;
mod obj;
mod origin;
mod read;
mod stl;
mod vtk;

pub use self::dae::parse_dae;
pub use self::gltf::{parse_gltf, parse_gltf_primitives};
pub use self::obj::parse_obj;
pub(crate) use self::read::lines_of_vertices;
pub use self::read::{
    MESH_SUFFIXES, read, read_obj_to_triangle_surface_mesh, read_source, read_volume,
    warn_of_faulty_tetrahedra,
};
pub use self::stl::parse_stl;
pub use self::vtk::parse_vtk;

#[cfg(test)]
mod tests;
