//! Colour with opacity.

use crate::error::{Error, Result};
use nalgebra::Vector4;

/// Red, green, blue and alpha in `[0, 1]`; alpha 1 is opaque. Not linearised (sRGB as in files).
///
/// ```
/// use tarragon_geometry::Rgba;
/// let orange = Rgba::new(1.0, 0.5, 0.0, 1.0)?;
/// assert_eq!((orange.g(), orange.rgba()[0]), (0.5, 1.0));
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
    /// Drake's default for geometry without a colour.
    pub const DEFAULT_DIFFUSE: Self = Self::constant(0.9, 0.7, 0.2, 1.0);
    /// Opaque white.
    pub const WHITE: Self = Self::constant(1.0, 1.0, 1.0, 1.0);

    const fn constant(r: f64, g: f64, b: f64, a: f64) -> Self {
        Self {
            channels: Vector4::new(r, g, b, a),
        }
    }

    /// A colour from its channels.
    ///
    /// # Errors
    /// If a channel is outside `[0, 1]`.
    pub fn new(r: f64, g: f64, b: f64, a: f64) -> Result<Self> {
        let channels = Vector4::new(r, g, b, a);
        if channels.iter().all(|c| (0.0..=1.0).contains(c)) {
            Ok(Self { channels })
        } else {
            Err(Error::invalid(format!(
                "Rgba: the channels are {:?}, values from 0 to 1 are expected",
                [r, g, b, a]
            )))
        }
    }
    /// Red.
    pub fn r(&self) -> f64 {
        self.channels[0]
    }
    /// Green.
    pub fn g(&self) -> f64 {
        self.channels[1]
    }
    /// Blue.
    pub fn b(&self) -> f64 {
        self.channels[2]
    }
    /// Opacity.
    pub fn a(&self) -> f64 {
        self.channels[3]
    }
    /// All four channels, red first.
    pub fn rgba(&self) -> [f64; 4] {
        self.channels.into()
    }
    pub(crate) fn as_vector(&self) -> &Vector4<f64> {
        &self.channels
    }
    /// Replaces the channels that are given.
    ///
    /// # Errors
    /// If one is outside `[0, 1]`; nothing is changed then.
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
    /// The colour with red, green and blue multiplied by `scale`, at most 1; alpha stays.
    ///
    /// # Errors
    /// If `scale` is negative or NaN.
    pub fn scale_rgb(&self, scale: f64) -> Result<Self> {
        if scale.is_nan() || scale < 0.0 {
            return Err(Error::invalid(format!(
                "Rgba: the scale is {scale}, a value of at least 0 is expected"
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
    /// # Errors
    /// If a component is outside `[0, 1]`.
    fn try_from(v: Vector4<f64>) -> Result<Self> {
        Self::new(v.x, v.y, v.z, v.w)
    }
}
