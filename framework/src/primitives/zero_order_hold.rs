//! Sample and hold.

use super::sampled_values::{SampledValuePorts, declare_samples};
use crate::prelude::*;
use crate::systems::value::Value;
use crate::systems::value::copy;

/// Sampler that holds its input for every `period` (Drake's `ZeroOrderHold`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, no feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::{Sine, ZeroOrderHold};
///
/// let mut b = DiagramBuilder::new();
/// let wave = b.add("wave", Sine::new(1));
/// let hold = b.add("hold", ZeroOrderHold::new(1, 0.5, 0.0));
/// b.connect(wave.y, hold.u);
/// let diagram = b.build()?;
/// let mut sim = Simulator::new(&diagram, diagram.default_context())?;
/// sim.advance_to(0.75)?;
/// assert_eq!(sim.context().eval(hold.y)?, &[0.5_f64.sin()]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ZeroOrderHold {
    size: usize,
    period: f64,
    offset: f64,
}

impl ZeroOrderHold {
    /// Creates a hold that samples vectors of `size` elements every `period` (s), first at `offset`
    /// (s).
    pub fn new(size: usize, period: f64, offset: f64) -> Self {
        Self {
            size,
            period,
            offset,
        }
    }
}

/// Same as [`ZeroOrderHold`], for values of any type: `u` and `y` carry a `V`. The output is a
/// model value before the first sample.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::ValueZeroOrderHold;
///
/// let mut b = DiagramBuilder::new();
/// let hold = b.add("hold", ValueZeroOrderHold::new('a', 0.1, 0.05));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(hold.u, 'b')?;
/// assert_eq!(ctx.eval(hold.y)?, &'a');
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.1)?;
/// assert_eq!(sim.context().eval(hold.y)?, &'b');
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ValueZeroOrderHold<V> {
    model: V,
    period: f64,
    offset: f64,
}

impl<V: Value + Clone> ValueZeroOrderHold<V> {
    /// Creates a hold that samples values every `period` (s), first at `offset` (s); the output
    /// starts as `model`.
    pub fn new(model: V, period: f64, offset: f64) -> Self {
        Self {
            model,
            period,
            offset,
        }
    }
}

impl<T: Scalar, V: Value + Clone> LeafSystem<T> for ValueZeroOrderHold<V> {
    type Ports = SampledValuePorts<V>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let (period, offset) = (self.period, self.offset);
        let trigger = Trigger::Periodic { period, offset };
        declare_samples(d, "u", "y", trigger, 1, &self.model)
    }
}

/// Ports of [`ZeroOrderHold`].
#[derive(Clone, Copy, Debug)]
pub struct ZeroOrderHoldPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output: the last sample, zero before the first.
    pub y: OutputPort<Vec<T>>,
    /// The last sample.
    pub x: DiscreteState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for ZeroOrderHold {
    type Ports = ZeroOrderHoldPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let x = d.discrete_state(&vec![T::zero(); self.size]);
        let (period, offset) = (self.period, self.offset);
        d.discrete_update_on(Trigger::Periodic { period, offset }, move |_, ctx, next| {
            copy(next.get_mut(x), ctx.eval(u)?);
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("y", self.size, x, move |_, ctx, y| {
            copy(y, ctx.xd(x));
            Ok(())
        });
        ZeroOrderHoldPorts { u, y, x }
    }
}
