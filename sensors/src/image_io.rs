//! Writing and reading image files.
//!
//! | pixels | PNG | TIFF |
//! |---|---|---|
//! | [`Rgba8U`], [`Rgb8U`], [`Grey8U`] | 8 bit | 8 bit |
//! | [`Depth16U`], [`Label16I`] | 16 bit grey | 16 bit |
//! | [`Depth32F`] | - | 32 bit float |
//!
//! A file appears under its name only when it is complete: it is written under a temporary name in
//! the same directory and then renamed.

use crate::error::{Error, Result};
use std::fs;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_geometry::render::{
    Depth16U, Depth32F, Grey8U, Image, Label16I, PixelType, Rgb8U, Rgba8U,
};
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{TiffEncoder, colortype};

/// The formats of image files.
///
/// ```
/// use std::path::Path;
/// use tarragon_sensors::ImageFileFormat;
/// let format = ImageFileFormat::of_path(Path::new("depth.tif"))?;
/// assert_eq!((format, format.extension()), (ImageFileFormat::Tiff, "tiff"));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageFileFormat {
    /// Portable network graphics.
    Png,
    /// Tagged image file format.
    Tiff,
}

impl ImageFileFormat {
    /// The usual extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Tiff => "tiff",
        }
    }
    /// By extension; `.tif` is TIFF too.
    ///
    /// # Errors
    /// If the extension is another one.
    pub fn of_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("png") => Ok(Self::Png),
            Some("tiff" | "tif") => Ok(Self::Tiff),
            _ => Err(Error::invalid(format!(
                "{}: image files end in .png, .tiff or .tif",
                path.display()
            ))),
        }
    }
}

mod sealed {
    use super::*;
    /// How the channels of a pixel type travel through a file.
    pub trait Coded: PixelType {
        /// PNG colour type and depth; `None`: not as PNG.
        const PNG: Option<(ColorType, BitDepth)>;
        /// Samples in PNG byte order.
        fn to_png(data: &[Self::Channel]) -> Vec<u8>;
        fn from_png(bytes: &[u8]) -> Vec<Self::Channel>;
        fn write_tiff<W: Write + std::io::Seek>(
            to: &mut TiffEncoder<W>,
            size: (u32, u32),
            data: &[Self::Channel],
        ) -> tiff::TiffResult<()>;
        /// The samples, if they have this type.
        fn from_tiff(samples: DecodingResult) -> Option<Vec<Self::Channel>>;
    }
}
use sealed::Coded;

/// A pixel type that has a file format.
///
/// ```
/// use tarragon_sensors::{Depth32F, ImageFileFormat, ImageFilePixel, Rgba8U};
/// assert_eq!((Rgba8U::IMAGE_TYPE, Depth32F::IMAGE_TYPE), ("color", "depth"));
/// assert_eq!(Depth32F::DEFAULT_FORMAT, ImageFileFormat::Tiff);
/// ```
pub trait ImageFilePixel: Coded {
    /// `color`, `depth`, `label` or `grey`: Drake's `image_type` in file names.
    const IMAGE_TYPE: &'static str;
    /// The format that is used when a file name has no extension.
    const DEFAULT_FORMAT: ImageFileFormat;
}

macro_rules! file_pixels {
    ($($pixel:ident, $image_type:literal, $default:ident, $png:expr, $to:expr, $from:expr, $tiff:ident, $result:ident, $back:expr;)*) => {$(
        impl Coded for $pixel {
            const PNG: Option<(ColorType, BitDepth)> = $png;
            fn to_png(data: &[Self::Channel]) -> Vec<u8> {
                let to: fn(&[Self::Channel]) -> Vec<u8> = $to;
                to(data)
            }
            fn from_png(bytes: &[u8]) -> Vec<Self::Channel> {
                let from: fn(&[u8]) -> Vec<Self::Channel> = $from;
                from(bytes)
            }
            fn write_tiff<W: Write + std::io::Seek>(
                to: &mut TiffEncoder<W>,
                (width, height): (u32, u32),
                data: &[Self::Channel],
            ) -> tiff::TiffResult<()> {
                to.write_image::<colortype::$tiff>(width, height, data)
            }
            fn from_tiff(samples: DecodingResult) -> Option<Vec<Self::Channel>> {
                match samples {
                    DecodingResult::$result(samples) => Some($back(samples)),
                    _ => None,
                }
            }
        }
        impl ImageFilePixel for $pixel {
            const IMAGE_TYPE: &'static str = $image_type;
            const DEFAULT_FORMAT: ImageFileFormat = ImageFileFormat::$default;
        }
    )*};
}

use png::{BitDepth, ColorType};

file_pixels! {
    Rgba8U, "color", Png, Some((ColorType::Rgba, BitDepth::Eight)), <[u8]>::to_vec, <[u8]>::to_vec, RGBA8, U8, |s| s;
    Rgb8U, "color", Png, Some((ColorType::Rgb, BitDepth::Eight)), <[u8]>::to_vec, <[u8]>::to_vec, RGB8, U8, |s| s;
    Grey8U, "grey", Png, Some((ColorType::Grayscale, BitDepth::Eight)), <[u8]>::to_vec, <[u8]>::to_vec, Gray8, U8, |s| s;
    Depth16U, "depth", Png, Some((ColorType::Grayscale, BitDepth::Sixteen)),
        |d| d.iter().flat_map(|x| x.to_be_bytes()).collect(),
        |b| b.chunks_exact(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect(),
        Gray16, U16, |s| s;
    // Labels are written as unsigned: the two agree for every label, and viewers open the file.
    Label16I, "label", Png, Some((ColorType::Grayscale, BitDepth::Sixteen)),
        |d| d.iter().flat_map(|x| x.to_be_bytes()).collect(),
        |b| b.chunks_exact(2).map(|b| i16::from_be_bytes([b[0], b[1]])).collect(),
        GrayI16, I16, |s| s;
    Depth32F, "depth", Tiff, None, |_| vec![], |_| vec![], Gray32Float, F32, |s| s;
}

/// Writes an image; the format follows from the extension.
///
/// ```
/// use tarragon_sensors::{ImageRgba8U, load_image, save_image};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("grey.png");
/// let image = ImageRgba8U::with_value(4, 3, 128);
/// save_image(&image, &path)?;
/// assert_eq!(load_image::<tarragon_sensors::Rgba8U>(&path)?, image);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the extension is unknown, the format can not hold the pixels, the image is empty, or the file
/// can not be written. No half-written file is left behind.
pub fn save_image<P: ImageFilePixel>(image: &Image<P>, path: &Path) -> Result<()> {
    let format = ImageFileFormat::of_path(path)?;
    if image.size() == 0 {
        return Err(Error::invalid(format!(
            "{}: an image without pixels has no file; render it first",
            path.display()
        )));
    }
    write_atomically(path, |file| match format {
        ImageFileFormat::Png => write_png(image, path, file),
        ImageFileFormat::Tiff => {
            let mut encoder = TiffEncoder::new(file).map_err(|e| Error::codec(path, e))?;
            P::write_tiff(&mut encoder, size(image, path)?, image.data())
                .map_err(|e| Error::codec(path, e))
        }
    })
}

fn size<P: PixelType>(image: &Image<P>, path: &Path) -> Result<(u32, u32)> {
    let side = |n: usize| {
        u32::try_from(n).map_err(|_| {
            let path = path.display();
            Error::invalid(format!(
                "{path}: an image of {n} pixels on a side is too large for a file"
            ))
        })
    };
    Ok((side(image.width())?, side(image.height())?))
}

fn write_png<P: ImageFilePixel>(image: &Image<P>, path: &Path, to: impl Write) -> Result<()> {
    let Some((color, depth)) = P::PNG else {
        return Err(Error::invalid(format!(
            "{}: PNG can not hold {} pixels; use .tiff",
            path.display(),
            P::NAME
        )));
    };
    let (width, height) = size(image, path)?;
    let mut encoder = png::Encoder::new(to, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(|e| Error::codec(path, e))?;
    writer
        .write_image_data(&P::to_png(image.data()))
        .and_then(|()| writer.finish())
        .map_err(|e| Error::codec(path, e))
}

/// Writes `path` through a temporary file beside it.
fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> Result<()>,
) -> Result<()> {
    /// Removes the temporary file unless it was renamed.
    struct Temporary(PathBuf);
    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        Error::invalid(format!(
            "{}: the name of a file is expected",
            path.display()
        ))
    })?;
    let unique = format!(
        ".{}.{}.tmp",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(unique);
    let temporary = Temporary(path.with_file_name(hidden));
    let file = fs::File::create(&temporary.0).map_err(|e| Error::io(path, e))?;
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush().map_err(|e| Error::io(path, e))?;
    drop(file);
    fs::rename(&temporary.0, path).map_err(|e| Error::io(path, e))?;
    std::mem::forget(temporary);
    Ok(())
}

/// Reads an image of a known pixel type; the format follows from the extension.
///
/// # Errors
/// If the file can not be read, is damaged, or holds other pixels.
pub fn load_image<P: ImageFilePixel>(path: &Path) -> Result<Image<P>> {
    let format = ImageFileFormat::of_path(path)?;
    let file = fs::File::open(path).map_err(|e| Error::io(path, e))?;
    let file = BufReader::new(file);
    let other_pixels = |found: String| {
        let path = path.display();
        Error::invalid(format!(
            "{path}: the file holds {found}, {} is expected",
            P::NAME
        ))
    };
    let (width, height, data) = match format {
        ImageFileFormat::Png => {
            let mut reader = png::Decoder::new(file)
                .read_info()
                .map_err(|e| Error::codec(path, e))?;
            let found = reader.output_color_type();
            if Some(found) != P::PNG {
                return Err(other_pixels(format!("{found:?}")));
            }
            let bytes = reader
                .output_buffer_size()
                .ok_or_else(|| other_pixels("too many pixels".into()))?;
            let mut buffer = vec![0; bytes];
            let info = reader
                .next_frame(&mut buffer)
                .map_err(|e| Error::codec(path, e))?;
            buffer.truncate(info.buffer_size());
            (info.width, info.height, P::from_png(&buffer))
        }
        ImageFileFormat::Tiff => {
            let mut decoder = Decoder::new(file).map_err(|e| Error::codec(path, e))?;
            let (width, height) = decoder.dimensions().map_err(|e| Error::codec(path, e))?;
            let color = decoder.colortype().map_err(|e| Error::codec(path, e))?;
            let samples = decoder.read_image().map_err(|e| Error::codec(path, e))?;
            let samples =
                P::from_tiff(samples).ok_or_else(|| other_pixels(format!("{color:?}")))?;
            (width, height, samples)
        }
    };
    Image::from_data(width as usize, height as usize, data).map_err(|e| Error::codec(path, e))
}
