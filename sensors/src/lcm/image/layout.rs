//! Layouts of pixels on the wire.

use crate::{Error, Result};
use tarragon_geometry::render::{PixelFormat, PixelScalar};
use tarragon_lcm::types::LcmtImage;

/// The layout of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireLayout {
    pub(super) format: PixelFormat,
    pub(super) scalar: PixelScalar,
}

impl WireLayout {
    /// Returns `pixel_format` and `channel_type`.
    pub(super) fn to_wire(self) -> (i8, i8) {
        use LcmtImage as I;
        let format = match self.format {
            PixelFormat::Rgb => I::PIXEL_FORMAT_RGB,
            PixelFormat::Bgr => I::PIXEL_FORMAT_BGR,
            PixelFormat::Rgba => I::PIXEL_FORMAT_RGBA,
            PixelFormat::Bgra => I::PIXEL_FORMAT_BGRA,
            PixelFormat::Grey => I::PIXEL_FORMAT_GRAY,
            PixelFormat::Depth => I::PIXEL_FORMAT_DEPTH,
            PixelFormat::Label => I::PIXEL_FORMAT_LABEL,
            _ => I::PIXEL_FORMAT_INVALID,
        };
        let channel = match self.scalar {
            PixelScalar::U8 => I::CHANNEL_TYPE_UINT8,
            PixelScalar::I16 => I::CHANNEL_TYPE_INT16,
            PixelScalar::U16 => I::CHANNEL_TYPE_UINT16,
            PixelScalar::F32 => I::CHANNEL_TYPE_FLOAT32,
            _ => I::CHANNEL_TYPE_INVALID,
        };
        (format, channel)
    }
    /// Reads the layout of the pixels of a message.
    ///
    /// # Errors
    /// Returns an error if no image type has such pixels.
    pub(super) fn of(message: &LcmtImage) -> Result<Self> {
        let format = format_of(message.pixel_format).ok_or_else(|| {
            Error::invalid(format!(
                "pixel_format must be grey (0), colours (1 to 4), depth (5) or labels (6), got {}",
                message.pixel_format
            ))
        })?;
        let scalar = match message.channel_type {
            LcmtImage::CHANNEL_TYPE_UINT8 => Some(PixelScalar::U8),
            LcmtImage::CHANNEL_TYPE_INT16 => Some(PixelScalar::I16),
            LcmtImage::CHANNEL_TYPE_UINT16 => Some(PixelScalar::U16),
            LcmtImage::CHANNEL_TYPE_FLOAT32 => Some(PixelScalar::F32),
            _ => None,
        };
        let scalar = scalar.filter(|scalar| match format {
            PixelFormat::Depth => matches!(scalar, PixelScalar::U16 | PixelScalar::F32),
            PixelFormat::Label => *scalar != PixelScalar::F32,
            _ => *scalar == PixelScalar::U8,
        });
        let scalar = scalar.ok_or_else(|| {
            let expected = match format {
                PixelFormat::Depth => "unsigned 16 bits (3) or floats of 32 bits (6)",
                PixelFormat::Label => "8 or 16 bits (1, 2 or 3)",
                _ => "unsigned 8 bits (1)",
            };
            Error::invalid(format!(
                "channel_type must be {expected} with pixel_format {1} ({format:?}), got {0}",
                message.channel_type, message.pixel_format
            ))
        })?;
        Ok(Self { format, scalar })
    }
    pub(super) fn channels(self) -> usize {
        match self.format {
            PixelFormat::Rgba | PixelFormat::Bgra => 4,
            PixelFormat::Rgb | PixelFormat::Bgr => 3,
            _ => 1,
        }
    }
    pub(super) fn pixel_bytes(self) -> usize {
        let channel = match self.scalar {
            PixelScalar::U8 => 1,
            PixelScalar::F32 => 4,
            _ => 2,
        };
        channel * self.channels()
    }
}

pub(super) fn format_of(pixel_format: i8) -> Option<PixelFormat> {
    Some(match pixel_format {
        LcmtImage::PIXEL_FORMAT_GRAY => PixelFormat::Grey,
        LcmtImage::PIXEL_FORMAT_RGB => PixelFormat::Rgb,
        LcmtImage::PIXEL_FORMAT_BGR => PixelFormat::Bgr,
        LcmtImage::PIXEL_FORMAT_RGBA => PixelFormat::Rgba,
        LcmtImage::PIXEL_FORMAT_BGRA => PixelFormat::Bgra,
        LcmtImage::PIXEL_FORMAT_DEPTH => PixelFormat::Depth,
        LcmtImage::PIXEL_FORMAT_LABEL => PixelFormat::Label,
        _ => return None,
    })
}
