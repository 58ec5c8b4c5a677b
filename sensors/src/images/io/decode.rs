//! Decoding of PNG, JPEG and TIFF files.

use super::encode::{Fallible, JPEG_MAX_SIDE};
use super::format::{ImageFileFormat, ImageMetadata};
use std::io::{BufRead, Read, Seek, SeekFrom};
use tarragon_geometry::render::{Image, ImageAny, PixelScalar, PixelType};
use tiff::ColorType;
use tiff::decoder::{Decoder as TiffDecoder, DecodingResult};
use tiff::tags::Tag;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Limits of the memory for decoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    /// Memory for pixels and for the decoder's own buffers.
    pub(super) bytes: usize,
    /// Length of the file.
    pub(super) file_bytes: u64,
}

impl Budget {
    /// Refuses images that are too large before anything is allocated for them. `expansion` is the
    /// largest possible ratio of uncompressed to compressed size, `copies` the number of times that
    /// the decoder holds the pixels.
    fn check(
        self,
        size: (usize, usize),
        pixel_bytes: usize,
        expansion: Option<u64>,
        copies: usize,
    ) -> Fallible<()> {
        let (width, height) = size;
        if width == 0 || height == 0 {
            return Err(format!(
                "width and height must be positive, got {width} x {height} pixels"
            )
            .into());
        }
        let pixels = (width as u128) * (height as u128) * (pixel_bytes as u128);
        if pixels * copies as u128 > self.bytes as u128 {
            return Err(format!(
                "{width} x {height} pixels need {} bytes of memory, {} are allowed; \
                 see `ImageIo::with_memory_limit`",
                pixels * copies as u128,
                self.bytes
            )
            .into());
        }
        // The bytes of headers count too, which leaves room for a few rows that compress perfectly.
        if expansion.is_some_and(|x| pixels > u128::from(x) * u128::from(self.file_bytes)) {
            return Err(format!(
                "the header says {width} x {height} pixels, but the file has only {} bytes; it is \
                 damaged or truncated",
                self.file_bytes
            )
            .into());
        }
        Ok(())
    }
}

/// Deflate turns at most 258 bytes into two bits.
const DEFLATE_EXPANSION: u64 = 1040;
/// LZW, fax and PackBits codes expand less, and so do the rows of one bit per pixel of a TIFF file.
const TIFF_EXPANSION: u64 = 1 << 16;

pub(super) fn decode<R: BufRead + Seek>(
    file: R,
    format: ImageFileFormat,
    budget: Budget,
) -> Fallible<ImageAny> {
    match format {
        ImageFileFormat::Png => png(file, budget),
        ImageFileFormat::Jpeg => jpeg(file, budget),
        ImageFileFormat::Tiff => tiff(file, budget),
    }
}

pub(super) fn metadata<R: BufRead + Seek>(
    file: R,
    format: ImageFileFormat,
    budget: Budget,
) -> Fallible<ImageMetadata> {
    let (width, height, depth, channels, scalar) = match format {
        ImageFileFormat::Png => {
            let reader = png_reader(file, budget)?;
            let (width, height) = reader.info().size();
            let (channels, scalar) = png_layout(&reader);
            (width as usize, height as usize, 1, channels, scalar)
        }
        ImageFileFormat::Jpeg => {
            let (_, (width, height), channels) = jpeg_header(file)?;
            (width, height, 1, channels, PixelScalar::U8)
        }
        ImageFileFormat::Tiff => {
            let mut reader = tiff_reader(file, budget)?;
            let (width, height) = reader.dimensions()?;
            let (_, channels, scalar) = tiff_layout(&mut reader)?;
            let depth = tiff_pages(&mut reader)?;
            (width as usize, height as usize, depth, channels, scalar)
        }
    };
    Ok(ImageMetadata {
        format,
        width,
        height,
        depth,
        channels,
        scalar,
    })
}

fn image<P: PixelType>(size: (usize, usize), data: Vec<P::Channel>) -> Fallible<ImageAny>
where
    ImageAny: From<Image<P>>,
{
    Ok(Image::<P>::from_data(size.0, size.1, data)?.into())
}

/// Returns an image with 8 bits per channel; two channels are brightness and opacity.
fn image_8u(size: (usize, usize), channels: usize, data: Vec<u8>) -> Fallible<ImageAny> {
    use tarragon_geometry::render::{Grey8U, Rgb8U, Rgba8U};
    match channels {
        1 => image::<Grey8U>(size, data),
        2 => {
            let rgba = data.as_chunks().0.iter().flat_map(|&[y, a]| [y, y, y, a]);
            image::<Rgba8U>(size, rgba.collect())
        }
        3 => image::<Rgb8U>(size, data),
        _ => image::<Rgba8U>(size, data),
    }
}

fn unsupported<V>(found: impl std::fmt::Display) -> Fallible<V> {
    Err(format!(
        "the pixels must be 8-bit brightness or colours, 16-bit brightness or (TIFF) 32-bit \
         floats of one channel, got {found}"
    )
    .into())
}

fn png_reader<R: BufRead + Seek>(file: R, budget: Budget) -> Fallible<png::Reader<R>> {
    let limits = png::Limits {
        bytes: budget.bytes,
    };
    let mut decoder = png::Decoder::new_with_limits(file, limits);
    // Palettes are expanded to colours, and one to four bits to eight.
    decoder.set_transformations(png::Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info()?;
    let (width, height) = (header.width as usize, header.height as usize);
    budget.check((width, height), 1, Some(8 * DEFLATE_EXPANSION), 1)?;
    let reader = decoder.read_info()?;
    // The decoder does not check the palette, and panics if it is malformed.
    let palette = reader.info().palette.as_deref().map(<[u8]>::len);
    if palette.is_some_and(|n| n == 0 || n % 3 != 0 || n > 3 * 256) {
        return Err(
            "the palette must have one to 256 colours of three bytes; the file is damaged".into(),
        );
    }
    Ok(reader)
}

/// Returns the number of channels and the number type of the decoder's output.
fn png_layout<R: BufRead + Seek>(reader: &png::Reader<R>) -> (usize, PixelScalar) {
    match reader.output_color_type() {
        (color, png::BitDepth::Sixteen) => (color.samples(), PixelScalar::U16),
        // Fewer bits are expanded.
        (color, _) => (color.samples(), PixelScalar::U8),
    }
}

fn png<R: BufRead + Seek>(file: R, budget: Budget) -> Fallible<ImageAny> {
    let mut reader = png_reader(file, budget)?;
    let (channels, scalar) = png_layout(&reader);
    if scalar == PixelScalar::U16 && channels != 1 {
        let (color, depth) = reader.output_color_type();
        return unsupported(format_args!("{color:?} of {} bits", depth as u8));
    }
    let info = reader.info();
    let size = (info.width as usize, info.height as usize);
    // Pixels may have fewer bits in the file than in memory, so the allowed expansion is larger.
    let in_memory = if scalar == PixelScalar::U8 {
        channels.next_multiple_of(2)
    } else {
        4
    };
    budget.check(size, in_memory, Some(32 * DEFLATE_EXPANSION), 1)?;
    let bytes = reader.output_buffer_size().ok_or("too many pixels")?;
    let mut data = vec![0; bytes];
    reader.next_frame(&mut data)?;
    reader.finish()?;
    if scalar == PixelScalar::U8 {
        return image_8u(size, channels, data);
    }
    let words = data.as_chunks().0.iter().map(|b| u16::from_be_bytes(*b));
    image::<tarragon_geometry::render::Depth16U>(size, words.collect())
}

type JpegReader<R> = (JpegDecoder<R>, (usize, usize), usize);

fn jpeg_header<R: BufRead + Seek>(file: R) -> Fallible<JpegReader<R>> {
    let options = DecoderOptions::default()
        .set_max_width(JPEG_MAX_SIDE)
        .set_max_height(JPEG_MAX_SIDE)
        // Makes a truncated file an error rather than an image with a grey lower part.
        .set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(file, options);
    decoder.decode_headers()?;
    let info = decoder.info().ok_or("the image header is missing")?;
    let channels = usize::from(info.components);
    let size = (usize::from(info.width), usize::from(info.height));
    Ok((decoder, size, channels))
}

fn jpeg_reader<R: BufRead + Seek>(file: R) -> Fallible<JpegReader<R>> {
    let (mut decoder, size, channels) = jpeg_header(file)?;
    let space = match channels {
        1 => ColorSpace::Luma,
        3 => ColorSpace::RGB,
        n => return unsupported(format_args!("{n} channels, such as print colours")),
    };
    decoder.set_options(decoder.options().jpeg_set_out_colorspace(space));
    Ok((decoder, size, channels))
}

/// Returns an error if the end marker is missing. The decoder tolerates a few missing bytes, but
/// here such a file counts as truncated. Some programs append data after the marker, so the last 4
/// KiB are searched.
fn check_jpeg_end<R: BufRead + Seek>(file: &mut R) -> Fallible<()> {
    const TAIL: u64 = 4096;
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail = vec![];
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    file.by_ref().take(TAIL).read_to_end(&mut tail)?;
    file.rewind()?;
    if !tail.windows(2).any(|w| w == [0xff, 0xd9]) {
        return Err("the end marker is missing; the file is truncated".into());
    }
    Ok(())
}

fn jpeg<R: BufRead + Seek>(mut file: R, budget: Budget) -> Fallible<ImageAny> {
    check_jpeg_end(&mut file)?;
    let (mut decoder, size, channels) = jpeg_reader(file)?;
    // The decoder keeps progressive files as two-byte coefficients in addition to the pixels.
    budget.check(size, channels, None, 3)?;
    let data = decoder.decode()?;
    image_8u(size, channels, data)
}

fn tiff_reader<R: BufRead + Seek>(file: R, budget: Budget) -> Fallible<TiffDecoder<R>> {
    let mut limits = tiff::decoder::Limits::default();
    limits.decoding_buffer_size = budget.bytes;
    limits.intermediate_buffer_size = budget.bytes;
    Ok(TiffDecoder::new(file)?.with_limits(limits))
}

/// Returns the colour type, the number of channels and the number type of a file.
fn tiff_layout<R: BufRead + Seek>(
    reader: &mut TiffDecoder<R>,
) -> Fallible<(ColorType, usize, PixelScalar)> {
    let color = reader.colortype()?;
    let formats = reader.find_tag_unsigned_vec::<u16>(Tag::SampleFormat)?;
    let format = formats.and_then(|f| f.first().copied()).unwrap_or(1);
    let channels = match color {
        ColorType::Gray(_) => 1,
        ColorType::GrayA(_) => 2,
        ColorType::RGB(_) => 3,
        ColorType::RGBA(_) | ColorType::CMYK(_) => 4,
        _ => 0,
    };
    let scalar = match (color.bit_depth(), format) {
        (8, 1) => Some(PixelScalar::U8),
        (16, 1) => Some(PixelScalar::U16),
        (16, 2) => Some(PixelScalar::I16),
        (32, 3) => Some(PixelScalar::F32),
        _ => None,
    };
    match scalar.filter(|_| channels > 0) {
        Some(scalar) => Ok((color, channels, scalar)),
        None => {
            let format = match format {
                1 => "unsigned",
                2 => "signed",
                3 => "floating-point",
                _ => "other",
            };
            unsupported(format_args!("{color:?} of {format} numbers"))
        }
    }
}

/// Returns the number of images in the file, and leaves the reader at the last one.
fn tiff_pages<R: BufRead + Seek>(reader: &mut TiffDecoder<R>) -> Fallible<usize> {
    let mut pages = 1;
    while reader.more_images() {
        reader.next_image()?;
        pages += 1;
    }
    Ok(pages)
}

fn tiff<R: BufRead + Seek>(file: R, budget: Budget) -> Fallible<ImageAny> {
    use tarragon_geometry::render::{Depth16U, Depth32F, Label16I};
    let mut reader = tiff_reader(file, budget)?;
    let (width, height) = reader.dimensions()?;
    let size = (width as usize, height as usize);
    let (color, channels, scalar) = tiff_layout(&mut reader)?;
    let is_print = matches!(color, ColorType::CMYK(_));
    if is_print || (channels > 1 && scalar != PixelScalar::U8) {
        return unsupported(format_args!("{color:?} of {scalar:?}"));
    }
    if reader.more_images() {
        return Err("the file must hold one image, got several".into());
    }
    let planes = reader.find_tag_unsigned::<u16>(Tag::PlanarConfiguration)?;
    if channels > 1 && planes == Some(2) {
        return unsupported("one plane per channel");
    }
    let scalar_bytes = match scalar {
        PixelScalar::U8 => 1,
        PixelScalar::F32 => 4,
        _ => 2,
    };
    let pixel_bytes = channels.next_multiple_of(2) * scalar_bytes;
    budget.check(size, pixel_bytes, Some(TIFF_EXPANSION), 1)?;
    match reader.read_image()? {
        DecodingResult::U8(data) => image_8u(size, channels, data),
        DecodingResult::U16(data) => image::<Depth16U>(size, data),
        DecodingResult::I16(data) => image::<Label16I>(size, data),
        DecodingResult::F32(data) => image::<Depth32F>(size, data),
        _ => unsupported("numbers of another type than the header says"),
    }
}
