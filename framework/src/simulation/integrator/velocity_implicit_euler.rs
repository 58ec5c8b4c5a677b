//! Velocity-implicit Euler.

use super::jacobian::Rates;
use super::lu::Lu;
use super::newton::{Convergence, Halving, Jacobian, MAX_ITERATIONS, Step};
use super::{ErrorControl, IntegrationScheme, Ode};
use crate::{Context, Result, Scalar};

/// Implicit Euler whose iterations solve only for velocities and miscellaneous state y = (v, z);
/// positions follow as `q = q0 + h N(q) v`. First order, for stiff mechanical systems, with linear
/// systems of about half the size: Drake's `VelocityImplicitEulerIntegrator`. Takes two steps of
/// half the size and estimates the error by the difference from one whole step. In `f64` only.
///
/// N comes from the velocity maps of the systems: a system with positions either declares
/// [`Declare::velocity_map`](crate::Declare::velocity_map) or satisfies `qdot = v`.
///
/// ```
/// use tarragon_framework::{integrator::VelocityImplicitEuler, prelude::*};
///
/// /// vdot = -1000 (v - 1): friction on a moving belt.
/// struct Belt;
/// impl<T: Scalar> LeafSystem<T> for Belt {
///     type Ports = ContinuousState<Vec<T>>;
///     fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
///         d.continuous_state((1, 1, 0), &[T::zero(); 2], Dep::V, |_, ctx, xdot| {
///             let v = ctx.v()[0];
///             xdot.copy_from_slice(&[v, (T::one() - v) * T::from(1000.0)]);
///             Ok(())
///         })
///     }
/// }
/// # let mut b = DiagramBuilder::new();
/// # let belt = b.add("belt", Belt);
/// # let diagram = b.build()?;
/// # let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.set_integrator(VelocityImplicitEuler::new());
/// sim.set_fixed_step(0.1)?;
/// sim.advance_to(2.0)?;
/// let x = sim.context().xc(*belt.ports())?;
/// assert!((x[0] - 2.0).abs() < 0.01 && (x[1] - 1.0).abs() < 1e-6);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub struct VelocityImplicitEuler {
    solver: Solver,
    halving: Halving,
}

impl VelocityImplicitEuler {
    /// Creates an integrator that can step any context.
    #[allow(
        clippy::new_without_default,
        reason = "integrators are configured, not defaulted"
    )]
    pub fn new() -> Self {
        Self {
            solver: Solver {
                jacobian: Jacobian::new(),
                factored: Lu::default(),
                layout: Layout::default(),
                at: vec![],
                x: vec![],
                v: vec![],
                qdot: vec![],
                slopes: vec![],
                update: vec![],
            },
            halving: Halving::default(),
        }
    }
}

/// Indices of the positions q, the velocities v, and the unknowns y (everything but the positions)
/// in the state.
#[derive(Default)]
struct Layout {
    q: Vec<usize>,
    v: Vec<usize>,
    y: Vec<usize>,
}

impl Layout {
    fn find(&mut self, ode: &Ode<'_, f64>) {
        let Self { q, v, y } = self;
        [&mut *q, &mut *v, &mut *y]
            .into_iter()
            .for_each(|list| list.clear());
        let mut end = 0;
        for positions in ode.positions() {
            y.extend(end..positions.start);
            end = positions.end;
            q.extend(positions);
        }
        y.extend(end..ode.state().len());
        v.extend(ode.velocities().flatten());
    }
}

/// Copies the elements of x at these indices.
fn gather<S: Scalar>(x: &[S], at: &[usize], out: &mut Vec<S>) {
    out.clear();
    out.extend(at.iter().map(|i| x[*i]));
}

/// The function `l(y)`: rates of y at `q = q0 + h N(q0) v`. Its Jacobian is needed.
struct Following<'a> {
    step: &'a Step<'a>,
    layout: &'a Layout,
}

impl Rates for Following<'_> {
    fn at<S: Scalar>(&self, context: &mut Context<S>, y: &[S], rates: &mut [S]) -> Result<()> {
        let Self { step, layout } = self;
        let (t, h) = (S::from(step.t0), S::from(step.h));
        let mut x: Vec<S> = step.x0.iter().map(|x| S::from(*x)).collect();
        for (i, y) in layout.y.iter().zip(y) {
            x[*i] = *y;
        }
        let (mut v, mut qdot) = (vec![], vec![S::zero(); layout.q.len()]);
        gather(&x, &layout.v, &mut v);
        context.set_time_and_xc(t, &x);
        context.map_v_to_qdot(&v, &mut qdot)?;
        for (i, qdot) in layout.q.iter().zip(qdot) {
            x[*i] += h * qdot;
        }
        context.set_time_and_xc(t, &x);
        let mut slopes = vec![S::zero(); x.len()];
        context.time_derivatives(&mut slopes)?;
        for (rate, i) in rates.iter_mut().zip(&layout.y) {
            *rate = slopes[*i];
        }
        Ok(())
    }
}

struct Solver {
    /// Jacobian of l.
    jacobian: Jacobian,
    factored: Lu,
    layout: Layout,
    /// The current iterate and the next one.
    at: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
    qdot: Vec<f64>,
    slopes: Vec<f64>,
    update: Vec<f64>,
}

impl Solver {
    /// Writes the result of the step; returns false if the iterations do not converge.
    fn solve(
        &mut self,
        ode: &mut Ode<'_, f64>,
        step: &Step<'_>,
        result: &mut Vec<f64>,
    ) -> Result<bool> {
        for trial in 1..=3 {
            self.freshen(ode, step, trial)?;
            if self.iterate(ode, step)? {
                result.clone_from(&self.at);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Prepares the matrices. The first trial uses those at hand, the second factors anew for this
    /// step, the third computes the Jacobian for this state.
    fn freshen(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>, trial: u32) -> Result<()> {
        let n = self.layout.y.len();
        if trial == 3 || !self.jacobian.is_usable(n) {
            let layout = &self.layout;
            gather(step.x0, &layout.y, &mut self.update);
            let rates = Following { step, layout };
            ode.jacobian_of(&rates, &self.update, &mut self.jacobian.matrix)?;
        } else if trial == 1 && self.factored.is_of(n) {
            return Ok(());
        }
        let j = &self.jacobian.matrix;
        self.factored.factor(n, |row, column| {
            let one = if row == column { 1.0 } else { 0.0 };
            one - step.h * j[(row, column)]
        });
        Ok(())
    }

    /// Moves the positions of `self.x`, which are those of the current iterate, to `q0 + h N(q) v`,
    /// where the velocities of `self.x` take them from the start of the step.
    fn follow(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<()> {
        let Layout { q, v, .. } = &self.layout;
        if q.is_empty() {
            return Ok(());
        }
        gather(&self.x, v, &mut self.v);
        self.qdot.resize(q.len(), 0.0);
        ode.set(step.t0 + step.h, &self.x);
        ode.map_v_to_qdot(&self.v, &mut self.qdot)?;
        for (i, qdot) in q.iter().zip(&self.qdot) {
            self.x[*i] = step.x0[*i] + step.h * qdot;
        }
        Ok(())
    }

    /// Runs Newton iterations; returns true if they converged. The result is in `self.at`.
    fn iterate(&mut self, ode: &mut Ode<'_, f64>, step: &Step<'_>) -> Result<bool> {
        self.at.clear();
        self.at.extend_from_slice(step.guess.unwrap_or(step.x0));
        self.slopes.resize(self.at.len(), 0.0);
        let mut convergence = Convergence::default();
        for _ in 0..MAX_ITERATIONS {
            self.x.clone_from(&self.at);
            self.follow(ode, step)?;
            ode.set(step.t0 + step.h, &self.x);
            ode.derivatives(&mut self.slopes)?;
            let y = &self.layout.y;
            self.update.clear();
            let residual = |i: &usize| step.x0[*i] + step.h * self.slopes[*i] - self.at[*i];
            self.update.extend(y.iter().map(residual));
            if !self.factored.solve(&mut self.update) {
                return Ok(false);
            }
            self.x.clone_from(&self.at);
            for (i, update) in y.iter().zip(&self.update) {
                self.x[*i] += update;
            }
            self.follow(ode, step)?;
            let norm = |(x, at): (&f64, &f64)| (x - at).powi(2);
            let norm = self.x.iter().zip(&self.at).map(norm).sum::<f64>().sqrt();
            let moved = self.x.iter().zip(&self.at).map(|(x, at)| (*x, x - at));
            let converged = convergence.after(moved, norm, ode.accuracy());
            std::mem::swap(&mut self.at, &mut self.x);
            if let Some(converged) = converged {
                return Ok(converged);
            }
        }
        Ok(false)
    }
}

impl IntegrationScheme<f64> for VelocityImplicitEuler {
    fn name(&self) -> &'static str {
        "velocity_implicit_euler"
    }

    fn step(&mut self, ode: &mut Ode<'_, f64>, dt: f64) -> Result<bool> {
        let Self { solver, halving } = self;
        solver.layout.find(ode);
        halving.step(ode, dt, |ode, step, result| solver.solve(ode, step, result))
    }

    fn error_control(&self) -> Option<ErrorControl> {
        Some(Halving::OF_EULER)
    }

    fn error_estimate(&self) -> &[f64] {
        self.halving.error()
    }
}
