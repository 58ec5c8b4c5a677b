//! What surfaces are made of.

use super::texture::Texture;
use crate::error::Result;
use crate::mesh::{self, AlphaMode, Material};
use crate::rgba::Rgba;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// How a surface reflects; see [`super::pbr`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    pub(super) metallic: f32,
    pub(super) roughness: f32,
    pub(super) emissive: [f32; 3],
}

impl Model {
    /// What matt surfaces become where an environment lights the scene; as VTK has it.
    pub(super) const PROMOTED: Self = Self {
        metallic: 0.0,
        roughness: 0.5,
        emissive: [0.0; 3],
    };
}

/// The material of a surface.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    /// Linear if there is a model, else as on the screen.
    pub(super) diffuse: [f32; 3],
    pub(super) alpha: f32,
    pub(super) texture: Option<Arc<Texture>>,
    /// Its red is the opacity.
    pub(super) opacity: Option<Arc<Texture>>,
    pub(super) alpha_mode: AlphaMode,
    /// `None` is matt.
    pub(super) model: Option<Model>,
}

impl Surface {
    /// Matt, of a colour and perhaps a texture.
    pub(super) fn matt(color: Rgba, texture: Option<Arc<Texture>>) -> Self {
        Self {
            diffuse: rgb(color),
            alpha: color.a() as f32,
            texture,
            opacity: None,
            alpha_mode: AlphaMode::Blend,
            model: None,
        }
    }
    /// As a mesh file says.
    pub(super) fn of(material: &Material) -> Self {
        let color = material.diffuse.unwrap_or(Rgba::WHITE);
        let read = |map: &Option<mesh::Texture>| {
            let texture = map.as_ref().map(|map| Texture::of(&material.name, map));
            texture.and_then(or_warn)
        };
        let matt = Self {
            opacity: read(&material.opacity_map),
            alpha_mode: material.alpha_mode,
            ..Self::matt(color, read(&material.diffuse_map))
        };
        let Some(model) = material.metallic_roughness else {
            return matt;
        };
        Self {
            diffuse: matt.diffuse.map(|c| c.powf(super::pbr::GAMMA)),
            model: Some(Model {
                metallic: model.metallic as f32,
                roughness: model.roughness as f32,
                emissive: model.emissive.map(|x| x as f32),
            }),
            ..matt
        }
    }
    /// True if what is behind can be seen.
    pub(super) fn is_translucent(&self, vertex_alpha: bool) -> bool {
        let texture = self.texture.as_ref().is_some_and(|t| t.translucent);
        let any = self.alpha < 1.0 || texture || self.opacity.is_some() || vertex_alpha;
        match self.alpha_mode {
            AlphaMode::Opaque => false,
            AlphaMode::Mask(_) | AlphaMode::Blend => any,
        }
    }
    /// The opacity that is drawn.
    pub(super) fn drawn_alpha(&self, alpha: f32) -> f32 {
        match self.alpha_mode {
            AlphaMode::Opaque => 1.0,
            AlphaMode::Mask(cutoff) => f32::from(f64::from(alpha) >= cutoff),
            AlphaMode::Blend => alpha,
        }
    }
}

/// Colours without opacity.
pub(super) fn rgb(color: Rgba) -> [f32; 3] {
    [color.r(), color.g(), color.b()].map(|x| x as f32)
}

/// The texture in a file.
pub(super) fn texture(path: &Path) -> Option<Arc<Texture>> {
    or_warn(Texture::read(path))
}

/// A texture that can not be read leaves the diffuse colour, as in Drake.
fn or_warn(texture: Result<Texture>) -> Option<Arc<Texture>> {
    match texture {
        Ok(texture) => Some(Arc::new(texture)),
        Err(e) => {
            warn(format!("{e}; the diffuse colour is used instead"));
            None
        }
    }
}
