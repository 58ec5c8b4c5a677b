//! PNG images as samples.

use std::io::Cursor;

/// Maximum number of pixels of an image.
pub(crate) const MAX_PIXELS: usize = 1 << 24;

/// The samples of an image, row by row from the top.
pub(crate) struct PngImage {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes of a sample: 1 or 2, the high one first.
    pub(crate) sample_size: usize,
    /// Bytes of a row.
    row_size: usize,
    /// Bytes of a pixel.
    pixel_size: usize,
    bytes: Vec<u8>,
}

impl PngImage {
    /// Decodes an image whose smaller side has at least `least` pixels.
    pub(crate) fn decode(
        bytes: &[u8],
        transformations: png::Transformations,
        least: usize,
    ) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(transformations);
        let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        if width.min(height) < least || width.saturating_mul(height) > MAX_PIXELS {
            return Err(format!(
                "the image must have at least {least} x {least} and at most {MAX_PIXELS} pixels, \
                 got {width} x {height}"
            ));
        }
        // The decoder does not validate the palette and panics if it is invalid.
        let palette = reader.info().palette.as_deref().map(<[u8]>::len);
        if palette.is_some_and(|n| n == 0 || n % 3 != 0 || n > 3 * 256) {
            return Err("the palette must have 1 to 256 colours of three bytes".into());
        }
        let size = reader
            .output_buffer_size()
            .ok_or("the image is too large")?;
        let mut bytes = vec![0; size];
        let frame = reader.next_frame(&mut bytes).map_err(|e| e.to_string())?;
        let sample_size = match frame.bit_depth {
            png::BitDepth::Sixteen => 2,
            _ => 1,
        };
        Ok(Self {
            width,
            height,
            sample_size,
            row_size: frame.line_size,
            pixel_size: sample_size * frame.color_type.samples(),
            bytes,
        })
    }

    /// Iterates over the bytes of each pixel.
    pub(crate) fn pixels(&self) -> impl Iterator<Item = &[u8]> {
        let rows = self.bytes.chunks(self.row_size).take(self.height);
        rows.flat_map(|row| row.chunks(self.pixel_size).take(self.width))
    }
}
