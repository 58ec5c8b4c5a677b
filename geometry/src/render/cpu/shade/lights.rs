//! Light that arrives at points, and Lambert's law.

use crate::render::LightType;
use crate::render::appearance::{LightList, Lights, PlacedLight};
use crate::render::cpu::simd::{Vector3x8, dot, splat3};
use crate::render::projection::PoseInCamera;
use nalgebra::{Matrix3, Vector3};
use wide::f32x8;

impl Lights {
    /// Transforms the lights to the frame of a geometry.
    pub(crate) fn seen_from(&self, o: &PoseInCamera) -> LightList {
        let r: Matrix3<f32> = o.r.transpose().cast();
        let p: Vector3<f32> = o.p.cast();
        let turned = |l: &PlacedLight| PlacedLight {
            position: r * (l.position - p),
            towards: r * l.towards,
            ..*l
        };
        self.0.iter().map(turned).collect()
    }
}

impl PlacedLight {
    /// Returns the unit vectors from the points `x` towards the light, and its strength there.
    #[inline(always)]
    pub(crate) fn arriving(&self, x: &Vector3x8) -> (Vector3x8, f32x8) {
        if self.light_type == LightType::Directional {
            return (splat3(&self.towards), f32x8::ONE);
        }
        let p = splat3(&self.position);
        let way: Vector3x8 = std::array::from_fn(|k| p[k] - x[k]);
        let distance = dot(&way, &way).sqrt();
        let towards = way.map(|v| v / distance);
        let [a, b, c] = self.attenuation.map(f32x8::splat);
        let mut strength = f32x8::ONE / (a + distance * (b + c * distance));
        if self.light_type == LightType::Spot {
            let cos = dot(&towards, &splat3(&self.towards));
            strength &= cos.simd_ge(f32x8::splat(self.cos_cone));
        }
        (towards, strength)
    }
    /// Returns the direction and the distance of the light from a point.
    pub(crate) fn seen_at(&self, p: &Vector3<f64>) -> (Vector3<f64>, f64) {
        if self.light_type == LightType::Directional {
            return (self.towards.cast::<f64>().normalize(), f64::INFINITY);
        }
        let way = self.position.cast() - p;
        let distance = way.norm();
        (way / distance, distance)
    }
}

/// Adds the light reflected by Lambert's law.
#[inline(always)]
pub(crate) fn add_lambert(
    light: &PlacedLight,
    n: &Vector3x8,
    towards: &Vector3x8,
    strength: f32x8,
    sum: &mut Vector3x8,
) {
    let lambert = dot(n, towards).max(f32x8::ZERO) * strength;
    for (sum, color) in sum.iter_mut().zip(light.color) {
        *sum += lambert * f32x8::splat(color);
    }
}
