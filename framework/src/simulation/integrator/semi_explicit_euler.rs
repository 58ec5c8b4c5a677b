//! Semi-explicit (symplectic) Euler.

use super::{Integrator, Ode};
use crate::{Result, Scalar};

/// Velocities first, positions with the new velocities, first order, without error estimate: Drake's
/// `SemiExplicitEulerIntegrator`. It keeps the energy of mechanical systems bounded (Hairer, Lubich,
/// Wanner, *Geometric Numerical Integration*, theorem VI.3.3).
///
/// Costs a second evaluation of the derivatives where there are positions: their rate at the new
/// velocities.
pub struct SemiExplicitEuler<T> {
    x: Vec<T>,
    slope: Vec<T>,
}

impl<T: Scalar> SemiExplicitEuler<T> {
    /// Ready to step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        Self {
            x: vec![],
            slope: vec![],
        }
    }
}

impl<T: Scalar> Integrator<T> for SemiExplicitEuler<T> {
    fn name(&self) -> &'static str {
        "semi_explicit_euler"
    }

    fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
        let t0 = ode.time();
        let Self { x, slope } = self;
        x.clear();
        x.extend_from_slice(ode.state());
        slope.resize(x.len(), T::zero());
        ode.derivatives(slope)?;
        for positions in ode.positions() {
            slope[positions].fill(T::zero());
        }
        for (x, slope) in x.iter_mut().zip(&*slope) {
            *x += dt * *slope;
        }
        if ode.positions().next().is_some() {
            ode.set(t0, x);
            ode.derivatives(slope)?;
            for i in ode.positions().flatten() {
                x[i] += dt * slope[i];
            }
        }
        ode.set(t0 + dt, x);
        Ok(true)
    }
}
