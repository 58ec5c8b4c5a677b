//! Multiplication by a constant.

use crate::prelude::*;

/// Gain `y = k u`, element by element (Drake's `Gain`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, direct feedthrough |
///
/// The gain k is a parameter. For one gain per element, use a [`MatrixGain`](super::MatrixGain)
/// with a diagonal matrix.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Gain;
///
/// let mut b = DiagramBuilder::new();
/// let gain = b.add("gain", Gain::new(2, 2.0));
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(gain.u, [1.0, -3.0])?;
/// assert_eq!(ctx.eval(gain.y)?, &[2.0, -6.0]);
/// *ctx.param_mut(gain.k)? = 10.0;
/// assert_eq!(ctx.eval(gain.y)?, &[10.0, -30.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gain {
    size: usize,
    k: f64,
}

impl Gain {
    /// Creates a system that multiplies vectors of `size` elements by `k`.
    pub fn new(size: usize, k: f64) -> Self {
        Self { size, k }
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
        let y = d.vector_output("y", self.size, (u, k), move |_, ctx, y| {
            let k = *ctx.param(k);
            for (y, u) in y.iter_mut().zip(ctx.eval(u)?) {
                *y = k * *u;
            }
            Ok(())
        });
        GainPorts { u, y, k }
    }
}
