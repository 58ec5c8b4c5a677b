//! Lights of render engines.

use crate::rgba::Rgba;
use nalgebra::Vector3;

/// Kind of a light source.
///
/// ```
/// use tarragon_geometry::render::{LightParameter, LightType};
/// assert_eq!(LightParameter::default().light_type, LightType::Directional);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LightType {
    /// Shines from a position in all directions.
    Point,
    /// Shines from a position, within a cone.
    Spot,
    /// Parallel light from an infinite distance.
    #[default]
    Directional,
}

/// Frame that a light is fixed to.
///
/// ```
/// use tarragon_geometry::render::{LightFrame, LightParameter};
/// let sun = LightParameter { frame: LightFrame::World, ..LightParameter::default() };
/// assert_ne!(sun.frame, LightParameter::default().frame);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LightFrame {
    /// The world.
    World,
    /// The camera: +z into the image, +x right, +y down.
    #[default]
    Camera,
}

/// One light (Drake's `LightParameter`). The default is the white light, fixed to the camera, that
/// engines use when no light is declared.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::render::*;
/// let lamp = LightParameter {
///     light_type: LightType::Point,
///     frame: LightFrame::World,
///     position: Vector3::new(0.0, 0.0, 3.0),
///     ..LightParameter::default()
/// };
/// let lit = |lights| RenderEngineCpu::new(RenderEngineCpuParams { lights, ..Default::default() });
/// assert!(lit(vec![lamp]).is_ok());
/// assert!(lit(vec![LightParameter { intensity: -1.0, ..lamp }]).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightParameter {
    /// Point, spot or directional.
    pub light_type: LightType,
    /// Colour. Its opacity is ignored.
    pub color: Rgba,
    /// Constant (1), linear (1/m) and quadratic (1/m^2) attenuation `[a, b, c]`: at distance d, the
    /// light is divided by `a + b d + c d^2`. Unused by directional lights.
    pub attenuation_values: Vector3<f64>,
    /// Position in `frame` (m). Unused by directional lights.
    pub position: Vector3<f64>,
    /// Frame in which position and direction are expressed.
    pub frame: LightFrame,
    /// Factor by which the colour is multiplied.
    pub intensity: f64,
    /// Direction in which the light shines, in `frame`, of any length but zero. Unused by point
    /// lights.
    pub direction: Vector3<f64>,
    /// Angle between the axis and the edge of a spot light's cone (degrees). The default, 0, lights
    /// nothing, so a spot light must set this angle.
    pub cone_angle: f64,
}

impl Default for LightParameter {
    fn default() -> Self {
        Self {
            light_type: LightType::default(),
            color: Rgba::WHITE,
            attenuation_values: Vector3::new(1.0, 0.0, 0.0),
            position: Vector3::zeros(),
            frame: LightFrame::default(),
            intensity: 1.0,
            direction: Vector3::z(),
            cone_angle: 0.0,
        }
    }
}

impl LightParameter {
    /// Checks the values.
    ///
    /// # Errors
    /// Returns a description of the first value that is invalid.
    pub fn check(&self) -> Result<(), String> {
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        if !(finite(&self.position) && finite(&self.direction)) {
            return Err("position and direction must be finite".into());
        }
        if self.light_type != LightType::Point && self.direction.norm() < 1e-10 {
            return Err("direction must not be zero".into());
        }
        let attenuation = self.attenuation_values;
        if !(finite(&attenuation) && attenuation.min() >= 0.0 && attenuation.max() > 0.0) {
            return Err(format!(
                "attenuation_values must be finite, at least 0 and not all 0, got {:?}",
                attenuation.as_slice()
            ));
        }
        if !(self.intensity >= 0.0 && self.intensity.is_finite()) {
            return Err(format!(
                "intensity must be finite and at least 0, got {:?}",
                self.intensity
            ));
        }
        if !(self.cone_angle >= 0.0 && self.cone_angle <= 180.0) {
            return Err(format!(
                "cone_angle must be from 0 to 180 degrees, got {:?} degrees",
                self.cone_angle
            ));
        }
        Ok(())
    }
}
