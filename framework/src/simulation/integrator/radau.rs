//! Radau IIA.

use super::newton::{Jacobian, Stages, Step, difference};
use super::{ErrorControl, IntegrationScheme, Ode};
use crate::Result;

/// Radau IIA with S stages, of order 2 S - 1, L-stable, for stiff equations (Hairer, Wanner II,
/// table IV.5.5): Drake's `RadauIntegrator`. The error is estimated by the difference from the
/// implicit trapezoidal rule. In `f64` only. See [`Radau1`] and [`Radau3`].
///
/// ```
/// use tarragon_framework::integrator::{IntegrationScheme, Radau};
/// assert_eq!(Radau::<2>::new().name(), "radau3");
/// let order =
///     |method: &dyn IntegrationScheme<f64>| method.error_control().map(|control| control.order);
/// assert_eq!((order(&Radau::<1>::new()), order(&Radau::<2>::new())), (Some(2), Some(3)));
/// ```
pub struct Radau<const S: usize> {
    jacobian: Jacobian,
    stages: Stages<S>,
    trapezoid: Stages<1>,
    x0: Vec<f64>,
    half_slope: Vec<f64>,
    end: Vec<f64>,
    embedded: Vec<f64>,
    error: Vec<f64>,
}

/// Radau IIA with one stage, first order: implicit Euler with another error estimate.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::{integrator::Radau1, primitives::{Gain, Integrator}};
/// # let mut b = DiagramBuilder::new();
/// # let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -1.0)));
/// # b.connect(x.y, k.u);
/// # b.connect(k.y, x.u);
/// # let diagram = b.build()?;
/// # let mut ctx = diagram.default_context();
/// ctx.xc_mut(x.x)?[0] = 1.0; // xdot = -x
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.set_integrator(Radau1::new());
/// sim.set_fixed_step(0.25)?;
/// sim.advance_to(1.0)?;
/// assert!((sim.context().xc(x.x)?[0] - 1.25_f64.powi(-4)).abs() < 1e-9);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub type Radau1 = Radau<1>;
/// Radau IIA with two stages, third order.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::{integrator::Radau3, primitives::{Gain, Integrator}};
///
/// let mut b = DiagramBuilder::new();
/// let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -1000.0)));
/// b.connect(x.y, k.u);
/// b.connect(k.y, x.u);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.xc_mut(x.x)?[0] = 1.0; // xdot = -1000 x
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.set_integrator(Radau3::new());
/// sim.set_fixed_step(0.1)?;
/// sim.advance_to(1.0)?;
/// assert!(sim.context().xc(x.x)?[0].abs() < 1e-9);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub type Radau3 = Radau<2>;

impl Radau<1> {
    /// Creates an integrator that can step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        Self::of(Stages::new([[1.0]], [1.0]))
    }
}

impl Radau<2> {
    /// Creates an integrator that can step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        let a = [[5.0 / 12.0, -1.0 / 12.0], [3.0 / 4.0, 1.0 / 4.0]];
        Self::of(Stages::new(a, [1.0 / 3.0, 1.0]))
    }
}

impl<const S: usize> Radau<S> {
    fn of(stages: Stages<S>) -> Self {
        Self {
            jacobian: Jacobian::new(),
            stages,
            trapezoid: Stages::new([[0.5]], [1.0]),
            x0: vec![],
            half_slope: vec![],
            end: vec![],
            embedded: vec![],
            error: vec![],
        }
    }

    /// Computes the results of this method and of the trapezoidal rule; returns false if one has no
    /// solution.
    fn solve(&mut self, ode: &mut Ode<'_, f64>, h: f64) -> Result<bool> {
        let t0 = ode.time();
        self.x0.clear();
        self.x0.extend_from_slice(ode.state());
        self.half_slope.resize(self.x0.len(), 0.0);
        ode.derivatives(&mut self.half_slope)?;
        self.half_slope.iter_mut().for_each(|f| *f *= h / 2.0);
        let step = Step {
            t0,
            h,
            x0: &self.x0,
            constant: None,
            guess: None,
        };
        let jacobian = &mut self.jacobian;
        if !self.stages.solve(jacobian, ode, &step, &mut self.end)? {
            return Ok(false);
        }
        let step = Step {
            constant: Some(&self.half_slope),
            guess: Some(&self.end),
            ..step
        };
        self.trapezoid
            .solve(jacobian, ode, &step, &mut self.embedded)
    }
}

impl<const S: usize> IntegrationScheme<f64> for Radau<S> {
    fn name(&self) -> &'static str {
        if S == 1 { "radau1" } else { "radau3" }
    }

    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let t1 = ode.time() + dt;
        let converged = self.solve(ode, dt)?;
        self.jacobian.step_ended(converged);
        if converged {
            ode.set(t1, &self.end);
            difference(&self.end, &self.embedded, &mut self.error);
        }
        Ok(converged)
    }

    fn error_control(&self) -> Option<ErrorControl> {
        let (order, loosest_accuracy) = if S == 1 { (2, 0.5) } else { (3, 1e-2) };
        Some(ErrorControl {
            order,
            loosest_accuracy,
            first_step: 1.0,
        })
    }

    fn error_estimate(&self) -> &[f64] {
        &self.error
    }
}
