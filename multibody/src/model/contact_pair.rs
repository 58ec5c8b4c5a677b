//! Contact properties of a pair of geometries.

use super::mujoco_contact::MujocoContact;
use tarragon_geometry::CoulombFriction;

/// Contact properties of a pair of geometries that differ from those to which the properties of
/// both combine.
///
/// ```
/// use tarragon_geometry::CoulombFriction;
/// use tarragon_multibody::ContactPairProperties;
/// let slippery = ContactPairProperties {
///     friction: Some(CoulombFriction::new(0.1, 0.1)?),
///     ..ContactPairProperties::default()
/// };
/// assert_eq!((slippery.solver_parameters, slippery.margin), (None, None));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPairProperties {
    /// Coefficients of friction. Static friction is that of continuous time.
    pub friction: Option<CoulombFriction>,
    /// Properties of which `solref` and `solimp` act, on geometry that follows MuJoCo.
    pub solver_parameters: Option<MujocoContact>,
    /// Distance (m) below which there may be a force at a point, as [`MujocoContact::margin`].
    pub margin: Option<f64>,
    /// Part of the margin (m) without a force, as [`MujocoContact::gap`].
    pub gap: Option<f64>,
}

impl ContactPairProperties {
    /// Returns why the properties are invalid, if they are.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, length) in [("margin", self.margin), ("gap", self.gap)] {
            if let Some(bad) = length.filter(|x| !x.is_finite()) {
                return Err(format!(
                    "ContactPairProperties: {name} must be finite, got {bad:?} m"
                ));
            }
        }
        self.solver_parameters
            .map_or(Ok(()), |contact| contact.check())
    }
}
