//! Base colours and their textures.

use super::document::Document;
use super::uri::{self, Uri};
use crate::mesh::Material;
use crate::mesh::lines::short;
use crate::rgba::Rgba;
use gltf::material::AlphaMode;
use std::path::PathBuf;
use std::sync::Arc;

/// The materials of the document, in its order.
pub(super) fn read(document: &Document<'_>) -> Vec<Material> {
    let mut images: Vec<Option<Image>> = vec![None; document.gltf.as_json().images.len()];
    let materials = document.gltf.materials();
    materials
        .map(|material| {
            let pbr = material.pbr_metallic_roughness();
            let mut read = Material {
                name: material.name().unwrap_or_default().into(),
                diffuse: Some(color(pbr.base_color_factor(), material.alpha_mode())),
                ..Material::default()
            };
            let texture = pbr.base_color_texture();
            // Textures without an image of their own were refused by the validation.
            if let Some(i) = texture.map(|t| t.texture().source().index()) {
                match images[i].get_or_insert_with(|| image(document, i)) {
                    Image::Png(png) => read.diffuse_image = Some(png.clone()),
                    Image::File(path) => read.diffuse_map = Some(path.clone()),
                    Image::Other => {}
                }
            }
            read
        })
        .collect()
}

/// The material of primitives without one.
pub(super) fn default() -> Material {
    Material {
        diffuse: Some(Rgba::WHITE),
        ..Material::default()
    }
}

/// Factors are linear, colours of an [`Rgba`] are those of the screen. The same curve as in VTK's
/// physically based shading, which is what Drake shows: factors times texture then is the same before
/// and after it. Where light is weaker than 1 we are darker, because we multiply by it after the curve
/// (as for all other colours), VTK before.
fn color([r, g, b, a]: [f32; 4], mode: AlphaMode) -> Rgba {
    let unit = |x: f32| f64::from(x).clamp(0.0, 1.0);
    let [r, g, b] = [r, g, b].map(|x| unit(x).powf(1.0 / 2.2));
    let a = match mode {
        AlphaMode::Opaque => 1.0,
        AlphaMode::Mask | AlphaMode::Blend => unit(a),
    };
    Rgba::new(r, g, b, a).unwrap_or(Rgba::WHITE)
}

#[derive(Clone, Debug)]
enum Image {
    Png(Arc<[u8]>),
    File(PathBuf),
    /// Nothing that can be shown.
    Other,
}

/// Finds an image; one that can not be used is logged and left out, as in Drake.
fn image(document: &Document<'_>, index: usize) -> Image {
    let at = document.at;
    let place = format!("images[{index}]");
    match find_image(document, index, &place) {
        Ok(image) => image,
        Err(why) => {
            tracing::warn!(
                "{}: {place} {why}; the base colour is used",
                at.0.path.display()
            );
            Image::Other
        }
    }
}

fn find_image(document: &Document<'_>, index: usize, place: &str) -> Result<Image, String> {
    let png = |bytes: &[u8]| {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Ok(Image::Png(bytes.into()))
        } else {
            Err("is not a PNG image".to_owned())
        }
    };
    // Not `gltf::Image::source`: it panics if there is neither, or no type.
    let image = &document.gltf.as_json().images[index];
    match (&image.uri, image.buffer_view) {
        (Some(uri), _) => match uri::parse(document.at, place, uri).map_err(|e| e.to_string())? {
            Uri::Data(bytes) => png(&bytes),
            Uri::File(path) => {
                let is_png = path
                    .extension()
                    .is_some_and(|e| e.eq_ignore_ascii_case("png"));
                if is_png {
                    Ok(Image::File(path))
                } else {
                    Err(format!("('{}') is not a PNG file", short(uri)))
                }
            }
        },
        (None, Some(view)) => {
            let view = document.gltf.views().nth(view.value());
            png(document.view(&view.ok_or("has no content")?)?)
        }
        (None, None) => Err("has no content".into()),
    }
}
