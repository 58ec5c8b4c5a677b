//! Lights of an image, and Lambert's law.

use crate::render::cpu::setup::PoseInCamera;
use crate::render::cpu::simd::{Vector3x8, dot, splat3};
use crate::render::{LightFrame, LightParameter, LightType};
use nalgebra::{Isometry3, Matrix3, Vector3};
use smallvec::SmallVec;
use wide::f32x8;

/// A light, expressed in the camera frame or in that of a geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedLight {
    light_type: LightType,
    pub(crate) color: [f32; 3],
    attenuation: [f32; 3],
    position: Vector3<f32>,
    /// Unit vector towards the light.
    towards: Vector3<f32>,
    cos_cone: f32,
    /// True if surfaces that the light does not reach are in shadow.
    pub(crate) casts_shadows: bool,
}

/// The lights of an image, in the camera frame.
#[derive(Clone, Debug)]
pub(crate) struct Lights(pub(crate) LightList);

/// List of lights; up to four need no heap allocation.
pub(crate) type LightList = SmallVec<[PlacedLight; 4]>;

impl Lights {
    /// Places the declared lights. If there are none and there is no `environment`, uses the
    /// default light, which is fixed to the camera.
    pub(crate) fn new(
        declared: &[LightParameter],
        x_wc: &Isometry3<f64>,
        environment: bool,
    ) -> Self {
        let lamp = [LightParameter::default()];
        let declared = match declared {
            [] if !environment => &lamp,
            declared => declared,
        };
        Self(declared.iter().map(|l| Self::light(l, x_wc)).collect())
    }
    fn light(l: &LightParameter, x_wc: &Isometry3<f64>) -> PlacedLight {
        let x_cl = match l.frame {
            LightFrame::Camera => Isometry3::identity(),
            LightFrame::World => x_wc.inverse(),
        };
        let color = [l.color.r(), l.color.g(), l.color.b()];
        PlacedLight {
            light_type: l.light_type,
            color: color.map(|c| (c * l.intensity) as f32),
            attenuation: std::array::from_fn(|k| l.attenuation_values[k] as f32),
            position: (x_cl * nalgebra::Point3::from(l.position)).coords.cast(),
            towards: (x_cl.rotation * -l.direction.normalize()).cast(),
            cos_cone: l.cone_angle.to_radians().cos() as f32,
            casts_shadows: match l.light_type {
                LightType::Directional => true,
                LightType::Spot => l.cone_angle < 90.0,
                LightType::Point => false,
            },
        }
    }
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
