//! Configuration of integrator and step sizes by name and number.

use super::integrator::JacobianScheme;
use super::integrator::control::Limits;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Configuration of a [`Simulator`](crate::Simulator). The field names are those of Drake's
/// `SimulatorConfig`, so that its YAML can be read.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::SimulatorConfig;
/// # let diagram = DiagramBuilder::new().build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.apply_config(&SimulatorConfig {
///     integration_scheme: "runge_kutta5".into(),
///     accuracy: 1e-8,
///     ..SimulatorConfig::default()
/// })?;
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatorConfig {
    /// Name of the integrator, one of [`SCHEMES`](crate::integrator::SCHEMES).
    pub integration_scheme: String,
    /// Largest step (s), positive. The only step size without error control.
    pub max_step_size: f64,
    /// Smallest step (s) that error control may take; 0 for the smallest that changes the time.
    pub min_step_size: f64,
    /// First step (s) with error control; by default a fraction of the largest step that suits the
    /// method.
    pub initial_step_size: Option<f64>,
    /// Error that a step may have in any element of the continuous state, positive. Each method has
    /// a loosest accuracy up to which its error estimate is meaningful, and uses that one instead
    /// of a looser request.
    pub accuracy: f64,
    /// Chooses steps by their error. Methods without an error estimate take fixed steps regardless.
    pub use_error_control: bool,
    /// Target rate in seconds simulated per second of real time; 0 for as fast as possible.
    pub target_realtime_rate: f64,
    /// Dispatches forced publish events at the end of every step.
    pub publish_every_time_step: bool,
    /// Start time (s) of the simulation; by default the time of its context.
    pub start_time: Option<f64>,
    /// Fails where the accuracy requires steps below the smallest; otherwise such steps are
    /// accepted with whatever error they have.
    pub throw_on_minimum_step_size_violation: bool,
    /// Source of the Jacobians of implicit integrators; Drake's configuration has no such key.
    pub jacobian_scheme: JacobianScheme,
}

impl Default for SimulatorConfig {
    /// Third-order Runge-Kutta with steps of at most 0.1 s and an accuracy of 1e-4, as in Drake.
    fn default() -> Self {
        Self {
            integration_scheme: "runge_kutta3".into(),
            max_step_size: 0.1,
            min_step_size: 0.0,
            initial_step_size: None,
            accuracy: 1e-4,
            use_error_control: true,
            target_realtime_rate: 0.0,
            publish_every_time_step: false,
            start_time: None,
            throw_on_minimum_step_size_violation: true,
            jacobian_scheme: JacobianScheme::default(),
        }
    }
}

impl SimulatorConfig {
    /// Returns the step size limits after checking them.
    pub(super) fn limits(&self) -> Result<Limits> {
        let limits = Limits {
            max_step: self.max_step_size,
            min_step: self.min_step_size,
            fail_below_min_step: self.throw_on_minimum_step_size_violation,
            accuracy: self.accuracy,
            error_control: self.use_error_control,
            first_step: self.initial_step_size,
        };
        limits.check()?;
        if let Some(first) = self.initial_step_size
            && !(first > 0.0 && (limits.min_step..=limits.max_step).contains(&first))
        {
            return Err(Error::invalid(format!(
                "Simulator: the first step must be positive and from {:?} to {:?} s, got {first:?}",
                limits.min_step, limits.max_step
            )));
        }
        if let Some(time) = self.start_time.filter(|t| !t.is_finite()) {
            return Err(Error::invalid(format!(
                "Simulator: the start time must be finite (s), got {time:?}"
            )));
        }
        Ok(limits)
    }
}
