//! Sampling and holding.

use crate::prelude::*;

/// Samples its input every `period` and holds the sample (Drake's `ZeroOrderHold`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, no feedthrough |
#[derive(Clone, Debug)]
pub struct ZeroOrderHold {
    period: f64,
    offset: f64,
    size: usize,
}

impl ZeroOrderHold {
    /// Samples vectors of `size` elements every `period` (s), first at `offset` (s).
    pub fn new(period: f64, offset: f64, size: usize) -> Self {
        Self {
            period,
            offset,
            size,
        }
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
            next.get_mut(x).copy_from_slice(ctx.eval(u)?);
            Ok(EventStatus::Succeeded)
        });
        let y = d.vector_output("y", self.size, &[x.into()], move |_, ctx, y| {
            y.copy_from_slice(ctx.xd(x));
            Ok(())
        });
        ZeroOrderHoldPorts { u, y, x }
    }
}
