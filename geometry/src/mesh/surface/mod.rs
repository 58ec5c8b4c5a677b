//! Triangle and polygon surface meshes.

mod face_data;
mod polygon_surface_mesh;
mod triangle_surface_mesh;

pub use self::polygon_surface_mesh::PolygonSurfaceMesh;
pub use self::triangle_surface_mesh::TriangleSurfaceMesh;
