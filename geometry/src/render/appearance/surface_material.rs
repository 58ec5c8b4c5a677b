//! Materials of surfaces.

use super::gamma::GAMMA;
use super::texture::SampledTexture;
use crate::error::Result;
use crate::mesh::{self, AlphaMode, Material};
use crate::rgba::Rgba;
use std::path::Path;
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// Parameters of physically based reflection: glTF's metallic-roughness model.
#[derive(Clone, Copy, Debug)]
pub struct ReflectionModel {
    /// Metalness, from 0 (dielectric) to 1 (metal).
    pub metallic: f32,
    /// Roughness, from 0 to 1.
    pub roughness: f32,
    /// Emitted light, linear.
    pub emissive: [f32; 3],
}

impl ReflectionModel {
    /// Reflectance of dielectrics (non-metals) at normal incidence.
    pub const DIELECTRIC: f32 = 0.04;
    /// Minimum roughness. On smoother surfaces, the reflection of a lamp would be smaller than a
    /// pixel.
    pub const LEAST_ROUGHNESS: f32 = 0.05;
    /// Parameters of matt surfaces in a scene that is lit by an environment, as in VTK.
    pub const PROMOTED: Self = Self {
        metallic: 0.0,
        roughness: 0.5,
        emissive: [0.0; 3],
    };
}

/// Material of a surface.
#[derive(Clone, Debug)]
pub struct SurfaceMaterial {
    /// Diffuse colour: linear if there is a model, a screen colour otherwise.
    pub diffuse: [f32; 3],
    /// Opacity.
    pub alpha: f32,
    /// Factor of the diffuse colour and the opacity.
    pub texture: Option<Arc<SampledTexture>>,
    /// Opacity map: its red channel is the opacity.
    pub opacity: Option<Arc<SampledTexture>>,
    /// Meaning of the opacity.
    pub alpha_mode: AlphaMode,
    /// Reflection model; `None` means matt (Lambert).
    pub model: Option<ReflectionModel>,
}

impl SurfaceMaterial {
    /// Creates a matt material with a colour and an optional texture.
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
    /// Creates a material from that of a mesh file.
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
    /// Returns true if the background is visible through some part of the surface; `vertex_alpha`
    /// tells whether the vertices of the mesh have opacities below 1.
    pub fn is_translucent(&self, vertex_alpha: bool) -> bool {
        let texture = self.texture.as_ref().is_some_and(|t| t.translucent);
        let any = self.alpha < 1.0 || texture || self.opacity.is_some() || vertex_alpha;
        match self.alpha_mode {
            AlphaMode::Opaque => false,
            AlphaMode::Mask(_) | AlphaMode::Blend => any,
        }
    }
    /// Returns the opacity to draw, according to the alpha mode.
    pub(crate) fn drawn_alpha(&self, alpha: f32) -> f32 {
        match self.alpha_mode {
            AlphaMode::Opaque => 1.0,
            AlphaMode::Mask(cutoff) => f32::from(f64::from(alpha) >= cutoff),
            AlphaMode::Blend => alpha,
        }
    }
}

/// Returns a colour without its opacity.
pub(crate) fn rgb(color: Rgba) -> [f32; 3] {
    [color.r(), color.g(), color.b()].map(|x| x as f32)
}

/// Reads a texture from a file.
pub(crate) fn texture(path: &Path) -> Option<Arc<SampledTexture>> {
    or_warn(SampledTexture::read(path))
}

/// Turns an error into a warning: a texture that cannot be read is replaced by the diffuse colour,
/// as in Drake.
fn or_warn(texture: Result<SampledTexture>) -> Option<Arc<SampledTexture>> {
    match texture {
        Ok(texture) => Some(Arc::new(texture)),
        Err(e) => {
            warn(format!("{e}; the diffuse colour is used instead"));
            None
        }
    }
}
