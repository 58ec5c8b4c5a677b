//! Conversions between pixel types: lossless channel orders, and depths.

use super::*;

/// Converts metres to whole millimetres (Drake's `ConvertDepth32FTo16U`) and resizes the output
/// where needed.
///
/// Fractions of a millimetre are truncated. Values that do not fit, infinity and NaN become
/// [`Depth16U::TOO_FAR`]; negative values become [`Depth16U::TOO_CLOSE`].
///
/// ```
/// use tarragon_geometry::render::{ImageDepth16U, ImageDepth32F, convert_depth_32f_to_16u};
/// let metres = ImageDepth32F::from_data(3, 1, vec![0.5, 100.0, f32::NAN])?;
/// let mut millimetres = ImageDepth16U::default();
/// convert_depth_32f_to_16u(&metres, &mut millimetres);
/// assert_eq!(millimetres.data(), [500, 65535, 65535]);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn convert_depth_32f_to_16u(input: &ImageDepth32F, output: &mut ImageDepth16U) {
    map_channels(input, output, |metres| {
        if metres.is_nan() {
            Depth16U::TOO_FAR
        } else {
            (metres * 1000.0) as u16 // saturates at both ends
        }
    });
}

/// Converts millimetres to metres (Drake's `ConvertDepth16UTo32F`) and resizes the output where
/// needed.
///
/// [`Depth16U::TOO_FAR`] becomes [`Depth32F::TOO_FAR`]; 0 stays 0.
///
/// ```
/// use tarragon_geometry::render::{ImageDepth16U, ImageDepth32F, convert_depth_16u_to_32f};
/// let millimetres = ImageDepth16U::from_data(3, 1, vec![0, 1250, 65535])?;
/// let mut metres = ImageDepth32F::default();
/// convert_depth_16u_to_32f(&millimetres, &mut metres);
/// assert_eq!(metres.data(), [0.0, 1.25, f32::INFINITY]);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn convert_depth_16u_to_32f(input: &ImageDepth16U, output: &mut ImageDepth32F) {
    map_channels(input, output, |millimetres| match millimetres {
        Depth16U::TOO_FAR => Depth32F::TOO_FAR,
        mm => f32::from(mm) / 1000.0,
    });
}

impl From<&ImageDepth32F> for ImageDepth16U {
    /// Converts with [`convert_depth_32f_to_16u`].
    fn from(depth: &ImageDepth32F) -> Self {
        let mut out = Self::default();
        convert_depth_32f_to_16u(depth, &mut out);
        out
    }
}

impl From<&ImageDepth16U> for ImageDepth32F {
    /// Converts with [`convert_depth_16u_to_32f`].
    fn from(depth: &ImageDepth16U) -> Self {
        let mut out = Self::default();
        convert_depth_16u_to_32f(depth, &mut out);
        out
    }
}

fn map_channels<P: PixelType, Q: PixelType>(
    from: &Image<P>,
    to: &mut Image<Q>,
    f: impl Fn(P::Channel) -> Q::Channel,
) {
    to.data.clear();
    to.data.extend(from.data.iter().map(|c| f(*c)));
    (to.width, to.height) = (from.width, from.height);
}

/// Returns an image of the same size with other channels; `f` writes the channels of one pixel.
fn map_pixels<P: PixelType, Q: PixelType>(
    from: &Image<P>,
    f: impl Fn(&[P::Channel], &mut [Q::Channel]),
) -> Image<Q> {
    let mut to = Image::new(from.width, from.height);
    let pixels = from.data.chunks_exact(P::CHANNELS);
    for (from, to) in pixels.zip(to.data.chunks_exact_mut(Q::CHANNELS)) {
        f(from, to);
    }
    to
}

/// Implements lossless conversions: none of them drops a channel.
macro_rules! color_orders {
    ($($(#[$doc:meta])* $from:ident => $to:ident: |$p:ident| $pixel:expr;)*) => {$(
        impl From<&Image<$from>> for Image<$to> {
            $(#[$doc])*
            fn from(image: &Image<$from>) -> Self {
                map_pixels(image, |$p, to| to.copy_from_slice(&$pixel))
            }
        }
    )*};
}
color_orders! {
    /// Swaps red and blue.
    Rgba8U => Bgra8U: |p| [p[2], p[1], p[0], p[3]];
    /// Swaps red and blue.
    Bgra8U => Rgba8U: |p| [p[2], p[1], p[0], p[3]];
    /// Swaps red and blue.
    Rgb8U => Bgr8U: |p| [p[2], p[1], p[0]];
    /// Swaps red and blue.
    Bgr8U => Rgb8U: |p| [p[2], p[1], p[0]];
    /// Makes every pixel opaque (255).
    Rgb8U => Rgba8U: |p| [p[0], p[1], p[2], 255];
    /// Makes every pixel opaque (255).
    Bgr8U => Bgra8U: |p| [p[0], p[1], p[2], 255];
    /// Swaps red and blue and makes every pixel opaque (255).
    Rgb8U => Bgra8U: |p| [p[2], p[1], p[0], 255];
    /// Swaps red and blue and makes every pixel opaque (255).
    Bgr8U => Rgba8U: |p| [p[2], p[1], p[0], 255];
    /// Copies the brightness to red, green and blue.
    Grey8U => Rgb8U: |p| [p[0]; 3];
    /// Copies the brightness to red, green and blue and makes every pixel opaque (255).
    Grey8U => Rgba8U: |p| [p[0], p[0], p[0], 255];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values recorded from Drake.
    #[test]
    fn depth_conversions_saturate() {
        let m = [
            0.0,
            0.0004,
            0.001,
            0.5,
            1.234_567_8,
            65.534,
            65.5344,
            65.5345,
            65.536,
            100.0,
            f32::INFINITY,
            f32::NAN,
            -1.0,
        ];
        let mm = ImageDepth16U::from(&ImageDepth32F::from_data(13, 1, m.into()).unwrap());
        let expected = [
            0, 0, 1, 500, 1234, 65533, 65534, 65534, 65535, 65535, 65535, 65535, 0,
        ];
        assert_eq!(mm.data(), expected);
        let m = ImageDepth32F::from(&mm);
        assert_eq!(m.data()[..4], [0.0, 0.0, 0.001, 0.5]);
        assert_eq!(m.data()[8], f32::INFINITY);
        // In the other direction, every millimetre value becomes the nearest f32.
        let every: Vec<u16> = (0..=u16::MAX).collect();
        let mm = ImageDepth16U::from_data(256, 256, every).unwrap();
        let there = ImageDepth32F::from(&mm);
        for (mm, m) in mm.data().iter().zip(there.data()) {
            let expected = if *mm == u16::MAX {
                f64::INFINITY
            } else {
                f64::from(*mm) / 1e3
            };
            assert_eq!(*m, expected as f32);
        }
    }

    #[test]
    fn conversions_reuse_the_output() {
        let mut out = ImageDepth16U::with_value(5, 4, 9);
        let memory = out.data().as_ptr();
        convert_depth_32f_to_16u(&ImageDepth32F::with_value(2, 3, 0.25), &mut out);
        assert_eq!((out.shape(), out.data()), ([3, 2, 1], &[250; 6][..]));
        assert_eq!(out.data().as_ptr(), memory);
    }

    #[test]
    fn channel_order_conversions_are_lossless() {
        let rgb = ImageRgb8U::from_data(2, 1, vec![1, 2, 3, 4, 5, 6]).unwrap();
        let bgr = ImageBgr8U::from(&rgb);
        assert_eq!(bgr.data(), [3, 2, 1, 6, 5, 4]);
        assert_eq!(ImageRgb8U::from(&bgr), rgb);
        let rgba = ImageRgba8U::from(&rgb);
        assert_eq!(rgba.data(), [1, 2, 3, 255, 4, 5, 6, 255]);
        let bgra = ImageBgra8U::from(&rgba);
        assert_eq!(bgra.data(), [3, 2, 1, 255, 6, 5, 4, 255]);
        assert_eq!(ImageRgba8U::from(&bgra), rgba);
        assert_eq!(ImageBgra8U::from(&bgr), bgra);
        assert_eq!(ImageBgra8U::from(&rgb), bgra);
        assert_eq!(ImageRgba8U::from(&bgr), rgba);
        let grey = ImageGrey8U::from_data(1, 1, vec![7]).unwrap();
        assert_eq!(ImageRgb8U::from(&grey).data(), [7; 3]);
        assert_eq!(ImageRgba8U::from(&grey).data(), [7, 7, 7, 255]);
    }
}
