//! Multiplication by a constant.

use crate::prelude::*;

/// `y = k u`, element by element (Drake's `Gain`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, direct feedthrough |
///
/// The gain k is a parameter.
#[derive(Clone, Debug)]
pub struct Gain {
    k: f64,
    size: usize,
}

impl Gain {
    /// A gain of `k` on vectors of `size` elements.
    pub fn new(k: f64, size: usize) -> Self {
        Self { k, size }
    }
}

/// Ports of [`Gain`].
#[derive(Clone, Copy, Debug)]
pub struct GainPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The gain.
    pub k: Param<T>,
}

impl<T: Scalar> LeafSystem<T> for Gain {
    type Ports = GainPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let k = d.param(T::from(self.k));
        let y = d.vector_output("y", self.size, &[u.into(), k.into()], move |_, ctx, y| {
            let k = *ctx.param(k);
            for (y, u) in y.iter_mut().zip(ctx.eval(u)?) {
                *y = k * *u;
            }
            Ok(())
        });
        GainPorts { u, y, k }
    }
}
