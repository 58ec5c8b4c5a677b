//! Reflectance of microfacet surfaces under uniform light, as a table: the split sum of B. Karis,
//! "Real shading in Unreal Engine 4", 2013.

use std::f64::consts::TAU;

/// Number of table entries per axis: the cosine of the viewing angle, and the roughness.
const SIDE: usize = 24;
const SAMPLES: u32 = 256;

/// Table of scale and bias: the reflectance is `f0 scale + bias`, where `f0` is the reflectance at
/// normal incidence.
#[derive(Debug)]
pub struct SplitSum {
    table: Vec<[f32; 2]>,
}

impl SplitSum {
    pub(crate) fn new() -> Self {
        let middle = |k: usize| (k as f64 + 0.5) / SIDE as f64;
        let table = (0..SIDE * SIDE).map(|k| integrate(middle(k % SIDE), middle(k / SIDE)));
        Self {
            table: table.map(|ab| ab.map(|x| x as f32)).collect(),
        }
    }
    /// Number of entries per axis. Entry k is at `(k + 0.5) / SIDE`.
    pub const SIDE: usize = SIDE;

    /// Returns the entries `[scale, bias]`: by roughness, and within it by the cosine of the
    /// viewing angle.
    pub fn table(&self) -> &[[f32; 2]] {
        &self.table
    }
    /// Returns scale and bias by bilinear interpolation.
    pub(crate) fn at(&self, nv: f32, roughness: f32) -> [f32; 2] {
        let place = |x: f32| {
            let x = (x * SIDE as f32 - 0.5).clamp(0.0, (SIDE - 1) as f32);
            let i = (x as usize).min(SIDE - 2);
            (i, x - i as f32)
        };
        let ((x, fx), (y, fy)) = (place(nv), place(roughness));
        let row = |y: usize, k: usize| {
            let [a, b] = [0, 1].map(|d| self.table[y * SIDE + x + d][k]);
            a + (b - a) * fx
        };
        std::array::from_fn(|k| row(y, k) + (row(y + 1, k) - row(y, k)) * fy)
    }
}

/// Integrates over all directions by importance sampling of the microfacet distribution.
fn integrate(nv: f64, roughness: f64) -> [f64; 2] {
    let a2 = roughness.powi(4);
    let v = [(1.0 - nv * nv).sqrt(), nv];
    let mut sum = [0.0; 2];
    for i in 0..SAMPLES {
        // Hammersley points.
        let across = f64::from(i.reverse_bits()) / 4_294_967_296.0;
        let along = (f64::from(i) + 0.5) / f64::from(SAMPLES);
        let nh2 = (1.0 - across) / (1.0 + (a2 - 1.0) * across);
        let (nh, sin) = (nh2.sqrt(), (1.0 - nh2).max(0.0).sqrt());
        let vh = v[0] * sin * (TAU * along).cos() + v[1] * nh;
        let nl = 2.0 * vh * nh - nv;
        if nl <= 0.0 || vh <= 0.0 {
            continue;
        }
        let masked = |a: f64, b: f64| a * (b * b * (1.0 - a2) + a2).sqrt();
        let visible = 0.5 / (masked(nl, nv) + masked(nv, nl));
        let weight = visible * 4.0 * nl * vh / nh;
        let fresnel = (1.0 - vh).powi(5);
        sum[0] += (1.0 - fresnel) * weight;
        sum[1] += fresnel * weight;
    }
    sum.map(|x| x / f64::from(SAMPLES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_surfaces_reflect_by_fresnels_law() {
        let table = SplitSum::new();
        for nv in [0.3_f32, 0.5, 0.8, 0.95] {
            let [scale, bias] = table.at(nv, 0.02);
            let fresnel = (1.0 - nv).powi(5);
            assert!((bias - fresnel).abs() < 5e-3, "{nv}: {bias}");
            assert!((scale + bias - 1.0).abs() < 5e-3, "{nv}: {scale} + {bias}");
        }
    }

    #[test]
    fn reflectance_is_at_most_one() {
        let table = SplitSum::new();
        for k in 0..100 {
            let [nv, roughness] = [k % 10, k / 10].map(|x| x as f32 / 9.0);
            let [scale, bias] = table.at(nv, roughness);
            assert!(
                scale >= 0.0 && bias >= 0.0 && scale + bias <= 1.001,
                "{nv} {roughness}"
            );
        }
    }
}
