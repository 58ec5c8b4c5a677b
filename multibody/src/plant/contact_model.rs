//! Models of contact, and the settings that go with them.

use crate::discrete::DiscreteContactApproximation;
use crate::error::{Error, Result};
use std::str::FromStr;

/// Model of contact (Drake's `ContactModel`).
///
/// ```
/// use tarragon_multibody::{ContactModel, MultibodyPlantBuilder};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// assert_eq!(plant.contact_model(), ContactModel::HydroelasticWithFallback);
/// plant.set_contact_model(ContactModel::Point);
/// plant.set_contact_model("hydroelastic".parse()?);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactModel {
    /// One compliant contact point per pair of geometries; on height fields, as many as with
    /// [`PointManifold`](Self::PointManifold).
    Point,
    /// Up to eight points per pair of geometries that touch along a line or a face (see
    /// [`QueryObject::compute_penetration_manifolds`]), each with the stiffness of the pair: boxes
    /// rest without rocking. Drake has no such model.
    ///
    /// [`QueryObject::compute_penetration_manifolds`]:
    ///     tarragon_geometry::QueryObject::compute_penetration_manifolds
    PointManifold,
    /// Contact surfaces between all pairs; see [`QueryObject::compute_contact_surfaces`]. Pairs
    /// that have none are an error.
    ///
    /// [`QueryObject::compute_contact_surfaces`]:
    ///     tarragon_geometry::QueryObject::compute_contact_surfaces
    Hydroelastic,
    /// Contact surfaces between the pairs that have them, points between all others.
    #[default]
    HydroelasticWithFallback,
}

impl FromStr for ContactModel {
    type Err = Error;
    /// Reads Drake's names, `point`, `hydroelastic` and `hydroelastic_with_fallback`, and
    /// `point_manifold`.
    ///
    /// # Errors
    /// Returns an error for any other name.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "point" => Ok(Self::Point),
            "point_manifold" => Ok(Self::PointManifold),
            "hydroelastic" => Ok(Self::Hydroelastic),
            "hydroelastic_with_fallback" => Ok(Self::HydroelasticWithFallback),
            other => Err(Error::invalid(format!(
                "contact_model must be 'point', 'point_manifold', 'hydroelastic' or \
                 'hydroelastic_with_fallback', got '{other}'"
            ))),
        }
    }
}

/// Settings of contact, with Drake's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactSettings {
    pub(super) model: ContactModel,
    pub(super) approximation: DiscreteContactApproximation,
    /// Slip speed below which contact sticks (m/s).
    pub(super) stiction_tolerance: f64,
    pub(super) sap_near_rigid_threshold: f64,
    pub(super) near_rigid_threshold: f64,
    /// Speed (m/s, rad/s) up to which contact and joint limits push apart; possibly infinite.
    pub(super) max_recovery_speed: f64,
    /// Depth (m) to which the heaviest body sinks into geometry without a stiffness.
    pub(super) penetration_allowance: f64,
    /// `None` means true for discrete plants.
    pub(super) use_sampled_output_ports: Option<bool>,
    /// `None` means that bodies never sleep.
    pub(super) sleep: Option<SleepSettings>,
}

/// When bodies of a discrete plant fall asleep; see
/// [`MultibodyPlantBuilder::set_sleep_settings`](crate::MultibodyPlantBuilder::set_sleep_settings).
///
/// ```
/// use tarragon_multibody::SleepSettings;
/// let settings = SleepSettings { time: 1.0, ..Default::default() };
/// assert_eq!(settings.speed, 1e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SleepSettings {
    /// Absolute value of velocities (m/s, rad/s) up to which a body is at rest.
    pub speed: f64,
    /// How long (s) bodies are at rest before they fall asleep.
    pub time: f64,
}

impl Default for SleepSettings {
    /// 1 mm/s and 1 mrad/s for half a second.
    fn default() -> Self {
        Self {
            speed: 1e-3,
            time: 0.5,
        }
    }
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            model: ContactModel::default(),
            approximation: DiscreteContactApproximation::default(),
            stiction_tolerance: 1e-4,
            sap_near_rigid_threshold: 1.0,
            near_rigid_threshold: 0.0,
            max_recovery_speed: f64::INFINITY,
            penetration_allowance: 1e-3,
            use_sampled_output_ports: None,
            sleep: None,
        }
    }
}
