//! Parameters of the LCM visualizer of a scene.

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
    /// The role of the geometry that is shown: any but `Unassigned`.
    pub role: Role,
    /// The colour of geometry without `(phong, diffuse)`, in the properties of the role and in
    /// those of illustration.
    pub default_color: Rgba,
    /// Whether geometry that takes part in hydroelastic contact is shown by the mesh that stands
    /// for it, with the proximity role; see [`DrakeVisualizer`](crate::DrakeVisualizer).
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
                "the role is Unassigned, expected Illustration, Proximity or Perception".into(),
            );
        }
        Ok(())
    }

    /// `DRAKE_VIEWER_{what}`, with the suffix of the role.
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
