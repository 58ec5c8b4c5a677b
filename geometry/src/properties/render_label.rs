//! Pixel values of label images.

use crate::error::{Error, Result};
use std::fmt;

/// Pixel value of a label image, which identifies the visible geometry. Values from 0 to 32763 are
/// free for use.
///
/// ```
/// use tarragon_geometry::RenderLabel;
/// let table = RenderLabel::new(3)?;
/// assert!(!table.is_reserved() && RenderLabel::EMPTY.is_reserved());
/// assert!(RenderLabel::new(RenderLabel::EMPTY.value()).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RenderLabel(i16);

impl RenderLabel {
    /// The background, where there is no geometry.
    pub const EMPTY: Self = Self(32766);
    /// Geometry whose identity does not matter.
    pub const DONT_CARE: Self = Self(32764);
    /// Geometry that label images leave out.
    pub const DO_NOT_RENDER: Self = Self(32765);
    /// No label given. Geometry without a label gets the engine's default label; this value itself
    /// is refused.
    pub const UNSPECIFIED: Self = Self(32767);
    /// The largest label that is not reserved.
    pub const MAX_UNRESERVED: i16 = 32763;

    /// Creates a label that is not reserved.
    ///
    /// # Errors
    /// Returns an error if the value is negative or reserved.
    pub fn new(value: i16) -> Result<Self> {
        if (0..=Self::MAX_UNRESERVED).contains(&value) {
            Ok(Self(value))
        } else {
            Err(Error::invalid(format!(
                "RenderLabel: value must be from 0 to {}, got {value}",
                Self::MAX_UNRESERVED
            )))
        }
    }
    /// Returns the pixel value.
    pub fn value(self) -> i16 {
        self.0
    }
    /// Returns true for the four reserved labels.
    pub fn is_reserved(self) -> bool {
        self.0 > Self::MAX_UNRESERVED
    }
}

impl Default for RenderLabel {
    fn default() -> Self {
        Self::UNSPECIFIED
    }
}

impl fmt::Debug for RenderLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EMPTY => f.write_str("RenderLabel::EMPTY"),
            Self::DONT_CARE => f.write_str("RenderLabel::DONT_CARE"),
            Self::DO_NOT_RENDER => f.write_str("RenderLabel::DO_NOT_RENDER"),
            Self::UNSPECIFIED => f.write_str("RenderLabel::UNSPECIFIED"),
            Self(value) => write!(f, "RenderLabel({value})"),
        }
    }
}
