//! Distance from which on two geometries press on each other.

use super::contact_pair::ContactPairProperties;
use super::mujoco_contact::MujocoContact;

/// MuJoCo's `margin` and `gap` of two geometries (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMargin {
    /// Distance below which there is a contact.
    pub margin: f64,
    /// Distance by which surfaces approach further before there is a force.
    pub gap: f64,
}

impl ContactMargin {
    /// Combines the margins and gaps of two geometries, unless the pair has its own: the larger
    /// ones count, as in MuJoCo 3.3, whatever the priorities. Geometry that does not follow MuJoCo
    /// has none.
    pub fn new(
        pair: Option<&ContactPairProperties>,
        geometries: [Option<&MujocoContact>; 2],
    ) -> Self {
        let [a, b] = geometries.map(|of| of.map_or([0.0; 2], |of| [of.margin, of.gap]));
        Self {
            margin: pair.and_then(|pair| pair.margin).unwrap_or(a[0].max(b[0])),
            gap: pair.and_then(|pair| pair.gap).unwrap_or(a[1].max(b[1])),
        }
    }

    /// Returns the distance (m) at which the force is 0, MuJoCo's `includemargin`. It is negative
    /// where the gap is larger than the margin: then surfaces overlap without a force.
    pub fn offset(&self) -> f64 {
        self.margin - self.gap
    }

    /// Returns the distance (m) below which there may be a force. A negative gap does not extend
    /// the margin.
    pub fn reach(&self) -> f64 {
        self.offset().min(self.margin)
    }
}
