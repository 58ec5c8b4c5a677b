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
/// assert_eq!(slippery.solver_parameters, None);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPairProperties {
    /// Coefficients of friction. Static friction is that of continuous time.
    pub friction: Option<CoulombFriction>,
    /// Properties of which `solref` and `solimp` act, on geometry that follows MuJoCo.
    pub solver_parameters: Option<MujocoContact>,
}
