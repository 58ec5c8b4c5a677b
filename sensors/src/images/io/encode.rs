//! Encoding of images as PNG, TIFF and JPEG.

use super::format::ImageFileFormat;
use png::{BitDepth, ColorType};
use std::io::{Cursor, Write};
use tarragon_geometry::render::{ImageRef, PixelScalar};
use tiff::encoder::{Rational, TiffEncoder};
use tiff::tags::Tag;

pub(super) type Fallible<V> = Result<V, Box<dyn std::error::Error + Send + Sync>>;

/// Maximum side of a JPEG image (pixels) in libjpeg, and therefore in nearly every reader.
pub(super) const JPEG_MAX_SIDE: usize = 65500;

/// Approximate size of a TIFF strip before compression (bytes); readers with little memory read
/// strip by strip.
const STRIP_BYTES: usize = 1 << 18;

/// Buffers that are reused from image to image.
#[derive(Debug, Default)]
pub(crate) struct EncodeBuffers {
    /// Samples in the byte and channel order of the file.
    samples: Vec<u8>,
    strip: Vec<u8>,
    /// The encoded file.
    file: Vec<u8>,
}

impl EncodeBuffers {
    /// Encodes an image, which must not be empty and whose pixels the format must be able to hold.
    pub(crate) fn encode(
        &mut self,
        image: ImageRef<'_>,
        format: ImageFileFormat,
        jpeg_quality: u8,
    ) -> Fallible<&[u8]> {
        self.file.clear();
        match format {
            ImageFileFormat::Png => self.png(image)?,
            ImageFileFormat::Tiff => self.tiff(image)?,
            ImageFileFormat::Jpeg => jpeg(image, jpeg_quality, Chroma::Full, &mut self.file)?,
        }
        Ok(&self.file)
    }
    pub(super) fn into_file(self) -> Vec<u8> {
        self.file
    }

    fn png(&mut self, image: ImageRef<'_>) -> Fallible<()> {
        let (width, height) = (side(image.width())?, side(image.height())?);
        let color = match image.channels() {
            4 => ColorType::Rgba,
            3 => ColorType::Rgb,
            _ => ColorType::Grayscale,
        };
        let depth = match image.scalar() {
            PixelScalar::U8 => BitDepth::Eight,
            _ => BitDepth::Sixteen,
        };
        let samples = ordered_samples(image, &mut self.samples, u16::to_be_bytes);
        let mut encoder = png::Encoder::new(&mut self.file, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        set_png_speed(&mut encoder);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(samples)?;
        Ok(writer.finish()?)
    }

    /// Encodes TIFF as compressed differences along rows, which every reader understands, also for
    /// floats.
    fn tiff(&mut self, image: ImageRef<'_>) -> Fallible<()> {
        let (width, height) = (side(image.width())?, side(image.height())?);
        let n = image.channels();
        let (sample_bytes, sample_format) = match image.scalar() {
            PixelScalar::U8 => (1, 1_u16),
            // Labels are never negative, and Drake cannot read signed numbers.
            PixelScalar::U16 | PixelScalar::I16 => (2, 1),
            _ => (4, 3),
        };
        let row_bytes = image.width() * n * sample_bytes;
        let rows_per_strip = (STRIP_BYTES / row_bytes).clamp(1, image.height());
        let samples = ordered_samples(image, &mut self.samples, u16::to_le_bytes);

        let mut encoder = TiffEncoder::new(Cursor::new(&mut self.file))?;
        let mut directory = encoder.image_directory()?;
        let (mut offsets, mut sizes) = (vec![], vec![]);
        let mut row = vec![0; row_bytes];
        for strip in samples.chunks(rows_per_strip * row_bytes) {
            self.strip.clear();
            let mut packer = fdeflate::Compressor::new(&mut self.strip)?;
            for line in strip.chunks_exact(row_bytes) {
                differences(line, n, sample_bytes, &mut row);
                packer.write_data(&row)?;
            }
            packer.finish()?;
            if self.strip.len() > fdeflate::StoredOnlyCompressor::<()>::compressed_size(strip.len())
            {
                // Noise cannot be compressed, so it is stored to keep it from growing.
                self.strip.clear();
                let mut packer = fdeflate::StoredOnlyCompressor::new(Cursor::new(&mut self.strip))?;
                for line in strip.chunks_exact(row_bytes) {
                    differences(line, n, sample_bytes, &mut row);
                    packer.write_data(&row)?;
                }
                packer.finish()?;
            }
            offsets.push(u32::try_from(directory.write_data(&self.strip[..])?)?);
            sizes.push(u32::try_from(self.strip.len())?);
        }
        let photometric: u16 = if n == 1 { 1 } else { 2 }; // black is zero, RGB
        let one = Rational { n: 1, d: 1 };
        directory.write_tag(Tag::ImageWidth, width)?;
        directory.write_tag(Tag::ImageLength, height)?;
        directory.write_tag(Tag::BitsPerSample, &vec![8 * sample_bytes as u16; n][..])?;
        directory.write_tag(Tag::Compression, 8_u16)?; // zlib
        directory.write_tag(Tag::PhotometricInterpretation, photometric)?;
        directory.write_tag(Tag::StripOffsets, &offsets[..])?;
        directory.write_tag(Tag::SamplesPerPixel, n as u16)?;
        directory.write_tag(Tag::RowsPerStrip, rows_per_strip as u32)?;
        directory.write_tag(Tag::StripByteCounts, &sizes[..])?;
        directory.write_tag(Tag::XResolution, one.clone())?;
        directory.write_tag(Tag::YResolution, one)?;
        directory.write_tag(Tag::PlanarConfiguration, 1_u16)?;
        directory.write_tag(Tag::ResolutionUnit, 1_u16)?; // none
        directory.write_tag(Tag::Predictor, 2_u16)?; // differences along rows
        if n == 4 {
            directory.write_tag(Tag::ExtraSamples, 2_u16)?; // opacity, not premultiplied
        }
        directory.write_tag(Tag::SampleFormat, &vec![sample_format; n][..])?;
        Ok(directory.finish()?)
    }
}

/// Selects the fast compression of the PNG library; DESIGN.md ("Why do image files favour speed
/// over size?") gives the reason.
pub(crate) fn set_png_speed<W: Write>(encoder: &mut png::Encoder<'_, W>) {
    encoder.set_deflate_compression(png::DeflateCompression::FdeflateUltraFast);
    encoder.set_filter(png::Filter::Paeth);
}

/// Chroma subsampling of a JPEG image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Chroma {
    /// One chroma sample per pixel.
    Full,
    /// One chroma sample per 2 x 2 pixels, as in videos.
    Halved,
}

/// Encodes colours or brightness of 8 bits as JPEG; opacity is dropped.
pub(crate) fn jpeg(
    image: ImageRef<'_>,
    quality: u8,
    chroma: Chroma,
    to: impl Write,
) -> Fallible<()> {
    use jpeg_encoder::{Encoder, JfifWrite, SamplingFactor};
    struct Out<W>(W);
    impl<W: Write> JfifWrite for Out<W> {
        fn write_all(&mut self, bytes: &[u8]) -> Result<(), jpeg_encoder::EncodingError> {
            Ok(self.0.write_all(bytes)?)
        }
    }
    let side = |n: usize| {
        let fits = u16::try_from(n).ok().filter(|_| n <= JPEG_MAX_SIDE);
        fits.ok_or_else(|| {
            format!(
                "a side of a JPEG image must have at most {JPEG_MAX_SIDE} pixels, got {n}; use \
                 .png or .tiff"
            )
        })
    };
    let (width, height) = (side(image.width())?, side(image.height())?);
    let (data, channels, order) = match image {
        ImageRef::Rgba8U(image) => (image.data(), 4, Some([0, 1, 2])),
        ImageRef::Bgra8U(image) => (image.data(), 4, Some([2, 1, 0])),
        ImageRef::Rgb8U(image) => (image.data(), 3, Some([0, 1, 2])),
        ImageRef::Bgr8U(image) => (image.data(), 3, Some([2, 1, 0])),
        ImageRef::Grey8U(image) => (image.data(), 1, None),
        _ => return Err("a JPEG image must have 8 bits per channel".into()),
    };
    let mut encoder = Encoder::new(Out(to), quality);
    encoder.set_sampling_factor(match chroma {
        Chroma::Full => SamplingFactor::F_1_1,
        Chroma::Halved => SamplingFactor::F_2_2,
    });
    Ok(encoder.encode_image(JpegPixels {
        data,
        channels,
        order,
        width,
        height,
    })?)
}

/// Pixels of any image for the JPEG encoder, which is compiled again for each type of pixels.
struct JpegPixels<'a> {
    data: &'a [u8],
    channels: usize,
    /// Where red, green and blue are; `None` for brightness.
    order: Option<[usize; 3]>,
    width: u16,
    height: u16,
}

impl jpeg_encoder::ImageBuffer for JpegPixels<'_> {
    fn get_jpeg_color_type(&self) -> jpeg_encoder::JpegColorType {
        match self.order {
            Some(_) => jpeg_encoder::JpegColorType::Ycbcr,
            None => jpeg_encoder::JpegColorType::Luma,
        }
    }
    fn width(&self) -> u16 {
        self.width
    }
    fn height(&self) -> u16 {
        self.height
    }
    fn fill_buffers(&self, y: u16, buffers: &mut [Vec<u8>; 4]) {
        let row = self.channels * usize::from(self.width);
        let row = &self.data[usize::from(y) * row..][..row];
        let Some([r, g, b]) = self.order else {
            return buffers[0].extend_from_slice(row);
        };
        let converted = row
            .chunks_exact(self.channels)
            .map(|pixel| jpeg_encoder::rgb_to_ycbcr(pixel[r], pixel[g], pixel[b]));
        let [luma, blue, red, _] = buffers;
        for (y, cb, cr) in converted {
            luma.push(y);
            blue.push(cb);
            red.push(cr);
        }
    }
}

fn side(n: usize) -> Fallible<u32> {
    // The limit is the largest side of a PNG image.
    let fits = u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32);
    fits.ok_or_else(|| {
        format!("a side of an image must have at most 2147483647 pixels, got {n}").into()
    })
}

/// Returns samples as bytes: red before blue, 16-bit numbers in the byte order of `word`, floats
/// with the low byte first.
pub(crate) fn ordered_samples<'a>(
    image: ImageRef<'a>,
    buffer: &'a mut Vec<u8>,
    word: impl Fn(u16) -> [u8; 2],
) -> &'a [u8] {
    buffer.clear();
    match image {
        ImageRef::Rgba8U(image) => return image.data(),
        ImageRef::Rgb8U(image) => return image.data(),
        ImageRef::Grey8U(image) => return image.data(),
        ImageRef::Bgra8U(image) => swapped(image.data(), 4, buffer),
        ImageRef::Bgr8U(image) => swapped(image.data(), 3, buffer),
        ImageRef::Depth16U(image) => fill(buffer, image.data(), |x| word(*x)),
        ImageRef::Label16I(image) => fill(buffer, image.data(), |x| word(*x as u16)),
        ImageRef::Depth32F(image) => fill(buffer, image.data(), |x| x.to_le_bytes()),
    }
    buffer
}

fn swapped(data: &[u8], channels: usize, to: &mut Vec<u8>) {
    to.extend_from_slice(data);
    for pixel in to.chunks_exact_mut(channels) {
        pixel.swap(0, 2);
    }
}

/// Replaces `to` by the bytes of the numbers. Writing in place is several times as fast as
/// appending.
pub(crate) fn fill<X, const N: usize>(to: &mut Vec<u8>, data: &[X], bytes: impl Fn(&X) -> [u8; N]) {
    to.resize(N * data.len(), 0);
    for (to, x) in to.as_chunks_mut().0.iter_mut().zip(data) {
        *to = bytes(x);
    }
}

/// Subtracts from each sample of a row the sample of the same channel one pixel before; floats are
/// treated as the integers of their bits (TIFF 6.0, section 14). `to` must be as long as the row.
fn differences(row: &[u8], channels: usize, sample_bytes: usize, to: &mut [u8]) {
    let step = channels * sample_bytes;
    to[..step].copy_from_slice(&row[..step]);
    let to = &mut to[step..];
    match sample_bytes {
        1 => words(row, to, step, |[b], [a]| [b.wrapping_sub(a)]),
        2 => words(row, to, step, |b, a| {
            let (b, a) = (u16::from_le_bytes(b), u16::from_le_bytes(a));
            b.wrapping_sub(a).to_le_bytes()
        }),
        _ => words(row, to, step, |b, a| {
            let (b, a) = (u32::from_le_bytes(b), u32::from_le_bytes(a));
            b.wrapping_sub(a).to_le_bytes()
        }),
    }
}

fn words<const N: usize>(
    row: &[u8],
    to: &mut [u8],
    step: usize,
    f: impl Fn([u8; N], [u8; N]) -> [u8; N],
) {
    let (now, before) = (row[step..].as_chunks().0, row.as_chunks().0);
    for ((to, b), a) in to.as_chunks_mut().0.iter_mut().zip(now).zip(before) {
        *to = f(*b, *a);
    }
}
