//! Appearance of a visual: its shape or mesh with colours and materials.

use super::surface_material::{SurfaceMaterial, rgb};
use super::tangents::complete_tangents;
use super::texture::TextureCache;
use crate::error::{Result, short};
use crate::mesh::{self, MeshSource, RenderMesh, Texture};
use crate::properties::PerceptionProperties;
use crate::rgba::Rgba;
use crate::shape::{ProjectedTexture, Shape};
use nalgebra::Vector3;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tarragon_framework::warnings::warn;

/// Number of triangles around a round shape with a projected texture.
const SEGMENTS: u32 = 64;

/// Shape or mesh of a visual, with its colours and materials.
///
/// ```
/// use std::collections::BTreeSet;
/// use tarragon_geometry::render::appearance::Appearance;
/// use tarragon_geometry::{PerceptionProperties, Rgba, Sphere};
/// let properties = PerceptionProperties::phong(Rgba::new(1.0, 0.5, 0.0, 1.0)?);
/// let ball = Sphere::new(0.5)?.into();
/// let drawn = Appearance::of(&ball, &properties, Rgba::WHITE, &BTreeSet::new())?;
/// assert!(matches!(drawn, Some(Appearance::Shape { diffuse: [1.0, 0.5, 0.0], .. })));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Debug)]
pub enum Appearance {
    /// A shape with one colour, drawn exactly from its equation.
    Shape {
        /// A sphere, ellipsoid, box, cylinder, capsule or half space.
        shape: Shape,
        /// Colour (screen values).
        diffuse: [f32; 3],
        /// Opacity.
        alpha: f32,
    },
    /// A mesh.
    Mesh(Box<MeshAppearance>),
}

/// A mesh with its materials.
#[derive(Debug)]
pub struct MeshAppearance {
    /// Triangles (m), in the geometry's frame, with the tangents that normal maps need.
    pub mesh: RenderMesh,
    /// Materials: one for triangles without a material in the file, then those of the mesh.
    pub materials: Vec<SurfaceMaterial>,
}

impl Appearance {
    /// Reads the appearance from a shape, its properties and their files; `None` for a
    /// `MeshcatCone`, which engines do not draw. `quiet` are the glTF extensions that are ignored
    /// without a warning.
    ///
    /// # Errors
    /// Returns an error if a property has the wrong type or the file of a mesh cannot be read.
    pub fn of(
        shape: &Shape,
        properties: &PerceptionProperties,
        default_diffuse: Rgba,
        quiet: &BTreeSet<String>,
    ) -> Result<Option<Self>> {
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let map = properties.try_get::<String>("phong", "diffuse_map")?;
        let color = diffuse.unwrap_or(default_diffuse);
        let projected = properties.try_get::<ProjectedTexture>("phong", "projected_texture")?;
        if let Some(projected) = projected
            && let Some(mesh) = projected.render_mesh(shape, SEGMENTS)?
        {
            return Ok(Some(Self::textured(mesh, color)));
        }
        let (mesh, materials) = match shape {
            Shape::Mesh(m) => {
                let read = read(m.source(), &m.scale3(), diffuse, map, default_diffuse)?;
                warn_of_extensions(m.source(), &read.0, quiet);
                read
            }
            // Only the vertices of the file matter.
            Shape::Convex(m) => {
                let hull = mesh::render_mesh_of_hull(&*m.convex_hull()?);
                (hull, vec![SurfaceMaterial::matt(color, None)])
            }
            Shape::HeightField(f) => (f.render_mesh(), vec![SurfaceMaterial::matt(color, None)]),
            Shape::MeshcatCone(_) => return Ok(None),
            Shape::Box(_)
            | Shape::Capsule(_)
            | Shape::Cylinder(_)
            | Shape::Ellipsoid(_)
            | Shape::HalfSpace(_)
            | Shape::Sphere(_) => {
                return Ok(Some(Self::Shape {
                    shape: shape.clone(),
                    diffuse: rgb(color),
                    alpha: color.a() as f32,
                }));
            }
        };
        Ok(Some(Self::Mesh(Box::new(MeshAppearance {
            mesh,
            materials,
        }))))
    }
    /// Reads the appearance of a mesh in memory from its materials and their textures, and from
    /// `("phong", "diffuse")` and `("phong", "diffuse_map")` for triangles without a material.
    ///
    /// # Errors
    /// Returns an error if the lists of the mesh do not [fit together](RenderMesh::check) or a
    /// property has the wrong type.
    pub fn of_mesh(
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
        default_diffuse: Rgba,
    ) -> Result<Self> {
        mesh.check()?;
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let map = properties.try_get::<String>("phong", "diffuse_map")?;
        let map = map.filter(|_| has_plain_faces(mesh)).map(PathBuf::from);
        let (mesh, materials) = painted(mesh.clone(), diffuse, map, default_diffuse);
        Ok(Self::Mesh(Box::new(MeshAppearance { mesh, materials })))
    }
    /// Returns the appearance of a mesh with the materials in it; other triangles have a colour.
    fn textured(mesh: RenderMesh, color: Rgba) -> Self {
        let mut materials = vec![SurfaceMaterial::matt(color, None)];
        let mesh = with_materials(mesh, &mut materials, &mut TextureCache::default());
        Self::Mesh(Box::new(MeshAppearance { mesh, materials }))
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
    let file = match map {
        _ if !has_plain_faces(&mesh) => None,
        Some(map) => Some(map.into()),
        None => beside.filter(|p| p.is_file() && !mesh.triangle_uvs.is_empty()),
    };
    Ok(painted(mesh, diffuse, file, default_diffuse))
}

/// Returns true if a mesh has faces without a material.
fn has_plain_faces(mesh: &RenderMesh) -> bool {
    mesh.groups.iter().any(|g| g.material.is_none())
}

/// Returns a mesh with its materials, given the colour and the image of faces without one.
fn painted(
    mesh: RenderMesh,
    diffuse: Option<Rgba>,
    map: Option<PathBuf>,
    default_diffuse: Rgba,
) -> (RenderMesh, Vec<SurfaceMaterial>) {
    let mut textures = TextureCache::default();
    let texture = map.and_then(|file| textures.read("", &Texture::file(file)));
    let otherwise = if texture.is_some() {
        Rgba::WHITE
    } else {
        default_diffuse
    };
    let mut materials = vec![SurfaceMaterial::matt(diffuse.unwrap_or(otherwise), texture)];
    let mesh = with_materials(mesh, &mut materials, &mut textures);
    (mesh, materials)
}

/// Appends the materials of a mesh. Returns the mesh with the tangents that they need.
fn with_materials(
    mut mesh: RenderMesh,
    materials: &mut Vec<SurfaceMaterial>,
    textures: &mut TextureCache,
) -> RenderMesh {
    let of_mesh = mesh.materials.iter();
    materials.extend(of_mesh.map(|material| SurfaceMaterial::of(material, textures)));
    complete_tangents(&mut mesh, materials);
    mesh
}
