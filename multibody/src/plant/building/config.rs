//! Configuration of a plant by names and numbers, as Drake's YAML has it.

use crate::error::{Error, Result};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::contact_model::ContactModel;
use serde::{Deserialize, Serialize};
use tarragon_documents::yaml::read_yaml;
use tarragon_framework::FileLocation;

/// Configuration of a plant (Drake's `MultibodyPlantConfig`, with the same names in YAML and the
/// same defaults).
///
/// ```
/// use tarragon_multibody::*;
/// let config = MultibodyPlantConfig::from_yaml("
/// time_step: 0.002
/// contact_model: point
/// discrete_contact_approximation: sap
/// ")?;
/// let plant = MultibodyPlantBuilder::from_config(&config)?;
/// assert_eq!(plant.time_step(), 0.002);
/// assert_eq!(plant.discrete_contact_approximation(), DiscreteContactApproximation::Sap);
/// let error = MultibodyPlantConfig::from_yaml("time_step: 0.1\nsteps: 3").unwrap_err();
/// assert!(error.to_string().starts_with("plant configuration:2:1: "));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MultibodyPlantConfig {
    /// Time step (s); 0 means continuous time.
    pub time_step: f64,
    /// See [`MultibodyPlantBuilder::set_use_sampled_output_ports`]; has no effect in continuous
    /// time.
    pub use_sampled_output_ports: bool,
    /// See [`MultibodyPlantBuilder::set_penetration_allowance`].
    pub penetration_allowance: f64,
    /// See [`MultibodyPlantBuilder::set_stiction_tolerance`].
    pub stiction_tolerance: f64,
    /// `point`, `hydroelastic`, `hydroelastic_with_fallback`, or `point_manifold`, which Drake does
    /// not know; see [`MultibodyPlantBuilder::set_contact_model`].
    pub contact_model: String,
    /// `lagged`, `similar` or `sap`; empty means `lagged`.
    pub discrete_contact_approximation: String,
    /// See [`MultibodyPlantBuilder::set_sap_near_rigid_threshold`].
    pub sap_near_rigid_threshold: f64,
    /// `polygon` or `triangle`: the form of contact surfaces. Point contact has none.
    pub contact_surface_representation: String,
    /// Whether bodies that a joint connects are kept from colliding with each other.
    pub adjacent_bodies_collision_filters: bool,
}

impl Default for MultibodyPlantConfig {
    fn default() -> Self {
        Self {
            time_step: 0.001,
            use_sampled_output_ports: true,
            penetration_allowance: 1e-3,
            stiction_tolerance: 1e-4,
            contact_model: "hydroelastic_with_fallback".into(),
            discrete_contact_approximation: "lagged".into(),
            sap_near_rigid_threshold: 1.0,
            contact_surface_representation: "polygon".into(),
            adjacent_bodies_collision_filters: true,
        }
    }
}

impl MultibodyPlantConfig {
    /// Reads a configuration from YAML.
    ///
    /// # Errors
    /// Returns an error with line and column if the text is not YAML or has unknown keys.
    pub fn from_yaml(text: &str) -> Result<Self> {
        read_yaml(text).map_err(|error| {
            let location = FileLocation {
                file: "plant configuration".into(),
                line: error.line,
                column: error.column,
            };
            Error::parse(location, format!("error: {}", error.message))
        })
    }
}

impl MultibodyPlantBuilder {
    /// Creates a plant with a configuration.
    ///
    /// # Errors
    /// Returns an error if the time step is negative or not finite, and the errors of
    /// [`Self::apply_config`].
    pub fn from_config(config: &MultibodyPlantConfig) -> Result<Self> {
        let mut plant = Self::new(config.time_step)?;
        plant.apply_config(config)?;
        Ok(plant)
    }

    /// Applies a configuration, whose time step must be that of the plant (Drake's
    /// `ApplyMultibodyPlantConfig`).
    ///
    /// # Errors
    /// Returns an error if the time step is not that of the plant, a name is unknown, a number is
    /// out of its range, or what is asked for is not supported. Nothing changes in that case.
    pub fn apply_config(&mut self, config: &MultibodyPlantConfig) -> Result<()> {
        if config.time_step != self.model.time_step {
            return Err(Error::invalid(format!(
                "plant configuration: time_step must be that of the plant, {:?} s, got {:?} s",
                self.model.time_step, config.time_step
            )));
        }
        let representation = &*config.contact_surface_representation;
        if !["", "polygon", "triangle"].contains(&representation) {
            return Err(Error::invalid(format!(
                "plant configuration: contact_surface_representation must be 'polygon' or \
                 'triangle', got '{representation}'"
            )));
        }
        let mut changed = Self::new(self.time_step)?;
        changed.model.contact = self.contact;
        let approximation = match &*config.discrete_contact_approximation {
            "" => Ok(Default::default()),
            name => name.parse(),
        };
        changed.set_discrete_contact_approximation(approximation?);
        changed.set_contact_model(config.contact_model.parse::<ContactModel>()?);
        changed.set_penetration_allowance(config.penetration_allowance)?;
        changed.set_stiction_tolerance(config.stiction_tolerance)?;
        changed.set_sap_near_rigid_threshold(config.sap_near_rigid_threshold)?;
        let sampled = config.use_sampled_output_ports && self.model.time_step > 0.0;
        changed.set_use_sampled_output_ports(sampled)?;
        self.model.contact = changed.model.contact;
        self.model.adjacent_bodies_collision_filters = config.adjacent_bodies_collision_filters;
        Ok(())
    }
}
