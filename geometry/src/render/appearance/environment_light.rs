//! Light from all directions, prepared for shading.

use super::gamma::GAMMA;
use super::split_sum::SplitSum;
use super::texture::DecodedImage;
use nalgebra::Vector3;
use std::f32::consts::{PI, TAU};

/// An environment map: longitudes increase to the left, latitudes go from top to bottom. The middle
/// of the picture is the world's +x, a quarter of the width to the left of it is +y, the top is +z.
#[derive(Debug)]
pub struct EnvironmentLight {
    /// Mip levels in linear light: the picture, repeatedly halved down to a few pixels.
    pub levels: Vec<EnvironmentLevel>,
    /// Spherical harmonics of the irradiance, divided by pi, in the order of degree 0; y, z, x of
    /// degree 1; xy, yz, 3 z^2 - 1, xz, x^2 - y^2 of degree 2.
    pub harmonics: [[f32; 3]; 9],
    /// Reflectance of microfacet surfaces.
    pub split_sum: SplitSum,
}

/// One level of an environment map, rows from the top.
#[derive(Debug)]
pub struct EnvironmentLevel {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Radiance, linear.
    pub pixels: Vec<[f32; 3]>,
}

impl EnvironmentLight {
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
}

/// Returns the position of a direction in the picture, both coordinates from 0 to 1.
pub(crate) fn place(d: &Vector3<f32>) -> [f32; 2] {
    let u = 0.5 - d.y.atan2(d.x) / TAU;
    let v = d.x.hypot(d.y).atan2(d.z) / PI;
    [u, v]
}

/// Evaluates the real spherical harmonics up to degree 2 (R. Ramamoorthi, P. Hanrahan, "An
/// efficient representation for irradiance environment maps", 2001).
pub(crate) fn basis<T>([x, y, z]: [T; 3], splat: impl Fn(f32) -> T) -> [T; 9]
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
    pub(crate) fn bilinear(&self, [u, v]: [f32; 2]) -> [f32; 3] {
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
