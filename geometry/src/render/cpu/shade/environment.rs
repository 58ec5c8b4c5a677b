//! Environment lighting of eight points at a time.

use crate::render::appearance::{EnvironmentLight, basis, place};
use crate::render::cpu::simd::Vector3x8;
use nalgebra::Vector3;
use wide::f32x8;

impl EnvironmentLight {
    /// Returns the irradiance, divided by pi, of surfaces with these unit normals in the world.
    pub(crate) fn irradiance(&self, [x, y, z]: &Vector3x8) -> Vector3x8 {
        let basis = basis([*x, *y, *z], f32x8::splat);
        std::array::from_fn(|c| {
            let terms = basis.iter().zip(&self.harmonics);
            let sum = terms.fold(f32x8::ZERO, |sum, (b, h)| sum + *b * f32x8::splat(h[c]));
            sum.max(f32x8::ZERO)
        })
    }
    /// Returns scale and bias of the reflectance at normal incidence (split sum) for the cosine
    /// `nv` of the viewing angle.
    pub(crate) fn reflectance(&self, nv: f32x8, roughness: f32x8) -> [f32x8; 2] {
        let (nv, roughness) = (nv.to_array(), roughness.to_array());
        let lanes: [[f32; 2]; 8] =
            std::array::from_fn(|k| self.split_sum.at(nv[k].min(1.0), roughness[k]));
        [0, 1].map(|i| f32x8::new(lanes.map(|lane| lane[i])))
    }
    /// Returns the light around directions in the world, averaged over the part of the sky that a
    /// surface of that roughness mirrors. Only the lanes in `mask` are computed.
    pub(crate) fn reflected(&self, d: &Vector3x8, roughness: f32x8, mask: u32) -> Vector3x8 {
        let d = d.map(f32x8::to_array);
        let roughness = roughness.to_array();
        let mut out = [[0.0; 8]; 3];
        for k in (0..8).filter(|k| mask >> k & 1 == 1) {
            // The pixels of this mip level have the size of the highlight.
            let alpha = roughness[k] * roughness[k];
            let level = (self.levels[0].width as f32 * alpha * 0.25).max(1.0).log2();
            let last = self.levels.len() - 1;
            let lower = (level as usize).min(last);
            let at = place(&Vector3::new(d[0][k], d[1][k], d[2][k]));
            let a = self.levels[lower].bilinear(at);
            let b = self.levels[(lower + 1).min(last)].bilinear(at);
            let rest = (level - lower as f32).min(1.0);
            for c in 0..3 {
                out[c][k] = a[c] + (b[c] - a[c]) * rest;
            }
        }
        out.map(f32x8::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::appearance::DecodedImage;
    use std::f32::consts::PI;

    fn environment(color: impl Fn(usize, usize) -> [f32; 3]) -> EnvironmentLight {
        let (width, height) = (64, 32);
        let pixel = |i: usize| {
            let [r, g, b] = color(i % width, i / width);
            [r, g, b, 1.0]
        };
        EnvironmentLight::new(&DecodedImage {
            width,
            height,
            pixels: (0..width * height).map(pixel).collect(),
            linear: true,
        })
    }

    #[test]
    fn uniform_environment_lights_all_directions_equally() {
        let e = environment(|_, _| [0.5, 1.0, 2.0]);
        let n = Vector3::new(0.36_f32, 0.48, 0.8);
        let n8 = [n.x, n.y, n.z].map(f32x8::splat);
        let expected = [0.5, 1.0, 2.0];
        let reflected = e.reflected(&n8, f32x8::splat(0.7), 1);
        for c in 0..3 {
            let close = |x: f32| (x / expected[c] - 1.0).abs() < 1e-3;
            assert!(close(e.radiance(&n)[c]));
            assert!(close(e.irradiance(&n8)[c].to_array()[0]));
            assert!(close(reflected[c].to_array()[0]));
        }
    }

    #[test]
    fn directions_match_drake() {
        // Red increases with the column, green with the row.
        let e = environment(|x, y| [(x as f32 + 0.5) / 64.0, (y as f32 + 0.5) / 32.0, 0.0]);
        for (d, u, v) in [
            (Vector3::x(), 0.5, 0.5),
            (Vector3::y(), 0.25, 0.5),
            (-Vector3::y(), 0.75, 0.5),
            (Vector3::new(1.0, 0.0, 1.0), 0.5, 0.25),
            (Vector3::new(0.0, 2.0, -2.0), 0.25, 0.75),
        ] {
            let [red, green, _] = e.radiance(&d);
            assert!((red - u).abs() < 1e-5 && (green - v).abs() < 1e-5, "{d}");
        }
    }

    #[test]
    fn irradiance_of_a_bright_hemisphere_matches_the_closed_form() {
        // With radiance 1 from above and 0 from below, the irradiance over pi at the angle t from
        // up is (1 + cos t) / 2.
        let e = environment(|_, y| [f32::from(y < 16); 3]);
        for t in [0.0_f32, 0.5, 1.0, PI / 2.0, 2.5, PI] {
            let n = [t.sin(), 0.0, t.cos()].map(f32x8::splat);
            let light = e.irradiance(&n)[0].to_array()[0];
            let exact = 0.5 * (1.0 + t.cos());
            // The error of truncating the lobe at degree 2 is below 3 %.
            assert!((light - exact).abs() < 0.03, "{light}, not {exact}");
        }
    }
}
