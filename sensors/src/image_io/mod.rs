//! Writing and reading image files.
//!
//! | pixels | PNG | JPEG | TIFF |
//! |---|---|---|---|
//! | [`Rgba8U`], [`Bgra8U`] | 8 bit | 8 bit, without opacity | 8 bit |
//! | [`Rgb8U`], [`Bgr8U`], [`Grey8U`] | 8 bit | 8 bit | 8 bit |
//! | [`Depth16U`] | 16 bit | - | 16 bit |
//! | [`Label16I`] | 16 bit, unsigned | - | 16 bit, unsigned |
//! | [`Depth32F`] | - | - | 32 bit float |
//!
//! Files have red before blue, whatever the order of the image is. PNG and TIFF give back every
//! bit. Labels are written as unsigned numbers of the same bits, which viewers and Drake read:
//! without another word they come back as [`Depth16U`], with [`ImageIo::load_as`] as labels.
//!
//! A file appears under its name only when it is complete: it is written under a temporary name in
//! the same directory and then renamed. A full disk leaves nothing behind.
//!
//! [`Rgba8U`]: crate::Rgba8U
//! [`Bgra8U`]: crate::Bgra8U
//! [`Rgb8U`]: crate::Rgb8U
//! [`Bgr8U`]: crate::Bgr8U
//! [`Grey8U`]: crate::Grey8U
//! [`Depth16U`]: crate::Depth16U
//! [`Depth32F`]: crate::Depth32F
//! [`Label16I`]: crate::Label16I

mod decode;
mod encode;
pub(crate) mod file;
mod format;
mod pixel;

pub(crate) use encode::{Chroma, EncodeBuffers, fill, jpeg, ordered_samples, set_png_speed};
pub use format::{ImageFileFormat, ImageMetadata};
pub use pixel::ImageFilePixel;

use crate::error::{Error, Result};
use decode::Budget;
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;
use tarragon_geometry::render::{Image, ImageAny, ImageRef};

/// Name of a buffer in messages.
const BUFFER: &str = "image buffer";

/// Reads and writes images, from and to files or memory (Drake's `ImageIo`).
///
/// A file is read by its content, whatever its name is; it is written in the format of its
/// extension. [`with_format`](Self::with_format) overrules both.
///
/// Reading is bounded: what an image needs in memory is computed from its header and compared with
/// [`with_memory_limit`](Self::with_memory_limit) before anything is allocated for it. A file that
/// is cut off, damaged or claims more pixels than its bytes can hold is an error, never a partial
/// image.
///
/// ```
/// use tarragon_sensors::{Image, ImageAny, ImageFileFormat, ImageIo, Rgba8U};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("grey.png");
/// let io = ImageIo::new();
/// let image = Image::<Rgba8U>::with_value(4, 3, 128);
/// io.save(&image, &path)?;
/// assert_eq!(io.load(&path)?, ImageAny::Rgba8U(image.clone()));
/// assert_eq!(io.load_as::<Rgba8U>(&path)?, image);
/// let metadata = io.load_metadata(&path)?.ok_or("it is an image")?;
/// assert_eq!(metadata.format, ImageFileFormat::Png);
/// // Decoding takes four bytes per pixel.
/// let error = io.with_memory_limit(40).load(&path).unwrap_err().to_string();
/// assert!(error.contains("4 x 3 pixels need 48 bytes of memory, 40 are allowed"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageIo {
    format: Option<ImageFileFormat>,
    memory_limit: usize,
    jpeg_quality: u8,
}

impl Default for ImageIo {
    fn default() -> Self {
        Self::new()
    }
}

impl ImageIo {
    /// Bytes that decoding an image may take unless told otherwise: 512 MiB, 134 million RGBA
    /// pixels.
    pub const DEFAULT_MEMORY_LIMIT: usize = 512 << 20;
    /// Quality of JPEG files unless told otherwise; Drake's is the same.
    pub const DEFAULT_JPEG_QUALITY: u8 = 95;

    /// Reads by content, writes by extension.
    pub const fn new() -> Self {
        Self {
            format: None,
            memory_limit: Self::DEFAULT_MEMORY_LIMIT,
            jpeg_quality: Self::DEFAULT_JPEG_QUALITY,
        }
    }
    /// Writes this format whatever the extension is, and refuses to read others.
    pub const fn with_format(mut self, format: ImageFileFormat) -> Self {
        self.format = Some(format);
        self
    }
    /// Bytes that decoding may take, pixels and what the decoder needs beside them.
    pub const fn with_memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }
    /// Quality of JPEG files, 1 (small) to 100 (best).
    ///
    /// # Errors
    /// Returns an error if the quality is out of range.
    pub fn with_jpeg_quality(mut self, quality: u8) -> Result<Self> {
        if !(1..=100).contains(&quality) {
            return Err(Error::invalid(format!(
                "ImageIo: the JPEG quality is {quality}, 1 to 100 is expected"
            )));
        }
        self.jpeg_quality = quality;
        Ok(self)
    }

    /// Reads a file of any pixel type.
    ///
    /// # Errors
    /// Returns an error if the file can not be read, is damaged, is of no known or of another
    /// format than asked for, holds pixels that no [`Image`] has, or needs more memory than
    /// allowed.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<ImageAny> {
        let path = path.as_ref();
        self.read(path, open(path)?, decode::decode)
    }
    /// Reads a file of known pixel type.
    ///
    /// Colours come in the order that is asked for and opaque where the file has no opacity;
    /// unsigned words of 16 bits are labels if labels are asked for. Nothing is dropped or scaled.
    ///
    /// # Errors
    /// Same as [`load`](Self::load), and if the file holds other pixels.
    pub fn load_as<P: ImageFilePixel>(&self, path: impl AsRef<Path>) -> Result<Image<P>> {
        let path = path.as_ref();
        typed(path, self.load(path)?)
    }
    /// Reads an image of any pixel type from the bytes of a file.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    pub fn load_from_buffer(&self, file: &[u8]) -> Result<ImageAny> {
        let source = (Cursor::new(file), file.len() as u64);
        self.read(Path::new(BUFFER), source, decode::decode)
    }
    /// Reads an image of known pixel type from the bytes of a file.
    ///
    /// # Errors
    /// Same as [`load_as`](Self::load_as).
    pub fn load_from_buffer_as<P: ImageFilePixel>(&self, file: &[u8]) -> Result<Image<P>> {
        typed(Path::new(BUFFER), self.load_from_buffer(file)?)
    }
    /// Reads the metadata of a file, also of pixels that no [`Image`] has, without the pixels.
    ///
    /// `None` if the content is not supported: of no known format or of another than asked for,
    /// with a damaged header, with other numbers than those of [`PixelScalar`](crate::PixelScalar),
    /// or with more pixels than the memory limit has bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read. (Drake answers "none" for that too.)
    pub fn load_metadata(&self, path: impl AsRef<Path>) -> Result<Option<ImageMetadata>> {
        let path = path.as_ref();
        match self.read(path, open(path)?, decode::metadata) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.is_io() => Err(error),
            Err(error) => {
                tracing::debug!("{error}");
                Ok(None)
            }
        }
    }
    /// Reads the metadata from the bytes of a file, as [`load_metadata`](Self::load_metadata).
    pub fn load_metadata_from_buffer(&self, file: &[u8]) -> Option<ImageMetadata> {
        self.metadata_of_buffer(file).ok()
    }
    /// Reads the metadata from the bytes of a file; the error says why there are none.
    pub(crate) fn metadata_of_buffer(&self, file: &[u8]) -> Result<ImageMetadata> {
        let source = (Cursor::new(file), file.len() as u64);
        self.read(Path::new(BUFFER), source, decode::metadata)
    }

    fn read<R: BufRead + Seek, V>(
        &self,
        path: &Path,
        (mut file, file_bytes): (R, u64),
        decode: fn(R, ImageFileFormat, Budget) -> encode::Fallible<V>,
    ) -> Result<V> {
        let start = file.fill_buf().map_err(|e| Error::io(path, e))?;
        let place = path.display();
        let Some(found) = ImageFileFormat::of_content(start) else {
            let what = if start.is_empty() {
                "is empty"
            } else {
                "is no image of a known format"
            };
            return Err(Error::invalid(format!(
                "{place}: the file {what}; PNG, JPEG or TIFF is expected"
            )));
        };
        if let Some(expected) = self.format.filter(|f| *f != found) {
            return Err(Error::invalid(format!(
                "{place}: the file is {found}, {expected} is expected"
            )));
        }
        let budget = Budget {
            bytes: self.memory_limit,
            file_bytes,
        };
        decode(file, found, budget)
            .map_err(|e| Error::codec(path, format!("the {found} image can not be read: {e}")))
    }

    /// Writes an image to a file, of the format of its extension: `.png`, `.jpg`, `.jpeg`, `.tiff`
    /// or `.tif`.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown, the format can not hold the pixels, the image
    /// is empty, or the file can not be written. No half-written file is left behind.
    pub fn save<'a>(&self, image: impl Into<ImageRef<'a>>, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(image.into(), path.as_ref(), &mut EncodeBuffers::default())
    }
    /// The bytes of a file that holds the image.
    ///
    /// # Errors
    /// Returns an error if the format can not hold the pixels, or the image is empty.
    pub fn save_to_buffer<'a>(
        &self,
        image: impl Into<ImageRef<'a>>,
        format: ImageFileFormat,
    ) -> Result<Vec<u8>> {
        let mut buffers = EncodeBuffers::default();
        self.encode(image.into(), Path::new(BUFFER), format, &mut buffers)?;
        Ok(buffers.into_file())
    }

    pub(crate) fn by_extension(self) -> Self {
        Self {
            format: None,
            ..self
        }
    }
    /// As [`save`](Self::save), with memory that is used again.
    pub(crate) fn save_with(
        &self,
        image: ImageRef<'_>,
        path: &Path,
        buffers: &mut EncodeBuffers,
    ) -> Result<()> {
        let format = match self.format {
            Some(format) => format,
            None => ImageFileFormat::of_path(path)?,
        };
        file::write_file(path, self.encode(image, path, format, buffers)?)
    }
    fn encode<'b>(
        &self,
        image: ImageRef<'_>,
        path: &Path,
        format: ImageFileFormat,
        buffers: &'b mut EncodeBuffers,
    ) -> Result<&'b [u8]> {
        let place = path.display();
        if image.width() == 0 {
            return Err(Error::invalid(format!(
                "{place}: an image without pixels has no file; render it first"
            )));
        }
        if !format.can_hold(image.scalar()) {
            return Err(Error::invalid(format!(
                "{place}: {format} can not hold {} pixels; use .tiff{}",
                image.pixel_type(),
                if ImageFileFormat::Png.can_hold(image.scalar()) {
                    " or .png"
                } else {
                    ""
                }
            )));
        }
        buffers
            .encode(image, format, self.jpeg_quality)
            .map_err(|e| Error::codec(path, e))
    }
}

fn open(path: &Path) -> Result<(BufReader<fs::File>, u64)> {
    let file = fs::File::open(path).map_err(|e| Error::io(path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io(path, e))?;
    if metadata.is_dir() {
        return Err(Error::invalid(format!(
            "{}: this is a directory, an image file is expected",
            path.display()
        )));
    }
    // What is no regular file does not tell its length.
    let length = if metadata.is_file() {
        metadata.len()
    } else {
        u64::MAX
    };
    Ok((BufReader::with_capacity(1 << 16, file), length))
}

fn typed<P: ImageFilePixel>(path: &Path, image: ImageAny) -> Result<Image<P>> {
    P::from_file(image).map_err(|image| {
        Error::invalid(format!(
            "{}: the file holds {}, {} is expected",
            path.display(),
            image.pixel_type(),
            P::NAME
        ))
    })
}

/// Writes an image; the format follows from the extension. Short for [`ImageIo::save`].
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
/// Same as [`ImageIo::save`].
pub fn save_image<P: ImageFilePixel>(image: &Image<P>, path: &Path) -> Result<()> {
    ImageIo::new().save(P::borrow(image), path)
}

/// Reads an image of a known pixel type; the format follows from the content. Short for
/// [`ImageIo::load_as`].
///
/// # Errors
/// Same as [`ImageIo::load_as`].
pub fn load_image<P: ImageFilePixel>(path: &Path) -> Result<Image<P>> {
    ImageIo::new().load_as(path)
}
