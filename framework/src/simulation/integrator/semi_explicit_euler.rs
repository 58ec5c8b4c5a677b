//! Semi-explicit (symplectic) Euler.

use super::{Integrator, Ode};
use crate::{Result, Scalar};

/// Velocities first, positions with the new velocities, first order, without error estimate: Drake's
/// `SemiExplicitEulerIntegrator`. It keeps the energy of mechanical systems bounded (Hairer, Lubich,
/// Wanner, *Geometric Numerical Integration*, theorem VI.3.3).
///
/// Rates of positions are those that the velocity maps of the systems give, `q1 = q0 + h N(q0) v1`,
/// not those of their time derivatives: a system with positions declares
/// [`Declare::velocity_map`](crate::Declare::velocity_map), or `qdot = v` holds for it.
pub struct SemiExplicitEuler<T> {
    x: Vec<T>,
    slope: Vec<T>,
    v: Vec<T>,
    qdot: Vec<T>,
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
            v: vec![],
            qdot: vec![],
        }
    }
}

impl<T: Scalar> Integrator<T> for SemiExplicitEuler<T> {
    fn name(&self) -> &'static str {
        "semi_explicit_euler"
    }

    fn step(&mut self, ode: &mut Ode<'_, T>, dt: T) -> Result<bool> {
        let t0 = ode.time();
        let Self { x, slope, v, qdot } = self;
        x.clear();
        x.extend_from_slice(ode.state());
        slope.resize(x.len(), T::zero());
        ode.derivatives(slope)?;
        v.clear();
        for velocities in ode.velocities() {
            v.extend(velocities.map(|i| x[i] + dt * slope[i]));
        }
        qdot.resize(ode.positions().map(|q| q.len()).sum(), T::zero());
        ode.map_v_to_qdot(v, qdot)?;
        let positions = ode.positions().flatten();
        for (i, qdot) in positions.zip(&*qdot) {
            slope[i] = *qdot;
        }
        for (x, slope) in x.iter_mut().zip(&*slope) {
            *x += dt * *slope;
        }
        ode.set(t0 + dt, x);
        Ok(true)
    }
}
