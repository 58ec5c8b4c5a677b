//! Image files: PNG, JPEG and Radiance HDR.

use super::radiance_hdr;
use super::size::check_size;
use crate::error::{Error, Result};
use std::io::Cursor;
use std::path::Path;
use tarragon_framework::git_lfs_pointer;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// A decoded colour image, rows from the top.
#[derive(Debug)]
pub(crate) struct DecodedImage {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Red, green, blue and opacity; in `[0, 1]` unless `linear`.
    pub(crate) pixels: Vec<[f32; 4]>,
    /// True for linear light, false for screen colours.
    pub(crate) linear: bool,
}

impl DecodedImage {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, has another format or is invalid.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::decode(&path.display().to_string(), &bytes)
    }
    /// Decodes the content of a file; `name` is for messages.
    ///
    /// # Errors
    /// Returns an error if the content has another format or is invalid.
    pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Self> {
        let decoded = if bytes.starts_with(b"\x89PNG") {
            png(bytes)
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            jpeg(bytes)
        } else if bytes.starts_with(b"#?") {
            radiance_hdr::decode(bytes).map(|image| Self {
                width: image.width,
                height: image.height,
                pixels: image.pixels,
                linear: true,
            })
        } else if bytes.starts_with(b"\xabKTX") {
            Err("KTX2 is not supported; use PNG or JPEG".into())
        } else if let Some(why) = git_lfs_pointer(bytes) {
            Err(why.into())
        } else {
            Err("the content must be PNG, JPEG or Radiance HDR".into())
        };
        decoded.map_err(|what| Error::invalid(format!("image {name}: {what}")))
    }
}

fn png(bytes: &[u8]) -> Result<DecodedImage, String> {
    let wrong = |e: png::DecodingError| e.to_string();
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let header = decoder.read_header_info().map_err(wrong)?;
    check_size(header.width as usize, header.height as usize)?;
    let mut reader = decoder.read_info().map_err(wrong)?;
    // The decoder does not validate the palette and panics if it is invalid.
    let palette = reader.info().palette.as_deref().map(<[u8]>::len);
    if palette.is_some_and(|n| n == 0 || n % 3 != 0 || n > 3 * 256) {
        return Err("the palette must have 1 to 256 colours of three bytes".into());
    }
    let size = reader.output_buffer_size();
    let mut bytes = vec![0; size.ok_or("the image is too large")?];
    let info = reader.next_frame(&mut bytes).map_err(wrong)?;
    let samples = info.color_type.samples();
    let grey = samples < 3;
    let unit = |byte: u8| f32::from(byte) / 255.0;
    let pixels = bytes[..info.buffer_size()].chunks_exact(samples).map(|p| {
        let alpha = if samples % 2 == 0 {
            p[samples - 1]
        } else {
            255
        };
        let (g, b) = if grey { (p[0], p[0]) } else { (p[1], p[2]) };
        [p[0], g, b, alpha].map(unit)
    });
    Ok(DecodedImage {
        width: info.width as usize,
        height: info.height as usize,
        pixels: pixels.collect(),
        linear: false,
    })
}

/// Maximum number of columns or rows of a JPEG image. The decoder's arithmetic overflows beyond it.
const JPEG_MAX_SIDE: usize = 65_528;

fn jpeg(bytes: &[u8]) -> Result<DecodedImage, String> {
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(JPEG_MAX_SIDE)
        .set_max_height(JPEG_MAX_SIDE);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|e| e.to_string())?;
    let (width, height) = decoder
        .dimensions()
        .ok_or("the header must contain the image size")?;
    check_size(width, height)?;
    let rgb = decoder.decode().map_err(|e| e.to_string())?;
    let (width, height) = decoder
        .dimensions()
        .ok_or("the header must contain the image size")?;
    let unit = |byte: u8| f32::from(byte) / 255.0;
    let pixels = rgb.as_chunks::<3>().0.iter();
    let pixels: Vec<_> = pixels.map(|&[r, g, b]| [r, g, b, 255].map(unit)).collect();
    if pixels.len() != width * height {
        return Err(format!(
            "the decoded image must have {width} x {height} pixels, got {}",
            pixels.len()
        ));
    }
    Ok(DecodedImage {
        width,
        height,
        pixels,
        linear: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_of_git_lfs_are_named_with_the_cure() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\n";
        let error = DecodedImage::decode("a.png", pointer).unwrap_err();
        assert!(error.to_string().contains("'git lfs pull'"), "{error}");
    }

    /// Creates the start of a PNG file: its header, and optionally a palette.
    fn start_of_png(width: u32, height: u32, palette: Option<Vec<u8>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        if let Some(palette) = palette {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(palette);
        }
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().unwrap();
        if width * height <= 16 {
            let pixels = vec![0; (width * height) as usize];
            writer.write_image_data(&pixels).unwrap();
        }
        drop(writer);
        bytes
    }

    #[test]
    fn hostile_files_are_rejected_before_memory_is_allocated() {
        let error = |bytes: &[u8]| DecodedImage::decode("sky", bytes).unwrap_err().to_string();
        let huge = error(&start_of_png(60_000, 60_000, None));
        assert!(
            huge.contains("sky") && huge.contains("60000 x 60000"),
            "{huge}"
        );
        let palette = error(&start_of_png(2, 2, Some(vec![7; 4])));
        assert!(palette.contains("palette"), "{palette}");
        // A JPEG header that declares 65535 x 65535 pixels.
        let jpeg = b"\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00\xff\xd9";
        assert!(error(jpeg).contains("sky"));
        assert!(DecodedImage::decode("dots", &start_of_png(4, 4, None)).is_ok());
    }

    #[test]
    fn only_radiance_files_hold_linear_light() {
        let sky = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x80\x40\x00\x81";
        let sky = DecodedImage::decode("sky", sky).unwrap();
        assert_eq!((sky.width, sky.height, sky.linear), (1, 1, true));
        let dots = DecodedImage::decode("dots", &start_of_png(4, 4, None)).unwrap();
        assert!(!dots.linear);
    }
}
