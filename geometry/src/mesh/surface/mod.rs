//! Triangle and polygon surface meshes.

mod face_data;
mod polygon_surface_mesh;
mod triangle_surface_mesh;

pub(crate) use self::face_data::{FaceData, area_and_centroid};
pub use self::polygon_surface_mesh::PolygonSurfaceMesh;
pub use self::triangle_surface_mesh::TriangleSurfaceMesh;
