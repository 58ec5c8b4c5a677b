//! Integration by summation.

use super::check;
use crate::Result;
use crate::prelude::*;

/// Discrete integrator `y[n+1] = y[n] + h u[n]` (Drake's `DiscreteTimeIntegrator`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, no feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::DiscreteTimeIntegrator;
///
/// let mut b = DiagramBuilder::new();
/// let sum = b.add("sum", DiscreteTimeIntegrator::new(1, 0.5)?);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(sum.u, 3.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(1.0)?; // the update at 1 s waits for the next step
/// assert_eq!(sim.context().eval(sum.y)?, &[3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteTimeIntegrator {
    size: usize,
    period: f64,
}

impl DiscreteTimeIntegrator {
    /// Creates an integrator of vectors of `size` elements, which starts at zero and updates every
    /// `period` (s).
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(size: usize, period: f64) -> Result<Self> {
        check::positive_time("DiscreteTimeIntegrator", "period", period)?;
        Ok(Self { size, period })
    }
}

/// Ports of [`DiscreteTimeIntegrator`].
#[derive(Clone, Copy, Debug)]
pub struct DiscreteTimeIntegratorPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The integral.
    pub x: DiscreteState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for DiscreteTimeIntegrator {
    type Ports = DiscreteTimeIntegratorPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let x = d.discrete_state(&vec![T::zero(); self.size]);
        d.discrete_update_on(Trigger::every(self.period), move |s, ctx, next| {
            for (x, u) in next.get_mut(x).iter_mut().zip(ctx.eval(u)?) {
                *x += *u * T::from(s.period);
            }
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("y", self.size, x, move |_, ctx, y| {
            y.copy_from_slice(ctx.xd(x));
            Ok(())
        });
        DiscreteTimeIntegratorPorts { u, y, x }
    }
}
