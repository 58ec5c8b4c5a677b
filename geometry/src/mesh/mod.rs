//! Meshes: surfaces, volumes, fields on them, convex hulls and mesh files.

mod boundary;
#[cfg(test)]
pub(crate) mod cube_grid;
mod decomposition;
mod drawn_surface;
mod elements;
mod field;
mod format_vtk;
mod height_grid;
mod hull;
mod import;
mod material;
pub(crate) mod mesh_path;
mod normals;
mod refine;
mod render_mesh;
pub(crate) mod source;
mod surface;
mod triangulate;
mod vertices;
mod volume;

pub(crate) use self::boundary::{BoundaryFace, are_on_faces, boundary_faces};
pub(crate) use self::decomposition::PIECES as DECOMPOSITION_PIECES;
pub use self::decomposition::convex_decomposition;
pub(crate) use self::drawn_surface::{render_mesh_of_heights, render_mesh_of_hull};
pub use self::elements::{SurfacePolygon, SurfaceTriangle, VolumeElement};
pub use self::field::{
    BarycentricMesh, FieldMesh, MeshFieldLinear, PolygonSurfaceMeshFieldLinear,
    TriangleSurfaceMeshFieldLinear, VolumeMeshFieldLinear,
};
pub use self::format_vtk::format_vtk;
pub(crate) use self::height_grid::HeightGrid;
pub(crate) use self::hull::convex_ring;
pub use self::hull::{ConvexHull, convex_hull};
pub(crate) use self::import::lines_of_vertices;
pub use self::import::{
    MESH_SUFFIXES, parse_dae, parse_gltf, parse_gltf_primitives, parse_obj, parse_stl, parse_vtk,
    read, read_obj_to_triangle_surface_mesh, read_source, read_volume, warn_of_faulty_tetrahedra,
};
pub use self::material::{
    AlphaMode, Material, MaterialGroup, MetallicRoughness, NormalMap, OcclusionMap, Texture,
    TextureImage, Wrap,
};
pub(crate) use self::mesh_path::MeshPath;
pub use self::refine::refine_volume_mesh;
pub use self::render_mesh::RenderMesh;
pub(crate) use self::render_mesh::surface_of;
pub(crate) use self::source::{FileSource, MeshSource};
pub(crate) use self::surface::{FaceData, area_and_centroid};
pub use self::surface::{PolygonSurfaceMesh, TriangleSurfaceMesh};
pub use self::volume::{VolumeMesh, convert_volume_to_surface_mesh};

#[cfg(test)]
mod tests;
