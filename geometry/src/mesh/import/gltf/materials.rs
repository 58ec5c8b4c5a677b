//! Materials of the metallic-roughness model: base colour with texture, metalness, roughness and
//! emission.

use super::document::GltfDocument;
use super::uri::{self, Uri};
use crate::error::short;
use crate::mesh::{AlphaMode, Material, MetallicRoughness, Texture, TextureImage, Wrap};
use crate::rgba::Rgba;
use gltf::material::AlphaMode as Mode;
use gltf::texture::WrappingMode;
use tarragon_framework::warnings::warn;

/// Reads the materials of the document, in its order.
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
            // Validation has refused textures without an image.
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
