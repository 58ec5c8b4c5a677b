//! Textures with mip levels and bilinear sampling.

use super::picture::DecodedImage;
use crate::error::Result;
use crate::mesh::{self, TextureImage, Wrap};

/// A texture: the image (level 0), and mip levels down to one pixel.
#[derive(Debug)]
pub struct SampledTexture {
    levels: Vec<MipLevel>,
    wrap: [Wrap; 2],
    /// True if some pixel has an opacity below 1.
    pub(crate) translucent: bool,
}

/// One level of a texture, rows from the top.
#[derive(Debug)]
pub struct MipLevel {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green, blue and opacity: screen values in `[0, 1]`, or linear light without an upper
    /// limit if the file is a Radiance HDR image.
    pub pixels: Vec<[f32; 4]>,
}

impl SampledTexture {
    /// Reads the texture of a material; `material` is its name, for messages.
    ///
    /// # Errors
    /// Returns an error if the image cannot be read.
    pub(crate) fn of(material: &str, texture: &mesh::Texture) -> Result<Self> {
        let picture = match &texture.image {
            TextureImage::File(path) => DecodedImage::read(path)?,
            TextureImage::Content(bytes) => {
                DecodedImage::decode(&format!("of '{material}'"), bytes)?
            }
        };
        Ok(Self::new(picture, texture.wrap))
    }
    /// Returns the levels: the image, then images of half the size down to one pixel.
    pub fn levels(&self) -> &[MipLevel] {
        &self.levels
    }
    /// Returns the wrapping modes in u and v.
    pub fn wrap(&self) -> [Wrap; 2] {
        self.wrap
    }
    fn new(picture: DecodedImage, wrap: [Wrap; 2]) -> Self {
        let translucent = picture.pixels.iter().any(|p| p[3] < 1.0);
        let mut levels = vec![MipLevel {
            width: picture.width,
            height: picture.height,
            pixels: picture.pixels,
        }];
        while let Some(half) = levels.last().and_then(MipLevel::half) {
            levels.push(half);
        }
        Self {
            levels,
            wrap,
            translucent,
        }
    }
    /// Returns colour and opacity at `(u, v)`, with v upwards; `footprint` is the size of a screen
    /// pixel in texture coordinates.
    pub(crate) fn sample(&self, [u, v]: [f32; 2], footprint: f32) -> [f32; 4] {
        let size = self.levels[0].width.max(self.levels[0].height) as f32;
        let level = (footprint * size).max(1.0).log2();
        let last = self.levels.len() - 1;
        let lower = (level as usize).min(last);
        let uv = [u, 1.0 - v];
        let a = self.levels[lower].bilinear(uv, self.wrap);
        let rest = level - lower as f32;
        if lower == last || rest < 1e-3 {
            return a;
        }
        let b = self.levels[lower + 1].bilinear(uv, self.wrap);
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * rest.min(1.0))
    }
}

/// Returns the pixels on both sides of a coordinate, and the fraction of the way from the first to
/// the second.
fn place(x: f32, size: usize, wrap: Wrap) -> (usize, usize, f32) {
    let x = if x.is_finite() { x } else { 0.0 };
    if wrap == Wrap::Repeat {
        let x = (x - x.floor()) * size as f32 - 0.5;
        let low = x.floor();
        let i = (low as isize).rem_euclid(size as isize) as usize;
        return (i, (i + 1) % size, x - low);
    }
    let x = if wrap == Wrap::ClampToEdge {
        x.clamp(0.0, 1.0)
    } else {
        1.0 - (x.rem_euclid(2.0) - 1.0).abs()
    };
    let x = (x * size as f32 - 0.5).clamp(0.0, (size - 1) as f32);
    let i = x as usize;
    (i, (i + 1).min(size - 1), x - i as f32)
}

impl MipLevel {
    /// Returns the average over 2 x 2 pixels; `None` for a single pixel.
    fn half(&self) -> Option<Self> {
        if self.width * self.height <= 1 {
            return None;
        }
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let at = |dx: usize, dy: usize| {
                    let (x, y) = (
                        (2 * x + dx).min(self.width - 1),
                        (2 * y + dy).min(self.height - 1),
                    );
                    self.pixels[y * self.width + x]
                };
                let four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
                pixels.push(std::array::from_fn(|k| {
                    four.iter().map(|p| p[k]).sum::<f32>() * 0.25
                }));
            }
        }
        Some(Self {
            width,
            height,
            pixels,
        })
    }
    fn bilinear(&self, [u, v]: [f32; 2], wrap: [Wrap; 2]) -> [f32; 4] {
        let (x0, x1, fx) = place(u, self.width, wrap[0]);
        let (y0, y1, fy) = place(v, self.height, wrap[1]);
        let at = |x: usize, y: usize, k: usize| self.pixels[y * self.width + x][k];
        std::array::from_fn(|k| {
            let top = at(x0, y0, k) + (at(x1, y0, k) - at(x0, y0, k)) * fx;
            let bottom = at(x0, y1, k) + (at(x1, y1, k) - at(x0, y1, k)) * fx;
            top + (bottom - top) * fy
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_modes_repeat_mirror_or_clamp() {
        let grey = |x: f32| [x, x, x, 1.0];
        let texture = |wrap| {
            let pixels = [0.0, 0.25, 0.5, 1.0].map(grey).to_vec();
            let picture = DecodedImage {
                width: 4,
                height: 1,
                pixels,
                linear: false,
            };
            SampledTexture::new(picture, [wrap; 2])
        };
        let all = [Wrap::Repeat, Wrap::MirroredRepeat, Wrap::ClampToEdge].map(texture);
        let at = |u: f32| all.each_ref().map(|t| t.sample([u, 0.5], 0.0)[0]);
        assert_eq!(at(0.375), [0.25; 3]); // the centre of the second pixel
        assert_eq!(at(1.375), [0.25, 0.5, 1.0]);
        assert_eq!(at(-0.375), [0.5, 0.25, 0.0]);
        assert_eq!(at(1.0), [0.5, 1.0, 1.0]);
        assert_eq!(at(f32::NAN), at(0.0));
        assert!(!all[0].translucent);
        let half = DecodedImage {
            width: 1,
            height: 1,
            pixels: vec![[1.0, 1.0, 1.0, 0.5]],
            linear: false,
        };
        assert!(SampledTexture::new(half, [Wrap::Repeat; 2]).translucent);
    }
}
