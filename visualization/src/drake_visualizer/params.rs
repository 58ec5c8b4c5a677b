//! Parameters of the LCM visualizer.

use crate::meshcat_visualizer::{check_period, light_grey};
use crate::{Error, Result};
use tarragon_geometry::{Rgba, Role};

/// Parameters of a [`DrakeVisualizer`](crate::DrakeVisualizer), with Drake's defaults.
///
/// ```
/// use tarragon_geometry::Role;
/// use tarragon_visualization::DrakeVisualizerParams;
/// let params = DrakeVisualizerParams {
///     role: Role::Proximity,
///     use_role_channel_suffix: true,
///     ..Default::default()
/// };
/// assert_eq!(params.publish_period, 1.0 / 64.0);
/// assert_eq!(params.default_color.r(), 0.9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DrakeVisualizerParams {
    /// Simulated time between publishes (s), positive. The default, 1/64 s, is exact in binary.
    pub publish_period: f64,
    /// Role of the geometry to show: any but `Unassigned`.
    pub role: Role,
    /// Colour of geometry that has no `(phong, diffuse)`, neither in the properties of the role nor
    /// in the illustration properties.
    pub default_color: Rgba,
    /// Whether, with the proximity role, geometry that takes part in hydroelastic contact is shown
    /// by its hydroelastic mesh; see [`DrakeVisualizer`](crate::DrakeVisualizer).
    pub show_hydroelastic: bool,
    /// Whether channels end in `_ILLUSTRATION`, `_PROXIMITY` or `_PERCEPTION`, so that visualizers
    /// of several roles can share a bus.
    pub use_role_channel_suffix: bool,
}

impl Default for DrakeVisualizerParams {
    fn default() -> Self {
        Self {
            publish_period: 1.0 / 64.0,
            role: Role::Illustration,
            default_color: light_grey(),
            show_hydroelastic: false,
            use_role_channel_suffix: false,
        }
    }
}

impl DrakeVisualizerParams {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::invalid(format!("DrakeVisualizer: {what}")));
        check_period(self.publish_period).or_else(wrong)?;
        if self.role == Role::Unassigned {
            return wrong(
                "the role must be Illustration, Proximity or Perception, got Unassigned".into(),
            );
        }
        Ok(())
    }

    /// Returns the channel `DRAKE_VIEWER_{what}`, with the suffix of the role if requested.
    pub(super) fn channel(&self, what: &str) -> String {
        let suffix = match self.role {
            _ if !self.use_role_channel_suffix => "",
            Role::Illustration => "_ILLUSTRATION",
            Role::Proximity => "_PROXIMITY",
            Role::Perception => "_PERCEPTION",
            Role::Unassigned => "",
        };
        format!("DRAKE_VIEWER_{what}{suffix}")
    }
}
