//! System that converts messages to images.

use super::decode::{Decoder, LcmImagePixel};
use super::layout::format_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon_framework::Scratch;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{Image, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelFormat};
use tarragon_lcm::types::{LcmtImage, LcmtImageArray};

/// System that extracts a colour, a depth and a label image from a message (Drake's
/// `LcmImageArrayToImages`). Its input usually comes from a subscriber.
///
/// | port | name | type |
/// |---|---|---|
/// | input | `image_array_t` | [`LcmtImageArray`] |
/// | output | `color_image` | [`ImageRgba8U`] |
/// | output | `depth_image` | [`ImageDepth32F`], in m |
/// | output | `label_image` | [`ImageLabel16I`] |
///
/// Each output is the first image of its kind in the message, or empty if there is none. Colours
/// may have any channel order, with or without opacity; if there is no colour image, a brightness
/// image is used. Depths may be in m or mm. Data may be raw, zlib, PNG or JPEG;
/// [`decode_image`](super::decode_image) describes the supported messages. (Drake 1.51.1 aborts on
/// BGR, negative sizes and unexpected channel types; it ignores `bigendian` and `row_stride`, and
/// fills missing data with zeros.)
///
/// An image that cannot be read becomes empty, because messages from other programs must not end a
/// simulation. The first one is logged, and all are [counted](Self::dropped_images).
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_lcm::types::{LcmtImage, LcmtImageArray};
/// use tarragon_sensors::{ImageDepth16U, LcmImageArrayToImages, encode_image};
/// let mut b = DiagramBuilder::new();
/// let images = b.add_f64("images", LcmImageArrayToImages::new());
/// let mut ctx = b.build()?.default_context();
/// let mut depth = LcmtImage::default();
/// encode_image(&ImageDepth16U::with_value(4, 3, 1250), true, &mut depth)?;
/// ctx.fix(images.image_array_t, LcmtImageArray { images: vec![depth], ..Default::default() })?;
/// assert_eq!(ctx.eval(images.depth_image)?.at(3, 2), [1.25]);
/// assert_eq!(ctx.eval(images.color_image)?.width(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct LcmImageArrayToImages {
    dropped: AtomicU64,
}

impl LcmImageArrayToImages {
    /// Creates the system.
    pub fn new() -> Self {
        Self::default()
    }
    /// Returns the number of images in all contexts that could not be read and became empty.
    pub fn dropped_images(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn take<P: LcmImagePixel>(
        &self,
        message: Option<&LcmtImage>,
        decoder: &Scratch<Decoder>,
        image: &mut Image<P>,
    ) {
        let Some(message) = message else {
            image.resize(0, 0);
            return;
        };
        if let Err(error) = decoder.lend(|decoder| decoder.decode(message, image))
            && self.dropped.fetch_add(1, Ordering::Relaxed) == 0
        {
            tracing::warn!(
                "LcmImageArrayToImages: an image was dropped: {error}; further ones are only counted"
            );
        }
    }
}

/// Returns the first colour image, or else the first brightness image.
fn color(message: &LcmtImageArray) -> Option<&LcmtImage> {
    use PixelFormat::{Bgr, Bgra, Grey, Rgb, Rgba};
    let first = |formats: &[PixelFormat]| first(message, formats);
    first(&[Rgba, Rgb, Bgra, Bgr]).or_else(|| first(&[Grey]))
}

fn first<'a>(message: &'a LcmtImageArray, formats: &[PixelFormat]) -> Option<&'a LcmtImage> {
    let is_one = |format| formats.contains(&format);
    let mut images = message.images.iter();
    images.find(|image| format_of(image.pixel_format).is_some_and(is_one))
}

/// Ports of [`LcmImageArrayToImages`].
#[derive(Clone, Copy, Debug)]
pub struct LcmImageArrayToImagesPorts {
    /// Message with images.
    pub image_array_t: InputPort<LcmtImageArray>,
    /// Colour image.
    pub color_image: OutputPort<ImageRgba8U>,
    /// Depth image (m).
    pub depth_image: OutputPort<ImageDepth32F>,
    /// Label image.
    pub label_image: OutputPort<ImageLabel16I>,
}

/// Declares an output port for the images that `find` selects.
fn declare_output<P: LcmImagePixel>(
    d: &mut Declare<LcmImageArrayToImages, f64>,
    name: &str,
    input: InputPort<LcmtImageArray>,
    find: impl Fn(&LcmtImageArray) -> Option<&LcmtImage> + Send + Sync + 'static,
) -> OutputPort<Image<P>> {
    let decoder = d.fresh_param(Arc::<Scratch<Decoder>>::default);
    d.output(
        name,
        Image::default(),
        (input, decoder),
        move |system, ctx, image| {
            let decoder: &Arc<Scratch<Decoder>> = ctx.param(decoder);
            system.take(find(ctx.eval(input)?), decoder, image);
            Ok(())
        },
    )
}

impl LeafSystem<f64> for LcmImageArrayToImages {
    type Ports = LcmImageArrayToImagesPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let input = d.input("image_array_t");
        LcmImageArrayToImagesPorts {
            image_array_t: input,
            color_image: declare_output(d, "color_image", input, color),
            depth_image: declare_output(d, "depth_image", input, |message| {
                first(message, &[PixelFormat::Depth])
            }),
            label_image: declare_output(d, "label_image", input, |message| {
                first(message, &[PixelFormat::Label])
            }),
        }
    }
}
