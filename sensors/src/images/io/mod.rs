//! Image files: reading and writing.
//!
//! | pixels | PNG | JPEG | TIFF |
//! |---|---|---|---|
//! | [`Rgba8U`], [`Bgra8U`] | 8 bit | 8 bit, without opacity | 8 bit |
//! | [`Rgb8U`], [`Bgr8U`], [`Grey8U`] | 8 bit | 8 bit | 8 bit |
//! | [`Depth16U`] | 16 bit | - | 16 bit |
//! | [`Label16I`] | 16 bit, unsigned | - | 16 bit, unsigned |
//! | [`Depth32F`] | - | - | 32 bit float |
//!
//! Files store red before blue, whatever the channel order of the image. PNG and TIFF preserve
//! every bit. Labels are written as unsigned numbers with the same bits, which viewers and Drake
//! can read: [`ImageIo::load`] returns them as [`Depth16U`], [`ImageIo::load_as`] also as labels.
//!
//! A file appears under its name only when it is complete: it is written under a temporary name in
//! the same directory and then renamed. If the disk is full, no partial file is left.
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

use crate::{Error, ErrorKind, Result};
use decode::Budget;
use std::fs;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::Path;
use tarragon_framework::git_lfs_pointer;
use tarragon_geometry::render::{Image, ImageAny, ImageRef};

/// Name of a memory buffer in messages.
const BUFFER: &str = "image buffer";

/// Reader and writer of images in files or in memory (Drake's `ImageIo`).
///
/// The format of a file that is read follows from its content, whatever its name; the format of a
/// file that is written follows from its extension. [`with_format`](Self::with_format) overrides
/// both.
///
/// Reading is bounded: the memory that an image needs is computed from its header and compared with
/// the [memory limit](Self::with_memory_limit) before anything is allocated. A file that is
/// truncated, damaged or claims more pixels than its bytes can hold causes an error, never a
/// partial image.
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
    /// Default of the memory limit (bytes): 512 MiB, enough for 134 million RGBA pixels.
    pub const DEFAULT_MEMORY_LIMIT: usize = 512 << 20;
    /// Default quality of JPEG files, the same as Drake's.
    pub const DEFAULT_JPEG_QUALITY: u8 = 95;

    /// Creates a reader and writer with default settings.
    pub const fn new() -> Self {
        Self {
            format: None,
            memory_limit: Self::DEFAULT_MEMORY_LIMIT,
            jpeg_quality: Self::DEFAULT_JPEG_QUALITY,
        }
    }
    /// Writes this format whatever the extension, and refuses to read other formats.
    pub const fn with_format(mut self, format: ImageFileFormat) -> Self {
        self.format = Some(format);
        self
    }
    /// Sets the memory that decoding may use (bytes), for pixels and for the decoder's own buffers.
    pub const fn with_memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }
    /// Sets the quality of JPEG files, from 1 (smallest) to 100 (best).
    ///
    /// # Errors
    /// Returns an error if the quality is outside this range.
    pub fn with_jpeg_quality(mut self, quality: u8) -> Result<Self> {
        if !(1..=100).contains(&quality) {
            return Err(Error::invalid(format!(
                "ImageIo: the JPEG quality must be from 1 to 100, got {quality}"
            )));
        }
        self.jpeg_quality = quality;
        Ok(self)
    }

    /// Reads a file of any pixel type.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is damaged, its format is unknown or differs
    /// from [`with_format`](Self::with_format), no [`Image`] type has its pixels, or it needs more
    /// memory than allowed.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<ImageAny> {
        let path = path.as_ref();
        self.read(path, open(path)?, decode::decode)
    }
    /// Reads a file as an image of pixel type `P`.
    ///
    /// Colours are reordered to `P`, and are opaque if the file has no opacity. Unsigned 16-bit
    /// numbers are read as labels if `P` is [`Label16I`](crate::Label16I). No other conversion
    /// takes place; nothing is dropped or scaled.
    ///
    /// # Errors
    /// Returns the errors of [`load`](Self::load), and an error if the file holds other pixels.
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
    /// Reads an image of pixel type `P` from the bytes of a file.
    ///
    /// # Errors
    /// Same as [`load_as`](Self::load_as).
    pub fn load_from_buffer_as<P: ImageFilePixel>(&self, file: &[u8]) -> Result<Image<P>> {
        typed(Path::new(BUFFER), self.load_from_buffer(file)?)
    }
    /// Reads the metadata of a file without decoding the pixels. It may have pixels that no
    /// [`Image`] type has.
    ///
    /// Returns `None` if the content is not supported: the format is unknown or differs from
    /// [`with_format`](Self::with_format), the header is damaged, the number type is not a
    /// [`PixelScalar`](crate::PixelScalar), or there are more pixels than the memory limit has
    /// bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read. (Drake returns no metadata in this case too.)
    pub fn load_metadata(&self, path: impl AsRef<Path>) -> Result<Option<ImageMetadata>> {
        let path = path.as_ref();
        match self.read(path, open(path)?, decode::metadata) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::Io => Err(error),
            Err(error) => {
                tracing::debug!("{error}");
                Ok(None)
            }
        }
    }
    /// Reads the metadata from the bytes of a file, like [`load_metadata`](Self::load_metadata).
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
            let what = match git_lfs_pointer(start) {
                _ if start.is_empty() => "an empty file",
                Some(_) => "a Git LFS pointer; fetch the file with 'git lfs pull'",
                None => "an unknown format",
            };
            return Err(Error::new(
                ErrorKind::Parse,
                format!("{place}: the file must be PNG, JPEG or TIFF, got {what}"),
            ));
        };
        if let Some(expected) = self.format.filter(|f| *f != found) {
            return Err(Error::new(
                ErrorKind::Parse,
                format!("{place}: the file must be {expected}, got {found}"),
            ));
        }
        let budget = Budget {
            bytes: self.memory_limit,
            file_bytes,
        };
        decode(file, found, budget)
            .map_err(|e| codec_error(path, &format!(": cannot read the {found} image"), e))
    }

    /// Writes an image to a file. The extension selects the format: `.png`, `.jpg`, `.jpeg`,
    /// `.tiff` or `.tif`.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown, the format cannot hold the pixels, the image
    /// is empty, or the file cannot be written. No partial file is left.
    pub fn save<'a>(&self, image: impl Into<ImageRef<'a>>, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(image.into(), path.as_ref(), &mut EncodeBuffers::default())
    }
    /// Returns the bytes of a file that holds the image.
    ///
    /// # Errors
    /// Returns an error if the format cannot hold the pixels, or the image is empty.
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
    /// Writes like [`save`](Self::save), but reuses `buffers`.
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
                "{place}: an image without pixels cannot be written; render it first"
            )));
        }
        if !format.can_hold(image.scalar()) {
            return Err(Error::unsupported(format!(
                "{place}: {format} cannot hold {} pixels; use .tiff{}",
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
            .map_err(|e| codec_error(path, "", e))
    }
}

/// An error of a codec about the file at `path`; `what` continues the path.
pub(crate) fn codec_error(
    path: &Path,
    what: &str,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::new(ErrorKind::Parse, format!("{}{what}", path.display())).with_cause(cause)
}

fn open(path: &Path) -> Result<(BufReader<fs::File>, u64)> {
    let file = fs::File::open(path).map_err(|e| Error::io(path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io(path, e))?;
    if metadata.is_dir() {
        return Err(Error::invalid(format!(
            "{}: the path must name an image file, got a directory",
            path.display()
        )));
    }
    // The length of a pipe or a device is unknown.
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
            "{0}: the file must hold {2}, got {1}",
            path.display(),
            image.pixel_type(),
            P::NAME
        ))
    })
}

/// Writes an image in the format of the extension, with the default settings of [`ImageIo::save`].
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
pub fn save_image<P: ImageFilePixel>(image: &Image<P>, path: impl AsRef<Path>) -> Result<()> {
    ImageIo::new().save(P::borrow(image), path.as_ref())
}

/// Reads an image of pixel type `P` in the format of the content, with the default settings of
/// [`ImageIo::load_as`].
///
/// # Errors
/// Same as [`ImageIo::load_as`].
pub fn load_image<P: ImageFilePixel>(path: impl AsRef<Path>) -> Result<Image<P>> {
    ImageIo::new().load_as(path.as_ref())
}
