//! Meshes: readers of OBJ, STL, glTF, Collada and VTK files, surfaces, volumes, convex hulls.

mod affine;
mod convex_hull;
mod dae;
mod elements;
mod gltf;
mod lines;
mod material;
mod mesh_field;
mod mtl;
mod normals;
mod obj;
mod origin;
mod polygon_surface_mesh;
mod stl;
mod surface;
mod triangle_surface_mesh;
mod triangulate;
mod volume_mesh;
mod vtk;

use crate::error::{Error, Result};
use crate::shapes::MeshSource;
use nalgebra::{Point3, Vector3};
use origin::Origin;
use std::path::Path;

pub(crate) use self::convex_hull::convex_ring;
pub use self::convex_hull::{ConvexHull, convex_hull};
pub use self::dae::parse_dae;
pub use self::gltf::parse_gltf;
pub(crate) use self::lines::short;
pub use elements::{SurfacePolygon, SurfaceTriangle, VolumeElement};
pub use material::{
    AlphaMode, Material, MaterialGroup, MetallicRoughness, Texture, TextureImage, Wrap,
};
pub use mesh_field::{
    BarycentricMesh, FieldMesh, MeshFieldLinear, PolygonSurfaceMeshFieldLinear,
    TriangleSurfaceMeshFieldLinear, VolumeMeshFieldLinear,
};
pub use obj::parse_obj;
pub use polygon_surface_mesh::PolygonSurfaceMesh;
pub use stl::parse_stl;
pub use triangle_surface_mesh::TriangleSurfaceMesh;
pub use volume_mesh::{VolumeMesh, convert_volume_to_surface_mesh};
pub use vtk::parse_vtk;

/// A triangle mesh with what is needed to draw it.
///
/// Corners index positions, normals and texture coordinates separately, so that `positions` and
/// `triangles` alone are the surface as the file describes it, with shared vertices.
///
/// ```
/// use nalgebra::Vector3;
/// use std::path::Path;
/// use tarragon_geometry::mesh::{RenderMesh, parse_obj};
/// let mesh: RenderMesh = parse_obj(Path::new("t.obj"), b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
/// assert_eq!((mesh.positions.len(), mesh.triangles[0]), (3, [0, 1, 2]));
/// let mirrored = mesh.scaled(&Vector3::new(-2.0, 1.0, 1.0));
/// assert_eq!((mirrored.positions[1].x, mirrored.triangles[0]), (-2.0, [0, 2, 1]));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RenderMesh {
    /// Vertices (m), in the order of the file; those of an STL file are merged where equal, those
    /// of a glTF or Collada file come once for every node that shows them.
    pub positions: Vec<Point3<f64>>,
    /// Unit normals.
    pub normals: Vec<Vector3<f64>>,
    /// Texture coordinates: u to the right, v up.
    pub uvs: Vec<[f64; 2]>,
    /// Triangles as indices into `positions`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' normals.
    pub triangle_normals: Vec<[u32; 3]>,
    /// Per triangle, the indices of its corners' texture coordinates, [`RenderMesh::NO_UV`] where
    /// there are none; empty if the whole mesh has none.
    pub triangle_uvs: Vec<[u32; 3]>,
    /// Colours of `positions`, red, green, blue and opacity in linear light, which multiply those
    /// of the material; empty if the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Which triangles have which material; covers all triangles, in order.
    pub groups: Vec<MaterialGroup>,
    /// The materials.
    pub materials: Vec<Material>,
    /// Names of extensions that a glTF file uses and that were not read.
    pub ignored_extensions: Vec<String>,
}

impl RenderMesh {
    /// Stands in `triangle_uvs` for "no texture coordinates".
    pub const NO_UV: u32 = u32::MAX;

    /// The mesh with its coordinates multiplied by `scale3`. Normals are adapted; where the factors
    /// mirror, the winding of every triangle is turned so that outside stays outside.
    pub fn scaled(mut self, scale3: &Vector3<f64>) -> Self {
        for p in &mut self.positions {
            p.coords.component_mul_assign(scale3);
        }
        for n in &mut self.normals {
            let scaled = n.component_div(scale3);
            *n = scaled.try_normalize(0.0).unwrap_or(*n);
        }
        if scale3.product() < 0.0 {
            for indices in [
                &mut self.triangles,
                &mut self.triangle_normals,
                &mut self.triangle_uvs,
            ] {
                indices.iter_mut().for_each(|t| t.swap(1, 2));
            }
        }
        self
    }
}

/// Reads a mesh file: `.obj` (with its `.mtl`), `.stl`, `.gltf` (with its buffers), `.glb`, `.dae`,
/// or the boundary of a `.vtk`.
///
/// # Errors
/// If the file can not be read, its suffix is not supported, or its content is wrong; the message
/// gives the file and the line, the byte of a binary file or the place in a glTF document.
pub fn read(path: &Path) -> Result<RenderMesh> {
    read_source(&MeshSource::from(path))
}

/// [`read`] for a file on disk or in memory.
///
/// # Errors
/// As [`read`].
pub fn read_source(source: &MeshSource) -> Result<RenderMesh> {
    match &*source.extension() {
        ".obj" => with_bytes(source, obj::parse),
        ".stl" => with_bytes(source, |origin, bytes| parse_stl(origin.path, bytes)),
        ".gltf" | ".glb" => with_bytes(source, gltf::parse),
        ".dae" => with_bytes(source, dae::parse),
        ".vtk" => with_bytes(source, |origin, bytes| {
            parse_vtk_boundary(origin.path, bytes)
        }),
        _ => Err(unsupported(source, ".obj, .stl, .gltf, .glb, .dae or .vtk")),
    }
}

/// Reads the tetrahedra of a VTK file on disk or in memory.
///
/// # Errors
/// If the source is of another type, can not be read, or its content is wrong; the message gives
/// the file and the line, or the byte within binary data.
pub fn read_volume(source: &MeshSource) -> Result<VolumeMesh> {
    match &*source.extension() {
        ".vtk" => with_bytes(source, |origin, bytes| parse_vtk(origin.path, bytes)),
        _ => Err(unsupported(source, ".vtk")),
    }
}

/// Reads the triangles of an OBJ file on disk or in memory, polygons cut into triangles,
/// coordinates multiplied by `scale3` (Drake's `ReadObjToTriangleSurfaceMesh`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::read_obj_to_triangle_surface_mesh;
/// use tarragon_geometry::{InMemoryMesh, MemoryFile};
/// let square = MemoryFile::new("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", ".obj", "square");
/// let scale = Vector3::new(2.0, 3.0, 1.0);
/// let mesh = read_obj_to_triangle_surface_mesh(InMemoryMesh::new(square), &scale)?;
/// assert_eq!((mesh.num_triangles(), mesh.total_area()), (2, 6.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// If the source is of another type, can not be read, or its content is wrong; the message gives
/// the file and the line.
pub fn read_obj_to_triangle_surface_mesh(
    source: impl Into<MeshSource>,
    scale3: &Vector3<f64>,
) -> Result<TriangleSurfaceMesh> {
    let source = source.into();
    match &*source.extension() {
        ".obj" => surface_of(read_source(&source)?.scaled(scale3)),
        _ => Err(unsupported(&source, ".obj")),
    }
}

/// The triangles alone.
pub(crate) fn surface_of(mesh: RenderMesh) -> Result<TriangleSurfaceMesh> {
    let vertices = mesh.positions.iter().map(|p| p.coords).collect();
    TriangleSurfaceMesh::new(mesh.triangles, vertices)
}

fn unsupported(source: &MeshSource, expected: &str) -> Error {
    Error::invalid(format!(
        "{}: mesh files ending in '{}' are not supported here, {expected} is expected",
        source.description(),
        source.extension()
    ))
}

/// Hands the content to a parser.
fn with_bytes<V>(source: &MeshSource, parse: impl Fn(Origin<'_>, &[u8]) -> Result<V>) -> Result<V> {
    match source {
        MeshSource::Path(path) => {
            let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
            check_content(&bytes).map_err(|e| e.at(&path.display().to_string()))?;
            parse(Origin::on_disk(path), &bytes)
        }
        MeshSource::InMemory(mesh) => {
            let name = source.description();
            let origin = Origin::in_memory(Path::new(&name), &mesh.supporting_files);
            let bytes = mesh.mesh_file.contents();
            check_content(bytes).map_err(|e| e.at(&name))?;
            parse(origin, bytes)
        }
    }
}

/// A file of 0 bytes was never written, or its disk was full.
fn check_content(bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Err(Error::invalid(
            "the mesh file is empty (0 bytes); export it again",
        ));
    }
    Ok(())
}

/// What can be seen of tetrahedra.
fn parse_vtk_boundary(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    let volume = parse_vtk(path, bytes)?;
    let surface = convert_volume_to_surface_mesh(&volume);
    let surface = surface.map_err(|e| e.at(&path.display().to_string()))?;
    Ok(render_mesh_of(&surface, normals::Smoothing::Auto))
}

/// What can be seen of a hull: flat faces without a material.
pub(crate) fn render_mesh_of_hull(hull: &PolygonSurfaceMesh) -> RenderMesh {
    // Triangles of one face lie in one plane, so that flat shading shows the face.
    render_mesh_of(&hull.to_triangles(), normals::Smoothing::Flat)
}

fn render_mesh_of(surface: &TriangleSurfaceMesh, smoothing: normals::Smoothing) -> RenderMesh {
    let n = surface.num_triangles();
    let mut mesh = RenderMesh {
        positions: surface.vertices().iter().map(|v| (*v).into()).collect(),
        triangles: surface.triangles().iter().map(|t| t.vertices()).collect(),
        triangle_normals: vec![[0; 3]; n],
        groups: vec![MaterialGroup {
            material: None,
            triangles: 0..n,
        }],
        ..RenderMesh::default()
    };
    let all: Vec<_> = (0..n).map(|t| (t, smoothing)).collect();
    normals::add_missing(&mut mesh, &all);
    mesh
}

#[cfg(test)]
mod mesh_tests;
#[cfg(test)]
mod tests;
