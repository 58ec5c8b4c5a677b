//! Materials of surfaces.

use super::gamma::GAMMA;
use super::texture::{PlacedTexture, TextureCache};
use crate::mesh::{AlphaMode, Material, Texture};
use crate::rgba::Rgba;
use std::sync::Arc;

/// Parameters of physically based reflection: glTF's metallic-roughness model.
#[derive(Clone, Copy, Debug)]
pub struct ReflectionModel {
    /// Metalness, from 0 (dielectric) to 1 (metal).
    pub metallic: f32,
    /// Roughness, from 0 to 1.
    pub roughness: f32,
    /// Emitted light, linear.
    pub emissive: [f32; 3],
    /// True if the surface shows its colour as it is, whatever the light.
    pub unlit: bool,
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
        unlit: false,
    };

    /// Returns the part of the light that the surface receives, and the light that it emits. An
    /// unlit surface receives none and emits its colour.
    pub(crate) fn lit(
        &self,
        color: [f32; 3],
        occlusion: f32,
        emissive: [f32; 3],
    ) -> (f32, [f32; 3]) {
        if self.unlit {
            (0.0, color)
        } else {
            (occlusion, emissive)
        }
    }
}

/// Textures of a surface other than those of colour and opacity.
#[derive(Clone, Debug)]
pub struct SurfaceMaps {
    /// Normals: red, green and blue are components from -1 to 1 along the tangent, the bitangent
    /// and the normal.
    pub normal: Option<PlacedTexture>,
    /// Factor of the components along the tangent and the bitangent.
    pub normal_scale: f32,
    /// Factors: green of the roughness, blue of the metalness.
    pub metallic_roughness: Option<PlacedTexture>,
    /// Part of the light that arrives: red.
    pub occlusion: Option<PlacedTexture>,
    /// Weight of the occlusion, from 0 to 1.
    pub occlusion_strength: f32,
    /// Factor of the emitted light: a screen colour.
    pub emissive: Option<PlacedTexture>,
}

impl SurfaceMaps {
    fn any(&self) -> bool {
        let maps = [
            &self.normal,
            &self.metallic_roughness,
            &self.occlusion,
            &self.emissive,
        ];
        maps.iter().any(|map| map.is_some())
    }
}

/// Material of a surface.
#[derive(Clone, Debug)]
pub struct SurfaceMaterial {
    /// Diffuse colour: linear if there is a model, a screen colour otherwise.
    pub diffuse: [f32; 3],
    /// Opacity.
    pub alpha: f32,
    /// Factor of the diffuse colour and the opacity.
    pub texture: Option<PlacedTexture>,
    /// Opacity map: its red channel is the opacity.
    pub opacity: Option<PlacedTexture>,
    /// Other textures; `None` if there are none.
    pub maps: Option<Arc<SurfaceMaps>>,
    /// Meaning of the opacity.
    pub alpha_mode: AlphaMode,
    /// Reflection model; `None` means matt (Lambert).
    pub model: Option<ReflectionModel>,
}

impl SurfaceMaterial {
    /// Creates a matt material with a colour and an optional texture.
    pub(crate) fn matt(color: Rgba, texture: Option<PlacedTexture>) -> Self {
        Self {
            diffuse: rgb(color),
            alpha: color.a() as f32,
            texture,
            opacity: None,
            maps: None,
            alpha_mode: AlphaMode::Blend,
            model: None,
        }
    }
    /// Creates a material from that of a mesh file.
    pub(crate) fn of(material: &Material, textures: &mut TextureCache) -> Self {
        let color = material.diffuse.unwrap_or(Rgba::WHITE);
        let mut read = |texture: Option<&Texture>| textures.read(&material.name, texture?);
        let matt = Self {
            opacity: read(material.opacity_map.as_ref()),
            alpha_mode: material.alpha_mode,
            ..Self::matt(color, read(material.diffuse_map.as_ref()))
        };
        let Some(model) = &material.metallic_roughness else {
            return matt;
        };
        let linear = Self {
            diffuse: matt.diffuse.map(|c| c.powf(GAMMA)),
            model: Some(ReflectionModel {
                metallic: model.metallic as f32,
                roughness: model.roughness as f32,
                emissive: model.emissive.map(|x| x as f32),
                unlit: material.unlit,
            }),
            ..matt
        };
        if material.unlit {
            return linear;
        }
        let (normal, occlusion) = (material.normal_map.as_ref(), model.occlusion_map.as_ref());
        let maps = SurfaceMaps {
            normal: read(normal.map(|map| &map.texture)),
            normal_scale: normal.map_or(1.0, |map| map.scale as f32),
            metallic_roughness: read(model.map.as_ref()),
            occlusion: read(occlusion.map(|map| &map.texture)),
            occlusion_strength: occlusion.map_or(1.0, |map| map.strength as f32),
            emissive: read(model.emissive_map.as_ref()),
        };
        Self {
            maps: maps.any().then(|| Arc::new(maps)),
            ..linear
        }
    }
    /// Returns true if its appearance depends on texture coordinates.
    pub(crate) fn is_textured(&self) -> bool {
        self.texture.is_some() || self.opacity.is_some() || self.maps.is_some()
    }
    /// Returns true if the background is visible through some part of the surface; `vertex_alpha`
    /// tells whether the vertices of the mesh have opacities below 1.
    pub fn is_translucent(&self, vertex_alpha: bool) -> bool {
        let texture = self.texture.as_ref().is_some_and(|t| t.image.translucent);
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
