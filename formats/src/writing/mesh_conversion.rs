//! Meshes written as OBJ files next to the document, for readers that know no other format.

use super::document::ModelDocument;
use super::format::OutputFormat;
use crate::Result;
use std::fmt::Write;
use std::path::Path;
use tarragon_framework::warnings::collect;
use tarragon_geometry::{MeshSource, mesh};

/// Suffixes of the meshes that Drake 1.51 makes collision geometry from.
const DRAKE: [&str; 3] = [".obj", ".vtk", ".gltf"];

impl ModelDocument<'_> {
    /// Returns the text by which a model file refers to a mesh. A mesh in memory is written to a
    /// file, and a mesh for contact in a format that Drake cannot use there is converted, if files
    /// may be written.
    pub(crate) fn mesh_uri(
        &mut self,
        source: &MeshSource,
        what: &str,
        for_contact: bool,
    ) -> Option<String> {
        let Some(path) = source.path() else {
            return self.uri_of_mesh_in_memory(source, what);
        };
        let converts = for_contact
            && self.format != OutputFormat::Mjcf
            && !DRAKE.contains(&&*source.extension());
        if converts {
            match self.convert_mesh(source) {
                Ok(Some(name)) => return Some(name),
                Ok(None) => {}
                Err(e) => self.warn(format!(
                    "{what}: Drake refuses its mesh, which cannot be converted: {e}"
                )),
            }
        }
        self.uri(path, what)
    }

    /// Writes a mesh in memory to a file and returns the text by which a model file refers to it;
    /// `None` if that is impossible, which is reported.
    pub(crate) fn uri_of_mesh_in_memory(
        &mut self,
        source: &MeshSource,
        what: &str,
    ) -> Option<String> {
        let mesh = source.description();
        match self.convert_mesh(source) {
            Ok(Some(name)) => return Some(name),
            Ok(None) => self.warn(format!(
                "{what}: left out, because its mesh is in memory ({mesh}); save the model to a file, \
                 which writes the mesh next to it"
            )),
            Err(e) => self.warn(format!(
                "{what}: left out, because its mesh in memory cannot be written: {e}"
            )),
        }
        None
    }

    /// Writes a mesh as an OBJ file next to the document and returns its name; `None` if only a
    /// text is written. The file has one object and no materials.
    ///
    /// # Errors
    /// Returns an error if the mesh cannot be read.
    pub(crate) fn convert_mesh(&mut self, source: &MeshSource) -> Result<Option<String>> {
        if let Some((_, name)) = self.converted.iter().find(|(known, _)| known == source) {
            return Ok(Some(name.clone()));
        }
        if !self.may_add_files() {
            return Ok(None);
        }
        // Warnings about materials, which no OBJ file here has.
        let (read, _) = collect(|| mesh::read_source(source));
        let text = obj_text(&read?);
        let name = self.add_file(&stem_of(source), "obj", &text);
        if let Some(name) = &name {
            self.converted.push((source.clone(), name.clone()));
        }
        Ok(name)
    }
}

/// Returns the name of the file of a mesh, or of the mesh in memory, without folder and suffix.
pub(crate) fn stem_of(source: &MeshSource) -> String {
    let name = source.description();
    let stem = Path::new(&name).file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn obj_text(mesh: &mesh::RenderMesh) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    for p in &mesh.positions {
        let _ = writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z);
    }
    for [u, v] in &mesh.uvs {
        let _ = writeln!(text, "vt {u:?} {v:?}");
    }
    for (i, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|v| v + 1);
        let _ = match mesh.triangle_uvs.get(i) {
            Some(uvs) if !uvs.contains(&mesh::RenderMesh::NO_UV) => {
                let [d, e, f] = uvs.map(|uv| uv + 1);
                writeln!(text, "f {a}/{d} {b}/{e} {c}/{f}")
            }
            _ => writeln!(text, "f {a} {b} {c}"),
        };
    }
    text
}
