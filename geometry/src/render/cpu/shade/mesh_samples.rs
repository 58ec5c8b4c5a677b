//! Textures of meshes at single points.

use crate::render::appearance::{GAMMA, PlacedTexture, ReflectionModel, SurfaceMaps};
use crate::render::cpu::store::{ClusteredMesh, uv_at};
use nalgebra::Vector3;

/// A point of a mesh at which textures are sampled.
pub(super) struct MeshSamples<'a> {
    pub(super) mesh: &'a ClusteredMesh,
    /// Index of the triangle.
    pub(super) part: usize,
    /// Weights of the second and the third corner.
    pub(super) weights: [f32; 2],
    /// Size of a screen pixel at the point (m).
    pub(super) pixel: f32,
}

impl MeshSamples<'_> {
    /// Returns colour and opacity of a texture.
    pub(super) fn of(&self, texture: &PlacedTexture) -> [f32; 4] {
        let of_set = match texture.uv_set {
            0 => &self.mesh.uvs,
            _ => &self.mesh.for_maps.second_uvs,
        };
        let uv = of_set.get(self.part).copied().unwrap_or_default();
        let triangle = &self.mesh.triangles[self.part];
        let footprint = self.pixel * triangle.uv_per_metre(&uv) * texture.stretch();
        let at = texture.at(uv_at(&uv, self.weights));
        texture.image.sample(at, footprint)
    }
    /// Applies the textures of metalness, roughness and emitted light. Returns the part of the
    /// light that arrives.
    pub(super) fn apply(&self, maps: &SurfaceMaps, model: &mut ReflectionModel) -> f32 {
        if let Some(map) = &maps.metallic_roughness {
            let [_, green, blue, _] = self.of(map);
            model.roughness *= green;
            model.metallic *= blue;
        }
        if let Some(map) = &maps.emissive {
            let [r, g, b, _] = self.of(map);
            let factor = [r, g, b].map(|c| c.powf(GAMMA));
            model.emissive = std::array::from_fn(|c| model.emissive[c] * factor[c]);
        }
        let occlusion = maps.occlusion.as_ref().map_or(1.0, |map| self.of(map)[0]);
        1.0 + maps.occlusion_strength * (occlusion - 1.0)
    }
    /// Returns the unit normal according to a normal map with its scale. `n` is the smooth normal
    /// on the side that the ray `d` comes from, of unit length.
    pub(super) fn normal(
        &self,
        map: &PlacedTexture,
        scale: f32,
        n: Vector3<f32>,
        d: &Vector3<f32>,
    ) -> Vector3<f32> {
        let Some([a, b, c]) = self.mesh.for_maps.tangents.get(self.part) else {
            return n;
        };
        let [v, w] = self.weights;
        let at = |k: usize| a[k] + (b[k] - a[k]) * v + (c[k] - a[k]) * w;
        let tangent = Vector3::new(at(0), at(1), at(2));
        let [red, green, blue, _] = self.of(map).map(|x| 2.0 * x - 1.0);
        // On the back of a surface, the whole frame of normal and tangents is mirrored.
        let [gv, gw] = &self.mesh.triangles[self.part].to_weights;
        let side = if gv.cross(gw).dot(d) > 0.0 { -1.0 } else { 1.0 };
        let front = n * side;
        // The sign is the same for all corners.
        let bitangent = front.cross(&tangent) * a[3];
        let bent = (tangent * red + bitangent * green) * scale + front * blue;
        // Also where there is no tangent, or the scale is too large for a number.
        let bent = bent
            .try_normalize(1e-6)
            .filter(|bent| bent.norm_squared() > 0.5);
        bent.map_or(n, |bent| bent * side)
    }
}
