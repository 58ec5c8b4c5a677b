//! Physically based reflection, as VTK shades glTF materials.
//!
//! glTF 2.0, appendix B: Lambert's law and a microfacet model. Distribution: B. Walter et al.,
//! "Microfacet models for refraction through rough surfaces", 2007; visibility: E. Heitz,
//! "Understanding the masking-shadowing function in microfacet-based BRDFs", 2014; Fresnel: C.
//! Schlick, "An inexpensive BRDF model for physically-based rendering", 1994.

use crate::render::appearance::{EnvironmentLight, ReflectionModel};
use crate::render::cpu::simd::{Vector3x8, dot, unit};
use nalgebra::Matrix3;
use std::f32::consts::PI;
use wide::f32x8;

/// Eight surface points with their reflection parameters.
pub(crate) struct Reflector {
    /// Unit normals.
    n: Vector3x8,
    /// Unit vectors towards the camera.
    v: Vector3x8,
    nv: f32x8,
    /// `nv`, limited to at least 1e-4.
    nv_lit: f32x8,
    roughness: f32x8,
    /// Diffuse albedo: the part of the light, if not reflected at the surface, that is scattered
    /// back.
    diffuse: Vector3x8,
    /// Reflectance at normal incidence.
    f0: Vector3x8,
}

fn max0(x: f32x8) -> f32x8 {
    x.fast_max(f32x8::ZERO)
}

impl Reflector {
    /// Creates reflectors from unit normals, directions away from the camera, linear colours,
    /// metalness and roughness.
    #[inline(always)]
    pub(crate) fn new(
        n: Vector3x8,
        d: &Vector3x8,
        albedo: &Vector3x8,
        metallic: f32x8,
        roughness: f32x8,
    ) -> Self {
        let v = unit(&[-d[0], -d[1], -d[2]]);
        let f0 = |c: f32x8| {
            f32x8::splat(ReflectionModel::DIELECTRIC)
                + (c - f32x8::splat(ReflectionModel::DIELECTRIC)) * metallic
        };
        // Written out: `map` over blocks is not inlined.
        let rest = f32x8::ONE - metallic;
        let nv = dot(&n, &v);
        Self {
            n,
            v,
            nv,
            nv_lit: nv.fast_max(f32x8::splat(1e-4)),
            roughness: roughness.fast_max(f32x8::splat(ReflectionModel::LEAST_ROUGHNESS)),
            diffuse: [albedo[0] * rest, albedo[1] * rest, albedo[2] * rest],
            f0: [f0(albedo[0]), f0(albedo[1]), f0(albedo[2])],
        }
    }

    /// Adds the reflected part of light from the unit vectors `towards`; `strength` is that of the
    /// light without the cosine factor.
    #[inline(always)]
    pub(crate) fn add(
        &self,
        towards: &Vector3x8,
        strength: f32x8,
        color: [f32; 3],
        sum: &mut Vector3x8,
    ) {
        let one = f32x8::ONE;
        let tiny = f32x8::splat(f32::MIN_POSITIVE);
        let to_light = dot(&self.n, towards);
        let nl = max0(to_light);
        // The half vector of the unit vectors l and v is h = (l + v) / |l + v|, so that v.h = |l +
        // v| / 2. With q := |l + v|^2 = 2 + 2 l.v, squares need no root, and one division serves
        // both the distribution a2 / (pi (1 - (n.h)^2 (1 - a2))^2) and the visibility 1 / (2 m).
        let half_q = max0(one + dot(towards, &self.v));
        let q = half_q + half_q;
        let nh = max0(to_light + self.nv);
        let vh = (half_q * f32x8::HALF).sqrt();
        let alpha = self.roughness * self.roughness;
        let a2 = alpha * alpha;
        let rest = one - a2;
        let bottom = q - nh * nh * rest;
        let masked = |a: f32x8, b: f32x8| a * ((b * b) * rest + a2).sqrt();
        let m = masked(nl, self.nv_lit) + masked(self.nv_lit, nl);
        let top = a2 * q * q * f32x8::splat(0.5 / PI);
        let lobe = top / (bottom * bottom * m).fast_max(tiny);
        let fresnel = fifth(one - vh.fast_min(one));
        let arriving = nl * strength;
        for (k, sum) in sum.iter_mut().enumerate() {
            let f = self.f0[k] + (one - self.f0[k]) * fresnel;
            let diffuse = (one - f) * self.diffuse[k] * f32x8::splat(1.0 / PI);
            *sum += (diffuse + f * lobe) * arriving * f32x8::splat(color[k]);
        }
    }

    /// Adds the reflection of the environment; `r_wg` rotates normals to the world frame.
    pub(crate) fn add_environment(
        &self,
        environment: &EnvironmentLight,
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
        let twice = self.nv_lit + self.nv_lit;
        let mirrored: Vector3x8 = std::array::from_fn(|k| self.n[k] * twice - self.v[k]);
        let (n, r) = (world(&self.n), world(&mirrored));
        let irradiance = environment.irradiance(&n);
        let mirrored = environment.reflected(&r, self.roughness, mask);
        let [scale, bias] = environment.reflectance(self.nv_lit, self.roughness);
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
