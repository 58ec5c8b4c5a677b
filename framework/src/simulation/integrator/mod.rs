//! Integrators: methods that take one step of the differential equation, of a size chosen by the
//! caller.
//!
//! Methods and their orders follow Hairer, Nørsett, Wanner, *Solving Ordinary Differential
//! Equations I* (1993) and Hairer, Wanner, *II* (1996). The simulator chooses step sizes, see
//! [`SimulatorConfig`](crate::SimulatorConfig).

mod bogacki_shampine3;
pub(super) mod control;
mod explicit;
mod explicit_euler;
mod implicit_euler;
pub(super) mod jacobian;
mod lu;
mod newton;
mod radau;
mod runge_kutta2;
mod runge_kutta3;
mod runge_kutta5;
mod schemes;
mod semi_explicit_euler;
mod velocity_implicit_euler;

pub use bogacki_shampine3::BogackiShampine3;
pub use control::IntegratorStatistics;
pub use explicit_euler::ExplicitEuler;
pub use implicit_euler::ImplicitEuler;
pub use jacobian::JacobianScheme;
pub use radau::{Radau, Radau1, Radau3};
pub use runge_kutta2::RungeKutta2;
pub use runge_kutta3::RungeKutta3;
pub use runge_kutta5::RungeKutta5;
pub use schemes::{SCHEMES, by_name};
pub use semi_explicit_euler::SemiExplicitEuler;
pub use velocity_implicit_euler::VelocityImplicitEuler;

use crate::{Context, Result, Scalar};
use jacobian::Jacobians;
use std::ops::Range;

/// A method that advances continuous state by one step.
///
/// ```
/// use tarragon_framework::integrator::{IntegrationScheme, Ode};
/// use tarragon_framework::{Result, Scalar};
///
/// /// Explicit Euler, as a user would write it.
/// struct Mine;
/// impl<T: Scalar> IntegrationScheme<T> for Mine {
///     fn name(&self) -> &'static str {
///         "mine"
///     }
///     fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
///         let mut x = ode.state().to_vec();
///         let mut slope = x.clone();
///         ode.derivatives(&mut slope)?;
///         for (x, slope) in x.iter_mut().zip(slope) {
///             *x += dt * slope;
///         }
///         ode.set(ode.time() + dt, &x);
///         Ok(true)
///     }
/// }
/// ```
pub trait IntegrationScheme<T: Scalar>: Send {
    /// Returns the name as spelled in Drake's configuration files.
    fn name(&self) -> &'static str;

    /// Advances time and continuous state by `dt` (s). Returns false if the method did not
    /// converge, in which case the caller tries a smaller step. Unless it returns true, the state
    /// is left somewhere inside the step; the caller restores it.
    ///
    /// # Errors
    /// Returns an error if the time derivatives cannot be computed.
    fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool>;

    /// Returns the properties of the error estimate, or `None` for a method without one, which
    /// takes fixed steps.
    fn error_control(&self) -> Option<ErrorControl> {
        None
    }

    /// Returns the estimated error of the last step, element by element; empty without an estimate.
    fn error_estimate(&self) -> &[T] {
        &[]
    }
}

/// Properties of a method that step size control needs.
///
/// ```
/// use tarragon_framework::integrator::{
///     ErrorControl, IntegrationScheme, RungeKutta3, SemiExplicitEuler,
/// };
/// let control: ErrorControl = RungeKutta3::<f64>::new().error_control().unwrap();
/// assert_eq!(control.order, 3);
/// assert_eq!(SemiExplicitEuler::<f64>::new().error_control(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorControl {
    /// Power of the step size h with which the error estimate shrinks.
    pub order: u32,
    /// Loosest meaningful accuracy; it replaces looser ones, for which the estimate is worthless.
    pub loosest_accuracy: f64,
    /// Default of the first step, as a fraction of the largest one.
    pub first_step: f64,
}

/// Differential equation `dx/dt = f(t, x)` of a context, with everything else held constant, as an
/// integrator sees it.
///
/// ```
/// use tarragon_framework::integrator::{IntegrationScheme, Ode};
/// use tarragon_framework::{prelude::*, Result};
///
/// /// The explicit midpoint rule: the slope in the middle of the step applies to the whole step.
/// struct Midpoint;
/// impl IntegrationScheme<f64> for Midpoint {
///     fn name(&self) -> &'static str {
///         "midpoint"
///     }
///     fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
///         let (t0, x0) = (ode.time(), ode.state().to_vec());
///         let mut slope = vec![0.0; x0.len()];
///         for h in [dt / 2.0, dt] {
///             ode.derivatives(&mut slope)?;
///             let x: Vec<f64> = x0.iter().zip(&slope).map(|(x, slope)| x + h * slope).collect();
///             ode.set(t0 + h, &x);
///         }
///         Ok(true)
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let wave = b.add("wave", tarragon_framework::primitives::Sine::new(1));
/// # let integral = b.add("integral", tarragon_framework::primitives::Integrator::new(1));
/// # b.connect(wave.y, integral.u);
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.set_integrator(Midpoint);
/// sim.set_fixed_step(0.01)?;
/// sim.advance_to(1.0)?; // the integral of a sine
/// assert!((sim.context().eval(integral.y)?[0] - (1.0 - 1.0_f64.cos())).abs() < 1e-5);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct Ode<'a, T: Scalar> {
    context: &'a mut Context<T>,
    /// All continuous state at the beginning of the step.
    start: &'a [T],
    statistics: &'a mut IntegratorStatistics,
    jacobians: &'a mut Jacobians<T>,
    /// Requested accuracy, for the convergence of iterations.
    accuracy: f64,
    wants_error_estimate: bool,
}

impl<T: Scalar> Ode<'_, T> {
    /// Returns the time (s).
    pub fn time(&self) -> T {
        self.context.time()
    }
    /// Returns all continuous state of the diagram, system by system.
    pub fn state(&self) -> &[T] {
        &self.context.data.xc
    }
    /// Sets time (s) and all continuous state.
    ///
    /// # Panics
    /// Panics if the state has another length.
    pub fn set(&mut self, time: T, state: &[T]) {
        self.context.set_time_and_xc(time, state);
    }
    /// Sets the time (s). Returns all continuous state at the beginning of the step, and the
    /// current state to be changed in place.
    #[inline]
    pub fn set_time_and_change_state(&mut self, time: T) -> (&[T], &mut [T]) {
        (self.start, self.context.set_time_and_change_xc(time))
    }
    /// Computes the time derivatives of all continuous state at the current time and state.
    ///
    /// # Errors
    /// Returns an error if they cannot be computed.
    ///
    /// # Panics
    /// Panics if `out` has another length than the state.
    pub fn derivatives(&mut self, out: &mut [T]) -> Result<()> {
        self.statistics.derivative_evaluations += 1;
        self.context.time_derivatives(out)
    }
    /// Computes the rates of all positions from all velocities, at the current configuration.
    ///
    /// # Errors
    /// See [`Context::map_v_to_qdot`].
    pub fn map_v_to_qdot(&self, v: &[T], qdot: &mut [T]) -> Result<()> {
        self.context.map_v_to_qdot(v, qdot)
    }
    /// Returns the permitted error of a step.
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }
    /// Returns false for fixed steps, whose error is not used.
    pub fn wants_error_estimate(&self) -> bool {
        self.wants_error_estimate
    }
    /// Returns the ranges of the generalized positions q in the state, system by system.
    pub fn positions(&self) -> impl Iterator<Item = Range<usize>> {
        let systems = self.context.plan.continuous.iter();
        systems.map(|c| c.q.clone()).filter(|q| !q.is_empty())
    }
    /// Returns the ranges of the generalized velocities v in the state, system by system.
    pub fn velocities(&self) -> impl Iterator<Item = Range<usize>> {
        let systems = self.context.plan.continuous.iter();
        systems.map(|c| c.v.clone()).filter(|v| !v.is_empty())
    }
}
