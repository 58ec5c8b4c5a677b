//! Colours with opacity.

use crate::error::{Error, Result};
use nalgebra::Vector4;

/// Colour with red, green, blue and alpha in `[0, 1]`; alpha 1 is opaque. The values are not
/// linearised (sRGB, as in files).
///
/// ```
/// use tarragon_geometry::Rgba;
/// let mut orange = Rgba::opaque(1.0, 0.5, 0.0)?;
/// assert_eq!((orange.g(), orange.a()), (0.5, 1.0));
/// orange.set(&[1.0, 0.5, 0.0, 0.3])?;
/// assert_eq!(orange, Rgba::new(1.0, 0.5, 0.0, 0.3)?);
/// assert!(Rgba::new(255.0, 128.0, 0.0, 255.0).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rgba {
    channels: Vector4<f64>,
}

impl Default for Rgba {
    fn default() -> Self {
        Self::WHITE
    }
}

impl Rgba {
    /// Drake's default colour for geometry that has none.
    pub const DEFAULT_DIFFUSE: Self = Self::constant(0.9, 0.7, 0.2, 1.0);
    /// Opaque white.
    pub const WHITE: Self = Self::constant(1.0, 1.0, 1.0, 1.0);

    const fn constant(r: f64, g: f64, b: f64, a: f64) -> Self {
        Self {
            channels: Vector4::new(r, g, b, a),
        }
    }

    /// Creates a colour from its channels.
    ///
    /// # Errors
    /// Returns an error if a channel is outside `[0, 1]`.
    pub fn new(r: f64, g: f64, b: f64, a: f64) -> Result<Self> {
        let channels = Vector4::new(r, g, b, a);
        if channels.iter().all(|c| (0.0..=1.0).contains(c)) {
            Ok(Self { channels })
        } else {
            Err(Error::invalid(format!(
                "Rgba: channels must be from 0 to 1, got {:?}",
                [r, g, b, a]
            )))
        }
    }
    /// Creates a colour with alpha 1 (Drake's default alpha).
    ///
    /// # Errors
    /// Returns an error if a channel is outside `[0, 1]`.
    pub fn opaque(r: f64, g: f64, b: f64) -> Result<Self> {
        Self::new(r, g, b, 1.0)
    }
    /// Creates a colour from three or four channels, red first. Alpha defaults to 1.
    ///
    /// # Errors
    /// Returns an error if the number of channels is not three or four, or one is outside `[0, 1]`.
    pub fn from_slice(channels: &[f64]) -> Result<Self> {
        match *channels {
            [r, g, b] => Self::opaque(r, g, b),
            [r, g, b, a] => Self::new(r, g, b, a),
            _ => Err(Error::invalid(format!(
                "Rgba: a colour must have 3 or 4 channels, got {}",
                channels.len()
            ))),
        }
    }
    /// Replaces all channels; [`from_slice`](Self::from_slice) explains their order (Drake's
    /// `set`).
    ///
    /// # Errors
    /// Returns the errors of [`from_slice`](Self::from_slice). The colour is then unchanged.
    pub fn set(&mut self, channels: &[f64]) -> Result<()> {
        *self = Self::from_slice(channels)?;
        Ok(())
    }
    /// Returns the red channel.
    pub fn r(&self) -> f64 {
        self.channels[0]
    }
    /// Returns the green channel.
    pub fn g(&self) -> f64 {
        self.channels[1]
    }
    /// Returns the blue channel.
    pub fn b(&self) -> f64 {
        self.channels[2]
    }
    /// Returns the opacity.
    pub fn a(&self) -> f64 {
        self.channels[3]
    }
    /// Returns all four channels, red first.
    pub fn rgba(&self) -> [f64; 4] {
        self.channels.into()
    }
    pub(crate) fn as_vector(&self) -> &Vector4<f64> {
        &self.channels
    }
    /// Replaces the channels that are `Some`.
    ///
    /// # Errors
    /// Returns an error if a channel is outside `[0, 1]`. The colour is then unchanged.
    pub fn update(
        &mut self,
        r: Option<f64>,
        g: Option<f64>,
        b: Option<f64>,
        a: Option<f64>,
    ) -> Result<()> {
        *self = Self::new(
            r.unwrap_or(self.r()),
            g.unwrap_or(self.g()),
            b.unwrap_or(self.b()),
            a.unwrap_or(self.a()),
        )?;
        Ok(())
    }
    /// Returns the colour with red, green and blue multiplied by `scale` and limited to 1. Alpha is
    /// unchanged.
    ///
    /// # Errors
    /// Returns an error if `scale` is negative or NaN.
    pub fn scale_rgb(&self, scale: f64) -> Result<Self> {
        if scale.is_nan() || scale < 0.0 {
            return Err(Error::invalid(format!(
                "Rgba: scale must be at least 0, got {scale:?}"
            )));
        }
        let scaled = |c: f64| (c * scale).min(1.0);
        Self::new(
            scaled(self.r()),
            scaled(self.g()),
            scaled(self.b()),
            self.a(),
        )
    }
}

impl From<Rgba> for Vector4<f64> {
    fn from(color: Rgba) -> Self {
        color.channels
    }
}

impl TryFrom<Vector4<f64>> for Rgba {
    type Error = Error;
    /// Converts a vector of red, green, blue and alpha.
    ///
    /// # Errors
    /// Returns an error if a component is outside `[0, 1]`.
    fn try_from(v: Vector4<f64>) -> Result<Self> {
        Self::new(v.x, v.y, v.z, v.w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_alpha_is_one() {
        let mut color = Rgba::new(0.1, 0.2, 0.3, 0.4).unwrap();
        color.set(&[0.5, 0.6, 0.7]).unwrap();
        assert_eq!(color, Rgba::opaque(0.5, 0.6, 0.7).unwrap());
        assert_eq!(color.a(), 1.0);
        color.set(&[0.5, 0.6, 0.7, 0.8]).unwrap();
        assert_eq!(color.rgba(), [0.5, 0.6, 0.7, 0.8]);
    }

    #[test]
    fn an_invalid_colour_keeps_the_previous_one() {
        let before = Rgba::new(0.1, 0.2, 0.3, 0.4).unwrap();
        for (channels, what) in [
            (&[0.0; 2][..], "must have 3 or 4 channels, got 2"),
            (&[0.0; 5], "must have 3 or 4 channels, got 5"),
            (&[0.0, 1.5, 0.0], "from 0 to 1, got [0.0, 1.5, 0.0, 1.0]"),
            (&[0.0, 0.0, f64::NAN, 1.0], "from 0 to 1"),
        ] {
            let mut color = before;
            let error = color.set(channels).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
            assert_eq!(color, before);
        }
    }
}
