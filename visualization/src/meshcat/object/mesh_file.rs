//! Shapes from mesh files.

use super::files::check;
use super::{Object, ObjectEncoder, Paint, gltf, obj, render_mesh, surfaces};
use crate::{Error, Result};
use nalgebra::Matrix4;
use tarragon_geometry::mesh::read_source;
use tarragon_geometry::{Convex, Mesh, Rgba};

/// Encodes a mesh. OBJ files are sent as text with their materials and textures, glTF files as text
/// that refers to assets, and other formats as triangles. Files without materials are drawn in the
/// colour of `paint`, and OBJ files with its image.
///
/// # Errors
/// Returns an error if a file cannot be read, is larger than 1 GiB, has an unsupported format or
/// invalid content.
pub(super) fn mesh(e: &ObjectEncoder<'_>, mesh: &Mesh, paint: Paint<'_>) -> Result<Object> {
    let source = mesh.source();
    let matrix = Matrix4::new_nonuniform_scaling(&mesh.scale3());
    match &*source.extension() {
        ".obj" => obj::object(e, source, paint, &matrix),
        ".gltf" | ".glb" => gltf::object(e, source, &matrix),
        ".stl" | ".dae" | ".vtk" => {
            check(source)?;
            render_mesh::object(e, source, &read_source(source)?, paint, &matrix)
        }
        other => Err(Error::unsupported(format!(
            "Meshcat: {}: mesh files must end in .obj, .gltf, .glb, .stl, .dae or .vtk, got '{other}'",
            source.description()
        ))),
    }
}

/// Encodes the convex hull of a mesh.
///
/// # Errors
/// Returns an error if the file cannot be read, is larger than 1 GiB, has an unsupported format, or
/// its vertices lie on a line.
pub(super) fn convex(e: &ObjectEncoder<'_>, convex: &Convex, rgba: Rgba) -> Result<Object> {
    check(convex.source())?;
    surfaces::hull(e, &convex.convex_hull()?.to_triangles(), rgba)
}
