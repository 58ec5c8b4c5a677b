//! Formats and metadata of image files.

use crate::{Error, Result};
use std::fmt;
use std::path::Path;
use tarragon_geometry::render::PixelScalar;

/// The formats of image files.
///
/// ```
/// use std::path::Path;
/// use tarragon_sensors::ImageFileFormat;
/// let format = ImageFileFormat::of_path(Path::new("depth.tif"))?;
/// assert_eq!((format, format.extension()), (ImageFileFormat::Tiff, "tiff"));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageFileFormat {
    /// JPEG; lossy, so pixels are not preserved exactly.
    Jpeg,
    /// Portable network graphics.
    Png,
    /// Tagged image file format.
    Tiff,
}

impl ImageFileFormat {
    /// Returns the usual extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Tiff => "tiff",
        }
    }
    /// Returns the format of an extension, in any letter case; `.jpeg` is also JPEG and `.tif` is
    /// also TIFF.
    ///
    /// # Errors
    /// Returns an error if the extension is unknown.
    pub fn of_path(path: &Path) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("jpg" | "jpeg") => Ok(Self::Jpeg),
            Some("png") => Ok(Self::Png),
            Some("tiff" | "tif") => Ok(Self::Tiff),
            _ => Err(Error::unsupported(format!(
                "{}: image files end in .png, .jpg, .jpeg, .tiff or .tif",
                path.display()
            ))),
        }
    }
    /// Returns the format of a file that begins with `start`, which needs at least eight bytes, or
    /// `None` for other formats.
    ///
    /// ```
    /// use tarragon_sensors::ImageFileFormat;
    /// let png = b"\x89PNG\r\n\x1a\n...";
    /// assert_eq!(ImageFileFormat::of_content(png), Some(ImageFileFormat::Png));
    /// assert_eq!(ImageFileFormat::of_content(b"GIF89a.."), None);
    /// ```
    pub fn of_content(start: &[u8]) -> Option<Self> {
        const TIFF: [&[u8]; 4] = [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"];
        if start.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if start.starts_with(&[0xff, 0xd8, 0xff]) {
            Some(Self::Jpeg)
        } else if TIFF.iter().any(|magic| start.starts_with(magic)) {
            Some(Self::Tiff)
        } else {
            None
        }
    }
    /// Returns true if a file of this format can hold numbers of this type.
    ///
    /// ```
    /// use tarragon_sensors::{Depth32F, ImageFileFormat, PixelType};
    /// assert!(ImageFileFormat::Tiff.can_hold(Depth32F::SCALAR));
    /// assert!(!ImageFileFormat::Png.can_hold(Depth32F::SCALAR));
    /// ```
    pub fn can_hold(self, scalar: PixelScalar) -> bool {
        match self {
            Self::Jpeg => scalar == PixelScalar::U8,
            Self::Png => scalar != PixelScalar::F32,
            Self::Tiff => true,
        }
    }
}

impl fmt::Display for ImageFileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Tiff => "TIFF",
        })
    }
}

/// Metadata of an image file (Drake's `ImageIo::Metadata`), read without decoding the pixels.
///
/// ```
/// use tarragon_sensors::{ImageFileFormat, ImageIo, ImageLabel16I, PixelScalar};
/// let io = ImageIo::new();
/// let file = io.save_to_buffer(&ImageLabel16I::new(4, 3), ImageFileFormat::Png)?;
/// let metadata = io.load_metadata_from_buffer(&file).expect("a file of our own");
/// assert_eq!((metadata.width, metadata.height, metadata.channels), (4, 3, 1));
/// // PNG has no signed numbers, so labels are stored as unsigned ones.
/// assert_eq!(metadata.scalar, PixelScalar::U16);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageMetadata {
    /// The format of the file.
    pub format: ImageFileFormat,
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Number of images in the file; an [`Image`](crate::Image) can be read only from a file with
    /// one.
    pub depth: usize,
    /// Channels per pixel.
    pub channels: usize,
    /// The number type of one channel.
    pub scalar: PixelScalar,
}
