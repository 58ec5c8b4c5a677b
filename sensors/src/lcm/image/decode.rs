//! Decoding of images from messages.

use super::inflate::Inflater;
use super::layout::WireLayout;
use crate::images::io::{ImageFileFormat, ImageFilePixel, ImageIo, fill};
use crate::{Error, ErrorKind, Result};
use sealed::{Conversion, Received};
use tarragon_geometry::render::{
    Bgr8U, Bgra8U, Depth16U, Depth32F, Grey8U, Image, ImageAny, ImageRef, Label16I, PixelFormat,
    PixelScalar, PixelType, Rgb8U, Rgba8U,
};
use tarragon_lcm::types::LcmtImage;

/// Maximum size of an image, whatever a message claims (bytes).
const MOST_BYTES: usize = ImageIo::DEFAULT_MEMORY_LIMIT;
/// Deflate turns at most 258 bytes into two bits.
const DEFLATE_EXPANSION: usize = 1040;

mod sealed {
    use super::*;
    /// Converts a row of bytes to channels; the flag selects big-endian byte order.
    pub(super) type Conversion<C> = fn(&[u8], bool, &mut [C]);
    /// Conversion of pixels in messages to a pixel type.
    pub trait Received: PixelType {
        /// Returns the channels if they are bytes.
        fn bytes_mut(channels: &mut [Self::Channel]) -> Option<&mut [u8]>;
        /// Returns the conversion from pixels of a layout, or `None` if it would lose data.
        fn conversion(from: WireLayout) -> Option<Conversion<Self::Channel>>;
    }
}

/// A pixel type that LCM messages can hold, which is every pixel type.
///
/// ```
/// use tarragon_lcm::types::LcmtImage;
/// use tarragon_sensors::{Grey8U, Image, LcmImagePixel, Rgba8U, decode_image, encode_image};
/// /// Returns the size of a received image (bytes).
/// fn size<P: LcmImagePixel>(message: &LcmtImage) -> tarragon_sensors::Result<usize> {
///     let mut image = Image::<P>::default();
///     decode_image(message, &mut image)?;
///     Ok(image.size())
/// }
/// let mut message = LcmtImage::default();
/// encode_image(&Image::<Grey8U>::new(4, 3), true, &mut message)?;
/// assert_eq!((size::<Grey8U>(&message)?, size::<Rgba8U>(&message)?), (12, 48));
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
pub trait LcmImagePixel: ImageFilePixel + Received {}

/// Reads an image from a message into `image`, whose memory is reused.
///
/// Data may be raw, compressed with zlib, or a PNG or JPEG file, in either byte order, with padding
/// after each row (`row_stride`; 0 means no padding). Pixels are converted if nothing is lost:
/// colours are reordered, colours without opacity and brightness become opaque colours,
/// [`Depth16U`] becomes [`Depth32F`] (mm to m), and unsigned labels of 8 or 16 bits become
/// [`Label16I`] (with the same bits). The channel order of a PNG or JPEG file is that of the file.
/// Data that [`encode_image`](super::encode_image) compressed are decompressed on several threads.
///
/// ```
/// use tarragon_lcm::types::LcmtImage;
/// use tarragon_sensors::{ImageRgba8U, Rgba8U, decode_image};
/// let mut message = LcmtImage {
///     width: 2,
///     height: 1,
///     row_stride: 6,
///     data: vec![1, 2, 3, 4, 5, 6].into(),
///     pixel_format: LcmtImage::PIXEL_FORMAT_BGR,
///     channel_type: LcmtImage::CHANNEL_TYPE_UINT8,
///     ..LcmtImage::default()
/// };
/// let mut image = ImageRgba8U::default();
/// decode_image::<Rgba8U>(&message, &mut image)?;
/// assert_eq!(image.data(), [3, 2, 1, 255, 6, 5, 4, 255]);
/// message.height = 100;
/// let error = decode_image::<Rgba8U>(&message, &mut image).unwrap_err().to_string();
/// assert_eq!(error, "LCM image '': 2 x 100 pixels are 600 bytes, but the message has 6");
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
///
/// # Errors
/// Returns an error, and empties the image, if sizes are negative, do not agree with the data or
/// need more than 512 MiB, the data are damaged, or the pixels cannot be converted without loss. No
/// memory is allocated for pixels that the data cannot hold.
pub fn decode_image<P: LcmImagePixel>(message: &LcmtImage, image: &mut Image<P>) -> Result<()> {
    Decoder::default().decode(message, image)
}

/// A decoder that reuses its memory from image to image.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    inflater: Inflater,
}

impl Decoder {
    pub(super) fn decode<P: LcmImagePixel>(
        &mut self,
        message: &LcmtImage,
        image: &mut Image<P>,
    ) -> Result<()> {
        self.try_decode(message, image).map_err(|e| {
            image.resize(0, 0);
            // The name is untrusted, so it is escaped to one line and shortened.
            let name: String = message.header.frame_name.escape_debug().take(64).collect();
            e.at(format!("LCM image '{name}'"))
        })
    }

    fn try_decode<P: LcmImagePixel>(
        &mut self,
        message: &LcmtImage,
        image: &mut Image<P>,
    ) -> Result<()> {
        let layout = WireLayout::of(message)?;
        let convert = conversion::<P>(layout)?;
        let (width, height) = size_of_image(message)?;
        if width == 0 {
            image.resize(0, 0);
            return Ok(());
        }
        let rows = Rows::new(message, layout, width, height)?;
        // The limit applies to the decoded data and to the image.
        let own_bytes =
            width as u128 * height as u128 * (P::CHANNELS * size_of::<P::Channel>()) as u128;
        let needed = own_bytes.max(rows.stride as u128 * height as u128);
        if needed > MOST_BYTES as u128 {
            return Err(broken(format!(
                "{width} x {height} pixels with rows of {} bytes need {needed} bytes of memory, \
                 {MOST_BYTES} are allowed",
                rows.stride
            )));
        }
        let is_same = layout.format == P::FORMAT && rows.stride == rows.row_bytes;
        match message.compression_method {
            LcmtImage::COMPRESSION_METHOD_NOT_COMPRESSED => {
                if message.data.len() < rows.least() {
                    return Err(broken(format!(
                        "{width} x {height} pixels are {} bytes, but the message has {}",
                        rows.least(),
                        message.data.len()
                    )));
                }
                fit(image, width, height)?;
                rows.convert(&message.data, message.bigendian, convert, image);
            }
            LcmtImage::COMPRESSION_METHOD_ZLIB => {
                rows.check_packed(message.data.len())?;
                if is_same && P::bytes_mut(&mut []).is_some() {
                    fit(image, width, height)?;
                    if let Some(bytes) = P::bytes_mut(image.data_mut()) {
                        rows.check_unpacked(self.inflater.unpack(&message.data, bytes)?)?;
                    }
                } else {
                    self.bytes.resize(rows.stride * height, 0);
                    rows.check_unpacked(self.inflater.unpack(&message.data, &mut self.bytes)?)?;
                    fit(image, width, height)?;
                    rows.convert(&self.bytes, message.bigendian, convert, image);
                }
            }
            LcmtImage::COMPRESSION_METHOD_JPEG => {
                self.decode_file(message, layout, ImageFileFormat::Jpeg, image)?;
            }
            LcmtImage::COMPRESSION_METHOD_PNG => {
                self.decode_file(message, layout, ImageFileFormat::Png, image)?;
            }
            other => {
                return Err(broken(format!(
                    "compression_method must be none (0), zlib (1), JPEG (2) or PNG (3), got {other}"
                )));
            }
        }
        Ok(())
    }

    fn decode_file<P: LcmImagePixel>(
        &mut self,
        message: &LcmtImage,
        layout: WireLayout,
        format: ImageFileFormat,
        image: &mut Image<P>,
    ) -> Result<()> {
        let (width, height) = size_of_image(message)?;
        let io = ImageIo::new().with_format(format);
        let found = io.metadata_of_buffer(&message.data)?;
        if (found.width, found.height) != (width, height) {
            return Err(broken(format!(
                "the message says {width} x {height} pixels, but its {format} file has {} x {}",
                found.width, found.height
            )));
        }
        let found = io.load_from_buffer(&message.data)?;
        let of_file = ImageRef::from(&found);
        let mut of_file = WireLayout {
            format: of_file.format(),
            scalar: of_file.scalar(),
        };
        if matches!(layout.format, PixelFormat::Depth | PixelFormat::Label) {
            // Files store depths and labels as brightness.
            of_file.format = layout.format;
        }
        if of_file.pixel_bytes() / of_file.channels() != layout.pixel_bytes() / layout.channels() {
            return Err(broken(format!(
                "the message says {:?} of {:?}, but its {format} file has {}",
                layout.format,
                layout.scalar,
                found.pixel_type()
            )));
        }
        let convert = conversion::<P>(of_file)?;
        let bytes = match &found {
            ImageAny::Rgba8U(found) => found.data(),
            ImageAny::Rgb8U(found) => found.data(),
            ImageAny::Grey8U(found) => found.data(),
            ImageAny::Depth16U(found) => {
                fill(&mut self.bytes, found.data(), |x| x.to_le_bytes());
                &self.bytes
            }
            other => {
                let found = other.pixel_type();
                return Err(broken(format!(
                    "the {format} file must have 8 bits per channel, or 16 bits and one channel, \
                     got {found}"
                )));
            }
        };
        fit(image, width, height)?;
        let row_bytes = width * of_file.pixel_bytes();
        let rows = Rows {
            height,
            row_bytes,
            stride: row_bytes,
        };
        rows.convert(bytes, false, convert, image);
        Ok(())
    }
}

fn conversion<P: LcmImagePixel>(from: WireLayout) -> Result<Conversion<P::Channel>> {
    P::conversion(from).ok_or_else(|| {
        Error::unsupported(format!(
            "pixels of format {:?} and type {:?} cannot be converted to {} without loss",
            from.format,
            from.scalar,
            P::NAME
        ))
    })
}

fn size_of_image(message: &LcmtImage) -> Result<(usize, usize)> {
    let size = |n: i32| usize::try_from(n).ok();
    match (size(message.width), size(message.height)) {
        (Some(width), Some(height)) if (width == 0) == (height == 0) => Ok((width, height)),
        _ => Err(broken(format!(
            "width and height must be both zero or both positive, got {} x {} pixels",
            message.width, message.height
        ))),
    }
}

/// The error of a message that contradicts itself or the image.
#[cold]
fn broken(message: String) -> Error {
    Error::new(ErrorKind::Parse, message)
}

/// Resizes an image; an image that has the size already keeps its values.
fn fit<P: PixelType>(image: &mut Image<P>, width: usize, height: usize) -> Result<()> {
    if (image.width(), image.height()) == (width, height) {
        return Ok(());
    }
    image.try_resize(width, height)
}

/// The position of rows in the bytes of an image.
struct Rows {
    height: usize,
    row_bytes: usize,
    stride: usize,
}

impl Rows {
    fn new(message: &LcmtImage, layout: WireLayout, width: usize, height: usize) -> Result<Self> {
        let row_bytes = width * layout.pixel_bytes();
        let stride = match usize::try_from(message.row_stride) {
            Ok(0) => Some(row_bytes),
            Ok(stride) => Some(stride).filter(|stride| *stride >= row_bytes),
            Err(_) => None,
        };
        let stride = stride.ok_or_else(|| {
            broken(format!(
                "row_stride must be 0 or at least {row_bytes} bytes for {width} pixels, got {}",
                message.row_stride
            ))
        })?;
        Ok(Self {
            height,
            row_bytes,
            stride,
        })
    }
    /// Returns the number of bytes up to the end of the last row.
    fn least(&self) -> usize {
        self.stride * (self.height - 1) + self.row_bytes
    }
    /// Checks that `bytes` of zlib data can hold the rows, before memory is allocated for them.
    fn check_packed(&self, bytes: usize) -> Result<()> {
        if self.least() > bytes.saturating_mul(DEFLATE_EXPANSION) {
            return Err(broken(format!(
                "{bytes} bytes of zlib data cannot hold {} rows of {} bytes",
                self.height, self.stride
            )));
        }
        Ok(())
    }
    fn check_unpacked(&self, bytes: usize) -> Result<()> {
        if bytes != self.least() && bytes != self.stride * self.height {
            return Err(broken(format!(
                "{} rows of {} bytes are {} bytes, but the zlib data hold {bytes}",
                self.height,
                self.stride,
                self.least()
            )));
        }
        Ok(())
    }
    fn convert<P: PixelType>(
        &self,
        bytes: &[u8],
        big_endian: bool,
        convert: Conversion<P::Channel>,
        image: &mut Image<P>,
    ) {
        if self.stride == self.row_bytes {
            convert(&bytes[..self.least()], big_endian, image.data_mut());
            return;
        }
        for (row, to) in bytes.chunks(self.stride).zip(image.rows_mut()) {
            convert(&row[..self.row_bytes], big_endian, to);
        }
    }
}

/// Converts each pixel separately.
fn each<const S: usize, const D: usize, C>(
    row: &[u8],
    to: &mut [C],
    f: impl Fn([u8; S]) -> [C; D],
) {
    for (to, from) in to.as_chunks_mut().0.iter_mut().zip(row.as_chunks().0) {
        *to = f(*from);
    }
}

/// Converts words of `N` bytes; `f` gets their bytes in little-endian order.
fn words<const N: usize, C>(row: &[u8], big_endian: bool, to: &mut [C], f: impl Fn([u8; N]) -> C) {
    if big_endian {
        each(row, to, |mut word: [u8; N]| {
            word.reverse();
            [f(word)]
        });
    } else {
        each(row, to, |word| [f(word)]);
    }
}

fn copy(row: &[u8], _: bool, to: &mut [u8]) {
    to.copy_from_slice(row);
}

macro_rules! colors {
    ($($pixel:ident: $($from:ident => $convert:expr,)*;)*) => {$(
        impl Received for $pixel {
            fn bytes_mut(channels: &mut [u8]) -> Option<&mut [u8]> {
                Some(channels)
            }
            fn conversion(from: WireLayout) -> Option<Conversion<u8>> {
                if from.scalar != PixelScalar::U8 {
                    return None;
                }
                Some(match from.format {
                    $(PixelFormat::$from => $convert,)*
                    _ => return None,
                })
            }
        }
        impl LcmImagePixel for $pixel {}
    )*};
}
colors! {
    Rgba8U:
        Rgba => copy,
        Bgra => |row, _, to| each(row, to, |[b, g, r, a]| [r, g, b, a]),
        Rgb => |row, _, to| each(row, to, |[r, g, b]| [r, g, b, 255]),
        Bgr => |row, _, to| each(row, to, |[b, g, r]| [r, g, b, 255]),
        Grey => |row, _, to| each(row, to, |[y]| [y, y, y, 255]),
    ;
    Bgra8U:
        Bgra => copy,
        Rgba => |row, _, to| each(row, to, |[r, g, b, a]| [b, g, r, a]),
        Rgb => |row, _, to| each(row, to, |[r, g, b]| [b, g, r, 255]),
        Bgr => |row, _, to| each(row, to, |[b, g, r]| [b, g, r, 255]),
        Grey => |row, _, to| each(row, to, |[y]| [y, y, y, 255]),
    ;
    Rgb8U:
        Rgb => copy,
        Bgr => |row, _, to| each(row, to, |[b, g, r]| [r, g, b]),
        Grey => |row, _, to| each(row, to, |[y]| [y; 3]),
    ;
    Bgr8U:
        Bgr => copy,
        Rgb => |row, _, to| each(row, to, |[r, g, b]| [b, g, r]),
        Grey => |row, _, to| each(row, to, |[y]| [y; 3]),
    ;
    Grey8U:
        Grey => copy,
    ;
}

macro_rules! numbers {
    ($($pixel:ident, $channel:ty: $($format:ident $scalar:ident => $convert:expr,)*;)*) => {$(
        impl Received for $pixel {
            fn bytes_mut(_: &mut [$channel]) -> Option<&mut [u8]> {
                None
            }
            fn conversion(from: WireLayout) -> Option<Conversion<$channel>> {
                Some(match (from.format, from.scalar) {
                    $((PixelFormat::$format, PixelScalar::$scalar) => $convert,)*
                    _ => return None,
                })
            }
        }
        impl LcmImagePixel for $pixel {}
    )*};
}
numbers! {
    Depth16U, u16:
        Depth U16 => |row, big, to| words(row, big, to, u16::from_le_bytes),
    ;
    Depth32F, f32:
        Depth F32 => |row, big, to| words(row, big, to, f32::from_le_bytes),
        Depth U16 => |row, big, to| words(row, big, to, |word| match u16::from_le_bytes(word) {
            Depth16U::TOO_FAR => Depth32F::TOO_FAR,
            millimetres => f32::from(millimetres) / 1000.0,
        }),
    ;
    Label16I, i16:
        Label I16 => |row, big, to| words(row, big, to, i16::from_le_bytes),
        Label U16 => |row, big, to| words(row, big, to, i16::from_le_bytes),
        Label U8 => |row, _, to| each(row, to, |[label]| [label.into()]),
    ;
}
