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

pub use self::gltf::parse_gltf;
pub use dae::parse_dae;
pub use obj::parse_obj;
pub use read::{read, read_obj_to_triangle_surface_mesh, read_source, read_volume};
pub use stl::parse_stl;
pub use vtk::parse_vtk;

#[cfg(test)]
mod tests;
