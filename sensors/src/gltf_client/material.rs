//! Materials of a scene, by the kind of image.

use super::buffer::Buffer;
use super::json::Numbers;
use super::kind::ImageKind;
use crate::images::io::{ImageFileFormat, ImageIo};
use crate::{Error, Result};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::{
    AlphaMode, Material, MetallicRoughness, Texture, TextureImage, Wrap,
};
use tarragon_geometry::{RenderLabel, Rgba};

/// Exponent from display values to linear ones, that of the other engines.
const GAMMA: f64 = 2.2;

/// Image file as it is sent.
#[derive(Debug)]
pub(super) struct EmbeddedImage {
    pub(super) mime_type: &'static str,
    pub(super) buffer: Buffer,
}

impl EmbeddedImage {
    /// Reads an image file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::of_content(&path.display().to_string(), &bytes)
    }
    /// Embeds the content of an image file; `name` is for messages.
    fn of_content(name: &str, bytes: &[u8]) -> Result<Self> {
        let metadata = ImageIo::new().metadata_of_buffer(bytes);
        let mime_type = match metadata.map(|m| m.format) {
            Ok(ImageFileFormat::Png) => "image/png",
            Ok(ImageFileFormat::Jpeg) => "image/jpeg",
            Ok(found) => {
                return Err(Error::unsupported(format!(
                    "image {name}: textures must be PNG or JPEG to be sent, got {found}"
                )));
            }
            Err(error) => return Err(error.at(format!("image {name}"))),
        };
        Ok(Self {
            mime_type,
            buffer: Buffer::of_bytes(bytes),
        })
    }
}

/// Embedded image with its wrapping modes in u and in v.
#[derive(Clone, Debug)]
pub(super) struct SentTexture {
    pub(super) image: Arc<EmbeddedImage>,
    pub(super) wrap: [Wrap; 2],
}

/// Images of a mesh that have been embedded, or could not be.
#[derive(Debug, Default)]
pub(super) struct ImageCache(Vec<(TextureImage, Option<Arc<EmbeddedImage>>)>);

impl ImageCache {
    /// Embeds the texture of a material, once per image. A texture that cannot be read causes a
    /// warning, and the diffuse colour is used instead.
    fn embed(&mut self, material: &str, texture: &Texture) -> Option<SentTexture> {
        let known = self.0.iter().find(|(image, _)| *image == texture.image);
        let image = match known {
            Some((_, image)) => image.clone(),
            None => {
                let read = match &texture.image {
                    TextureImage::File(path) => EmbeddedImage::read(path),
                    TextureImage::Content(bytes) => {
                        EmbeddedImage::of_content(&format!("of '{material}'"), bytes)
                    }
                };
                let image = or_warn(read).map(Arc::new);
                self.0.push((texture.image.clone(), image.clone()));
                image
            }
        };
        image.map(|image| SentTexture {
            image,
            wrap: texture.wrap,
        })
    }
}

/// Turns an error into a warning.
pub(super) fn or_warn(image: Result<EmbeddedImage>) -> Option<EmbeddedImage> {
    match image {
        Ok(image) => Some(image),
        Err(e) => {
            warn(format!("{e}; the diffuse colour is used instead"));
            None
        }
    }
}

/// Material as it is sent.
#[derive(Clone, Debug)]
pub(super) struct SentMaterial {
    /// Colour and opacity: display values of matt materials, otherwise linear.
    base_color: [f64; 4],
    /// Reflection and use of the opacity; `None` for matt materials.
    model: Option<(MetallicRoughness, AlphaMode)>,
    texture: Option<SentTexture>,
    /// Whether the surface has normals: it is a mesh, not a primitive.
    has_normals: bool,
}

impl SentMaterial {
    /// Creates the material of a primitive.
    pub(super) fn of_primitive(color: Rgba, texture: Option<SentTexture>) -> Self {
        Self {
            base_color: color.rgba(),
            model: None,
            texture,
            has_normals: false,
        }
    }
    /// Creates the matt material of a mesh.
    pub(super) fn matt(color: Rgba, texture: Option<SentTexture>) -> Self {
        Self {
            has_normals: true,
            ..Self::of_primitive(color, texture)
        }
    }
    /// Creates a material from that of a mesh file.
    pub(super) fn of(material: &Material, images: &mut ImageCache) -> Self {
        let texture = material.diffuse_map.as_ref();
        let texture = texture.and_then(|t| images.embed(&material.name, t));
        if material.opacity_map.is_some() {
            warn(format!(
                "material '{}': the opacity map is not sent to the render server",
                material.name
            ));
        }
        let matt = Self::matt(material.diffuse.unwrap_or(Rgba::WHITE), texture);
        let Some(model) = material.metallic_roughness.clone() else {
            return matt;
        };
        let [r, g, b, a] = matt.base_color;
        let [r, g, b] = [r, g, b].map(|c| c.powf(GAMMA));
        Self {
            base_color: [r, g, b, a],
            model: Some((model, material.alpha_mode)),
            ..matt
        }
    }
    /// Removes the texture, because the surface has no texture coordinates.
    pub(super) fn without_texture(self) -> Self {
        Self {
            texture: None,
            ..self
        }
    }
    /// Returns the texture that is part of an image of this kind.
    pub(super) fn texture(&self, kind: ImageKind) -> Option<&SentTexture> {
        self.texture.as_ref().filter(|_| kind == ImageKind::Color)
    }

    /// Returns the material as JSON; `texture` is the index of its texture, if it has one.
    pub(super) fn json(
        &self,
        kind: ImageKind,
        label: RenderLabel,
        texture: Option<usize>,
    ) -> String {
        let [red, green] = (label.value() as u16).to_le_bytes();
        let label = [f64::from(red) / 255.0, f64::from(green) / 255.0, 0.0];
        let mut json = String::from("{");
        if let (ImageKind::Color, Some((_, alpha_mode))) = (kind, &self.model) {
            json += &match alpha_mode {
                AlphaMode::Opaque => String::new(),
                AlphaMode::Mask(cutoff) => {
                    format!(r#""alphaCutoff":{cutoff:?},"alphaMode":"MASK","#)
                }
                AlphaMode::Blend => r#""alphaMode":"BLEND","#.to_owned(),
            };
        }
        if self.has_normals {
            // The engines of this workspace draw both sides of every surface.
            json += r#""doubleSided":true,"#;
        }
        let emissive = match (kind, &self.model) {
            (ImageKind::Color, Some((model, _))) => Some(model.emissive.map(|e| e.clamp(0.0, 1.0))),
            (ImageKind::Label, Some(_)) => Some(label),
            _ => None,
        };
        if let Some(emissive) = emissive.filter(|e| *e != [0.0; 3]) {
            let _ = write!(json, r#""emissiveFactor":{},"#, Numbers(&emissive));
        }
        if kind == ImageKind::Color && self.has_normals && self.model.is_none() {
            json += r#""extras":{"shading":"matt"},"#;
        }
        let [r, g, b] = label;
        let color = match kind {
            ImageKind::Color => self.base_color,
            ImageKind::Depth => [1.0; 4],
            ImageKind::Label => [r, g, b, 1.0],
        };
        let _ = write!(
            json,
            r#""pbrMetallicRoughness":{{"baseColorFactor":{}"#,
            Numbers(&color)
        );
        if let Some(texture) = texture {
            let _ = write!(
                json,
                r#","baseColorTexture":{{"index":{texture},"texCoord":0}}"#
            );
        }
        let (metallic, roughness) = match (kind, &self.model) {
            (ImageKind::Color, Some((model, _))) => (model.metallic, model.roughness),
            _ => (0.0, 1.0),
        };
        let _ = write!(
            json,
            r#","metallicFactor":{metallic:?},"roughnessFactor":{roughness:?}}}}}"#
        );
        json
    }
}

/// Returns glTF's number of a wrapping mode.
pub(super) fn wrap_number(wrap: Wrap) -> u16 {
    match wrap {
        Wrap::Repeat => 10497,
        Wrap::MirroredRepeat => 33648,
        Wrap::ClampToEdge => 33071,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(value: i16) -> RenderLabel {
        RenderLabel::new(value).unwrap()
    }

    #[test]
    fn primitives_have_the_materials_of_drake() {
        let color = Rgba::new(0.1, 0.2, 0.3, 0.5).unwrap();
        let sent = SentMaterial::of_primitive(color, None);
        assert_eq!(
            sent.json(ImageKind::Color, label(300), None),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,0.5],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        assert_eq!(
            sent.json(ImageKind::Depth, label(300), None),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[1.0,1.0,1.0,1.0],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        assert_eq!(
            sent.json(ImageKind::Label, label(300), None),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[0.17254901960784313,0.00392156862745098,0.0,1.0],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        let reserved = sent.json(ImageKind::Label, RenderLabel::DONT_CARE, None);
        assert!(
            reserved.contains("[0.9882352941176471,0.4980392156862745,0.0,1.0]"),
            "{reserved}"
        );
    }

    #[test]
    fn gltf_materials_are_physically_based_and_matt_meshes_say_so() {
        let half = Rgba::new(0.5, 1.0, 0.0, 0.25).unwrap();
        let pbr = Material {
            diffuse: Some(half),
            alpha_mode: AlphaMode::Mask(0.25),
            metallic_roughness: Some(MetallicRoughness {
                metallic: 0.3,
                roughness: 0.4,
                emissive: [0.1, 0.0, 0.0],
                ..MetallicRoughness::default()
            }),
            ..Material::default()
        };
        let sent = SentMaterial::of(&pbr, &mut ImageCache::default());
        let linear = 0.5f64.powf(2.2);
        assert_eq!(
            sent.json(ImageKind::Color, label(258), Some(3)),
            format!(
                r#"{{"alphaCutoff":0.25,"alphaMode":"MASK","doubleSided":true,"emissiveFactor":[0.1,0.0,0.0],"pbrMetallicRoughness":{{"baseColorFactor":[{linear:?},1.0,0.0,0.25],"baseColorTexture":{{"index":3,"texCoord":0}},"metallicFactor":0.3,"roughnessFactor":0.4}}}}"#
            )
        );
        let as_label = sent.json(ImageKind::Label, label(258), None);
        assert!(
            as_label.contains(r#""emissiveFactor":[0.00784313725490196,0.00392156862745098,0.0]"#),
            "{as_label}"
        );
        assert!(!as_label.contains("alpha") && as_label.contains(r#""metallicFactor":0.0"#));
        let depth = sent.json(ImageKind::Depth, label(258), None);
        assert!(
            !depth.contains("alpha") && !depth.contains("emissive"),
            "{depth}"
        );
        let matt = SentMaterial::matt(half, None);
        let color = matt.json(ImageKind::Color, label(1), None);
        assert!(
            color.starts_with(r#"{"doubleSided":true,"extras":{"shading":"matt"},"pbr"#),
            "{color}"
        );
        assert!(
            !matt
                .json(ImageKind::Label, label(1), None)
                .contains("extras")
        );
    }
}
