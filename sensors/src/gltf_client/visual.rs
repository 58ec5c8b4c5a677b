//! Registered visuals.

use super::kind::ImageKind;
use super::material::SentMaterial;
use super::primitive::Primitive;
use super::tessellation::Tessellation;
use super::texture::{EmbeddedImage, ImageCache, SentTexture, or_warn};
use crate::Result;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::{self, MaterialGroup, PolygonSurfaceMesh, RenderMesh, Wrap};
use tarragon_geometry::{
    GeometryId, PerceptionProperties, ProjectedTexture, RenderLabel, Rgba, Shape,
};

/// Colour of geometry that has none of its own, that of Drake's client.
const DEFAULT_DIFFUSE: [f64; 4] = [0.9, 0.45, 0.1, 1.0];
/// Number of triangles around a round shape with a projected texture.
const SEGMENTS: u32 = 64;
/// Maximum number of names that a warning lists.
const MOST_NAMES: usize = 16;

/// One registered geometry: nodes with one material each.
#[derive(Debug)]
pub(super) struct Visual {
    pub(super) label: RenderLabel,
    pub(super) parts: Vec<(Primitive, SentMaterial)>,
}

impl Visual {
    /// Creates a visual from a shape and its properties, and reads their files. Returns `None` for
    /// shapes that have no surface to send.
    pub(super) fn new(
        shape: &Shape,
        properties: &PerceptionProperties,
        label: RenderLabel,
    ) -> Result<Option<Self>> {
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let map = properties.try_get::<String>("phong", "diffuse_map")?;
        let map = map.map(Path::new);
        let projected = properties.try_get::<ProjectedTexture>("phong", "projected_texture")?;
        let projected = match projected {
            Some(projected) => projected.render_mesh(shape, SEGMENTS)?,
            None => None,
        };
        let parts = match primitive(shape) {
            _ if let Some(mesh) = &projected => parts(mesh, &materials(mesh, None, None, None)?)?,
            Some(made) => {
                let texture = map.and_then(clamped_texture);
                let color = color(diffuse, texture.is_some())?;
                let primitive = Primitive::of_tessellation(&made, texture.is_some())?;
                vec![(primitive, SentMaterial::of_primitive(color, texture))]
            }
            None => match shape {
                Shape::Mesh(m) => {
                    let mesh = mesh::read_source(m.source())?.scaled(&m.scale3());
                    warn_of_extensions(&m.source().description(), &mesh);
                    let beside = m.source().path().map(|p| p.with_extension("png"));
                    let materials = materials(&mesh, diffuse, map, beside.as_deref())?;
                    parts(&mesh, &materials).map_err(|e| e.at(m.source().description()))?
                }
                Shape::HeightField(f) => {
                    let matt = SentMaterial::matt(color(diffuse, false)?, None);
                    parts(&f.render_mesh(), &[matt])?
                }
                // Only the vertices of the file matter.
                Shape::Convex(m) => {
                    let matt = SentMaterial::matt(color(diffuse, false)?, None);
                    let mesh = flat_faces(&*m.convex_hull()?);
                    parts(&mesh, &[matt]).map_err(|e| e.at(m.source().description()))?
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(Self { label, parts }))
    }
    /// Creates a visual from triangles in memory, and reads the textures of their materials.
    pub(super) fn of_mesh(
        mesh: &RenderMesh,
        properties: &PerceptionProperties,
        label: RenderLabel,
    ) -> Result<Self> {
        mesh.check()?;
        let diffuse = properties.try_get::<Rgba>("phong", "diffuse")?.copied();
        let materials = materials(mesh, diffuse, None, None)?;
        let parts = parts(mesh, &materials)?;
        Ok(Self { label, parts })
    }
    /// Returns true if the visual is part of images of this kind.
    pub(super) fn is_drawn(&self, kind: ImageKind) -> bool {
        kind != ImageKind::Label || self.label != RenderLabel::DO_NOT_RENDER
    }
}

/// Returns the triangles of a primitive shape, or `None` for other shapes.
fn primitive(shape: &Shape) -> Option<Tessellation> {
    Some(match shape {
        Shape::Box(b) => Tessellation::of_box(&b.half_size()),
        Shape::Capsule(c) => Tessellation::of_capsule(c.radius(), c.length()),
        Shape::Cylinder(c) => Tessellation::of_cylinder(c.radius(), c.length()),
        Shape::Ellipsoid(e) => Tessellation::of_ellipsoid(&e.semi_axes()),
        Shape::HalfSpace(_) => Tessellation::of_half_space(),
        Shape::Sphere(s) => Tessellation::of_ellipsoid(&Vector3::repeat(s.radius())),
        _ => return None,
    })
}

/// Reads the texture of a primitive, whose edge pixels extend outwards as in Drake.
fn clamped_texture(path: &Path) -> Option<SentTexture> {
    let image = or_warn(EmbeddedImage::read(path));
    image.map(|image| SentTexture::new(image, Wrap::ClampToEdge))
}

/// Returns the diffuse colour; a texture alone is not tinted.
fn color(diffuse: Option<Rgba>, has_texture: bool) -> Result<Rgba> {
    match diffuse {
        Some(diffuse) => Ok(diffuse),
        None if has_texture => Ok(Rgba::WHITE),
        None => Rgba::from_slice(&DEFAULT_DIFFUSE),
    }
}

/// Returns the material of faces without one, followed by the materials of the mesh file. `phong`
/// properties, or a PNG file with the name of the mesh, apply to faces without a material, as in
/// Drake.
fn materials(
    mesh: &RenderMesh,
    diffuse: Option<Rgba>,
    map: Option<&Path>,
    beside: Option<&Path>,
) -> Result<Vec<SentMaterial>> {
    // An image that no face uses is not read.
    let wanted = mesh.groups.iter().any(|g| g.material.is_none());
    let has_uvs = !mesh.triangle_uvs.is_empty();
    let path = match map {
        Some(map) => Some(map),
        None => beside.filter(|p| has_uvs && p.is_file()),
    };
    let texture = path
        .filter(|_| wanted)
        .and_then(|path| or_warn(EmbeddedImage::read(path)))
        .map(|image| SentTexture::new(image, Wrap::Repeat));
    let color = color(diffuse, texture.is_some())?;
    let mut images = ImageCache::default();
    let mut materials = vec![SentMaterial::matt(color, texture)];
    materials.extend(
        mesh.materials
            .iter()
            .map(|m| SentMaterial::of(m, &mut images)),
    );
    if !has_uvs {
        materials = materials
            .into_iter()
            .map(SentMaterial::without_textures)
            .collect();
    }
    Ok(materials)
}

/// Divides a mesh by its materials, of which the first is that of faces without one.
fn parts(mesh: &RenderMesh, materials: &[SentMaterial]) -> Result<Vec<(Primitive, SentMaterial)>> {
    let mut parts = Vec::with_capacity(mesh.groups.len());
    for group in &mesh.groups {
        let material = &materials[group.material.map_or(0, |m| m + 1)];
        if let Some(primitive) =
            Primitive::of_mesh(mesh, group.triangles.clone(), material.vertex_needs())?
        {
            parts.push((primitive, material.clone()));
        }
    }
    Ok(parts)
}

/// Converts a convex hull to a render mesh with flat faces.
fn flat_faces(hull: &PolygonSurfaceMesh) -> RenderMesh {
    let mut mesh = RenderMesh {
        positions: hull.vertices().iter().map(|v| (*v).into()).collect(),
        normals: (0..hull.num_faces()).map(|f| hull.face_normal(f)).collect(),
        ..RenderMesh::default()
    };
    for f in 0..hull.num_faces() {
        let polygon = hull.element(f).vertices();
        for edge in polygon[1..].windows(2) {
            mesh.triangles.push([polygon[0], edge[0], edge[1]]);
            mesh.triangle_normals.push([f as u32; 3]);
        }
    }
    mesh.groups.push(MaterialGroup {
        material: None,
        triangles: 0..mesh.triangles.len(),
    });
    mesh
}

/// Warns about glTF extensions that were ignored.
fn warn_of_extensions(file: &str, mesh: &RenderMesh) {
    let names = &mesh.ignored_extensions;
    if names.is_empty() {
        return;
    }
    let listed = names[..names.len().min(MOST_NAMES)].join(", ");
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    warn(format!(
        "{file}: the glTF extensions {listed}{more} are not read"
    ));
}

/// All registered visuals, in the order of registration. Copies share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Visuals(Arc<Registry>);

#[derive(Clone, Debug, Default)]
struct Registry {
    next: u64,
    numbers: BTreeMap<GeometryId, u64>,
    by_number: BTreeMap<u64, (GeometryId, Arc<Visual>)>,
}

impl Visuals {
    pub(super) fn contains(&self, id: GeometryId) -> bool {
        self.0.numbers.contains_key(&id)
    }
    pub(super) fn len(&self) -> usize {
        self.0.numbers.len()
    }
    pub(super) fn insert(&mut self, id: GeometryId, visual: Visual) {
        let registry = Arc::make_mut(&mut self.0);
        registry.numbers.insert(id, registry.next);
        registry
            .by_number
            .insert(registry.next, (id, Arc::new(visual)));
        registry.next += 1;
    }
    /// Removes a visual. Returns false if there is none with this id.
    pub(super) fn remove(&mut self, id: GeometryId) -> bool {
        if !self.contains(id) {
            return false;
        }
        let registry = Arc::make_mut(&mut self.0);
        let number = registry.numbers.remove(&id);
        number.is_some_and(|n| registry.by_number.remove(&n).is_some())
    }
    /// Visuals from the last registered to the first, the order in which Drake sends them.
    pub(super) fn last_first(&self) -> impl Iterator<Item = (GeometryId, &Visual)> {
        let entries = self.0.by_number.values().rev();
        entries.map(|(id, visual)| (*id, &**visual))
    }
}
