//! Materials of the metallic-roughness model and their textures.

use super::document::GltfDocument;
use super::texture_transform::{self, TextureTransform};
use super::uri::{self, Uri};
use crate::error::short;
use crate::mesh::{
    AlphaMode, Material, MetallicRoughness, NormalMap, OcclusionMap, Texture, TextureImage, Wrap,
};
use crate::rgba::Rgba;
use gltf::json;
use gltf::json::validation::Checked;
use gltf::material::AlphaMode as Mode;
use gltf::texture::WrappingMode;
use tarragon_framework::warnings::warn;

/// Upper limit of the strength of emitted light: brighter than any exposure shows, and far from
/// overflow.
const MOST_STRENGTH: f64 = 1e6;

/// Materials of a document, in its order.
#[derive(Clone, Default)]
pub(super) struct GltfMaterials {
    pub(super) materials: Vec<Material>,
    /// By material, the numbers of the sets of texture coordinates (`TEXCOORD_n`) that are its
    /// first and second set.
    uv_sets: Vec<Vec<u32>>,
}

impl GltfMaterials {
    /// Reads the materials of the document.
    pub(super) fn read(document: &GltfDocument<'_>) -> Self {
        let mut images = Images {
            document,
            known: vec![None; document.gltf.as_json().images.len()],
        };
        let materials = &document.gltf.as_json().materials;
        let read = materials.iter().enumerate();
        let read = read.map(|(m, material)| images.material(m, material));
        let (materials, uv_sets) = read.unzip();
        Self { materials, uv_sets }
    }
    /// Returns the numbers of the first set of texture coordinates of a material, and of the second
    /// one if a texture uses it.
    pub(super) fn uv_sets(&self, material: Option<usize>) -> (u32, Option<u32>) {
        let sets = material.and_then(|m| self.uv_sets.get(m));
        let sets = sets.map_or(&[][..], |sets| sets);
        (sets.first().copied().unwrap_or(0), sets.get(1).copied())
    }
    /// Returns true if a material has a normal map.
    pub(super) fn has_normal_map(&self, material: Option<usize>) -> bool {
        let material = material.and_then(|m| self.materials.get(m));
        material.is_some_and(|m| m.normal_map.is_some())
    }
}

/// Reference of a material to a texture.
struct TextureReference<'a> {
    texture: usize,
    uv_set: u32,
    transform: Option<&'a json::Value>,
}

/// Returns a reference. A macro, because the format has three types with these members.
macro_rules! reference {
    ($info:expr) => {
        TextureReference {
            texture: $info.index.value(),
            uv_set: $info.tex_coord,
            transform: ($info.extensions.as_ref())
                .and_then(|e| e.others.get(texture_transform::NAME)),
        }
    };
}

/// Images of the document, each read once: `Some(None)` is unusable.
struct Images<'a> {
    document: &'a GltfDocument<'a>,
    known: Vec<Option<Option<TextureImage>>>,
}

impl Images<'_> {
    /// Reads a material. Returns its sets of texture coordinates, too.
    fn material(&mut self, m: usize, material: &json::Material) -> (Material, Vec<u32>) {
        let pbr = &material.pbr_metallic_roughness;
        let unit = |x: f32| f64::from(x).clamp(0.0, 1.0);
        let mut sets = Vec::new();
        let mut read = |name: &str, reference: TextureReference<'_>| {
            self.texture(&format!("materials[{m}].{name}"), &reference, &mut sets)
        };
        let base = pbr.base_color_texture.as_ref();
        // The first texture decides on the first set of coordinates.
        let diffuse_map = base.and_then(|info| read("baseColorTexture", reference!(info)));
        let normal = material.normal_texture.as_ref();
        let normal_map = normal.and_then(|normal| {
            Some(NormalMap {
                texture: read("normalTexture", reference!(normal))?,
                scale: f64::from(normal.scale),
            })
        });
        let occlusion = material.occlusion_texture.as_ref();
        let occlusion_map = occlusion.and_then(|occlusion| {
            Some(OcclusionMap {
                texture: read("occlusionTexture", reference!(occlusion))?,
                strength: unit(occlusion.strength.0),
            })
        });
        let map = pbr.metallic_roughness_texture.as_ref();
        let map = map.and_then(|info| read("metallicRoughnessTexture", reference!(info)));
        let emissive_map = material.emissive_texture.as_ref();
        let emissive_map = emissive_map.and_then(|info| read("emissiveTexture", reference!(info)));
        let alpha_mode = match material.alpha_mode {
            Checked::Valid(mode) => mode,
            // Validation has refused other names.
            Checked::Invalid => Mode::Opaque,
        };
        let extensions = material.extensions.as_ref().map(|e| &e.others);
        let emission = extensions.and_then(|e| e.get("KHR_materials_emissive_strength"));
        let strength = emission.and_then(|e| e.get("emissiveStrength"));
        let strength = strength.and_then(json::Value::as_f64).unwrap_or(1.0);
        let strength = strength.clamp(0.0, MOST_STRENGTH);
        let cutoff = material.alpha_cutoff.map_or(0.5, |cutoff| cutoff.0);
        let material = Material {
            name: material.name.clone().unwrap_or_default(),
            diffuse: Some(color(pbr.base_color_factor.0, alpha_mode)),
            diffuse_map,
            opacity_map: None,
            normal_map,
            alpha_mode: match alpha_mode {
                Mode::Opaque => AlphaMode::Opaque,
                Mode::Blend => AlphaMode::Blend,
                Mode::Mask => AlphaMode::Mask(f64::from(cutoff)),
            },
            metallic_roughness: Some(MetallicRoughness {
                metallic: unit(pbr.metallic_factor.0),
                roughness: unit(pbr.roughness_factor.0),
                emissive: material.emissive_factor.0.map(|x| unit(x) * strength),
                map,
                occlusion_map,
                emissive_map,
            }),
            unlit: extensions.is_some_and(|e| e.contains_key("KHR_materials_unlit")),
        };
        (material, sets)
    }

    /// Reads a texture. `sets` are the sets of texture coordinates that the material uses so far.
    /// An unusable texture is left out with a warning, as in Drake.
    fn texture(
        &mut self,
        place: &str,
        reference: &TextureReference<'_>,
        sets: &mut Vec<u32>,
    ) -> Option<Texture> {
        let left_out = |why: String| {
            let file = self.document.at.0.path.display();
            warn(format!("{file}: {place} {why}; it is left out"));
        };
        let transform = match TextureTransform::read(reference.transform) {
            Ok(transform) => transform,
            Err(why) => {
                left_out(why);
                return None;
            }
        };
        let set = transform.uv_set.unwrap_or(reference.uv_set);
        let known = sets.iter().position(|s| *s == set);
        if known.is_none() && sets.len() == 2 {
            left_out(format!(
                "uses the texture coordinates TEXCOORD_{set}, but the textures of a material may use \
                two sets of them, here TEXCOORD_{} and TEXCOORD_{}",
                sets[0], sets[1]
            ));
            return None;
        }
        let json = self.document.gltf.as_json();
        // Validation has refused indices of nothing.
        let texture = json.textures.get(reference.texture)?;
        let sampler = texture.sampler.and_then(|s| json.samplers.get(s.value()));
        let wrap = |mode: Option<Checked<WrappingMode>>| match mode {
            Some(Checked::Valid(WrappingMode::MirroredRepeat)) => Wrap::MirroredRepeat,
            Some(Checked::Valid(WrappingMode::ClampToEdge)) => Wrap::ClampToEdge,
            Some(Checked::Valid(WrappingMode::Repeat) | Checked::Invalid) | None => Wrap::Repeat,
        };
        let i = texture.source.value();
        let document = self.document;
        let image = self.known.get_mut(i)?;
        let image = image.get_or_insert_with(|| image_of(document, i)).clone()?;
        let uv_set = known.unwrap_or_else(|| {
            sets.push(set);
            sets.len() - 1
        });
        Some(Texture {
            image,
            wrap: [
                wrap(sampler.map(|s| s.wrap_s)),
                wrap(sampler.map(|s| s.wrap_t)),
            ],
            uv_set,
            uv_transform: transform.matrix,
        })
    }
}

/// Returns the material of primitives without one, as in VTK: white plastic. (The default of the
/// format would be a rough metal.)
pub(super) fn default() -> Material {
    Material {
        diffuse: Some(Rgba::WHITE),
        alpha_mode: AlphaMode::Opaque,
        metallic_roughness: Some(MetallicRoughness {
            metallic: 0.0,
            roughness: 0.5,
            ..MetallicRoughness::default()
        }),
        ..Material::default()
    }
}

/// Converts a linear factor to the display values of an [`Rgba`], with the same curve as VTK's
/// physically based shading, which Drake uses.
fn color([r, g, b, a]: [f32; 4], mode: Mode) -> Rgba {
    let unit = |x: f32| f64::from(x).clamp(0.0, 1.0);
    let [r, g, b] = [r, g, b].map(|x| unit(x).powf(1.0 / 2.2));
    let a = match mode {
        Mode::Opaque => 1.0,
        Mode::Mask | Mode::Blend => unit(a),
    };
    Rgba::new(r, g, b, a).unwrap_or(Rgba::WHITE)
}

/// Finds an image. An unusable one is logged and left out, as in Drake.
fn image_of(document: &GltfDocument<'_>, index: usize) -> Option<TextureImage> {
    let at = document.at;
    let place = format!("images[{index}]");
    let found = find_image(document, index, &place);
    if let Err(why) = &found {
        let file = at.0.path.display();
        warn(format!("{file}: {place} {why}; it is left out"));
    }
    found.ok()
}

fn find_image(
    document: &GltfDocument<'_>,
    index: usize,
    place: &str,
) -> Result<TextureImage, String> {
    let content = |bytes: &[u8]| {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") || bytes.starts_with(b"\xff\xd8\xff") {
            Ok(TextureImage::Content(bytes.into()))
        } else if bytes.starts_with(b"\xabKTX 20\xbb") {
            Err("must be a PNG or JPEG image, got KTX2, which is not supported".to_owned())
        } else {
            Err("must be a PNG or JPEG image, got another format".to_owned())
        }
    };
    // `gltf::Image::source` would panic without a URI or view, or without a type.
    let image = &document.gltf.as_json().images[index];
    match (&image.uri, image.buffer_view) {
        (Some(uri), _) => match uri::parse(document.at, place, uri).map_err(|e| e.to_string())? {
            Uri::Data(bytes) => content(&bytes),
            Uri::File(path) => {
                let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
                match extension.to_str() {
                    Some("png" | "jpg" | "jpeg") => Ok(TextureImage::File(path)),
                    _ => Err(format!(
                        "('{}') must be a PNG or JPEG file; other formats, such as KTX2, are not \
                        supported",
                        short(uri)
                    )),
                }
            }
        },
        (None, Some(view)) => {
            let view = document.gltf.views().nth(view.value());
            content(document.view(&view.ok_or("has no content")?)?)
        }
        (None, None) => Err("has no content".into()),
    }
}
