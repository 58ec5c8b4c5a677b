//! PNG textures.

use crate::error::{Error, Result};
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

/// A colour image, level 0 and its halves down to one pixel.
#[derive(Debug)]
pub(super) struct Texture {
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    width: usize,
    height: usize,
    /// Red, green, blue in `[0, 1]`.
    pixels: Vec<[f32; 3]>,
}

impl Texture {
    /// Reads a PNG file of any colour type.
    ///
    /// # Errors
    /// If it can not be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
        Self::decode(&path.display().to_string(), BufReader::new(file))
    }
    /// Reads the content of a PNG file of any colour type; `name` is for messages.
    ///
    /// # Errors
    /// If it can not be read.
    pub(super) fn decode(name: &str, content: impl BufRead + Seek) -> Result<Self> {
        let wrong = |e: png::DecodingError| Error::invalid(format!("texture {name}: {e}"));
        let mut decoder = png::Decoder::new(content);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().map_err(wrong)?;
        let size = reader
            .output_buffer_size()
            .ok_or_else(|| Error::invalid(format!("texture {name}: the image is too large")))?;
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes).map_err(wrong)?;
        let samples = info.color_type.samples();
        let unit = |byte: u8| f32::from(byte) / 255.0;
        let pixels = bytes[..info.buffer_size()]
            .chunks_exact(samples)
            .map(|p| {
                let grey = samples < 3;
                [p[0], p[usize::from(!grey)], p[if grey { 0 } else { 2 }]].map(unit)
            })
            .collect();
        let mut levels = vec![Level {
            width: info.width as usize,
            height: info.height as usize,
            pixels,
        }];
        while let Some(half) = levels.last().and_then(Level::half) {
            levels.push(half);
        }
        Ok(Self { levels })
    }
    /// Colour at `(u, v)`, v up, repeating outside `[0, 1]`; `footprint` is the size of a screen
    /// pixel in texture coordinates.
    pub(super) fn sample(&self, [u, v]: [f32; 2], footprint: f32) -> [f32; 3] {
        let size = self.levels[0].width.max(self.levels[0].height) as f32;
        let level = (footprint * size).max(1.0).log2();
        let last = self.levels.len() - 1;
        let lower = (level as usize).min(last);
        let a = self.levels[lower].bilinear(u, 1.0 - v);
        let rest = level - lower as f32;
        if lower == last || rest < 1e-3 {
            return a;
        }
        let b = self.levels[lower + 1].bilinear(u, 1.0 - v);
        std::array::from_fn(|k| a[k] + (b[k] - a[k]) * rest.min(1.0))
    }
}

impl Level {
    /// The average over two by two pixels; `None` for a single pixel.
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
    fn bilinear(&self, u: f32, v: f32) -> [f32; 3] {
        let place = |x: f32, size: usize| {
            let x = if x.is_finite() { x } else { 0.0 };
            let x = (x - x.floor()) * size as f32 - 0.5;
            let low = x.floor();
            let i = (low as isize).rem_euclid(size as isize) as usize;
            (i, (i + 1) % size, x - low)
        };
        let (x0, x1, fx) = place(u, self.width);
        let (y0, y1, fy) = place(v, self.height);
        let at = |x: usize, y: usize, k: usize| self.pixels[y * self.width + x][k];
        std::array::from_fn(|k| {
            let top = at(x0, y0, k) + (at(x1, y0, k) - at(x0, y0, k)) * fx;
            let bottom = at(x0, y1, k) + (at(x1, y1, k) - at(x0, y1, k)) * fx;
            top + (bottom - top) * fy
        })
    }
}
