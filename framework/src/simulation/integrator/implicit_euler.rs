//! Implicit Euler.

use super::newton::{Halving, Jacobian, Stages};
use super::{ErrorControl, IntegrationScheme, Ode};
use crate::Result;

/// Implicit (backward) Euler, first order, L-stable, for stiff equations: Drake's
/// `ImplicitEulerIntegrator`. Takes two steps of half the size and estimates the error by the
/// difference from one whole step (Hairer, Nørsett, Wanner I, section II.4). In `f64` only.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::{integrator::ImplicitEuler, primitives::{Gain, Integrator}};
///
/// let mut b = DiagramBuilder::new();
/// let (x, k) = (b.add("x", Integrator::new(1)), b.add("k", Gain::new(1, -1000.0)));
/// b.connect(x.y, k.u);
/// b.connect(k.y, x.u);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.xc_mut(x.x)?[0] = 1.0;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.set_integrator(ImplicitEuler::new());
/// sim.set_fixed_step(0.1)?; // explicit Euler needs steps below 0.002 s
/// sim.advance_to(1.0)?;
/// assert!(sim.context().xc(x.x)?[0].abs() < 1e-9);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct ImplicitEuler {
    jacobian: Jacobian,
    /// Stages of whole and half steps; the matrix of one is usually good enough for the other.
    stage: Stages<1>,
    halving: Halving,
}

impl ImplicitEuler {
    /// Creates an integrator that can step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        Self {
            jacobian: Jacobian::new(),
            stage: Stages::new([[1.0]], [1.0]),
            halving: Halving::default(),
        }
    }
}

impl IntegrationScheme<f64> for ImplicitEuler {
    fn name(&self) -> &'static str {
        "implicit_euler"
    }

    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let Self {
            jacobian,
            stage,
            halving,
        } = self;
        let converged = halving.step(ode, dt, |ode, step, result| {
            stage.solve(jacobian, ode, step, result)
        })?;
        jacobian.step_ended(converged);
        Ok(converged)
    }

    fn error_control(&self) -> Option<ErrorControl> {
        Some(Halving::OF_EULER)
    }

    fn error_estimate(&self) -> &[f64] {
        self.halving.error()
    }
}
