//! Wavefront OBJ as a model of one body.
//!
//! The body fills the mesh with the density of water; its frame is that of the mesh. The mesh is
//! both the collision and the visual geometry. Model and body have the name given by the caller,
//! else that of the object in the file, else that of the file.

use crate::Result;
use crate::reading::target::{ModelNaming, ParseTarget};
use nalgebra::{Isometry3, Vector3};
use std::path::Path;
use tarragon_documents::{Diagnostic, ModelInput, Severity};
use tarragon_geometry::{
    IllustrationProperties, InMemoryMesh, MemoryFile, Mesh, MeshSource, PerceptionProperties,
    ProximityProperties, Shape, calc_mass_properties,
};
use tarragon_multibody::{ModelInstanceIndex, SpatialInertia, VisualProperties};

/// Density of the body (kg/m^3).
const DENSITY: f64 = 1000.0;

/// Adds the mesh of an OBJ file as a model.
pub(crate) fn parse(
    input: &ModelInput<'_>,
    naming: &ModelNaming<'_>,
    target: &mut ParseTarget<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<ModelInstanceIndex> {
    let objects = object_names(input.bytes);
    if objects.len() > 1 {
        let message = format!(
            "the file has {} objects; they become one body, named after the last",
            objects.len()
        );
        diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::of_file(input.file, message)
        });
    }
    let stem = Path::new(input.file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let name = naming
        .name
        .or(objects.last().map(String::as_str))
        .unwrap_or(&stem);
    match add(input, naming.scope, name, target) {
        Ok((model, warnings)) => {
            diagnostics.extend(warnings.into_iter().map(|message| Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::of_file(input.file, message)
            }));
            vec![model]
        }
        Err(error) => {
            diagnostics.push(Diagnostic::of_file(input.file, error));
            vec![]
        }
    }
}

fn add(
    input: &ModelInput<'_>,
    scope: &str,
    name: &str,
    target: &mut ParseTarget<'_>,
) -> Result<(ModelInstanceIndex, Vec<String>)> {
    let source = match input.directory {
        Some(_) => target.mesh_source(input.file.into()),
        None => {
            let file = MemoryFile::new(input.bytes, ".obj", input.file);
            MeshSource::from(InMemoryMesh::new(file))
        }
    };
    let shape = Shape::from(Mesh::with_scale(source, Vector3::repeat(1.0))?);
    let m = calc_mass_properties(&shape, DENSITY)?;
    let central = m.inertia_about_center_of_mass();
    let inertia = SpatialInertia::from_central(m.mass(), m.center_of_mass(), central)?;
    let model = target.add_model_instance(scope, name)?;
    let body = target.plant.add_rigid_body(name, model, inertia)?;
    let x = Isometry3::identity();
    let collision = ProximityProperties::new();
    let (_, mut warnings) =
        target.register_collision(body, x, shape.clone(), "collision", collision)?;
    let looks = VisualProperties {
        illustration: Some(IllustrationProperties::new()),
        perception: Some(PerceptionProperties::new()),
    };
    warnings.extend(target.register_visual(body, x, shape, "visual", looks)?);
    Ok((model, warnings))
}

/// Returns the names in the `o` lines; lines without a name are skipped.
fn object_names(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|b| *b == b'\n');
    let named = lines.filter_map(|line| {
        let rest = line.trim_ascii().strip_prefix(b"o")?;
        let name = rest
            .first()
            .is_some_and(u8::is_ascii_whitespace)
            .then(|| rest.trim_ascii())?;
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
    });
    named.collect()
}
