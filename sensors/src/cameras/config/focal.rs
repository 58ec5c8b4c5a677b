//! Focal lengths and fields of view.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_saphyr::Tagged;
use tarragon_documents::yaml::Tagged as Read;

/// Focal lengths, or fields of view that determine them (Drake's `CameraConfig.focal`). If only x
/// or only y is given, the focal length that follows from it applies to both directions.
///
/// In YAML `!FocalLength {x: 300}` or `!FovDegrees {y: 45}`; without a tag it is a `FocalLength`.
///
/// ```
/// use tarragon_sensors::{CameraConfig, Focal};
/// let focal = Focal::FovDegrees { x: Some(90.0), y: None };
/// let camera = CameraConfig { width: 200, focal, ..CameraConfig::default() };
/// assert!((camera.focal_y()? - 100.0).abs() < 1e-12);
/// # Ok::<(), tarragon_sensors::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Focal {
    /// Focal lengths (pixels).
    FocalLength {
        /// Along x.
        x: Option<f64>,
        /// Along y.
        y: Option<f64>,
    },
    /// Angles between opposite edges of the image (degrees).
    FovDegrees {
        /// Between the left and the right edge.
        x: Option<f64>,
        /// Between the upper and the lower edge.
        y: Option<f64>,
    },
}

impl Default for Focal {
    /// Returns a vertical field of view of 45 degrees.
    fn default() -> Self {
        Self::FovDegrees {
            x: None,
            y: Some(45.0),
        }
    }
}

impl Focal {
    /// Returns the focal lengths along x and y (pixels) for an image of the given width and height
    /// (pixels), or `None` if neither x nor y is given.
    pub(super) fn lengths(&self, [width, height]: [usize; 2]) -> Option<[f64; 2]> {
        let of_fov = |fov: f64, size: usize| size as f64 * 0.5 / (0.5 * fov.to_radians()).tan();
        let (x, y) = match *self {
            Self::FocalLength { x, y } => (x, y),
            Self::FovDegrees { x, y } => {
                (x.map(|x| of_fov(x, width)), y.map(|y| of_fov(y, height)))
            }
        };
        Some([x.or(y)?, y.or(x)?])
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FocalFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<f64>,
}

impl<'de> Deserialize<'de> for Focal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { value, tag } = Read::<FocalFields>::deserialize(deserializer)?;
        let FocalFields { x, y } = value;
        match tag.as_deref() {
            None | Some("!FocalLength") => Ok(Self::FocalLength { x, y }),
            Some("!FovDegrees") => Ok(Self::FovDegrees { x, y }),
            Some(tag) => Err(de::Error::custom(format!(
                "the tag of focal must be !FocalLength or !FovDegrees, got {tag}"
            ))),
        }
    }
}

impl Serialize for Focal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, fields) = match *self {
            Self::FocalLength { x, y } => ("!FocalLength", FocalFields { x, y }),
            Self::FovDegrees { x, y } => ("!FovDegrees", FocalFields { x, y }),
        };
        Tagged(fields, Some(tag.into())).serialize(serializer)
    }
}
