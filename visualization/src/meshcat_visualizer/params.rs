//! Parameters of the visualizer of a scene.

use crate::{Error, Result};
use tarragon_geometry::{Rgba, Role};

/// Drake's colour of what has none, in illustrations.
pub(crate) fn light_grey() -> Rgba {
    Rgba::new(0.9, 0.9, 0.9, 1.0).expect("the channels are from 0 to 1")
}

/// Parameters of a [`MeshcatVisualizer`](crate::MeshcatVisualizer), with Drake's defaults.
///
/// ```
/// use tarragon_geometry::Role;
/// use tarragon_visualization::MeshcatVisualizerParams;
/// let params = MeshcatVisualizerParams {
///     role: Role::Proximity,
///     prefix: "collision".into(),
///     visible_by_default: false,
///     ..Default::default()
/// };
/// assert_eq!(params.publish_period, 1.0 / 64.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshcatVisualizerParams {
    /// Simulated time between publishes (s), positive. The default, 1/64 s, is exact in binary.
    pub publish_period: f64,
    /// The role of the geometry that is shown: any but `Unassigned`.
    pub role: Role,
    /// The colour of geometry whose properties of the role have no `(phong, diffuse)`.
    pub default_color: Rgba,
    /// The path below which everything is; relative ones are below `/drake`.
    pub prefix: String,
    /// Whether everything below the prefix is deleted when a simulation is initialized.
    pub delete_on_initialization_event: bool,
    /// Whether pages have a slider, called after the prefix and a Greek alpha, that makes the
    /// geometry transparent.
    pub enable_alpha_slider: bool,
    /// Where that slider is at the start, from 0 to 1; it has the values 0.02, 0.04, ..., 1.
    pub initial_alpha_slider_value: f64,
    /// Whether the geometry is visible until somebody hides it on the page.
    pub visible_by_default: bool,
    /// Whether geometry that takes part in hydroelastic contact is shown by the mesh that stands
    /// for it, with the proximity role; shapes without one, such as half spaces, are shown as they
    /// are.
    pub show_hydroelastic: bool,
    /// Whether geometry is shown that does not name its visualizer. Geometry may name one by its
    /// prefix, as the property `(meshcat, accepting)` of the role, a `String` or `&'static str`;
    /// then others do not show it.
    pub include_unspecified_accepting: bool,
}

impl Default for MeshcatVisualizerParams {
    fn default() -> Self {
        Self {
            publish_period: 1.0 / 64.0,
            role: Role::Illustration,
            default_color: light_grey(),
            prefix: "visualizer".into(),
            delete_on_initialization_event: true,
            enable_alpha_slider: false,
            initial_alpha_slider_value: 1.0,
            visible_by_default: true,
            show_hydroelastic: false,
            include_unspecified_accepting: true,
        }
    }
}

impl MeshcatVisualizerParams {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: String| {
            let prefix = &self.prefix;
            Err(Error::invalid(format!(
                "MeshcatVisualizer '{prefix}': {what}"
            )))
        };
        check_period(self.publish_period).or_else(wrong)?;
        if self.role == Role::Unassigned {
            return wrong(
                "the role is Unassigned, expected Illustration, Proximity or Perception".into(),
            );
        }
        let alpha = self.initial_alpha_slider_value;
        if !(0.0..=1.0).contains(&alpha) {
            return wrong(format!(
                "the initial value of the alpha slider is {alpha}, expected 0 to 1"
            ));
        }
        Ok(())
    }
}

/// What is wrong with a period, if anything.
pub(crate) fn check_period(period: f64) -> Result<(), String> {
    if period > 0.0 && period.is_finite() {
        return Ok(());
    }
    Err(format!(
        "the publish period is {period} s, expected a positive finite time"
    ))
}
