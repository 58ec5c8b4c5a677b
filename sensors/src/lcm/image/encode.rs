//! Encoding of images as messages.

use super::deflate::Packer;
use super::layout::WireLayout;
use crate::images::io::fill;
use crate::{Error, Result};
use tarragon_geometry::render::ImageRef;
use tarragon_lcm::refill_bytes;
use tarragon_lcm::types::LcmtImage;

/// Writes an image of any pixel type into a message. The header of the message is unchanged; the
/// memory of its data is reused unless it is shared. [`decode_image`](super::decode_image) is the
/// reverse.
///
/// With `compress`, data are compressed by zlib at level 2, on several threads if an image has more
/// than 128 KiB. Compressed renderings have 0.8 to 1.1 times the size that level 1 of Drake's zlib
/// gives. The bytes are the same for any number of threads.
///
/// ```
/// use tarragon_lcm::types::LcmtImage;
/// use tarragon_sensors::{Depth16U, ImageDepth16U, decode_image, encode_image};
/// let image = ImageDepth16U::with_value(640, 480, 1250);
/// let mut message = LcmtImage::default();
/// encode_image(&image, true, &mut message)?;
/// assert_eq!((message.width, message.height, message.row_stride), (640, 480, 1280));
/// assert!(message.data.len() < 10_000);
/// let mut received = ImageDepth16U::default();
/// decode_image::<Depth16U>(&message, &mut received)?;
/// assert_eq!(received, image);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
///
/// # Errors
/// Returns an error, and leaves the message unchanged, if the image has 2 GiB or more, which a
/// message cannot represent.
pub fn encode_image<'a>(
    image: impl Into<ImageRef<'a>>,
    compress: bool,
    message: &mut LcmtImage,
) -> Result<()> {
    Encoder::default().encode(image.into(), compress, message)
}

/// An encoder that reuses its memory from image to image.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    bytes: Vec<u8>,
    packer: Packer,
}

impl Encoder {
    pub(super) fn encode(
        &mut self,
        image: ImageRef<'_>,
        compress: bool,
        message: &mut LcmtImage,
    ) -> Result<()> {
        let layout = WireLayout {
            format: image.format(),
            scalar: image.scalar(),
        };
        let (width, height) = (image.width(), image.height());
        let row_bytes = width * layout.pixel_bytes();
        // Compression may add a little.
        let fits = |n: usize| {
            n.checked_add(n / 1000 + 64)
                .is_some_and(|n| i32::try_from(n).is_ok())
        };
        if !(fits(row_bytes * height) && fits(width) && fits(height)) {
            return Err(Error::invalid(format!(
                "an image in an LCM message must have less than 2147483647 bytes, got {} for \
                 {width} x {height} pixels; send it in parts",
                row_bytes * height
            )));
        }
        let data = &mut message.data;
        if compress {
            let bytes = match bytes_of(image) {
                Some(bytes) => bytes,
                None => {
                    low_byte_first(image, &mut self.bytes);
                    &self.bytes
                }
            };
            let packer = &mut self.packer;
            refill_bytes(data, |data| packer.pack(bytes, data))?;
            message.compression_method = LcmtImage::COMPRESSION_METHOD_ZLIB;
        } else {
            message.compression_method = LcmtImage::COMPRESSION_METHOD_NOT_COMPRESSED;
            refill_bytes(data, |data| match bytes_of(image) {
                Some(bytes) => data.extend_from_slice(bytes),
                None => low_byte_first(image, data),
            });
        }
        (message.width, message.height) = (width as i32, height as i32);
        message.row_stride = row_bytes as i32;
        message.bigendian = false;
        (message.pixel_format, message.channel_type) = layout.to_wire();
        Ok(())
    }
}

/// Returns the channels if they are bytes.
fn bytes_of(image: ImageRef<'_>) -> Option<&[u8]> {
    match image {
        ImageRef::Rgba8U(image) => Some(image.data()),
        ImageRef::Rgb8U(image) => Some(image.data()),
        ImageRef::Bgra8U(image) => Some(image.data()),
        ImageRef::Bgr8U(image) => Some(image.data()),
        ImageRef::Grey8U(image) => Some(image.data()),
        _ => None,
    }
}

/// Replaces `to` by the channels of more than one byte, in little-endian order.
fn low_byte_first(image: ImageRef<'_>, to: &mut Vec<u8>) {
    match image {
        ImageRef::Depth16U(image) => fill(to, image.data(), |x| x.to_le_bytes()),
        ImageRef::Label16I(image) => fill(to, image.data(), |x| x.to_le_bytes()),
        ImageRef::Depth32F(image) => fill(to, image.data(), |x| x.to_le_bytes()),
        _ => to.clear(),
    }
}
