//! Colour with opacity.

use crate::error::{Error, Result};

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
    channels: [f64; 4],
}

impl Rgba {
    /// Drake's default for geometry without a colour.
    pub const DEFAULT_DIFFUSE: Self = Self::constant(0.9, 0.7, 0.2, 1.0);
    /// Opaque white.
    pub const WHITE: Self = Self::constant(1.0, 1.0, 1.0, 1.0);

    const fn constant(r: f64, g: f64, b: f64, a: f64) -> Self {
        Self {
            channels: [r, g, b, a],
        }
    }

    /// A colour from its channels.
    ///
    /// # Errors
    /// If a channel is outside `[0, 1]`.
    pub fn new(r: f64, g: f64, b: f64, a: f64) -> Result<Self> {
        let channels = [r, g, b, a];
        if channels.iter().all(|c| (0.0..=1.0).contains(c)) {
            Ok(Self { channels })
        } else {
            Err(Error::invalid(format!(
                "Rgba: the channels are {channels:?}, values from 0 to 1 are expected"
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
        self.channels
    }
}
