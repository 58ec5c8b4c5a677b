//! Lights of an image.

use crate::render::{LightFrame, LightParameter, LightType};
use nalgebra::{Isometry3, Vector3};
use smallvec::SmallVec;

/// A light, expressed in the camera frame or in that of a geometry.
#[derive(Clone, Copy, Debug)]
pub struct PlacedLight {
    /// Point, spot or directional.
    pub light_type: LightType,
    /// Colour times intensity.
    pub color: [f32; 3],
    /// Constant (1), linear (1/m) and quadratic (1/m^2) attenuation.
    pub attenuation: [f32; 3],
    /// Position (m).
    pub position: Vector3<f32>,
    /// Unit vector towards the light, against the direction in which it shines.
    pub towards: Vector3<f32>,
    /// Cosine of the angle between the axis and the edge of a spot light's cone.
    pub cos_cone: f32,
    /// True if surfaces that the light does not reach are in shadow.
    pub casts_shadows: bool,
}

/// The lights of an image, in the camera frame.
#[derive(Clone, Debug)]
pub struct Lights(pub(crate) LightList);

/// List of lights; up to four need no heap allocation.
pub(crate) type LightList = SmallVec<[PlacedLight; 4]>;

impl Lights {
    /// Places the declared lights. If there are none and there is no `environment`, uses the
    /// default light, which is fixed to the camera.
    pub fn new(declared: &[LightParameter], x_wc: &Isometry3<f64>, environment: bool) -> Self {
        let lamp = [LightParameter::default()];
        let declared = match declared {
            [] if !environment => &lamp,
            declared => declared,
        };
        Self(declared.iter().map(|l| Self::light(l, x_wc)).collect())
    }
    fn light(l: &LightParameter, x_wc: &Isometry3<f64>) -> PlacedLight {
        let x_cl = match l.frame {
            LightFrame::Camera => Isometry3::identity(),
            LightFrame::World => x_wc.inverse(),
        };
        let color = [l.color.r(), l.color.g(), l.color.b()];
        PlacedLight {
            light_type: l.light_type,
            color: color.map(|c| (c * l.intensity) as f32),
            attenuation: std::array::from_fn(|k| l.attenuation_values[k] as f32),
            position: (x_cl * nalgebra::Point3::from(l.position)).coords.cast(),
            towards: (x_cl.rotation * -l.direction.normalize()).cast(),
            cos_cone: l.cone_angle.to_radians().cos() as f32,
            casts_shadows: match l.light_type {
                LightType::Directional => true,
                LightType::Spot => l.cone_angle < 90.0,
                LightType::Point => false,
            },
        }
    }
    /// Returns the lights, in the order in which they were declared.
    pub fn as_slice(&self) -> &[PlacedLight] {
        &self.0
    }
}
