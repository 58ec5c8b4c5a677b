//! Systems made from functions.

use crate::prelude::*;
use crate::{Error, IntoValue, Result};
use std::sync::Arc;

/// Functions of a [`VectorSystem`] that are generic over the scalar, unlike closures.
///
/// Their arguments are the time (s), the state (empty if there is none) and the input.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{VectorFunctions, VectorSystem};
/// use tarragon_framework::{Result, analysis::linearize};
///
/// /// A pendulum: theta'' = u - 9.81 sin(theta).
/// struct Pendulum;
///
/// impl VectorFunctions for Pendulum {
///     fn output<T: Scalar>(&self, _: T, x: &[T], _: &[T], y: &mut [T]) -> Result<()> {
///         Ok(y[0] = x[0])
///     }
///     fn dynamics<T: Scalar>(&self, _: T, x: &[T], u: &[T], xdot: &mut [T]) -> Result<()> {
///         xdot[0] = x[1];
///         Ok(xdot[1] = u[0] - x[0].sin() * T::from(9.81))
///     }
/// }
///
/// let pendulum = VectorSystem::from_functions(1, 1, Pendulum)
///     .with_initial_continuous_state([0.0, 0.0])
///     .without_feedthrough();
/// let mut b = DiagramBuilder::new();
/// let pendulum = b.add("pendulum", pendulum);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(pendulum.u, 0.0)?;
/// let line = linearize(&diagram, &ctx, Some(pendulum.u), Some(pendulum.y), 1e-12)?;
/// assert_eq!(line.a[(1, 0)], -9.81);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
pub trait VectorFunctions: Send + Sync + 'static {
    /// Writes the output. Without feedthrough the input is empty.
    ///
    /// # Errors
    /// Returns any error of the implementation; the framework adds the path of the system.
    fn output<T: Scalar>(&self, time: T, x: &[T], u: &[T], y: &mut [T]) -> Result<()>;

    /// Writes the time derivatives (1/s) of continuous state, or the next value of discrete state.
    /// Called only if there is state.
    ///
    /// # Errors
    /// Returns any error of the implementation; the framework adds the path of the system.
    fn dynamics<T: Scalar>(&self, _time: T, _x: &[T], _u: &[T], _out: &mut [T]) -> Result<()> {
        Err(Error::invalid(
            "there is state but no `VectorFunctions::dynamics`; implement it",
        ))
    }
}

/// The functions of a system over one scalar.
#[diagnostic::on_unimplemented(
    message = "the functions of this `VectorSystem` are not defined for scalars `{T}`",
    note = "closures take `f64` alone: add the system with `DiagramBuilder::add_f64`, or write the \
            functions for every scalar (`impl VectorFunctions`, `VectorSystem::from_functions`)"
)]
trait FunctionsOver<T>: Send + Sync + 'static {
    fn output_over(&self, time: T, x: &[T], u: &[T], y: &mut [T]) -> Result<()>;
    fn dynamics_over(&self, time: T, x: &[T], u: &[T], out: &mut [T]) -> Result<()>;
}

impl<T: Scalar, F: VectorFunctions> FunctionsOver<T> for F {
    fn output_over(&self, time: T, x: &[T], u: &[T], y: &mut [T]) -> Result<()> {
        self.output(time, x, u, y)
    }
    fn dynamics_over(&self, time: T, x: &[T], u: &[T], out: &mut [T]) -> Result<()> {
        self.dynamics(time, x, u, out)
    }
}

/// `f(time, x, u, out)`, with time in seconds.
type VectorFn = Arc<dyn Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync>;

/// Closures of a [`VectorSystem`] created by [`VectorSystem::new`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{VectorClosures, VectorSystem};
///
/// /// Names the type that a function returns.
/// fn square() -> VectorSystem<VectorClosures> {
///     VectorSystem::new(1, 1, |_, _, u, y| Ok(y[0] = u[0] * u[0]))
/// }
///
/// let mut b = DiagramBuilder::new();
/// let square = b.add_f64("square", square());
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(square.u, 3.0)?;
/// assert_eq!(ctx.eval(square.y)?, &[9.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone)]
pub struct VectorClosures {
    output: VectorFn,
    dynamics: VectorFn,
}

impl FunctionsOver<f64> for VectorClosures {
    fn output_over(&self, time: f64, x: &[f64], u: &[f64], y: &mut [f64]) -> Result<()> {
        (self.output)(time, x, u, y)
    }
    fn dynamics_over(&self, time: f64, x: &[f64], u: &[f64], out: &mut [f64]) -> Result<()> {
        (self.dynamics)(time, x, u, out)
    }
}

/// The state of a [`VectorSystem`].
#[derive(Clone)]
struct StateModel {
    /// Time between updates (s); `None` for continuous state.
    period: Option<f64>,
    x0: Vec<f64>,
}

/// System with one input, one output and one vector of state, made from functions (Drake's
/// `VectorSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of `inputs` |
/// | output | `y0` | vector of `outputs`; direct feedthrough unless excluded |
///
/// Closures receive the time (s), the state and the input, and compute in `f64`: add such a system
/// with `add_f64`. A system for every scalar implements [`VectorFunctions`] instead. If `inputs` is
/// 0, the empty port may stay unconnected.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::VectorSystem;
///
/// // xdot = -x + u, y = x
/// let decay = VectorSystem::new(1, 1, |_, x, _, y| Ok(y.copy_from_slice(x)))
///     .with_continuous_state(1.0, |_, x, u, xdot| Ok(xdot[0] = u[0] - x[0]))
///     .without_feedthrough();
/// let mut b = DiagramBuilder::new();
/// let decay = b.add_f64("decay", decay);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(decay.u, 0.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(1.0)?;
/// assert!((sim.context().eval(decay.y)?[0] - (-1.0_f64).exp()).abs() < 1e-4);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone)]
pub struct VectorSystem<F = VectorClosures> {
    inputs: usize,
    outputs: usize,
    functions: F,
    state: Option<StateModel>,
    feeds_through: bool,
}

impl VectorSystem {
    /// Creates a system whose `output` computes `outputs` elements from the time (s), the state and
    /// `inputs` elements.
    pub fn new(
        inputs: usize,
        outputs: usize,
        output: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let closures = VectorClosures {
            output: Arc::new(output),
            dynamics: Arc::new(|_, _, _, _| Ok(())),
        };
        Self::of(inputs, outputs, closures)
    }

    /// Adds continuous state that starts at `x0`, with its time derivatives. Replaces other state.
    pub fn with_continuous_state(
        mut self,
        x0: impl IntoValue<Vec<f64>>,
        f: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.functions.dynamics = Arc::new(f);
        self.starting_at(None, x0.into_value())
    }

    /// Adds discrete state that starts at `x0`, with its next value, computed every `period` (s).
    /// Replaces other state. [`DiagramBuilder::build`] fails if the period is not positive.
    pub fn with_discrete_state(
        mut self,
        x0: impl IntoValue<Vec<f64>>,
        period: f64,
        f: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.functions.dynamics = Arc::new(f);
        self.starting_at(Some(period), x0.into_value())
    }
}

impl<F: VectorFunctions> VectorSystem<F> {
    /// Creates a system whose `functions` compute `outputs` elements from the time (s), the state
    /// and `inputs` elements, over every scalar.
    pub fn from_functions(inputs: usize, outputs: usize, functions: F) -> Self {
        Self::of(inputs, outputs, functions)
    }

    /// Adds continuous state that starts at `x0`, with the time derivatives of
    /// [`VectorFunctions::dynamics`]. Replaces other state.
    pub fn with_initial_continuous_state(self, x0: impl IntoValue<Vec<f64>>) -> Self {
        self.starting_at(None, x0.into_value())
    }

    /// Adds discrete state that starts at `x0` and is updated by [`VectorFunctions::dynamics`]
    /// every `period` (s). Replaces other state. [`DiagramBuilder::build`] fails if the period is
    /// not positive.
    pub fn with_initial_discrete_state(self, x0: impl IntoValue<Vec<f64>>, period: f64) -> Self {
        self.starting_at(Some(period), x0.into_value())
    }
}

impl<F> VectorSystem<F> {
    fn of(inputs: usize, outputs: usize, functions: F) -> Self {
        Self {
            inputs,
            outputs,
            functions,
            state: None,
            feeds_through: inputs > 0,
        }
    }

    fn starting_at(mut self, period: Option<f64>, x0: Vec<f64>) -> Self {
        self.state = Some(StateModel { period, x0 });
        self
    }

    /// Declares that the output does not depend on the input; the output function gets an empty
    /// one.
    pub fn without_feedthrough(mut self) -> Self {
        self.feeds_through = false;
        self
    }

    /// Returns the input, without evaluating the port if there are no inputs.
    fn input<'a, T: Scalar>(
        &self,
        ctx: &LeafContext<'a, T>,
        u: InputPort<Vec<T>>,
    ) -> Result<&'a [T]> {
        match self.inputs {
            0 => Ok(&[]),
            _ => ctx.eval(u).map(Vec::as_slice),
        }
    }
}

/// Ports of [`VectorSystem`].
#[derive(Clone, Copy, Debug)]
pub struct VectorSystemPorts<T = f64> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// Continuous state, if there is any.
    pub continuous: Option<ContinuousState<Vec<T>>>,
    /// Discrete state, if there is any.
    pub discrete: Option<DiscreteState<Vec<T>>>,
}

impl<T: Scalar, F: FunctionsOver<T>> LeafSystem<T> for VectorSystem<F> {
    type Ports = VectorSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u0", self.inputs);
        let (mut continuous, mut discrete) = (None, None);
        let mut deps = vec![Dep::Time];
        if let Some(StateModel { period, x0 }) = &self.state {
            let x0: Vec<T> = x0.iter().map(|x| T::from(*x)).collect();
            if let Some(period) = period {
                let x = d.discrete_state(&x0);
                d.discrete_update_on(Trigger::every(*period), move |s, ctx, next| {
                    let (u, next) = (s.input(ctx, u)?, next.get_mut(x));
                    s.functions.dynamics_over(ctx.time(), ctx.xd(x), u, next)?;
                    Ok(EventStatus::Succeeded)
                });
                deps.push(x.into());
                discrete = Some(x);
            } else {
                let sizes = (0, 0, x0.len());
                let needs = (Dep::Time, Dep::Z, u);
                let x = d.continuous_state(sizes, &x0, needs, move |s, ctx, xdot| {
                    let u = s.input(ctx, u)?;
                    s.functions.dynamics_over(ctx.time(), ctx.xc(), u, xdot)
                });
                deps.push(Dep::Z);
                continuous = Some(x);
            }
        }
        if self.feeds_through {
            deps.push(u.into());
        }
        let y = d.vector_output("y0", self.outputs, deps, move |s, ctx, y| {
            let x = discrete.map_or_else(|| ctx.xc(), |x| ctx.xd(x));
            let u = if s.feeds_through {
                s.input(ctx, u)?
            } else {
                &[]
            };
            s.functions.output_over(ctx.time(), x, u, y)
        });
        VectorSystemPorts {
            u,
            y,
            continuous,
            discrete,
        }
    }
}
