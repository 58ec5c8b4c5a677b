//! Reading of mesh files by extension, from disk or memory.

use super::lines::for_each_line;
use super::origin::FileOrigin;
use super::stl::parse_stl;
use super::vtk::parse_vtk;
use super::{dae, gltf, obj};
use crate::error::{Error, Result, parse_error};
use crate::mesh::drawn_surface::render_mesh_of_surface;
use crate::mesh::normals::Smoothing;
use crate::mesh::render_mesh::{RenderMesh, surface_of};
use crate::mesh::source::MeshSource;
use crate::mesh::surface::TriangleSurfaceMesh;
use crate::mesh::volume::{VolumeMesh, convert_volume_to_surface_mesh};
use nalgebra::Vector3;
use std::path::Path;
use tarragon_framework::git_lfs_pointer;
use tarragon_framework::warnings::warn;

/// Suffixes of mesh files, without the dot before them.
pub const MESH_SUFFIXES: [&str; 6] = ["obj", "stl", "gltf", "glb", "dae", "vtk"];

/// Reads a mesh file: `.obj` (with its `.mtl`), `.stl`, `.gltf` (with its buffers), `.glb`, `.dae`,
/// or the boundary of a `.vtk`.
///
/// # Errors
/// Returns an error if the file cannot be read, its extension is not supported, or its content is
/// invalid; the message gives the file and the line, the byte of a binary file or the place in a
/// glTF document.
pub fn read(path: &Path) -> Result<RenderMesh> {
    read_source(&MeshSource::from(path))
}

/// Reads a mesh file as [`read`] does, from disk or memory.
///
/// # Errors
/// Returns the errors of [`read`].
pub fn read_source(source: &MeshSource) -> Result<RenderMesh> {
    match &*source.extension() {
        ".obj" => with_bytes(source, obj::parse),
        ".stl" => with_bytes(source, |origin, bytes| parse_stl(origin.path, bytes)),
        ".gltf" | ".glb" => with_bytes(source, gltf::parse),
        ".dae" => with_bytes(source, dae::parse),
        ".vtk" => with_bytes(source, |origin, bytes| {
            parse_vtk_boundary(origin.path, bytes)
        }),
        _ => {
            let [others @ .., last] = MESH_SUFFIXES;
            let expected = format!(".{} or .{last}", others.join(", ."));
            Err(unsupported(source, &expected))
        }
    }
}

/// Reads the tetrahedra of a VTK file, on disk or in memory.
///
/// # Errors
/// Returns an error if the source has another type, cannot be read or has invalid content; the
/// message gives the file and the line, or the byte within binary data.
pub fn read_volume(source: &MeshSource) -> Result<VolumeMesh> {
    match &*source.extension() {
        ".vtk" => with_bytes(source, |origin, bytes| parse_vtk(origin.path, bytes)),
        _ => Err(unsupported(source, ".vtk")),
    }
}

/// Warns about tetrahedra whose volume is not positive. The message has their count and the first
/// few indices.
pub fn warn_of_faulty_tetrahedra(path: impl AsRef<Path>, mesh: &VolumeMesh) {
    const SHOWN: usize = 3;
    let longest = |e: usize| {
        let edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let lengths = edges.map(|(a, b)| mesh.edge_vector(e, a, b).norm());
        lengths.into_iter().fold(0.0, f64::max)
    };
    let is_faulty = |e: &usize| {
        let least = f64::EPSILON * longest(*e).powi(3);
        let volume = mesh.calc_tetrahedron_volume(*e);
        volume.is_nan() || volume <= least
    };
    let faulty: Vec<usize> = (0..mesh.num_elements()).filter(is_faulty).collect();
    if faulty.is_empty() {
        return;
    }
    let first: Vec<String> = faulty.iter().take(SHOWN).map(usize::to_string).collect();
    let more = if faulty.len() > SHOWN { ", ..." } else { "" };
    warn(format!(
        "{}: tetrahedra must have a positive volume, got {} of {} that are inverted or flat (those \
         with index {}{more}); order their vertices so that the first three turn counter-clockwise seen \
         from the fourth, and remove flat ones",
        path.as_ref().display(),
        faulty.len(),
        mesh.num_elements(),
        first.join(", ")
    ));
}

/// Reads the triangles of an OBJ file, on disk or in memory. Polygons are triangulated and
/// coordinates multiplied by `scale3` (Drake's `ReadObjToTriangleSurfaceMesh`).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::read_obj_to_triangle_surface_mesh;
/// use tarragon_geometry::{InMemoryMesh, MemoryFile};
/// let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// let square = MemoryFile::new(text, ".obj", "square");
/// let scale = Vector3::new(2.0, 3.0, 1.0);
/// let mesh = read_obj_to_triangle_surface_mesh(InMemoryMesh::new(square), &scale)?;
/// assert_eq!((mesh.num_triangles(), mesh.total_area()), (2, 6.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the source has another type, cannot be read or has invalid content; the
/// message gives the file and the line.
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

/// Returns the lines, from 1, of vertices of an OBJ file; none if the file has another format or
/// cannot be read.
pub(crate) fn lines_of_vertices(source: &MeshSource, vertices: &[usize]) -> Vec<usize> {
    if source.extension() != ".obj" {
        return vec![];
    }
    let lines = with_bytes(source, |origin, bytes| {
        let mut lines = vec![];
        for_each_line(origin.path, bytes, |place, key, _| {
            if key == "v" {
                lines.push(place.line);
            }
            Ok::<(), Error>(())
        })?;
        Ok(lines)
    });
    let lines = lines.unwrap_or_default();
    vertices
        .iter()
        .filter_map(|v| lines.get(*v).copied())
        .collect()
}

fn unsupported(source: &MeshSource, expected: &str) -> Error {
    Error::unsupported(format!(
        "{}: mesh files must end in {expected}, got '{}'",
        source.description(),
        source.extension()
    ))
}

/// Reads the content and passes it to a parser.
fn with_bytes<V>(
    source: &MeshSource,
    parse: impl Fn(FileOrigin<'_>, &[u8]) -> Result<V>,
) -> Result<V> {
    match source {
        MeshSource::Path(path) => {
            let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
            check_content(path, &source.extension(), &bytes)?;
            parse(FileOrigin::in_packages(path), &bytes)
        }
        MeshSource::InMemory(mesh) => {
            let name = source.description();
            let origin = FileOrigin::in_memory(Path::new(&name), &mesh.supporting_files);
            let bytes = mesh.mesh_file.contents();
            check_content(origin.path, &source.extension(), bytes)?;
            parse(origin, bytes)
        }
    }
}

/// Refuses an empty file (the export failed or the disk was full), a Git LFS pointer whose file was
/// not fetched, and data of another format.
fn check_content(path: &Path, extension: &str, bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        let message = "the mesh file is empty (0 bytes); export it again";
        return Err(parse_error(path, 0, message));
    }
    if let Some(why) = git_lfs_pointer(bytes) {
        return Err(parse_error(path, 0, why));
    }
    // Text has no zero bytes, and the start of a file is enough to recognize binary data.
    let is_binary = bytes.iter().take(4096).any(|byte| *byte == 0);
    let is_glb = bytes.starts_with(b"glTF");
    let why = match extension {
        ".obj" if is_binary => "the file must be text, got binary data",
        ".gltf" if is_binary && !is_glb => "the file must be JSON, got binary data",
        ".glb" if is_binary && !is_glb => "the file must begin with 'glTF', got other binary data",
        _ => return Ok(()),
    };
    let cure = "; it is damaged, or has the suffix of another format";
    Err(parse_error(path, 0, format!("{why}{cure}")))
}

/// Reads the boundary of the tetrahedra of a VTK file as a render mesh.
fn parse_vtk_boundary(path: &Path, bytes: &[u8]) -> Result<RenderMesh> {
    let volume = parse_vtk(path, bytes)?;
    let surface = convert_volume_to_surface_mesh(&volume);
    let surface = surface.map_err(|e| e.at(path.display().to_string()))?;
    Ok(render_mesh_of_surface(&surface, Smoothing::Auto))
}
