//! Registered visuals.

use super::clusters::ClusteredMesh;
use super::surface_material::{SurfaceMaterial, rgb, texture};
use crate::accel::TriangleBvh;
use crate::error::Result;
use crate::error::short;
use crate::mesh::MeshSource;
use crate::mesh::{self, RenderMesh};
use crate::properties::PerceptionProperties;
use crate::properties::RenderLabel;
use crate::render::cpu::params::RenderEngineCpuParams;
use crate::rgba::Rgba;
use crate::shape::Shape;
use nalgebra::Vector3;
use std::collections::BTreeSet;
use std::path::Path;
use tarragon_framework::warnings::warn;

/// Drawn form of a visual.
#[derive(Debug)]
pub(crate) enum VisualForm {
    /// A shape, drawn exactly from its equation.
    Shape {
        shape: Shape,
        diffuse: [f32; 3],
        alpha: f32,
    },
    /// A mesh, drawn as triangles.
    Mesh(ClusteredMesh),
}

/// One registered geometry.
pub(crate) struct Visual {
    pub(crate) label: RenderLabel,
    pub(crate) form: VisualForm,
    /// Triangles that cast shadows; `None` if shadows are disabled or the form is a shape.
    pub(crate) occluder: Option<Box<TriangleBvh>>,
}

impl Visual {
    /// Creates a visual from a shape and its properties, and reads their files. `None` for shapes
    /// that this engine cannot draw.
    pub(crate) fn new(
        shape: &Shape,
        properties: &PerceptionProperties,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Result<Option<Self>> {
        let (default_diffuse, cast_shadows) = (params.default_diffuse, params.cast_shadows);
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let map = properties.try_get::<String>("phong", "diffuse_map")?;
        let (mesh, materials) = match shape {
            Shape::Mesh(m) => {
                let read = read(m.source(), &m.scale3(), diffuse, map, default_diffuse)?;
                warn_of_extensions(m.source(), &read.0, &params.quiet_gltf_extensions);
                read
            }
            // Only the vertices of the file matter.
            Shape::Convex(m) => {
                let color = diffuse.unwrap_or(default_diffuse);
                let hull = mesh::render_mesh_of_hull(&*m.convex_hull()?);
                (hull, vec![SurfaceMaterial::matt(color, None)])
            }
            Shape::MeshcatCone(_) => return Ok(None),
            Shape::Box(_)
            | Shape::Capsule(_)
            | Shape::Cylinder(_)
            | Shape::Ellipsoid(_)
            | Shape::HalfSpace(_)
            | Shape::Sphere(_) => {
                let color = diffuse.unwrap_or(default_diffuse);
                let form = VisualForm::Shape {
                    shape: shape.clone(),
                    diffuse: rgb(color),
                    alpha: color.a() as f32,
                };
                return Ok(Some(Self {
                    label,
                    form,
                    occluder: None,
                }));
            }
        };
        Ok(Some(Self::of_triangles(
            &mesh,
            materials,
            label,
            cast_shadows,
        )))
    }
    /// Creates a visual from triangles in memory, and reads the textures of their materials.
    pub(crate) fn of_mesh(
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
        label: RenderLabel,
        params: &RenderEngineCpuParams,
    ) -> Result<Self> {
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let otherwise = diffuse.unwrap_or(params.default_diffuse);
        let mut materials = vec![SurfaceMaterial::matt(otherwise, None)];
        materials.extend(mesh.materials.iter().map(SurfaceMaterial::of));
        let cast_shadows = params.cast_shadows;
        Ok(Self::of_triangles(mesh, materials, label, cast_shadows))
    }
    /// Creates a visual from triangles and their materials; the first is that of faces without any.
    fn of_triangles(
        mesh: &RenderMesh,
        materials: Vec<SurfaceMaterial>,
        label: RenderLabel,
        cast_shadows: bool,
    ) -> Self {
        let drawn = ClusteredMesh::new(mesh, materials);
        Self {
            label,
            occluder: cast_shadows.then(|| Box::new(drawn.occluder(mesh))),
            form: VisualForm::Mesh(drawn),
        }
    }
    /// Returns true if some material does not follow Lambert's law.
    pub(crate) fn has_model(&self) -> bool {
        match &self.form {
            VisualForm::Shape { .. } => false,
            VisualForm::Mesh(mesh) => mesh.has_model,
        }
    }
    /// Returns the number of ids that its parts need.
    pub(crate) fn parts(&self) -> usize {
        match &self.form {
            VisualForm::Shape { .. } => 1,
            VisualForm::Mesh(mesh) => mesh.triangles.len(),
        }
    }
}

/// Maximum number of names that a warning lists.
const MOST_NAMES: usize = 16;

/// Warns about glTF extensions that were ignored, except for the quiet ones.
fn warn_of_extensions(source: &MeshSource, mesh: &RenderMesh, quiet: &BTreeSet<String>) {
    let ignored = mesh.ignored_extensions.iter();
    let mut names = ignored.filter(|name| !quiet.contains(*name));
    let listed: Vec<String> = names.by_ref().take(MOST_NAMES).map(|n| short(n)).collect();
    if listed.is_empty() {
        return;
    }
    let (file, listed) = (source.description(), listed.join(", "));
    let more = match names.count() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    warn(format!(
        "{file}: the glTF extensions {listed}{more} are not read"
    ));
}

/// Reads a mesh and its materials. Materials of the file take precedence; `phong` properties, or a
/// PNG file with the name of the mesh, apply to faces without a material (as in Drake).
fn read(
    source: &MeshSource,
    scale3: &Vector3<f64>,
    diffuse: Option<Rgba>,
    map: Option<&String>,
    default_diffuse: Rgba,
) -> Result<(RenderMesh, Vec<SurfaceMaterial>)> {
    let mesh = mesh::read_source(source)?.scaled(scale3);
    let beside = source.path().map(|p| p.with_extension("png"));
    // An image that no face uses is not read.
    let wanted = mesh.groups.iter().any(|g| g.material.is_none());
    let texture = match map {
        _ if !wanted => None,
        Some(map) => texture(Path::new(map)),
        None => beside
            .filter(|p| p.is_file() && !mesh.triangle_uvs.is_empty())
            .and_then(|p| texture(&p)),
    };
    let otherwise = if texture.is_some() {
        Rgba::WHITE
    } else {
        default_diffuse
    };
    let mut materials = vec![SurfaceMaterial::matt(diffuse.unwrap_or(otherwise), texture)];
    materials.extend(mesh.materials.iter().map(SurfaceMaterial::of));
    Ok((mesh, materials))
}
