//! Materials of a scene, by the kind of image.

use super::json::Numbers;
use super::kind::ImageKind;
use super::texture::{ImageCache, SentTexture};
use tarragon_framework::warnings::warn;
use tarragon_geometry::mesh::{AlphaMode, Material, MetallicRoughness};
use tarragon_geometry::{RenderLabel, Rgba};

/// Exponent from display values to linear ones, that of the other engines.
const GAMMA: f64 = 2.2;

/// Extensions of materials.
const STRENGTH: &str = "KHR_materials_emissive_strength";
const UNLIT: &str = "KHR_materials_unlit";

/// Textures other than that of the base colour, each with its weight.
#[derive(Clone, Debug, Default)]
struct SentMaps {
    normal: Option<(SentTexture, f64)>,
    occlusion: Option<(SentTexture, f64)>,
    metallic_roughness: Option<SentTexture>,
    emissive: Option<SentTexture>,
    unlit: bool,
}

/// Attributes that the textures of a material need, beside the usual ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct VertexNeeds {
    pub(super) second_uvs: bool,
    pub(super) tangents: bool,
}

/// Material as it is sent.
#[derive(Clone, Debug)]
pub(super) struct SentMaterial {
    /// Colour and opacity: display values of matt materials, otherwise linear.
    base_color: [f64; 4],
    /// Reflection and use of the opacity; `None` for matt materials.
    model: Option<(MetallicRoughness, AlphaMode)>,
    texture: Option<SentTexture>,
    /// Other textures, and whether the base colour is shown as it is.
    maps: SentMaps,
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
            maps: SentMaps::default(),
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
        let mut embed = |texture| images.embed(&material.name, texture);
        let texture = material.diffuse_map.as_ref().and_then(&mut embed);
        if material.opacity_map.is_some() {
            warn(format!(
                "material '{}': the opacity map is not sent to the render server",
                material.name
            ));
        }
        let matt = Self::matt(material.diffuse.unwrap_or(Rgba::WHITE), texture);
        let Some(model) = &material.metallic_roughness else {
            return matt;
        };
        // An unlit surface shows no other texture.
        let lit = Some(model).filter(|_| !material.unlit);
        let normal = lit.and(material.normal_map.as_ref());
        let occlusion = lit.and_then(|model| model.occlusion_map.as_ref());
        let maps = SentMaps {
            normal: normal.and_then(|map| Some((embed(&map.texture)?, map.scale))),
            occlusion: occlusion.and_then(|map| Some((embed(&map.texture)?, map.strength))),
            metallic_roughness: lit
                .and_then(|model| model.map.as_ref())
                .and_then(&mut embed),
            emissive: lit
                .and_then(|model| model.emissive_map.as_ref())
                .and_then(&mut embed),
            unlit: material.unlit,
        };
        let [r, g, b, a] = matt.base_color;
        let [r, g, b] = [r, g, b].map(|c| c.powf(GAMMA));
        Self {
            base_color: [r, g, b, a],
            model: Some((model.clone(), material.alpha_mode)),
            maps,
            ..matt
        }
    }
    /// Removes the textures, because the surface has no texture coordinates.
    pub(super) fn without_textures(self) -> Self {
        let unlit = self.maps.unlit;
        Self {
            texture: None,
            maps: SentMaps {
                unlit,
                ..SentMaps::default()
            },
            ..self
        }
    }
    /// Returns all textures.
    fn textures(&self) -> impl Iterator<Item = &SentTexture> {
        let maps = &self.maps;
        let weighted = [&maps.normal, &maps.occlusion];
        let weighted = weighted.map(|map| map.as_ref().map(|(texture, _)| texture));
        let others = [&self.texture, &maps.metallic_roughness, &maps.emissive];
        let others = others.map(Option::as_ref);
        others.into_iter().chain(weighted).flatten()
    }
    /// Returns what the vertices must have in colour images.
    pub(super) fn vertex_needs(&self) -> VertexNeeds {
        VertexNeeds {
            second_uvs: self.textures().any(|texture| texture.uv_set == 1),
            tangents: self.maps.normal.is_some(),
        }
    }
    /// Returns the extensions that an image of this kind uses.
    pub(super) fn extensions(&self, kind: ImageKind) -> impl Iterator<Item = &'static str> {
        let is_color = kind == ImageKind::Color;
        let transformed = is_color && self.textures().any(SentTexture::is_transformed);
        let unlit = is_color && self.maps.unlit;
        let strong = is_color && self.emissive_strength() > 1.0;
        [
            strong.then_some(STRENGTH),
            unlit.then_some(UNLIT),
            transformed.then_some("KHR_texture_transform"),
        ]
        .into_iter()
        .flatten()
    }
    /// Returns the factor by which the emitted light exceeds 1, the limit of the format, or 1.
    fn emissive_strength(&self) -> f64 {
        let model = self.model.as_ref();
        let channels = model.into_iter().flat_map(|(model, _)| model.emissive);
        channels.fold(1.0, f64::max)
    }

    /// Returns the material as JSON; `index` returns the index of a texture.
    pub(super) fn json<'a>(
        &'a self,
        kind: ImageKind,
        label: RenderLabel,
        mut index: impl FnMut(&'a SentTexture) -> usize,
    ) -> String {
        let [red, green] = (label.value() as u16).to_le_bytes();
        let label = [f64::from(red) / 255.0, f64::from(green) / 255.0, 0.0];
        let is_color = kind == ImageKind::Color;
        // Textures are part of colour images only.
        let mut map =
            |name: &str, texture: Option<&'a SentTexture>, weight: Option<(&'static str, f64)>| {
                let texture = texture.filter(|_| is_color);
                texture.map(|t| format!(r#""{name}":{}"#, t.json(index(t), weight)))
            };
        let maps = &self.maps;
        let base = map("baseColorTexture", self.texture.as_ref(), None);
        let emissive_map = map("emissiveTexture", maps.emissive.as_ref(), None);
        let mut weighted =
            |name: &str, weight: &'static str, texture: &'a Option<(SentTexture, f64)>| {
                let (texture, value) = texture.as_ref()?;
                map(name, Some(texture), Some((weight, *value)))
            };
        let normal = weighted("normalTexture", "scale", &maps.normal);
        let occlusion = weighted("occlusionTexture", "strength", &maps.occlusion);
        let reflection = maps.metallic_roughness.as_ref();
        let reflection = map("metallicRoughnessTexture", reflection, None);

        let mut members: Vec<String> = Vec::new();
        if let (ImageKind::Color, Some((_, alpha_mode))) = (kind, &self.model) {
            members.extend(match alpha_mode {
                AlphaMode::Opaque => None,
                AlphaMode::Mask(cutoff) => {
                    Some(format!(r#""alphaCutoff":{cutoff:?},"alphaMode":"MASK""#))
                }
                AlphaMode::Blend => Some(r#""alphaMode":"BLEND""#.to_owned()),
            });
        }
        if self.has_normals {
            // The engines of this workspace draw both sides of every surface.
            members.push(r#""doubleSided":true"#.to_owned());
        }
        let emissive = match (kind, &self.model) {
            (ImageKind::Color, Some((model, _))) => {
                let strength = self.emissive_strength();
                Some(model.emissive.map(|e| e.max(0.0) / strength))
            }
            (ImageKind::Label, Some(_)) => Some(label),
            _ => None,
        };
        if let Some(emissive) = emissive.filter(|e| *e != [0.0; 3]) {
            members.push(format!(r#""emissiveFactor":{}"#, Numbers(&emissive)));
        }
        members.extend(emissive_map);
        let mut extensions = Vec::new();
        if is_color && self.emissive_strength() > 1.0 {
            extensions.push(format!(
                r#""{STRENGTH}":{{"emissiveStrength":{:?}}}"#,
                self.emissive_strength()
            ));
        }
        if is_color && maps.unlit {
            extensions.push(format!(r#""{UNLIT}":{{}}"#));
        }
        if !extensions.is_empty() {
            members.push(format!(r#""extensions":{{{}}}"#, extensions.join(",")));
        }
        if is_color && self.has_normals && self.model.is_none() {
            members.push(r#""extras":{"shading":"matt"}"#.to_owned());
        }
        members.extend([normal, occlusion].into_iter().flatten());
        let [r, g, b] = label;
        let color = match kind {
            ImageKind::Color => self.base_color,
            ImageKind::Depth => [1.0; 4],
            ImageKind::Label => [r, g, b, 1.0],
        };
        let (metallic, roughness) = match (kind, &self.model) {
            (ImageKind::Color, Some((model, _))) => (model.metallic, model.roughness),
            _ => (0.0, 1.0),
        };
        let mut pbr = vec![format!(r#""baseColorFactor":{}"#, Numbers(&color))];
        pbr.extend(base);
        pbr.push(format!(r#""metallicFactor":{metallic:?}"#));
        pbr.extend(reflection);
        pbr.push(format!(r#""roughnessFactor":{roughness:?}"#));
        members.push(format!(r#""pbrMetallicRoughness":{{{}}}"#, pbr.join(",")));
        format!("{{{}}}", members.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ImageRgb8U;
    use crate::images::io::{ImageFileFormat, ImageIo};
    use tarragon_geometry::mesh::TextureImage;

    fn none(_: &SentTexture) -> usize {
        unreachable!("the material has no texture")
    }
    fn label(value: i16) -> RenderLabel {
        RenderLabel::new(value).unwrap()
    }

    #[test]
    fn primitives_have_the_materials_of_drake() {
        let color = Rgba::new(0.1, 0.2, 0.3, 0.5).unwrap();
        let sent = SentMaterial::of_primitive(color, None);
        assert_eq!(
            sent.json(ImageKind::Color, label(300), none),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[0.1,0.2,0.3,0.5],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        assert_eq!(
            sent.json(ImageKind::Depth, label(300), none),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[1.0,1.0,1.0,1.0],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        assert_eq!(
            sent.json(ImageKind::Label, label(300), none),
            r#"{"pbrMetallicRoughness":{"baseColorFactor":[0.17254901960784313,0.00392156862745098,0.0,1.0],"metallicFactor":0.0,"roughnessFactor":1.0}}"#
        );
        let reserved = sent.json(ImageKind::Label, RenderLabel::DONT_CARE, none);
        assert!(
            reserved.contains("[0.9882352941176471,0.4980392156862745,0.0,1.0]"),
            "{reserved}"
        );
    }

    #[test]
    fn gltf_materials_are_physically_based_and_matt_meshes_say_so() {
        let half = Rgba::new(0.5, 1.0, 0.0, 0.25).unwrap();
        let png = ImageIo::new().save_to_buffer(&ImageRgb8U::new(1, 1), ImageFileFormat::Png);
        let pbr = Material {
            diffuse: Some(half),
            diffuse_map: Some(TextureImage::Content(png.unwrap().into()).into()),
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
            sent.json(ImageKind::Color, label(258), |_| 3),
            format!(
                r#"{{"alphaCutoff":0.25,"alphaMode":"MASK","doubleSided":true,"emissiveFactor":[0.1,0.0,0.0],"pbrMetallicRoughness":{{"baseColorFactor":[{linear:?},1.0,0.0,0.25],"baseColorTexture":{{"index":3,"texCoord":0}},"metallicFactor":0.3,"roughnessFactor":0.4}}}}"#
            )
        );
        let as_label = sent.json(ImageKind::Label, label(258), none);
        assert!(
            as_label.contains(r#""emissiveFactor":[0.00784313725490196,0.00392156862745098,0.0]"#),
            "{as_label}"
        );
        assert!(!as_label.contains("alpha") && as_label.contains(r#""metallicFactor":0.0"#));
        let depth = sent.json(ImageKind::Depth, label(258), none);
        assert!(
            !depth.contains("alpha") && !depth.contains("emissive"),
            "{depth}"
        );
        let matt = SentMaterial::matt(half, None);
        let color = matt.json(ImageKind::Color, label(1), none);
        assert!(
            color.starts_with(r#"{"doubleSided":true,"extras":{"shading":"matt"},"pbr"#),
            "{color}"
        );
        assert!(
            !matt
                .json(ImageKind::Label, label(1), none)
                .contains("extras")
        );
    }
}
