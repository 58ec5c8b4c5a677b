//! Settings of contact and of the discrete step.

use crate::discrete::DiscreteContactApproximation;
use crate::error::{Error, Result};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::contact_model::{ContactModel, SleepSettings};
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_model::check_time_step;

impl MultibodyPlantBuilder {
    /// Chooses the model of contact; [`ContactModel::HydroelasticWithFallback`] unless it is set.
    pub fn set_contact_model(&mut self, model: ContactModel) {
        self.model.contact.model = model;
    }

    /// Chooses how a discrete plant approximates contact; `Lagged` unless it is set.
    pub fn set_discrete_contact_approximation(
        &mut self,
        approximation: DiscreteContactApproximation,
    ) {
        self.model.contact.approximation = approximation;
    }

    /// Sets the slip speed (m/s) below which contact sticks; 1e-4 m/s unless it is set.
    ///
    /// # Errors
    /// Returns an error unless the speed is positive and finite.
    pub fn set_stiction_tolerance(&mut self, v_stiction: f64) -> Result<()> {
        check_positive("the stiction tolerance (m/s)", v_stiction)?;
        self.model.contact.stiction_tolerance = v_stiction;
        Ok(())
    }

    /// Sets the near-rigid parameter of [`DiscreteContactApproximation::Sap`]: contact whose
    /// stiffness the time step cannot resolve is softened more, the larger it is. 1 unless it is
    /// set; 0 disables it (Drake's `set_sap_near_rigid_threshold`).
    ///
    /// # Errors
    /// Returns an error if the threshold is negative or not finite.
    pub fn set_sap_near_rigid_threshold(&mut self, threshold: f64) -> Result<()> {
        check_threshold(threshold)?;
        self.model.contact.sap_near_rigid_threshold = threshold;
        Ok(())
    }

    /// Sets the near-rigid parameter of [`DiscreteContactApproximation::Lagged`] and `Similar`. It
    /// softens contact whose stiffness the time step cannot resolve, as
    /// [`Self::set_sap_near_rigid_threshold`] does: the period of its vibration is at least this
    /// many time steps. 0 unless it is set, as in Drake, which has no such parameter: contact is as
    /// stiff as the geometry says.
    ///
    /// # Errors
    /// Returns an error if the threshold is negative or not finite.
    pub fn set_near_rigid_threshold(&mut self, threshold: f64) -> Result<()> {
        check_threshold(threshold)?;
        self.model.contact.near_rigid_threshold = threshold;
        Ok(())
    }

    /// Sets the speed (m/s, or rad/s for joints) up to which contact and joint limits of a discrete
    /// plant push apart what overlaps. Infinite unless it is set, as in Drake: geometry that starts
    /// deep inside other geometry is thrown out within a step. The normal force of
    /// [`DiscreteContactApproximation::Lagged`] and `Similar` fades out from separation speed 0 to
    /// this speed; that of `Sap` is zero there, too. The force at rest is the same. Bounces are
    /// slower than this speed, too.
    ///
    /// # Errors
    /// Returns an error unless the speed is positive.
    pub fn set_max_recovery_speed(&mut self, speed: f64) -> Result<()> {
        if speed.is_nan() || speed <= 0.0 {
            return Err(Error::invalid(format!(
                "MultibodyPlant: the largest recovery speed (m/s, rad/s) must be positive, got \
                 {speed:?}"
            )));
        }
        self.model.contact.max_recovery_speed = speed;
        Ok(())
    }

    /// Sets the depth (m) to which the heaviest body sinks into the ground where geometry declares
    /// no stiffness and the scene has no default; 1 mm unless it is set.
    ///
    /// # Errors
    /// Returns an error unless the depth is positive and finite.
    pub fn set_penetration_allowance(&mut self, depth: f64) -> Result<()> {
        check_positive("the penetration allowance (m)", depth)?;
        self.model.contact.penetration_allowance = depth;
        Ok(())
    }

    /// Sets the time step (s), 0 for continuous time, for example to that of the model that was
    /// added (`ModelOptions::time_step` of `tarragon-formats`).
    ///
    /// # Errors
    /// Returns an error if the time step is negative or not finite.
    pub fn set_time_step(&mut self, time_step: f64) -> Result<()> {
        check_time_step(time_step)?;
        self.model.time_step = time_step;
        Ok(())
    }

    /// Chooses what a discrete plant's output ports of accelerations, forces, actuation and
    /// contacts report: those of the step that led to the present state (true, the default), or
    /// those of the step that starts from it (false). Continuous plants always report the present.
    ///
    /// # Errors
    /// Returns an error if the time step is 0 and `sampled` is true.
    pub fn set_use_sampled_output_ports(&mut self, sampled: bool) -> Result<()> {
        if sampled && self.model.time_step == 0.0 {
            return Err(Error::invalid(
                "MultibodyPlant: output ports can be sampled only with a positive time step, got \
                 time step 0",
            ));
        }
        self.model.contact.use_sampled_output_ports = Some(sampled);
        Ok(())
    }

    /// Lets bodies of a discrete plant fall asleep, or keeps them awake (`None`, the default and
    /// what Drake does). Bodies at rest that touch each other or that constraints or springs
    /// connect fall asleep together: their velocities become 0, their forces stay as they are, and
    /// steps no longer spend time on them. They wake as soon as an input that acts on them, their
    /// state, a parameter or the geometry of the scene changes, or something awake touches them. A
    /// body that always moves more slowly than the settings say falls asleep, too. Bodies with
    /// contact surfaces ([`ContactModel::Hydroelastic`]) stay awake.
    ///
    /// ```
    /// use tarragon_multibody::{MultibodyPlantBuilder, SleepSettings};
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// plant.set_sleep_settings(Some(SleepSettings::default()))?;
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error unless speed and time are positive and finite or if the time step is 0.
    pub fn set_sleep_settings(&mut self, settings: Option<SleepSettings>) -> Result<()> {
        if let Some(settings) = settings {
            check_positive("the speed of sleep (m/s, rad/s)", settings.speed)?;
            check_positive("the time of rest before sleep (s)", settings.time)?;
            if self.model.time_step == 0.0 {
                return Err(Error::unsupported(
                    "MultibodyPlant: bodies fall asleep only with a positive time step, got \
                     time step 0",
                ));
            }
        }
        self.model.contact.sleep = settings;
        Ok(())
    }
}

impl MultibodyModel {
    /// Returns the model of contact.
    pub fn contact_model(&self) -> ContactModel {
        self.contact.model
    }
    /// Returns how a discrete plant approximates contact.
    pub fn discrete_contact_approximation(&self) -> DiscreteContactApproximation {
        self.contact.approximation
    }
    /// Returns the slip speed (m/s) below which contact sticks.
    pub fn stiction_tolerance(&self) -> f64 {
        self.contact.stiction_tolerance
    }
    /// Returns the near-rigid parameter of [`DiscreteContactApproximation::Sap`].
    pub fn sap_near_rigid_threshold(&self) -> f64 {
        self.contact.sap_near_rigid_threshold
    }
    /// Returns the near-rigid parameter of [`DiscreteContactApproximation::Lagged`] and `Similar`.
    pub fn near_rigid_threshold(&self) -> f64 {
        self.contact.near_rigid_threshold
    }
    /// Returns the speed (m/s, rad/s) up to which contact and joint limits push apart.
    pub fn max_recovery_speed(&self) -> f64 {
        self.contact.max_recovery_speed
    }
    /// Returns the depth (m) to which the heaviest body sinks into geometry without a stiffness.
    pub fn penetration_allowance(&self) -> f64 {
        self.contact.penetration_allowance
    }
    /// Returns true if output ports of forces report the step that led to the present state.
    pub fn has_sampled_output_ports(&self) -> bool {
        let sampled = self.contact.use_sampled_output_ports;
        sampled.unwrap_or(self.time_step > 0.0) && self.time_step > 0.0
    }
    /// Returns when bodies fall asleep; `None` if they never do.
    pub fn sleep_settings(&self) -> Option<SleepSettings> {
        self.contact.sleep
    }
}

fn check_threshold(threshold: f64) -> Result<()> {
    if threshold >= 0.0 && threshold.is_finite() {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "MultibodyPlant: the near-rigid threshold must be finite and at least 0, got \
         {threshold:?}"
        )))
    }
}

fn check_positive(what: &str, x: f64) -> Result<()> {
    if x > 0.0 && x.is_finite() {
        Ok(())
    } else {
        Err(Error::invalid(format!(
            "MultibodyPlant: {what} must be positive and finite, got {x:?}"
        )))
    }
}
