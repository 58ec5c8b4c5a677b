//! Images as pixels.

use crate::reading::png_image::PngImage;
use std::sync::Arc;
use tarragon_geometry::mesh::TextureImage;

pub(super) use crate::reading::png_image::MAX_PIXELS;

/// An image: red, green and blue of each pixel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) rgb: Vec<[u8; 3]>,
}

impl Pixels {
    /// Creates an image from a function of row and column.
    pub(super) fn of(width: usize, height: usize, at: impl Fn(usize, usize) -> [u8; 3]) -> Self {
        let mut rgb = Vec::with_capacity(width * height);
        for r in 0..height {
            rgb.extend((0..width).map(|c| at(r, c)));
        }
        Self { width, height, rgb }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> [u8; 3] {
        self.rgb[row * self.width + column]
    }

    /// Reads a PNG image, without its opacity.
    pub(super) fn from_png(bytes: &[u8]) -> Result<Self, String> {
        let image = PngImage::decode(bytes, png::Transformations::normalize_to_color8(), 1)?;
        let rgb = |pixel: &[u8]| match pixel {
            [r, g, b, ..] => [*r, *g, *b],
            [grey, ..] => [*grey; 3],
            [] => [0; 3],
        };
        Ok(Self {
            width: image.width,
            height: image.height,
            rgb: image.pixels().map(rgb).collect(),
        })
    }

    /// Returns the image mirrored left to right, top to bottom, or both.
    pub(super) fn flipped(&self, [across, down]: [bool; 2]) -> Self {
        let turn = |i: usize, n: usize, flip: bool| if flip { n - 1 - i } else { i };
        Self::of(self.width, self.height, |r, c| {
            self.at(turn(r, self.height, down), turn(c, self.width, across))
        })
    }

    /// Returns a part of the image in a grid of equal parts.
    pub(super) fn part(&self, [rows, columns]: [usize; 2], row: usize, column: usize) -> Self {
        let (height, width) = (self.height / rows, self.width / columns);
        Self::of(width, height, |r, c| {
            self.at(row * height + r, column * width + c)
        })
    }

    /// Writes the image as PNG.
    pub(super) fn to_image(&self) -> Result<TextureImage, String> {
        let size = |n: usize| u32::try_from(n).map_err(|e| e.to_string());
        let mut content = vec![];
        let mut encoder = png::Encoder::new(&mut content, size(self.width)?, size(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().map_err(|e| e.to_string())?;
        let written = writer.write_image_data(self.rgb.as_flattened());
        written.map_err(|e| e.to_string())?;
        writer.finish().map_err(|e| e.to_string())?;
        Ok(TextureImage::Content(Arc::from(content)))
    }
}
