//! Colour maps that make depth and label images viewable.

use tarragon_geometry::RenderLabel;
use tarragon_geometry::render::{
    DepthRange, Image, ImageDepth32F, ImageLabel16I, ImageRgba8U, PixelType,
};

/// The colour map viridis (Smith and van der Walt, 2015, CC0), sampled at ten equal steps. Its
/// brightness grows evenly, so it stays readable in greyscale and for colour-blind viewers.
const VIRIDIS: [[u8; 3]; 10] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x28, 0x78],
    [0x3e, 0x49, 0x89],
    [0x31, 0x68, 0x8e],
    [0x26, 0x82, 0x8e],
    [0x1f, 0x9e, 0x89],
    [0x35, 0xb7, 0x79],
    [0x6e, 0xce, 0x58],
    [0xb5, 0xde, 0x2b],
    [0xfd, 0xe7, 0x25],
];

/// Returns the viridis colour of `fraction`: dark violet at 0, light yellow at 1, green in between.
/// All other values are clamped to this range; NaN is dark violet.
///
/// ```
/// use tarragon_sensors::color_map::viridis;
/// assert_eq!(viridis(0.0), [68, 1, 84]);
/// assert_eq!(viridis(7.0), [253, 231, 37]);
/// ```
pub fn viridis(fraction: f32) -> [u8; 3] {
    let last = VIRIDIS.len() - 1;
    let place = fraction.clamp(0.0, 1.0) * last as f32;
    let i = (place as usize).min(last - 1); // NaN becomes 0
    let t = if place.is_nan() {
        0.0
    } else {
        place - i as f32
    };
    let mix = |a: u8, b: u8| (f32::from(a) + t * (f32::from(b) - f32::from(a))).round() as u8;
    std::array::from_fn(|c| mix(VIRIDIS[i][c], VIRIDIS[i + 1][c]))
}

/// Returns the opaque colour of a depth in metres: yellow at the near end of the range, violet at
/// the far end.
///
/// Depths nearer than the range are black, also 0 ("too close"). Depths farther than the range are
/// white, also infinity ("too far") and NaN.
///
/// ```
/// use tarragon_sensors::{DepthRange, color_map::depth_color};
/// let range = DepthRange::new(0.5, 4.5)?;
/// assert_eq!(depth_color(0.5, range), [253, 231, 37, 255]);
/// assert_eq!(depth_color(f32::INFINITY, range), [255; 4]);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn depth_color(metres: f32, range: DepthRange) -> [u8; 4] {
    let (near, far) = (range.min_depth() as f32, range.max_depth() as f32);
    if metres < near {
        return [0, 0, 0, 255];
    }
    if metres.is_nan() || metres > far {
        return [255; 4];
    }
    let [r, g, b] = viridis((far - metres) / (far - near));
    [r, g, b, 255]
}

/// Returns the opaque colour of a label. Neighbouring labels differ strongly, and no two labels of
/// one scene look alike.
///
/// [`RenderLabel::EMPTY`] is black, `DONT_CARE` white, `UNSPECIFIED` grey, `DO_NOT_RENDER` dark
/// grey.
///
/// ```
/// use tarragon_sensors::color_map::label_color;
/// assert_ne!(label_color(1), label_color(2));
/// assert_eq!(label_color(32766), [0, 0, 0, 255]); // empty
/// ```
pub fn label_color(label: i16) -> [u8; 4] {
    let grey = |y| [y, y, y, 255];
    match label {
        l if l == RenderLabel::EMPTY.value() => return grey(0),
        l if l == RenderLabel::DONT_CARE.value() => return grey(255),
        l if l == RenderLabel::UNSPECIFIED.value() => return grey(128),
        l if l == RenderLabel::DO_NOT_RENDER.value() => return grey(64),
        _ => {}
    }
    // Steps by the golden ratio never come close to an earlier hue; saturation and brightness cycle
    // through four pairs.
    let n = f64::from(label as u16);
    let hue = (n * 0.618_033_988_749_895).fract();
    let (saturation, value) =
        [(0.85, 0.95), (0.55, 0.95), (0.9, 0.65), (0.45, 0.75)][label as usize % 4];
    // HSV to RGB, after Smith (1978).
    let channel = |offset: f64| {
        let k = (offset + hue * 6.0) % 6.0;
        let x = value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0);
        (255.0 * x).round() as u8
    };
    [channel(5.0), channel(3.0), channel(1.0), 255]
}

/// Colours a depth image with [`depth_color`]; `picture` is resized if needed.
///
/// ```
/// use tarragon_sensors::{DepthRange, ImageDepth32F, ImageRgba8U, color_map::colorize_depth};
/// let depth = ImageDepth32F::from_data(2, 1, vec![0.0, 1.0])?;
/// let mut picture = ImageRgba8U::default();
/// colorize_depth(&depth, DepthRange::new(1.0, 3.0)?, &mut picture);
/// assert_eq!(picture.data(), [0, 0, 0, 255, 253, 231, 37, 255]);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn colorize_depth(depth: &ImageDepth32F, range: DepthRange, picture: &mut ImageRgba8U) {
    colorize(depth, picture, |metres| depth_color(metres, range));
}

/// Colours a label image with [`label_color`]; `picture` is resized if needed.
///
/// ```
/// use tarragon_sensors::{ImageLabel16I, ImageRgba8U, color_map::{colorize_label, label_color}};
/// let label = ImageLabel16I::with_value(2, 1, 7);
/// let mut picture = ImageRgba8U::default();
/// colorize_label(&label, &mut picture);
/// assert_eq!(picture.at(1, 0), label_color(7));
/// ```
pub fn colorize_label(label: &ImageLabel16I, picture: &mut ImageRgba8U) {
    colorize(label, picture, label_color);
}

/// Maps the first channel of each pixel to a colour; `picture` is resized if needed.
pub(crate) fn colorize<P: PixelType>(
    image: &Image<P>,
    picture: &mut ImageRgba8U,
    color: impl Fn(P::Channel) -> [u8; 4],
) {
    if picture.shape()[..2] != image.shape()[..2] {
        picture.resize(image.width(), image.height());
    }
    let (pixels, _) = picture.data_mut().as_chunks_mut::<4>();
    // Images have long runs of equal values, so the last colour is kept.
    let mut last = None;
    for (pixel, value) in pixels
        .iter_mut()
        .zip(image.data().iter().step_by(P::CHANNELS))
    {
        *pixel = match last {
            Some((before, color)) if before == *value => color,
            _ => color(*value),
        };
        last = Some((*value, *pixel));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn viridis_brightens_steadily_and_interpolates_its_table() {
        let brightness = |[r, g, b]: [u8; 3]| {
            0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
        };
        let mut last = -1.0;
        for i in 0..=1000 {
            let now = brightness(viridis(i as f32 / 1000.0));
            // Rounding the three channels may darken a step slightly.
            assert!(now > last - 1.0, "at {i}: {now} after {last}");
            last = now;
        }
        for (i, color) in VIRIDIS.iter().enumerate() {
            assert_eq!(viridis(i as f32 / 9.0), *color);
        }
        assert_eq!(viridis(f32::NAN), VIRIDIS[0]);
    }

    #[test]
    fn depths_out_of_range_are_black_or_white() {
        let range = DepthRange::new(1.0, 2.0).unwrap();
        let [black, white] = [[0, 0, 0, 255], [255; 4]];
        for (metres, color) in [
            (0.0, black),
            (0.99, black),
            (2.01, white),
            (f32::INFINITY, white),
            (f32::NAN, white),
        ] {
            assert_eq!(depth_color(metres, range), color, "{metres}");
        }
        assert_eq!(depth_color(2.0, range)[..3], VIRIDIS[0]);
    }

    #[test]
    fn label_colors_are_distinct() {
        let colors: HashSet<_> = (0..256).map(label_color).collect();
        assert_eq!(colors.len(), 256);
        for label in 0..255 {
            let (a, b) = (label_color(label), label_color(label + 1));
            let distance: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
            assert!(distance > 60, "{label}: {a:?} and {b:?}");
        }
        // No label of a geometry has the colour of the background.
        assert!(!colors.contains(&label_color(RenderLabel::EMPTY.value())));
        assert_eq!(label_color(-5)[3], 255, "every label has an opaque colour");
    }
}
