//! Environment lighting: light from all directions.

use super::split_sum::SplitSum;
use crate::error::Result;
use crate::render::cpu::gamma::GAMMA;
use crate::render::cpu::simd::Vector3x8;
use crate::render::cpu::texture::DecodedImage;
use crate::render::{EnvironmentMap, EnvironmentTexture};
use nalgebra::Vector3;
use std::f32::consts::{PI, TAU};
use wide::f32x8;

/// An environment map: longitudes increase to the left, latitudes go from top to bottom. The middle
/// of the picture is the world's +x, a quarter of the width to the left of it is +y, the top is +z.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Mip levels in linear light: the picture, repeatedly halved down to a few pixels.
    levels: Vec<EnvironmentLevel>,
    /// Spherical harmonics of the irradiance, divided by pi.
    harmonics: [[f32; 3]; 9],
    split_sum: SplitSum,
}

#[derive(Debug)]
struct EnvironmentLevel {
    width: usize,
    height: usize,
    pixels: Vec<[f32; 3]>,
}

impl Environment {
    /// Reads an environment map; `None` if it has no picture.
    pub(crate) fn read(map: Option<&EnvironmentMap>) -> Result<Option<Self>> {
        match map.map(|map| &map.texture) {
            Some(EnvironmentTexture::Equirectangular(map)) => {
                let picture = DecodedImage::read(&map.path);
                let picture = picture.map_err(|e| e.at("RenderEngineCpu: environment_map"))?;
                Ok(Some(Self::new(&picture)))
            }
            Some(EnvironmentTexture::Null(_)) | None => Ok(None),
        }
    }
    pub(crate) fn new(picture: &DecodedImage) -> Self {
        let linear = |c: f32| if picture.linear { c } else { c.powf(GAMMA) };
        let pixels = picture
            .pixels
            .iter()
            .map(|&[r, g, b, _]| [r, g, b].map(linear));
        let mut levels = vec![EnvironmentLevel {
            width: picture.width,
            height: picture.height,
            pixels: pixels.collect(),
        }];
        while let Some(half) = levels.last().and_then(EnvironmentLevel::half) {
            levels.push(half);
        }
        Self {
            harmonics: levels[0].harmonics(),
            levels,
            split_sum: SplitSum::new(),
        }
    }
    /// Returns the radiance from a direction in the world, of any length.
    pub(crate) fn radiance(&self, d: &Vector3<f32>) -> [f32; 3] {
        self.levels[0].bilinear(place(d))
    }
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

/// Returns the position of a direction in the picture, both coordinates from 0 to 1.
fn place(d: &Vector3<f32>) -> [f32; 2] {
    let u = 0.5 - d.y.atan2(d.x) / TAU;
    let v = d.x.hypot(d.y).atan2(d.z) / PI;
    [u, v]
}

/// Evaluates the real spherical harmonics up to degree 2 (R. Ramamoorthi, P. Hanrahan, "An
/// efficient representation for irradiance environment maps", 2001).
fn basis<T>([x, y, z]: [T; 3], splat: impl Fn(f32) -> T) -> [T; 9]
where
    T: Copy + std::ops::Mul<Output = T> + std::ops::Sub<Output = T>,
{
    let s = |k: f32, v: T| splat(k) * v;
    [
        splat(0.282_095),
        s(0.488_603, y),
        s(0.488_603, z),
        s(0.488_603, x),
        s(1.092_548, x * y),
        s(1.092_548, y * z),
        s(0.315_392, s(3.0, z * z) - splat(1.0)),
        s(1.092_548, x * z),
        s(0.546_274, x * x - y * y),
    ]
}

impl EnvironmentLevel {
    /// Returns the average over 2 x 2 pixels; `None` for at most four columns or two rows.
    fn half(&self) -> Option<Self> {
        if self.width <= 4 || self.height <= 2 {
            return None;
        }
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut pixels = Vec::with_capacity(width * height);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let at = |dx: usize, dy: usize| {
                let column = (2 * x + dx).min(self.width - 1);
                self.pixels[(2 * y + dy).min(self.height - 1) * self.width + column]
            };
            let four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
            let mean = |k: usize| four.iter().map(|p| p[k]).sum::<f32>() * 0.25;
            pixels.push(std::array::from_fn(mean));
        }
        Some(Self {
            width,
            height,
            pixels,
        })
    }
    fn bilinear(&self, [u, v]: [f32; 2]) -> [f32; 3] {
        let x = u * self.width as f32 - 0.5;
        let y = (v * self.height as f32 - 0.5).clamp(0.0, (self.height - 1) as f32);
        let (x0, y0) = (x.floor(), y.floor());
        // Wraps around in longitude but not over the poles.
        let column = |k: i32| (x0 as i32 + k).rem_euclid(self.width as i32) as usize;
        let row = |k: usize| (y0 as usize + k).min(self.height - 1);
        let at = |i: i32, j: usize, c: usize| self.pixels[row(j) * self.width + column(i)][c];
        let (fx, fy) = (x - x0, y - y0);
        std::array::from_fn(|c| {
            let top = at(0, 0, c) + (at(1, 0, c) - at(0, 0, c)) * fx;
            let bottom = at(0, 1, c) + (at(1, 1, c) - at(0, 1, c)) * fx;
            top + (bottom - top) * fy
        })
    }
    /// Returns the coefficients of the irradiance divided by pi: those of the radiance times those
    /// of the cosine lobe.
    fn harmonics(&self) -> [[f32; 3]; 9] {
        let mut sums = [[0.0_f64; 3]; 9];
        let mut area = 0.0;
        for (y, row) in self.pixels.chunks_exact(self.width).enumerate() {
            let latitude = PI * (y as f32 + 0.5) / self.height as f32;
            let (s, z) = latitude.sin_cos();
            for (x, color) in row.iter().enumerate() {
                let longitude = TAU * (0.5 - (x as f32 + 0.5) / self.width as f32);
                let basis = basis([s * longitude.cos(), s * longitude.sin(), z], |k| k);
                area += f64::from(s);
                for (sum, b) in sums.iter_mut().zip(basis) {
                    for (sum, c) in sum.iter_mut().zip(color) {
                        *sum += f64::from(s * b * c);
                    }
                }
            }
        }
        let solid_angle = 4.0 * std::f64::consts::PI / area;
        std::array::from_fn(|k| {
            let cosine = [1.0, 2.0 / 3.0, 0.25][match k {
                0 => 0,
                1..=3 => 1,
                _ => 2,
            }];
            sums[k].map(|x| (x * solid_angle * cosine) as f32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(color: impl Fn(usize, usize) -> [f32; 3]) -> Environment {
        let (width, height) = (64, 32);
        let pixel = |i: usize| {
            let [r, g, b] = color(i % width, i / width);
            [r, g, b, 1.0]
        };
        Environment::new(&DecodedImage {
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
