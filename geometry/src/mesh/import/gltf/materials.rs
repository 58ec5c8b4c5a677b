//! Materials of the metallic-roughness model: base colour with texture, metalness, roughness,
//! emission.

use super::document::GltfDocument;
use super::uri::{self, Uri};
use crate::error::short;
use crate::mesh::{AlphaMode, Material, MetallicRoughness, Texture, TextureImage, Wrap};
use crate::rgba::Rgba;
use gltf::material::AlphaMode as Mode;
use gltf::texture::WrappingMode;
use tarragon_framework::warnings::warn;

/// The materials of the document, in its order.
pub(super) fn read(document: &GltfDocument<'_>) -> Vec<Material> {
    let mut images: Vec<Option<Option<TextureImage>>> =
        vec![None; document.gltf.as_json().images.len()];
    let materials = document.gltf.materials();
    materials
        .map(|material| {
            let pbr = material.pbr_metallic_roughness();
            let unit = |x: f32| f64::from(x).clamp(0.0, 1.0);
            let mut read = Material {
                name: material.name().unwrap_or_default().into(),
                diffuse: Some(color(pbr.base_color_factor(), material.alpha_mode())),
                alpha_mode: match material.alpha_mode() {
                    Mode::Opaque => AlphaMode::Opaque,
                    Mode::Blend => AlphaMode::Blend,
                    Mode::Mask => {
                        AlphaMode::Mask(f64::from(material.alpha_cutoff().unwrap_or(0.5)))
                    }
                },
                metallic_roughness: Some(MetallicRoughness {
                    metallic: unit(pbr.metallic_factor()),
                    roughness: unit(pbr.roughness_factor()),
                    emissive: material.emissive_factor().map(unit),
                }),
                ..Material::default()
            };
            // Textures without an image of their own were refused by the validation.
            if let Some(texture) = pbr.base_color_texture().map(|info| info.texture()) {
                let i = texture.source().index();
                let sampler = texture.sampler();
                let image = images[i].get_or_insert_with(|| image(document, i));
                read.diffuse_map = image.clone().map(|image| Texture {
                    image,
                    wrap: [sampler.wrap_s(), sampler.wrap_t()].map(|mode| match mode {
                        WrappingMode::Repeat => Wrap::Repeat,
                        WrappingMode::MirroredRepeat => Wrap::MirroredRepeat,
                        WrappingMode::ClampToEdge => Wrap::ClampToEdge,
                    }),
                });
            }
            read
        })
        .collect()
}

/// The material of primitives without one, as VTK has it: white plastic. (The format's own default
/// would be a rough metal.)
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

/// Factors are linear, colours of an [`Rgba`] are those of the screen: the same curve as in VTK's
/// physically based shading, which is what Drake shows.
fn color([r, g, b, a]: [f32; 4], mode: Mode) -> Rgba {
    let unit = |x: f32| f64::from(x).clamp(0.0, 1.0);
    let [r, g, b] = [r, g, b].map(|x| unit(x).powf(1.0 / 2.2));
    let a = match mode {
        Mode::Opaque => 1.0,
        Mode::Mask | Mode::Blend => unit(a),
    };
    Rgba::new(r, g, b, a).unwrap_or(Rgba::WHITE)
}

/// Finds an image; one that can not be used is logged and left out, as in Drake.
fn image(document: &GltfDocument<'_>, index: usize) -> Option<TextureImage> {
    let at = document.at;
    let place = format!("images[{index}]");
    let found = find_image(document, index, &place);
    if let Err(why) = &found {
        let file = at.0.path.display();
        warn(format!("{file}: {place} {why}; the base colour is used"));
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
            Err("is a KTX2 image, which is not supported; PNG or JPEG is expected".to_owned())
        } else {
            Err("is neither a PNG nor a JPEG image".to_owned())
        }
    };
    // Not `gltf::Image::source`: it panics if there is neither, or no type.
    let image = &document.gltf.as_json().images[index];
    match (&image.uri, image.buffer_view) {
        (Some(uri), _) => match uri::parse(document.at, place, uri).map_err(|e| e.to_string())? {
            Uri::Data(bytes) => content(&bytes),
            Uri::File(path) => {
                let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
                match extension.to_str() {
                    Some("png" | "jpg" | "jpeg") => Ok(TextureImage::File(path)),
                    _ => Err(format!(
                        "('{}') is neither a PNG nor a JPEG file; others, KTX2 among them, are not \
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
