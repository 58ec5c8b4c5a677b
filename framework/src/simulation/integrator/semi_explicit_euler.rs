//! Semi-explicit (symplectic) Euler.

use super::{IntegrationScheme, Ode};
use crate::{Result, Scalar};

/// Semi-explicit (symplectic) Euler: advances the velocities first, then the positions with the new
/// velocities. First order, without error estimate: Drake's `SemiExplicitEulerIntegrator`. It keeps
/// the energy of mechanical systems bounded (Hairer, Lubich, Wanner, *Geometric Numerical
/// Integration*, theorem VI.3.3).
///
/// Position rates come from the velocity maps of the systems, `q1 = q0 + h N(q0) v1`, not from
/// their time derivatives: a system with positions either declares
/// [`Declare::velocity_map`](crate::Declare::velocity_map) or satisfies `qdot = v`.
///
/// ```
/// use tarragon_framework::{integrator::SemiExplicitEuler, prelude::*};
///
/// /// qddot = -q.
/// struct Spring;
/// impl<T: Scalar> LeafSystem<T> for Spring {
///     type Ports = ContinuousState<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         let x0 = [T::one(), T::zero()];
///         d.continuous_state((1, 1, 0), &x0, (Dep::Q, Dep::V), |_, ctx, xdot| {
///             xdot.copy_from_slice(&[ctx.v()[0], -ctx.q()[0]]);
///             Ok(())
///         })
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let spring = b.add("spring", Spring);
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.set_integrator(SemiExplicitEuler::new());
/// sim.set_fixed_step(0.1)?;
/// sim.advance_to(1000.0)?;
/// let x = sim.context().xc(*spring.ports())?;
/// let energy = (x[0] * x[0] + x[1] * x[1]) / 2.0;
/// assert!((energy - 0.5).abs() < 0.05, "explicit Euler would have diverged by now");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct SemiExplicitEuler<T> {
    x: Vec<T>,
    slope: Vec<T>,
    v: Vec<T>,
    qdot: Vec<T>,
}

impl<T: Scalar> SemiExplicitEuler<T> {
    /// Creates an integrator that can step any context.
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

impl<T: Scalar> IntegrationScheme<T> for SemiExplicitEuler<T> {
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
