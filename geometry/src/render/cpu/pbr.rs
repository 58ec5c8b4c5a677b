//! Physically based reflection, as VTK shades glTF materials.
//!
//! glTF 2.0, appendix B: Lambert's law and a microfacet model. Distribution: B. Walter et al.,
//! "Microfacet models for refraction through rough surfaces", 2007; visibility: E. Heitz, "Understanding
//! the masking-shadowing function in microfacet-based BRDFs", 2014; Fresnel: C. Schlick, "An inexpensive
//! BRDF model for physically-based rendering", 1994.

use super::environment::Environment;
use super::shade::{Vector3x8, dot};
use nalgebra::Matrix3;
use std::f32::consts::PI;
use wide::f32x8;

/// Linear light is the screen's value to this power.
pub(super) const GAMMA: f32 = 2.2;

/// Reflected part of light that comes straight onto what is no metal.
const DIELECTRIC: f32 = 0.04;
/// Smoother surfaces would show a lamp as less than a pixel.
const LEAST_ROUGHNESS: f32 = 0.05;

/// Eight points of surfaces and what they are made of.
pub(super) struct Reflector {
    /// Unit normals.
    n: Vector3x8,
    /// Unit vectors towards the camera.
    v: Vector3x8,
    nv: f32x8,
    roughness: f32x8,
    /// Of the light that is not reflected, the part that comes out again.
    diffuse: Vector3x8,
    /// Reflected part of light that comes straight.
    f0: Vector3x8,
}

fn max0(x: f32x8) -> f32x8 {
    x.max(f32x8::ZERO)
}
fn unit(v: Vector3x8) -> Vector3x8 {
    let scale = f32x8::ONE / dot(&v, &v).max(f32x8::splat(f32::MIN_POSITIVE)).sqrt();
    v.map(|x| x * scale)
}

impl Reflector {
    /// From unit normals, directions away from the camera, linear colours, metalness and roughness.
    pub(super) fn new(
        n: Vector3x8,
        d: &Vector3x8,
        albedo: &Vector3x8,
        metallic: f32x8,
        roughness: f32x8,
    ) -> Self {
        let v = unit(d.map(|x| -x));
        let f0 = |c: f32x8| f32x8::splat(DIELECTRIC) + (c - f32x8::splat(DIELECTRIC)) * metallic;
        Self {
            n,
            v,
            nv: dot(&n, &v).max(f32x8::splat(1e-4)),
            roughness: roughness.max(f32x8::splat(LEAST_ROUGHNESS)),
            diffuse: albedo.map(|c| c * (f32x8::ONE - metallic)),
            f0: albedo.map(f0),
        }
    }

    /// Adds what is reflected of light from a direction; `strength` is that of the light before the
    /// cosine.
    pub(super) fn add(
        &self,
        towards: &Vector3x8,
        strength: f32x8,
        color: [f32; 3],
        sum: &mut Vector3x8,
    ) {
        let one = f32x8::ONE;
        let nl = max0(dot(&self.n, towards));
        let h = unit(std::array::from_fn(|k| towards[k] + self.v[k]));
        let (nh, vh) = (max0(dot(&self.n, &h)), max0(dot(&self.v, &h)));
        let alpha = self.roughness * self.roughness;
        let a2 = alpha * alpha;
        let bottom = (nh * a2 - nh) * nh + one;
        let distribution = a2 / (f32x8::splat(PI) * bottom * bottom);
        let masked = |a: f32x8, b: f32x8| a * ((b * b) * (one - a2) + a2).sqrt();
        let visible = f32x8::HALF
            / (masked(nl, self.nv) + masked(self.nv, nl)).max(f32x8::splat(f32::MIN_POSITIVE));
        let fresnel = fifth(one - vh);
        let arriving = nl * strength;
        for (k, sum) in sum.iter_mut().enumerate() {
            let f = self.f0[k] + (one - self.f0[k]) * fresnel;
            let diffuse = (one - f) * self.diffuse[k] * f32x8::splat(1.0 / PI);
            let reflected = diffuse + f * distribution * visible;
            *sum += reflected * arriving * f32x8::splat(color[k]);
        }
    }

    /// Adds what is reflected of the environment; `r_wg` turns normals into the world.
    pub(super) fn add_environment(
        &self,
        environment: &Environment,
        r_wg: &Matrix3<f32>,
        mask: u32,
        sum: &mut Vector3x8,
    ) {
        let one = f32x8::ONE;
        let splat = f32x8::splat;
        let world = |v: &Vector3x8| -> Vector3x8 {
            std::array::from_fn(|i| {
                splat(r_wg[(i, 0)]) * v[0] + splat(r_wg[(i, 1)]) * v[1] + splat(r_wg[(i, 2)]) * v[2]
            })
        };
        let twice = (self.nv + self.nv).max(f32x8::ZERO);
        let mirrored: Vector3x8 = std::array::from_fn(|k| self.n[k] * twice - self.v[k]);
        let (n, r) = (world(&self.n), world(&mirrored));
        let irradiance = environment.irradiance(&n);
        let mirrored = environment.reflected(&r, self.roughness, mask);
        let [scale, bias] = environment.reflectance(self.nv, self.roughness);
        for (k, sum) in sum.iter_mut().enumerate() {
            let f = self.f0[k] * scale + bias;
            let diffuse = (one - f) * self.diffuse[k] * irradiance[k];
            *sum += diffuse + f * mirrored[k];
        }
    }
}

fn fifth(x: f32x8) -> f32x8 {
    let x2 = x * x;
    x2 * x2 * x
}

/// Linear light as the screen shows it, without an upper end.
pub(super) fn to_screen(light: Vector3x8) -> Vector3x8 {
    light.map(|c| {
        let dark = c.simd_lt(f32x8::splat(1e-8));
        let c = c
            .max(f32x8::splat(1e-8))
            .powf_simd(f32x8::splat(1.0 / GAMMA));
        dark.bitselect(f32x8::ZERO, c)
    })
}
