//! Systems from closures.

use super::check;
use crate::Result;
use crate::prelude::*;
use std::sync::Arc;

/// `f(time, x, u, out)`, with time in seconds.
type VectorFn = Arc<dyn Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync>;

/// How the state of a [`VectorSystem`] changes.
#[derive(Clone)]
struct Dynamics {
    /// Time between updates (s); none for continuous state.
    period: Option<f64>,
    x0: Vec<f64>,
    f: VectorFn,
}

/// A system of one input, one output and one vector of state, made of closures over `f64` (Drake's
/// `VectorSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of `inputs` |
/// | output | `y0` | vector of `outputs`; direct feedthrough unless excluded |
///
/// Closures get the time (s), the state and the input. Add it with `add_f64`; a system for all
/// scalars implements [`LeafSystem`]. If `inputs` is 0, the empty port may stay unconnected.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::VectorSystem;
///
/// // xdot = -x + u, y = x
/// let decay = VectorSystem::new(1, 1, |_, x, _, y| Ok(y.copy_from_slice(x)))
///     .with_continuous_state([1.0], |_, x, u, xdot| Ok(xdot[0] = u[0] - x[0]))
///     .without_feedthrough();
/// let mut b = DiagramBuilder::new();
/// let decay = b.add_f64("decay", decay);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(decay.u, vec![0.0])?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(1.0)?;
/// assert!((sim.context().eval(decay.y)?[0] - (-1.0_f64).exp()).abs() < 1e-4);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone)]
pub struct VectorSystem {
    inputs: usize,
    outputs: usize,
    output: VectorFn,
    dynamics: Option<Dynamics>,
    feeds_through: bool,
}

impl VectorSystem {
    /// `output` computes `outputs` elements from the time (s), the state and `inputs` elements.
    pub fn new(
        inputs: usize,
        outputs: usize,
        output: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            inputs,
            outputs,
            output: Arc::new(output),
            dynamics: None,
            feeds_through: inputs > 0,
        }
    }

    /// Continuous state that starts at `x0`, and its time derivatives. Replaces other state.
    pub fn with_continuous_state(
        mut self,
        x0: impl Into<Vec<f64>>,
        f: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.dynamics = Some(Dynamics {
            period: None,
            x0: x0.into(),
            f: Arc::new(f),
        });
        self
    }

    /// Discrete state that starts at `x0`, and its next value, every `period` (s). Replaces other
    /// state.
    ///
    /// # Errors
    /// If the period is not positive.
    pub fn with_discrete_state(
        mut self,
        period: f64,
        x0: impl Into<Vec<f64>>,
        f: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        check::positive_time("VectorSystem", "period", period)?;
        self.dynamics = Some(Dynamics {
            period: Some(period),
            x0: x0.into(),
            f: Arc::new(f),
        });
        Ok(self)
    }

    /// The output does not depend on the input; the closure for it gets an empty one.
    pub fn without_feedthrough(mut self) -> Self {
        self.feeds_through = false;
        self
    }
}

impl VectorSystem {
    /// The input, which is not asked for where there is none.
    fn input<'a>(&self, ctx: &LeafContext<'a, f64>, u: InputPort<Vec<f64>>) -> Result<&'a [f64]> {
        match self.inputs {
            0 => Ok(&[]),
            _ => ctx.eval(u).map(Vec::as_slice),
        }
    }
}

/// Ports of [`VectorSystem`].
#[derive(Clone, Copy, Debug)]
pub struct VectorSystemPorts {
    /// Input.
    pub u: InputPort<Vec<f64>>,
    /// Output.
    pub y: OutputPort<Vec<f64>>,
    /// Continuous state, if there is any.
    pub continuous: Option<ContinuousState<Vec<f64>>>,
    /// Discrete state, if there is any.
    pub discrete: Option<DiscreteState<Vec<f64>>>,
}

impl LeafSystem<f64> for VectorSystem {
    type Ports = VectorSystemPorts;

    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let u = d.vector_input("u0", self.inputs);
        let (mut continuous, mut discrete) = (None, None);
        let mut deps = vec![Dep::Time];
        if let Some(Dynamics { period, x0, f }) = self.dynamics.clone() {
            if let Some(period) = period {
                let x = d.discrete_state(&x0);
                d.discrete_update_on(Trigger::every(period), move |s, ctx, next| {
                    f(ctx.time(), ctx.xd(x), s.input(ctx, u)?, next.get_mut(x))?;
                    Ok(EventStatus::Succeeded)
                });
                deps.push(x.into());
                discrete = Some(x);
            } else {
                let needs = [Dep::Time, Dep::Z, u.into()];
                let sizes = (0, 0, x0.len());
                let x = d.continuous_state(sizes, &x0, &needs, move |s, ctx, xdot| {
                    f(ctx.time(), ctx.xc(), s.input(ctx, u)?, xdot)
                });
                deps.push(Dep::Z);
                continuous = Some(x);
            }
        }
        if self.feeds_through {
            deps.push(u.into());
        }
        let y = d.vector_output("y0", self.outputs, &deps, move |s, ctx, y| {
            let x = discrete.map_or_else(|| ctx.xc(), |x| ctx.xd(x));
            let u = if s.feeds_through {
                s.input(ctx, u)?
            } else {
                &[]
            };
            (s.output)(ctx.time(), x, u, y)
        });
        VectorSystemPorts {
            u,
            y,
            continuous,
            discrete,
        }
    }
}
