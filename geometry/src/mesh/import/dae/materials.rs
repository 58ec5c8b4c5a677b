//! Materials of a Collada document.

use super::document::{DaeDocument, child, children, words};
use crate::error::short;
use crate::mesh::FileSource;
use crate::mesh::import::origin::percent;
use crate::mesh::{Material, Texture, TextureImage, Wrap};
use crate::rgba::Rgba;
use roxmltree::{Node, NodeId};
use std::collections::HashMap;
use tarragon_framework::warnings::warn;

/// DaeMaterials, read when a primitive uses them.
pub(super) struct DaeMaterials<'d, 'x> {
    document: &'d DaeDocument<'x>,
    read: Vec<Material>,
    /// Index in `read` of each material element.
    known: HashMap<NodeId, usize>,
    /// Results of [`Self::bound`].
    bindings: HashMap<(NodeId, &'x str), Option<usize>>,
}

impl<'d, 'x> DaeMaterials<'d, 'x> {
    pub(super) fn new(document: &'d DaeDocument<'x>) -> Self {
        Self {
            document,
            read: vec![],
            known: HashMap::new(),
            bindings: HashMap::new(),
        }
    }

    pub(super) fn into_materials(self) -> Vec<Material> {
        self.read
    }

    /// Returns the material that an instance of a geometry binds to a symbol. Errors in materials
    /// are only logged, because the geometry can be shown without them.
    pub(super) fn bound(&mut self, instance: Node<'x, 'x>, symbol: &'x str) -> Option<usize> {
        let key = (instance.id(), symbol);
        if let Some(bound) = self.bindings.get(&key) {
            return *bound;
        }
        let bound = self.find(instance, symbol);
        self.bindings.insert(key, bound);
        bound
    }

    fn find(&mut self, instance: Node<'x, 'x>, symbol: &str) -> Option<usize> {
        let bindings = child(instance, &["bind_material", "technique_common"]);
        let mut bindings = bindings
            .into_iter()
            .flat_map(|b| children(b, "instance_material"));
        let material = match bindings.find(|b| b.attribute("symbol") == Some(symbol)) {
            Some(binding) => match self.document.referred(binding, "target", &["material"]) {
                Ok(material) => material,
                Err(error) => {
                    warn(error.to_string());
                    return None;
                }
            },
            // Some exporters write the id instead of binding a symbol.
            None => self.document.with_id(symbol, "material")?,
        };
        if let Some(known) = self.known.get(&material.id()) {
            return Some(*known);
        }
        self.read.push(self.material(material));
        self.known.insert(material.id(), self.read.len() - 1);
        Some(self.read.len() - 1)
    }

    fn material(&self, material: Node<'x, 'x>) -> Material {
        let name = material.attribute("name").or(material.attribute("id"));
        let plain = Material {
            name: name.unwrap_or_default().into(),
            ..Material::default()
        };
        let Some(instance) = child(material, &["instance_effect"]) else {
            return plain;
        };
        match self.document.referred(instance, "url", &["effect"]) {
            Ok(effect) => self.effect(effect, plain),
            Err(error) => {
                warn(error.to_string());
                plain
            }
        }
    }

    fn effect(&self, effect: Node<'x, 'x>, plain: Material) -> Material {
        let profile = child(effect, &["profile_COMMON"]);
        let shading = profile
            .and_then(|p| child(p, &["technique"]))
            .and_then(|t| {
                let models = ["phong", "blinn", "lambert", "constant"];
                t.children().find(|c| models.contains(&c.tag_name().name()))
            });
        let (Some(profile), Some(shading)) = (profile, shading) else {
            return plain;
        };
        // The colour of a constant surface is its emission.
        let diffuse = if shading.has_tag_name("constant") {
            child(shading, &["emission"])
        } else {
            child(shading, &["diffuse"])
        };
        let color = diffuse.and_then(|d| self.color(effect, profile, d));
        let opacity = self.opacity(effect, profile, shading);
        let [r, g, b] = color.map_or([1.0; 3], |c| [c[0], c[1], c[2]]);
        let texture = diffuse.and_then(|d| child(d, &["texture"]));
        Material {
            diffuse: (color.is_some() || opacity < 1.0)
                .then(|| Rgba::new(r, g, b, opacity).ok())
                .flatten(),
            diffuse_map: texture.and_then(|t| self.texture(effect, profile, t)),
            ..plain
        }
    }

    /// Returns the `<newparam>` of an effect or its profile with this name.
    fn parameter(
        &self,
        effect: Node<'x, 'x>,
        profile: Node<'x, 'x>,
        sid: &str,
    ) -> Option<Node<'x, 'x>> {
        // Some exporters write them in the technique.
        let places = [Some(profile), child(profile, &["technique"]), Some(effect)];
        let mut all = places
            .into_iter()
            .flatten()
            .flat_map(|p| children(p, "newparam"));
        all.find(|p| p.attribute("sid") == Some(sid))
    }

    /// Returns the colour of `<color>` or of a parameter, with channels from 0 to 1.
    fn color(
        &self,
        effect: Node<'x, 'x>,
        profile: Node<'x, 'x>,
        value: Node<'x, 'x>,
    ) -> Option<[f64; 4]> {
        let written = child(value, &["color"]).or_else(|| {
            let sid = child(value, &["param"])?.attribute("ref")?;
            let param = self.parameter(effect, profile, sid)?;
            let is_color = |c: &Node<'_, '_>| ["float3", "float4"].contains(&c.tag_name().name());
            param.children().find(is_color)
        })?;
        let mut color = [1.0; 4];
        let mut count = 0;
        for (value, word) in color.iter_mut().zip(words(written)) {
            match self.document.finite(written, word) {
                // Rendering saturates.
                Ok(number) => *value = number.clamp(0.0, 1.0),
                Err(error) => {
                    warn(error.to_string());
                    return None;
                }
            }
            count += 1;
        }
        if count < 3 {
            let message = format!("the colour must have three or four numbers, got {count}");
            self.document.warn(written, message);
            return None;
        }
        Some(color)
    }

    /// Returns the opacity, 1 for opaque ("Determining Transparency" in the specification).
    fn opacity(&self, effect: Node<'x, 'x>, profile: Node<'x, 'x>, shading: Node<'x, 'x>) -> f64 {
        let transparent = child(shading, &["transparent"]);
        let transparency = child(shading, &["transparency"]);
        if transparent.is_none() && transparency.is_none() {
            return 1.0;
        }
        let factor = transparency.and_then(|t| {
            let written = child(t, &["float"]).or_else(|| {
                let sid = child(t, &["param"])?.attribute("ref")?;
                child(self.parameter(effect, profile, sid)?, &["float"])
            })?;
            self.document.numbers::<1>(written).ok()
        });
        let factor = factor.map_or(1.0, |[f]| f.clamp(0.0, 1.0));
        let mode = transparent.and_then(|t| t.attribute("opaque"));
        let color = transparent.and_then(|t| self.color(effect, profile, t));
        let luminance = |[r, g, b, _]: [f64; 4]| 0.212_671 * r + 0.715_160 * g + 0.072_169 * b;
        let opacity = match (mode, color) {
            // Opacity textures are not supported.
            (_, None) if transparent.is_some() => 1.0,
            (Some("RGB_ZERO"), Some(color)) => 1.0 - luminance(color) * factor,
            (Some("RGB_ONE"), Some(color)) => luminance(color) * factor,
            (Some("A_ZERO"), Some(color)) => 1.0 - color[3] * factor,
            (_, Some(color)) => color[3] * factor,
            (_, None) => factor,
        };
        // Some exporters confuse 0 and 1, and an invisible material is never intended.
        if opacity <= 0.0 {
            1.0
        } else {
            opacity.min(1.0)
        }
    }

    /// Finds the image of a texture through its sampler and surface.
    fn texture(
        &self,
        effect: Node<'x, 'x>,
        profile: Node<'x, 'x>,
        texture: Node<'x, 'x>,
    ) -> Option<Texture> {
        let name = texture.attribute("texture")?;
        let parameter = |sid: &str, kind: &'static str| {
            self.parameter(effect, profile, sid)
                .and_then(|p| child(p, &[kind]))
        };
        let sampler = parameter(name, "sampler2D");
        let image = match sampler {
            // Many exporters refer to the image directly.
            None => self.document.with_id(name, "image"),
            Some(sampler) => match child(sampler, &["instance_image"]) {
                // Collada 1.5.
                Some(instance) => self.document.referred(instance, "url", &["image"]).ok(),
                None => child(sampler, &["source"])
                    .and_then(|source| parameter(source.text()?.trim(), "surface"))
                    .and_then(|surface| child(surface, &["init_from"])?.text())
                    .and_then(|id| self.document.with_id(id.trim(), "image")),
            },
        };
        let file = image
            .and_then(|image| child(image, &["init_from"]))
            .and_then(|from| {
                let from = child(from, &["ref"]).unwrap_or(from);
                from.text().map(str::trim).filter(|file| !file.is_empty())
            });
        let Some(file) = file else {
            let name = short(name);
            self.document.warn(
                texture,
                format!("the texture '{name}' must refer to an image file; it is left out"),
            );
            return None;
        };
        let image = self.image(texture, file)?;
        let wrap = |name: &'static str| {
            let mode = sampler.and_then(|s| child(s, &[name]));
            match mode.and_then(|m| m.text()).map_or("WRAP", str::trim) {
                "MIRROR" => Wrap::MirroredRepeat,
                "CLAMP" | "BORDER" | "NONE" => Wrap::ClampToEdge,
                _ => Wrap::Repeat,
            }
        };
        Some(Texture {
            wrap: [wrap("wrap_s"), wrap("wrap_t")],
            ..image.into()
        })
    }

    fn image(&self, at: Node<'x, 'x>, uri: &str) -> Option<TextureImage> {
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        if path.contains("://") {
            let message = format!(
                "the texture must be a file, got '{}'; it is left out",
                short(uri)
            );
            self.document.warn(at, message);
            return None;
        }
        let path = String::from_utf8_lossy(&percent(path)).replace('\\', "/");
        match self.document.origin.find(uri, &path) {
            Ok(FileSource::Path(path)) => Some(TextureImage::File(path)),
            Ok(FileSource::Memory(file)) => Some(TextureImage::Content(file.contents().clone())),
            Err(why) => {
                self.document
                    .warn(at, format!("the texture '{}' {why}", short(uri)));
                None
            }
        }
    }
}
