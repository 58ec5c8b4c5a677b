//! Delay by whole sampling periods.

use super::check;
use super::sampled_values::{SampledValuePorts, declare_samples};
use crate::Result;
use crate::prelude::*;
use crate::systems::value::Value;

/// Delay that samples its input every `period` and outputs each sample a number of periods later
/// (Drake's `DiscreteTimeDelay`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `delayed_u` | vector of `size`, no feedthrough; zero until the first sample arrives |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::DiscreteTimeDelay;
///
/// let mut b = DiagramBuilder::new();
/// let delay = b.add("delay", DiscreteTimeDelay::new(1, 0.1, 2)?);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(delay.u, 5.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.15)?; // two samples taken
/// assert_eq!(sim.context().eval(delay.y)?, &[0.0]);
/// sim.advance_to(0.25)?; // the third pushes the first out
/// assert_eq!(sim.context().eval(delay.y)?, &[5.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteTimeDelay {
    size: usize,
    period: f64,
    steps: usize,
}

impl DiscreteTimeDelay {
    /// Creates a delay of vectors of `size` elements, sampled every `period` (s), by `steps`
    /// periods.
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(size: usize, period: f64, steps: usize) -> Result<Self> {
        check::positive_time("DiscreteTimeDelay", "period", period)?;
        Ok(Self {
            size,
            period,
            steps,
        })
    }
}

/// Same as [`DiscreteTimeDelay`], for values of any type: `u` and `delayed_u` carry a `V`. The
/// output is a model value before the first sample arrives.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ValueDiscreteTimeDelay;
///
/// let mut b = DiagramBuilder::new();
/// let delay = ValueDiscreteTimeDelay::new("none".to_string(), 0.1, 1)?;
/// let delay = b.add("delay", delay);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(delay.u, "some".to_string())?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.05)?;
/// assert_eq!(sim.context().eval(delay.y)?, "none");
/// sim.advance_to(0.15)?;
/// assert_eq!(sim.context().eval(delay.y)?, "some");
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueDiscreteTimeDelay<V> {
    model: V,
    period: f64,
    steps: usize,
}

impl<V: Value + Clone> ValueDiscreteTimeDelay<V> {
    /// Creates a delay of values, sampled every `period` (s), by `steps` periods; the output starts
    /// as `model`.
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(model: V, period: f64, steps: usize) -> Result<Self> {
        check::positive_time("ValueDiscreteTimeDelay", "period", period)?;
        Ok(Self {
            model,
            period,
            steps,
        })
    }
}

impl<T: Scalar, V: Value + Clone> LeafSystem<T> for ValueDiscreteTimeDelay<V> {
    type Ports = SampledValuePorts<V>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let trigger = Trigger::every(self.period);
        declare_samples(d, "u", "delayed_u", trigger, self.steps + 1, &self.model)
    }
}

/// Ports of [`DiscreteTimeDelay`].
#[derive(Clone, Copy, Debug)]
pub struct DiscreteTimeDelayPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// Samples in transit, `steps + 1` of them, oldest first.
    pub x: DiscreteState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for DiscreteTimeDelay {
    type Ports = DiscreteTimeDelayPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.size;
        let u = d.vector_input("u", size);
        let x = d.discrete_state(&vec![T::zero(); size * (self.steps + 1)]);
        d.discrete_update_on(Trigger::every(self.period), move |_, ctx, next| {
            let next = next.get_mut(x);
            next.copy_within(size.., 0);
            let newest = next.len() - size;
            next[newest..].copy_from_slice(ctx.eval(u)?);
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("delayed_u", size, x, move |_, ctx, y| {
            y.copy_from_slice(&ctx.xd(x)[..size]);
            Ok(())
        });
        DiscreteTimeDelayPorts { u, y, x }
    }
}
