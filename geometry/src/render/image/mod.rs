//! Images: row-major pixels of a compile-time type.

mod any;
mod convert;

pub use self::any::{ImageAny, ImageRef};
pub use self::convert::{convert_depth_16u_to_32f, convert_depth_32f_to_16u};

use crate::error::{Error, Result};
use std::fmt;
use tarragon_framework::counted;

/// Meaning of the channels of a pixel.
///
/// ```
/// use tarragon_geometry::render::{Bgr8U, Depth16U, Depth32F, PixelFormat, PixelType};
/// assert_eq!(Bgr8U::FORMAT, PixelFormat::Bgr);
/// assert_eq!(Depth16U::FORMAT, Depth32F::FORMAT);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PixelFormat {
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// Red, green, blue, opacity.
    Rgba,
    /// Blue, green, red, opacity.
    Bgra,
    /// Brightness.
    Grey,
    /// Distance along the camera's +z axis.
    Depth,
    /// [`RenderLabel`](crate::RenderLabel) value.
    Label,
}

/// The number type of a channel.
///
/// ```
/// use tarragon_geometry::render::{Depth32F, Label16I, PixelScalar, PixelType};
/// assert_eq!((Depth32F::SCALAR, Label16I::SCALAR), (PixelScalar::F32, PixelScalar::I16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PixelScalar {
    /// `u8`.
    U8,
    /// `i16`.
    I16,
    /// `u16`.
    U16,
    /// `f32`.
    F32,
}

/// A type of pixel.
///
/// ```
/// use tarragon_geometry::render::{Depth16U, Image, PixelType, Rgb8U};
/// /// Bytes of an image.
/// fn bytes<P: PixelType>(image: &Image<P>) -> usize {
///     image.width() * image.height() * P::CHANNELS * size_of::<P::Channel>()
/// }
/// assert_eq!((bytes(&Image::<Rgb8U>::new(4, 3)), bytes(&Image::<Depth16U>::new(4, 3))), (36, 24));
/// ```
pub trait PixelType: Copy + fmt::Debug + Default + PartialEq + Send + Sync + 'static {
    /// The number type of one channel.
    type Channel: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// Channels per pixel.
    const CHANNELS: usize;
    /// Meaning of the channels.
    const FORMAT: PixelFormat;
    /// [`Channel`](Self::Channel) as a value.
    const SCALAR: PixelScalar;
    /// Name in Drake's spelling, for messages.
    const NAME: &'static str;
}

macro_rules! pixel_types {
    ($($(#[$doc:meta])* $marker:ident, $alias:ident, $channel:ty, $n:literal, $format:ident, $scalar:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $marker;
        impl PixelType for $marker {
            type Channel = $channel;
            const CHANNELS: usize = $n;
            const FORMAT: PixelFormat = PixelFormat::$format;
            const SCALAR: PixelScalar = PixelScalar::$scalar;
            const NAME: &'static str = stringify!($marker);
        }
        $(#[$doc])*
        pub type $alias = Image<$marker>;
    )*};
}
pixel_types! {
    /// Red, green, blue and opacity, 8 bits each.
    ///
    /// ```
    /// use tarragon_geometry::render::ImageRgba8U;
    /// let image = ImageRgba8U::with_value(4, 3, 255);
    /// assert_eq!(image.at(3, 2), [255; 4]); // opaque white
    /// ```
    Rgba8U, ImageRgba8U, u8, 4, Rgba, U8;
    /// Red, green and blue, 8 bits each.
    ///
    /// ```
    /// use tarragon_geometry::render::ImageRgb8U;
    /// let image = ImageRgb8U::from_data(1, 1, vec![255, 128, 0])?;
    /// assert_eq!(image.at(0, 0)[0], 255); // red
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Rgb8U, ImageRgb8U, u8, 3, Rgb, U8;
    /// Blue, green, red and opacity, 8 bits each.
    ///
    /// ```
    /// use tarragon_geometry::render::ImageBgra8U;
    /// let image = ImageBgra8U::from_data(1, 1, vec![255, 128, 0, 64])?;
    /// assert_eq!((image.at(0, 0)[0], image.at(0, 0)[3]), (255, 64)); // blue, opacity
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Bgra8U, ImageBgra8U, u8, 4, Bgra, U8;
    /// Blue, green and red, 8 bits each.
    ///
    /// ```
    /// use tarragon_geometry::render::ImageBgr8U;
    /// let image = ImageBgr8U::from_data(1, 1, vec![255, 128, 0])?;
    /// assert_eq!(image.at(0, 0)[0], 255); // blue
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Bgr8U, ImageBgr8U, u8, 3, Bgr, U8;
    /// Brightness, 8 bits.
    ///
    /// ```
    /// use tarragon_geometry::render::ImageGrey8U;
    /// let image = ImageGrey8U::from_data(2, 1, vec![0, 255])?;
    /// assert_eq!(image.at(1, 0), [255]);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Grey8U, ImageGrey8U, u8, 1, Grey, U8;
    /// Depth in millimetres; 0 means too close, 65535 too far.
    ///
    /// ```
    /// use tarragon_geometry::render::{Depth16U, ImageDepth16U, ImageDepth32F};
    /// let metres = ImageDepth32F::from_data(2, 1, vec![1.25, f32::INFINITY])?;
    /// assert_eq!(ImageDepth16U::from(&metres).data(), [1250, Depth16U::TOO_FAR]);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Depth16U, ImageDepth16U, u16, 1, Depth, U16;
    /// Depth in metres; 0 means too close, infinity too far.
    ///
    /// ```
    /// use tarragon_geometry::render::{Depth32F, ImageDepth16U, ImageDepth32F};
    /// let millimetres = ImageDepth16U::from_data(2, 1, vec![1250, 0])?;
    /// assert_eq!(ImageDepth32F::from(&millimetres).data(), [1.25, Depth32F::TOO_CLOSE]);
    /// # Ok::<(), tarragon_geometry::Error>(())
    /// ```
    Depth32F, ImageDepth32F, f32, 1, Depth, F32;
    /// Label of the visible geometry.
    ///
    /// ```
    /// use tarragon_geometry::{RenderLabel, render::ImageLabel16I};
    /// let image = ImageLabel16I::with_value(4, 3, RenderLabel::EMPTY.value());
    /// assert!(image.data().iter().all(|label| *label == RenderLabel::EMPTY.value()));
    /// ```
    Label16I, ImageLabel16I, i16, 1, Label, I16;
}

impl Depth16U {
    /// Value of a pixel nearer than the sensor can measure.
    pub const TOO_CLOSE: u16 = 0;
    /// Value of a pixel farther than the sensor can measure.
    pub const TOO_FAR: u16 = u16::MAX;
}
impl Depth32F {
    /// Value of a pixel nearer than the sensor can measure.
    pub const TOO_CLOSE: f32 = 0.0;
    /// Value of a pixel farther than the sensor can measure.
    pub const TOO_FAR: f32 = f32::INFINITY;
}

/// A `width` x `height` image: rows from the top, pixels from the left, channels interleaved.
///
/// Width and height are both zero or both positive.
///
/// ```
/// use tarragon_geometry::render::ImageRgba8U;
/// let mut image = ImageRgba8U::new(4, 3);
/// image.at_mut(2, 1)[0] = 255;
/// assert_eq!(image.at(2, 1), &[255, 0, 0, 0]);
/// assert_eq!(image.size(), 4 * 3 * 4);
/// ```
#[derive(Clone, PartialEq)]
pub struct Image<P: PixelType> {
    width: usize,
    height: usize,
    data: Vec<P::Channel>,
}

impl<P: PixelType> Image<P> {
    /// Channels per pixel.
    pub const CHANNELS: usize = P::CHANNELS;

    /// Creates an image of zeros.
    ///
    /// # Panics
    /// Panics if only one of width and height is zero, or if the image is too large for this
    /// machine; see [`try_new`](Self::try_new).
    pub fn new(width: usize, height: usize) -> Self {
        Self::with_value(width, height, P::Channel::default())
    }
    /// Creates an image whose channels all have the given value.
    ///
    /// # Panics
    /// Panics if only one of width and height is zero, or if the image is too large for this
    /// machine.
    pub fn with_value(width: usize, height: usize, value: P::Channel) -> Self {
        match check_size::<P>(width, height) {
            Ok(len) => Self {
                width,
                height,
                data: vec![value; len],
            },
            Err(e) => panic!("{e}"),
        }
    }
    /// Creates an image of zeros, of a size that may be invalid.
    ///
    /// # Errors
    /// Returns an error if only one of width and height is zero, or if the image is too large for
    /// this machine.
    pub fn try_new(width: usize, height: usize) -> Result<Self> {
        check_size::<P>(width, height).map(|_| Self::new(width, height))
    }
    /// Creates an image from existing channel values.
    ///
    /// # Errors
    /// Returns an error if the number of values does not fit the size, or if only one of width and
    /// height is zero.
    pub fn from_data(width: usize, height: usize, data: Vec<P::Channel>) -> Result<Self> {
        let expected = check_size::<P>(width, height)?;
        if data.len() != expected {
            return Err(Error::invalid(format!(
                "Image<{}>: {width} x {height} pixels of {channels} must have {values}, \
                 got {}",
                P::NAME,
                data.len(),
                channels = counted(P::CHANNELS, "channel"),
                values = counted(expected, "value")
            )));
        }
        Ok(Self {
            width,
            height,
            data,
        })
    }
    /// Returns the number of pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }
    /// Returns the number of channel values: width x height x channels.
    pub fn size(&self) -> usize {
        self.data.len()
    }
    /// Returns the channels of the pixel in column `x` (from the left) and row `y` (from the top).
    ///
    /// # Panics
    /// Panics if the pixel is outside the image.
    pub fn at(&self, x: usize, y: usize) -> &[P::Channel] {
        let i = self.index(x, y);
        &self.data[i..i + P::CHANNELS]
    }
    /// Returns the channels of a pixel as a mutable slice.
    ///
    /// # Panics
    /// Panics if the pixel is outside the image.
    pub fn at_mut(&mut self, x: usize, y: usize) -> &mut [P::Channel] {
        let i = self.index(x, y);
        &mut self.data[i..i + P::CHANNELS]
    }
    fn index(&self, x: usize, y: usize) -> usize {
        assert!(
            x < self.width && y < self.height,
            "pixel ({x}, {y}) is outside an image of {} x {}",
            self.width,
            self.height
        );
        (y * self.width + x) * P::CHANNELS
    }
    /// Returns all channel values.
    pub fn data(&self) -> &[P::Channel] {
        &self.data
    }
    /// Returns all channel values as a mutable slice.
    pub fn data_mut(&mut self) -> &mut [P::Channel] {
        &mut self.data
    }
    /// Converts the image into its channel values.
    pub fn into_data(self) -> Vec<P::Channel> {
        self.data
    }
    /// Returns `[rows, columns, channels]`, the shape of the equivalent NumPy array (Drake's
    /// `shape`).
    pub fn shape(&self) -> [usize; 3] {
        [self.height, self.width, P::CHANNELS]
    }
    /// Iterates over the rows from the top, as mutable slices of `width * CHANNELS` values.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, P::Channel> {
        let n = (self.width * P::CHANNELS).max(1);
        self.data.chunks_exact_mut(n)
    }
    /// Iterates over the rows from the top, as slices of `width * CHANNELS` values.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, P::Channel> {
        self.data.chunks_exact((self.width * P::CHANNELS).max(1))
    }
    /// Changes the size and sets all values to zero. Reuses the memory where it suffices.
    ///
    /// # Panics
    /// Panics if only one of width and height is zero, or if the image is too large for this
    /// machine; see [`try_resize`](Self::try_resize).
    pub fn resize(&mut self, width: usize, height: usize) {
        if let Err(e) = self.try_resize(width, height) {
            panic!("{e}");
        }
    }
    /// Changes the size to one that may be invalid, and sets all values to zero.
    ///
    /// # Errors
    /// Returns an error if only one of width and height is zero, or if the image is too large for
    /// this machine. The image stays unchanged then.
    pub fn try_resize(&mut self, width: usize, height: usize) -> Result<()> {
        let len = check_size::<P>(width, height)?;
        self.data.clear();
        self.data.resize(len, P::Channel::default());
        (self.width, self.height) = (width, height);
        Ok(())
    }
}

/// Returns the number of channel values of an image, after checking its size.
fn check_size<P: PixelType>(width: usize, height: usize) -> Result<usize> {
    if (width == 0) != (height == 0) {
        return Err(Error::invalid(format!(
            "Image<{}>: width and height must be both zero or both positive, got {width} x {height}",
            P::NAME
        )));
    }
    width
        .checked_mul(height)
        .and_then(|n| n.checked_mul(P::CHANNELS))
        .filter(|n| *n <= isize::MAX as usize / size_of::<P::Channel>())
        .ok_or_else(|| {
            Error::invalid(format!(
                "Image<{}>: width x height must fit into memory, got {width} x {height} pixels",
                P::NAME
            ))
        })
}

impl<P: PixelType> Default for Image<P> {
    /// Creates an image without pixels.
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl<P: PixelType> fmt::Debug for Image<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image<{}>({} x {})", P::NAME, self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_both_zero_or_both_positive() {
        assert!(ImageRgb8U::try_new(0, 0).is_ok());
        assert!(ImageRgb8U::try_new(0, 3).is_err());
        assert!(ImageRgb8U::try_new(3, 0).is_err());
        assert!(ImageRgb8U::try_new(usize::MAX, 2).is_err());
        assert!(ImageRgb8U::from_data(1, 1, vec![0; 4]).is_err());
        assert_eq!(ImageRgb8U::default().rows().count(), 0);
    }

    #[test]
    fn resizing_sets_all_values_to_zero() {
        let mut image = ImageGrey8U::with_value(2, 2, 7);
        image.resize(3, 1);
        assert_eq!(image.data(), [0; 3]);
        assert_eq!(format!("{image:?}"), "Image<Grey8U>(3 x 1)");
    }

    #[test]
    fn channels_are_interleaved_in_row_major_order() {
        let image = ImageBgr8U::from_data(2, 2, (0..12).collect()).unwrap();
        assert_eq!(image.at(1, 1), [9, 10, 11]);
        assert_eq!(image.rows().nth(1), Some(&[6, 7, 8, 9, 10, 11][..]));
    }

    #[test]
    #[should_panic(expected = "pixel (2, 0) is outside an image of 2 x 2")]
    fn columns_do_not_wrap_around() {
        ImageGrey8U::new(2, 2).at(2, 0);
    }
}
