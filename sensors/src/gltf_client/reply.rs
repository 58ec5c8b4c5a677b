//! Images from the replies of a render server.

use super::kind::ImageKind;
use crate::images::io::{ImageFileFormat, ImageIo};
use crate::{Error, ErrorKind, Result};
use tarragon_geometry::RenderLabel;
use tarragon_geometry::render::{
    CameraInfo, ImageAny, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelScalar,
    convert_depth_16u_to_32f,
};

/// Maximum size of a reply: that of an uncompressed image with 16 bytes per pixel, and room for
/// headers (bytes).
pub(super) fn most_bytes(info: &CameraInfo) -> usize {
    let pixels = info.width().saturating_mul(info.height());
    pixels.saturating_mul(16).saturating_add(1 << 20)
}

/// Returns the extension of a file with this content; `None` unless it is a PNG or TIFF file.
pub(super) fn extension(reply: &[u8]) -> Option<&'static str> {
    match ImageFileFormat::of_content(reply) {
        Some(format @ (ImageFileFormat::Png | ImageFileFormat::Tiff)) => Some(format.extension()),
        _ => None,
    }
}

/// Reads a colour image. It is opaque if the reply has no opacity.
pub(super) fn color(reply: &[u8], info: &CameraInfo) -> Result<ImageRgba8U> {
    match load(reply, info, ImageKind::Color)? {
        ImageAny::Rgba8U(image) => Ok(image),
        ImageAny::Rgb8U(image) => {
            let pixels = image.data().as_chunks().0.iter();
            let rgba = pixels.flat_map(|&[r, g, b]| [r, g, b, u8::MAX]);
            ImageRgba8U::from_data(info.width(), info.height(), rgba.collect())
        }
        other => Err(wrong_pixels(ImageKind::Color, other.pixel_type())),
    }
}

/// Reads a depth image (m). Whole numbers are millimetres, of which 65535 is infinite.
pub(super) fn depth(reply: &[u8], info: &CameraInfo) -> Result<ImageDepth32F> {
    match load(reply, info, ImageKind::Depth)? {
        ImageAny::Depth32F(image) => Ok(image),
        ImageAny::Depth16U(image) => {
            let mut metres = ImageDepth32F::new(info.width(), info.height());
            convert_depth_16u_to_32f(&image, &mut metres);
            Ok(metres)
        }
        other => Err(wrong_pixels(ImageKind::Depth, other.pixel_type())),
    }
}

/// Reads a label image, whose labels are red + 256 green; white is [`RenderLabel::DONT_CARE`].
pub(super) fn label(reply: &[u8], info: &CameraInfo) -> Result<ImageLabel16I> {
    let image = load(reply, info, ImageKind::Label)?;
    let labels = match &image {
        ImageAny::Rgba8U(image) => labels(image.data().as_chunks().0, |&[r, g, b, _]| [r, g, b]),
        ImageAny::Rgb8U(image) => labels(image.data().as_chunks().0, |&rgb| rgb),
        other => return Err(wrong_pixels(ImageKind::Label, other.pixel_type())),
    };
    ImageLabel16I::from_data(info.width(), info.height(), labels?)
}

fn labels<P>(pixels: &[P], rgb: impl Fn(&P) -> [u8; 3]) -> Result<Vec<i16>> {
    let label = |pixel| match rgb(pixel) {
        [255, 255, 255] => Ok(RenderLabel::DONT_CARE.value()),
        [r, g, b] => i16::try_from(u16::from_le_bytes([r, g])).map_err(|_| {
            broken(format!(
                "the colours of a label image must encode labels up to {} as red + 256 green, got \
                 ({r}, {g}, {b}); the server must neither light nor smooth label images",
                i16::MAX
            ))
        }),
    };
    pixels.iter().map(label).collect()
}

/// Decodes a reply of the right kind and size.
fn load(reply: &[u8], info: &CameraInfo, kind: ImageKind) -> Result<ImageAny> {
    if extension(reply).is_none() {
        let start = String::from_utf8_lossy(&reply[..reply.len().min(32)]);
        return Err(broken(format!(
            "the file must be an image type that is supported, i.e., PNG or TIFF, got {} bytes \
             that begin with {start:?}",
            reply.len()
        )));
    }
    let io = ImageIo::new().with_memory_limit(most_bytes(info).saturating_add(16 << 20));
    let found = io.metadata_of_buffer(reply)?;
    let (expected, size) = ((info.width(), info.height()), (found.width, found.height));
    if size != expected {
        return Err(broken(format!(
            "the {} image must have the size {} x {} of its camera, got {} x {}",
            kind.name(),
            expected.0,
            expected.1,
            size.0,
            size.1
        )));
    }
    use ImageFileFormat::{Png, Tiff};
    use PixelScalar::{F32, U8, U16};
    let fits = match kind {
        ImageKind::Color | ImageKind::Label => {
            matches!(
                (found.format, found.channels, found.scalar),
                (Png, 3 | 4, U8)
            )
        }
        ImageKind::Depth => matches!(
            (found.format, found.channels, found.scalar),
            (Tiff, 1, F32 | U16) | (Png, 1, U16)
        ),
    };
    if !fits {
        let what = format!(
            "{} with {} channels of {:?}",
            found.format, found.channels, found.scalar
        );
        return Err(wrong_pixels(kind, &what));
    }
    io.load_from_buffer(reply)
}

fn wrong_pixels(kind: ImageKind, found: &str) -> Error {
    let allowed = match kind {
        ImageKind::Color | ImageKind::Label => "an 8-bit RGB, RGBA or palette PNG",
        ImageKind::Depth => "a TIFF of 32-bit floats (m), or a PNG or TIFF of 16-bit grey (mm)",
    };
    broken(format!(
        "the {} image must be {allowed}, got {found}",
        kind.name()
    ))
}

fn broken(message: String) -> Error {
    Error::new(ErrorKind::Parse, message)
}
