//! Meshes and shapes of parts that no earlier request had.

use super::document::without_nulls;
use super::{Look, Part, normals, primitive};
use crate::refusal::Refusal;
use std::path::Path;
use tarragon_geometry::mesh::{Material, RenderMesh, Texture, TextureImage, parse_gltf_primitives};
use tarragon_geometry::render::RenderEngine;
use tarragon_geometry::{GeometryId, PerceptionProperties, RenderLabel, Rgba, Shape};
use tarragon_sensors::ImageIo;

/// Memory of a vertex, a triangle and a texel in a render engine (bytes, estimated).
const VERTEX_BYTES: usize = 64;
const TRIANGLE_BYTES: usize = 192;
const TEXEL_BYTES: usize = 22;
/// Maximum number of pixels of all textures of a part.
const MOST_TEXELS: usize = 1 << 26;

/// A part ready to be registered with an engine.
#[derive(Debug)]
pub(crate) struct Drawable {
    form: DrawnForm,
    properties: PerceptionProperties,
    /// Memory that it needs (bytes, estimated).
    pub(crate) bytes: u64,
}

#[derive(Debug)]
enum DrawnForm {
    Shape(Shape),
    Mesh(Box<RenderMesh>),
}

impl Drawable {
    /// Reads the buffers and images of some parts of a document.
    pub(crate) fn read(
        document: &[u8],
        parts: &[&Part],
        exact_primitives: bool,
    ) -> Result<Vec<Self>, Refusal> {
        let places: Vec<_> = parts.iter().map(|part| part.place).collect();
        let document = without_nulls(document);
        let meshes = parse_gltf_primitives(Path::new("scene"), &document, &places)?;
        let both = parts.iter().zip(meshes);
        both.map(|(part, mesh)| Self::new(part, mesh, exact_primitives))
            .collect()
    }

    fn new(part: &Part, mut mesh: RenderMesh, exact_primitives: bool) -> Result<Self, Refusal> {
        let [r, g, b, a] = part.base_color;
        let color = Rgba::new(r, g, b, a)?;
        let label = match part.key.look {
            Look::Label(label) => label,
            Look::Matt | Look::MetallicRoughness | Look::None => RenderLabel::DONT_CARE,
        };
        match part.key.look {
            Look::Matt => make_matt(&mut mesh, color),
            Look::MetallicRoughness => {}
            Look::None | Look::Label(_) => {
                mesh.materials.clear();
                mesh.colors.clear();
                mesh.groups.iter_mut().for_each(|g| g.material = None);
            }
        }
        let is_textured = mesh.materials.iter().any(|m| m.diffuse_map.is_some());
        let is_plain = part.key.lacks_normals && !is_textured && part.stretch.is_none();
        let exact = (exact_primitives && is_plain)
            .then(|| primitive::recognize(&mesh))
            .flatten();
        let properties = match mesh.materials.first().and_then(|m| m.diffuse) {
            Some(color) => PerceptionProperties::phong(color),
            None => PerceptionProperties::new(),
        };
        let properties = properties.with_label(label);
        if let Some(shape) = exact {
            return Ok(Self {
                form: DrawnForm::Shape(shape),
                properties,
                bytes: 0,
            });
        }
        if part.key.lacks_normals {
            normals::restore_normals(&mut mesh);
        }
        if let Some(stretch) = &part.stretch {
            mesh = mesh.transformed(stretch);
        }
        Ok(Self {
            bytes: bytes(&mesh)?,
            form: DrawnForm::Mesh(Box::new(mesh)),
            properties,
        })
    }

    /// Registers the part.
    pub(crate) fn register(
        &self,
        engine: &mut dyn RenderEngine,
        id: GeometryId,
    ) -> Result<(), Refusal> {
        match &self.form {
            DrawnForm::Shape(shape) => engine.register_visual(id, shape, &self.properties)?,
            DrawnForm::Mesh(mesh) => engine.register_mesh(id, mesh, &self.properties)?,
        };
        Ok(())
    }
}

/// Replaces a metallic-roughness material, whose colour Drake wrote as a screen colour.
fn make_matt(mesh: &mut RenderMesh, color: Rgba) {
    for material in &mut mesh.materials {
        // Opaque materials keep their opacity of 1.
        let alpha = material.diffuse.map_or(1.0, |c| c.a());
        let shown = Rgba::new(color.r(), color.g(), color.b(), alpha).unwrap_or(color);
        *material = Material {
            diffuse: Some(shown),
            metallic_roughness: None,
            normal_map: None,
            unlit: false,
            ..std::mem::take(material)
        };
    }
}

/// Returns the memory that a mesh and its textures need in an engine (bytes, estimated).
fn bytes(mesh: &RenderMesh) -> Result<u64, Refusal> {
    // Engines keep equal images once.
    let mut maps: Vec<&Texture> = Vec::new();
    for map in mesh.materials.iter().flat_map(Material::textures) {
        let is_same = |known: &&Texture| known.image == map.image && known.wrap == map.wrap;
        if !maps.iter().any(is_same) {
            maps.push(map);
        }
    }
    let sizes = maps.iter().map(|map| match &map.image {
        TextureImage::Content(bytes) => ImageIo::new()
            .load_metadata_from_buffer(bytes)
            .map_or(0, |image| image.width.saturating_mul(image.height)),
        TextureImage::File(_) => 0,
    });
    let texels: usize = sizes.fold(0, usize::saturating_add);
    if texels > MOST_TEXELS {
        return Err(Refusal::too_large(format!(
            "scene: the textures of a mesh must have at most {MOST_TEXELS} pixels, got {texels}"
        )));
    }
    let vertices = mesh.positions.len() * VERTEX_BYTES;
    Ok((vertices + mesh.triangles.len() * TRIANGLE_BYTES + texels * TEXEL_BYTES) as u64)
}
