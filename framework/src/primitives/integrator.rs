//! Integration over time.

use crate::prelude::*;
use crate::systems::value::copy;

/// `dy/dt = u` (Drake's `Integrator`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, no feedthrough |
#[derive(Clone, Debug)]
pub struct Integrator {
    size: usize,
}

impl Integrator {
    /// Integrates vectors of `size` elements, from zero.
    pub fn new(size: usize) -> Self {
        Self { size }
    }
}

/// Ports of [`Integrator`].
#[derive(Clone, Copy, Debug)]
pub struct IntegratorPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The integral.
    pub x: ContinuousState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for Integrator {
    type Ports = IntegratorPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let u = d.vector_input("u", self.size);
        let x0 = vec![T::zero(); self.size];
        let x = d.continuous_state((0, 0, self.size), &x0, &[u.into()], move |_, ctx, xdot| {
            copy(xdot, ctx.eval(u)?);
            Ok(())
        });
        let y = d.vector_output("y", self.size, &[Dep::Z], |_, ctx, y| {
            copy(y, ctx.xc());
            Ok(())
        });
        IntegratorPorts { u, y, x }
    }
}
