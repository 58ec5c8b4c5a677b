//! Meshes written as OBJ files next to the document, for readers that know no other format.

use super::document::ModelDocument;
use super::format::OutputFormat;
use crate::error::Result;
use std::fmt::Write;
use std::path::Path;
use tarragon_framework::warnings::collect;
use tarragon_geometry::{MeshSource, mesh};

/// Suffixes of the meshes that Drake 1.51 makes collision geometry from.
const DRAKE: [&str; 3] = [".obj", ".vtk", ".gltf"];

impl ModelDocument<'_> {
    /// Returns the text by which a model file refers to a mesh, which must be on disk. A mesh for
    /// contact in a format that Drake cannot use there is converted if files may be written.
    pub(super) fn mesh_uri(
        &mut self,
        source: &MeshSource,
        what: &str,
        for_contact: bool,
    ) -> Option<String> {
        let Some(path) = source.path() else {
            let mesh = source.description();
            self.warn(format!(
                "{what}: left out, because its mesh is in memory ({mesh}); write it to a file"
            ));
            return None;
        };
        let converts = for_contact
            && self.format != OutputFormat::Mjcf
            && !DRAKE.contains(&&*source.extension());
        if converts {
            match self.convert_mesh(source, path) {
                Ok(Some(name)) => return Some(name),
                Ok(None) => {}
                Err(e) => self.warn(format!(
                    "{what}: Drake refuses its mesh, which cannot be converted: {e}"
                )),
            }
        }
        self.uri(path, what)
    }

    /// Writes a mesh as an OBJ file next to the document and returns its name; `None` if only a
    /// text is written.
    ///
    /// # Errors
    /// Returns an error if the mesh cannot be read.
    pub(super) fn convert_mesh(
        &mut self,
        source: &MeshSource,
        path: &Path,
    ) -> Result<Option<String>> {
        if let Some(name) = self.converted.get(path) {
            return Ok(Some(name.clone()));
        }
        if !self.may_add_files() {
            return Ok(None);
        }
        // Warnings about materials, which no OBJ file here has.
        let (read, _) = collect(|| mesh::read_source(source));
        let text = obj_text(&read?);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = self.add_file(&stem, "obj", &text);
        if let Some(name) = &name {
            self.converted.insert(path.into(), name.clone());
        }
        Ok(name)
    }
}

fn obj_text(mesh: &mesh::RenderMesh) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    for p in &mesh.positions {
        let _ = writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z);
    }
    for [a, b, c] in mesh.triangles.iter().map(|t| t.map(|v| v + 1)) {
        let _ = writeln!(text, "f {a} {b} {c}");
    }
    text
}
