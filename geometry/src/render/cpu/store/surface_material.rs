//! What surfaces are made of.

use crate::error::Result;
use crate::mesh::{self, AlphaMode, Material};
use crate::render::cpu::gamma::GAMMA;
use crate::render::cpu::texture::SampledTexture;
use crate::rgba::Rgba;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// How a surface reflects; see [`crate::render::cpu::shade::pbr`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReflectionModel {
    pub(crate) metallic: f32,
    pub(crate) roughness: f32,
    pub(crate) emissive: [f32; 3],
}

impl ReflectionModel {
    /// What matt surfaces become where an environment lights the scene; as VTK has it.
    pub(crate) const PROMOTED: Self = Self {
        metallic: 0.0,
        roughness: 0.5,
        emissive: [0.0; 3],
    };
}

/// The material of a surface.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceMaterial {
    /// Linear if there is a model, else as on the screen.
    pub(crate) diffuse: [f32; 3],
    pub(crate) alpha: f32,
    pub(crate) texture: Option<Arc<SampledTexture>>,
    /// Its red is the opacity.
    pub(crate) opacity: Option<Arc<SampledTexture>>,
    pub(crate) alpha_mode: AlphaMode,
    /// `None` is matt.
    pub(crate) model: Option<ReflectionModel>,
}

impl SurfaceMaterial {
    /// Matt, of a colour and perhaps a texture.
    pub(crate) fn matt(color: Rgba, texture: Option<Arc<SampledTexture>>) -> Self {
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
    pub(crate) fn of(material: &Material) -> Self {
        let color = material.diffuse.unwrap_or(Rgba::WHITE);
        let read = |map: &Option<mesh::Texture>| {
            let texture = map
                .as_ref()
                .map(|map| SampledTexture::of(&material.name, map));
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
            diffuse: matt.diffuse.map(|c| c.powf(GAMMA)),
            model: Some(ReflectionModel {
                metallic: model.metallic as f32,
                roughness: model.roughness as f32,
                emissive: model.emissive.map(|x| x as f32),
            }),
            ..matt
        }
    }
    /// True if what is behind can be seen.
    pub(crate) fn is_translucent(&self, vertex_alpha: bool) -> bool {
        let texture = self.texture.as_ref().is_some_and(|t| t.translucent);
        let any = self.alpha < 1.0 || texture || self.opacity.is_some() || vertex_alpha;
        match self.alpha_mode {
            AlphaMode::Opaque => false,
            AlphaMode::Mask(_) | AlphaMode::Blend => any,
        }
    }
    /// The opacity that is drawn.
    pub(crate) fn drawn_alpha(&self, alpha: f32) -> f32 {
        match self.alpha_mode {
            AlphaMode::Opaque => 1.0,
            AlphaMode::Mask(cutoff) => f32::from(f64::from(alpha) >= cutoff),
            AlphaMode::Blend => alpha,
        }
    }
}

/// Colours without opacity.
pub(crate) fn rgb(color: Rgba) -> [f32; 3] {
    [color.r(), color.g(), color.b()].map(|x| x as f32)
}

/// The texture in a file.
pub(crate) fn texture(path: &Path) -> Option<Arc<SampledTexture>> {
    or_warn(SampledTexture::read(path))
}

/// A texture that can not be read leaves the diffuse colour, as in Drake.
fn or_warn(texture: Result<SampledTexture>) -> Option<Arc<SampledTexture>> {
    match texture {
        Ok(texture) => Some(Arc::new(texture)),
        Err(e) => {
            warn(format!("{e}; the diffuse colour is used instead"));
            None
        }
    }
}
