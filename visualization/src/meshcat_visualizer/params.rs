//! Parameters of the visualizer.

use crate::{Error, Result};
use tarragon_geometry::{Rgba, Role};

/// Returns Drake's colour for illustration geometry without a colour.
pub(crate) fn light_grey() -> Rgba {
    Rgba::new(0.9, 0.9, 0.9, 1.0).expect("channels lie in [0, 1]")
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
    /// Role of the geometry to show: any but `Unassigned`.
    pub role: Role,
    /// Colour of geometry without `(phong, diffuse)` in the properties of the role.
    pub default_color: Rgba,
    /// Path that holds all geometry; a relative path is below `/drake`.
    pub prefix: String,
    /// Whether everything below the prefix is deleted when a simulation is initialized.
    pub delete_on_initialization_event: bool,
    /// Whether pages have a slider, named after the prefix and the Greek letter alpha, for the
    /// opacity of the geometry.
    pub enable_alpha_slider: bool,
    /// Initial value of that slider, from 0 to 1; the slider has the values 0.02, 0.04, ..., 1.
    pub initial_alpha_slider_value: f64,
    /// Whether the geometry is visible until a user hides it on the page.
    pub visible_by_default: bool,
    /// Whether, with the proximity role, geometry that takes part in hydroelastic contact is shown
    /// by its hydroelastic mesh. Shapes without such a mesh, such as half spaces, are shown as they
    /// are.
    pub show_hydroelastic: bool,
    /// Whether to show geometry that does not name a visualizer. Geometry names a visualizer by the
    /// property `(meshcat, accepting)` of the role, a `String` or `&'static str` equal to the
    /// visualizer's prefix; other visualizers do not show it.
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
                "the role must be Illustration, Proximity or Perception, got Unassigned".into(),
            );
        }
        let alpha = self.initial_alpha_slider_value;
        if !(0.0..=1.0).contains(&alpha) {
            return wrong(format!(
                "initial_alpha_slider_value must be from 0 to 1, got {alpha:?}"
            ));
        }
        Ok(())
    }
}

/// Checks a publish period; the error says what is wrong with it.
pub(crate) fn check_period(period: f64) -> Result<(), String> {
    if period > 0.0 && period.is_finite() {
        return Ok(());
    }
    Err(format!(
        "the publish period must be positive and finite, got {period:?} s"
    ))
}
