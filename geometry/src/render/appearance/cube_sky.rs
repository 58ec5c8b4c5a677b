//! The six images of a cube map, prepared for drawing.

use super::gamma::GAMMA;
use super::texture::DecodedImage;
use crate::error::{Error, Result};
use crate::mesh::TextureImage;
use crate::render::CubeMap;
use crate::rgba::Rgba;
use crate::shape::{face_of, place_in};
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Maximum number of columns of the picture of longitudes and latitudes that a cube lights with.
const MAX_LIGHT_WIDTH: usize = 512;
/// Maximum number of samples along each side of a pixel of that picture.
const MAX_LIGHT_SAMPLES: usize = 8;

/// The images of a [`CubeMap`], equal ones once.
#[derive(Debug)]
pub struct CubeSky {
    /// Different images.
    pub pictures: Vec<CubePicture>,
    /// Index of the image of each face.
    pub faces: [usize; 6],
}

/// An image of a cube map, rows from the top.
#[derive(Debug)]
pub struct CubePicture {
    /// Number of columns.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green and blue: bytes of screen colours.
    pub pixels: Vec<[u8; 3]>,
}

impl CubeMap {
    /// Reads the images and returns the mean colour of each.
    ///
    /// # Errors
    /// Returns an error if an image cannot be read or is neither PNG nor JPEG.
    pub fn mean_colors(&self) -> Result<[Rgba; 6]> {
        Ok(CubeSky::read(self)?.mean_colors())
    }
}

impl CubeSky {
    /// Reads the images of a cube map.
    ///
    /// # Errors
    /// Returns an error if an image cannot be read or is neither PNG nor JPEG.
    pub(crate) fn read(map: &CubeMap) -> Result<Self> {
        let images = map.images();
        let mut pictures = Vec::new();
        let mut faces = [0; 6];
        for (face, image) in images.iter().enumerate() {
            let same = images[..face].iter().position(|other| other == image);
            faces[face] = match same {
                Some(same) => faces[same],
                None => {
                    pictures.push(CubePicture::read(image, face)?);
                    pictures.len() - 1
                }
            };
        }
        Ok(Self { pictures, faces })
    }
    /// Returns the screen colour in a direction in the world, of any length.
    pub(crate) fn color(&self, d: &Vector3<f64>) -> [f32; 3] {
        // The axes of the cube are the axes x, z, -y of the world.
        let d = Vector3::new(d.x, d.z, -d.y);
        let face = face_of(&d);
        self.pictures[self.faces[face]].bilinear(place_in(face, &d))
    }
    /// Returns the mean colour of each face.
    pub(crate) fn mean_colors(&self) -> [Rgba; 6] {
        let means: Vec<Rgba> = self.pictures.iter().map(CubePicture::mean).collect();
        self.faces.map(|picture| means[picture])
    }
    /// Returns the directions as a picture of longitudes and latitudes in linear light. It is as
    /// wide as four faces, or at most [`MAX_LIGHT_WIDTH`].
    pub(crate) fn equirectangular(&self) -> DecodedImage {
        let widths = self.pictures.iter().map(|p| p.width.max(p.height));
        let around = 4 * widths.max().unwrap_or(1);
        let width = around.clamp(8, MAX_LIGHT_WIDTH);
        let height = width / 2;
        let samples = around.div_ceil(width).min(MAX_LIGHT_SAMPLES);
        let part = |k: usize| (k as f64 + 0.5) / samples as f64;
        let pixel = |i: usize| {
            let (x, y) = ((i % width) as f64, (i / width) as f64);
            let mut sum = [0.0; 3];
            for k in 0..samples * samples {
                let longitude = TAU * (0.5 - (x + part(k % samples)) / width as f64);
                let (s, z) = (PI * (y + part(k / samples)) / height as f64).sin_cos();
                let color = self.color(&Vector3::new(s * longitude.cos(), s * longitude.sin(), z));
                for (sum, c) in sum.iter_mut().zip(color) {
                    *sum += c.powf(GAMMA);
                }
            }
            let [r, g, b] = sum.map(|c| c / (samples * samples) as f32);
            [r, g, b, 1.0]
        };
        DecodedImage {
            width,
            height,
            pixels: (0..width * height).map(pixel).collect(),
            linear: true,
        }
    }
}

impl CubePicture {
    fn read(image: &TextureImage, face: usize) -> Result<Self> {
        let name = ["x", "-x", "y", "-y", "z", "-z"][face];
        let picture = match image {
            TextureImage::File(path) => DecodedImage::read(path)?,
            TextureImage::Content(bytes) => {
                DecodedImage::decode(&format!("of the cube map's face {name}"), bytes)?
            }
        };
        if picture.linear {
            return Err(Error::invalid(format!(
                "CubeMap: the image of face {name} must be PNG or JPEG, got Radiance HDR; convert \
                 it, or use an EquirectangularMap"
            )));
        }
        // One byte per channel: skies are large.
        let byte = |c: f32| (255.0 * c).round() as u8;
        let pixels = picture.pixels.iter().map(|&[r, g, b, _]| [r, g, b]);
        Ok(Self {
            width: picture.width,
            height: picture.height,
            pixels: pixels.map(|color| color.map(byte)).collect(),
        })
    }
    /// Returns the colour at `(u, v)`, with v upwards, by bilinear interpolation; edges extend.
    fn bilinear(&self, [u, v]: [f64; 2]) -> [f32; 3] {
        let place = |x: f64, size: usize| {
            let x = (x * size as f64 - 0.5).clamp(0.0, (size - 1) as f64);
            let low = x as usize;
            (low, (low + 1).min(size - 1), (x - low as f64) as f32)
        };
        let (x0, x1, fx) = place(u, self.width);
        let (y0, y1, fy) = place(1.0 - v, self.height);
        let at = |x: usize, y: usize, c: usize| f32::from(self.pixels[y * self.width + x][c]);
        std::array::from_fn(|c| {
            let top = at(x0, y0, c) + (at(x1, y0, c) - at(x0, y0, c)) * fx;
            let bottom = at(x0, y1, c) + (at(x1, y1, c) - at(x0, y1, c)) * fx;
            (top + (bottom - top) * fy) / 255.0
        })
    }
    fn mean(&self) -> Rgba {
        let mut sums = [0_u64; 3];
        for pixel in &self.pixels {
            for (sum, c) in sums.iter_mut().zip(pixel) {
                *sum += u64::from(*c);
            }
        }
        let [r, g, b] = sums.map(|sum| sum as f64 / (255 * self.pixels.len()) as f64);
        Rgba::new(r, g, b, 1.0).expect("means of bytes are colours")
    }
}
