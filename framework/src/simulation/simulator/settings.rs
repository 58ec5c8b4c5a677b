//! Settings of a simulator: the integrator and its steps.

use super::Simulator;
use crate::simulation::config::SimulatorConfig;
use crate::simulation::integrator::control::Limits;
use crate::simulation::integrator::{IntegrationScheme, IntegratorStatistics, by_name};
use crate::{Error, Result, Scalar};

impl<T: Scalar> Simulator<T> {
    /// Chooses integrator and steps by name and number. Resets the statistics of the integrator.
    ///
    /// # Errors
    /// Returns an error if there is no scheme of that name, or a number is out of range. In that
    /// case nothing changes.
    pub fn apply_config(&mut self, config: &SimulatorConfig) -> Result<()> {
        let limits = config.limits()?;
        let integrator = by_name(&config.integration_scheme)?;
        let pace = self.pace.with_target(config.target_realtime_rate)?;
        if let Some(time) = config.start_time.filter(|_| !self.initialized) {
            self.context.set_time(T::from(time));
        }
        self.driver.set_integrator(integrator);
        self.driver.set_limits(limits);
        self.set_jacobian_scheme(config.jacobian_scheme);
        self.pace = pace;
        self.publish_every_time_step = config.publish_every_time_step;
        Ok(())
    }

    /// Replaces the integrator and resets its statistics. Everything else stays as it was set: the
    /// largest step, error control with its accuracy, and the source of Jacobians. An integrator
    /// without an error estimate takes fixed steps of the largest size. See
    /// [`Simulator::apply_config`] for integrators by name.
    ///
    /// ```
    /// use tarragon_framework::prelude::*;
    /// use tarragon_framework::integrator::RungeKutta5;
    /// # let mut b = DiagramBuilder::new();
    /// # let wave = b.add("wave", tarragon_framework::primitives::Sine::new(1));
    /// # let integral = b.add("integral", tarragon_framework::primitives::Integrator::new(1));
    /// # b.connect(wave.y, integral.u);
    /// # let diagram = b.build()?;
    /// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    /// sim.set_error_control(1e-10)?;
    /// sim.set_integrator(RungeKutta5::new()); // keeps the accuracy
    /// sim.advance_to(3.0)?; // the integral of a sine
    /// assert!((sim.context().eval(integral.y)?[0] - (1.0 - 3.0_f64.cos())).abs() < 1e-9);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn set_integrator(&mut self, integrator: impl IntegrationScheme<T> + 'static) {
        self.driver.set_integrator(Box::new(integrator));
    }

    /// Sets the largest step (s) that error control may choose, which is the size of fixed steps.
    ///
    /// # Errors
    /// Returns an error if the step is not positive and finite, or below the smallest step that was
    /// configured.
    pub fn set_max_step(&mut self, max_step: f64) -> Result<()> {
        let limits = Limits {
            max_step,
            ..*self.driver.limits()
        };
        limits.check()?;
        self.driver.set_limits(limits);
        Ok(())
    }

    /// Disables error control: every step has this size (s), except when an event or the boundary
    /// cuts it short.
    ///
    /// # Errors
    /// Same as [`Simulator::set_max_step`].
    pub fn set_fixed_step(&mut self, step: f64) -> Result<()> {
        self.set_max_step(step)?;
        self.driver.set_limits(Limits {
            error_control: false,
            ..*self.driver.limits()
        });
        Ok(())
    }

    /// Enables error control: chooses steps, up to the largest one, such that the integrator's
    /// estimate of the error of each is at most `accuracy` in every element of the continuous
    /// state.
    ///
    /// # Errors
    /// Returns an error if the accuracy is not positive, or the integrator does not estimate its
    /// error.
    pub fn set_error_control(&mut self, accuracy: f64) -> Result<()> {
        let name = self.driver.integrator().name();
        if self.driver.integrator().error_control().is_none() {
            return Err(Error::unsupported(format!(
                "Simulator: the integrator '{name}' takes fixed steps only, because it has no error estimate"
            )));
        }
        let limits = Limits {
            accuracy,
            error_control: true,
            ..*self.driver.limits()
        };
        limits.check()?;
        self.driver.set_limits(limits);
        Ok(())
    }

    /// Returns the counters of the integrator.
    pub fn integrator_statistics(&self) -> IntegratorStatistics {
        self.driver.statistics
    }
    /// Returns the integrator.
    pub fn integrator(&self) -> &dyn IntegrationScheme<T> {
        self.driver.integrator()
    }
}
