//! Integration over time.

use crate::prelude::*;
use crate::systems::value::copy;

/// Integrator `dy/dt = u` (Drake's `Integrator`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u` | vector of `size` |
/// | output | `y` | vector of `size`, no feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::Integrator;
///
/// let mut b = DiagramBuilder::new();
/// let distance = b.add("distance", Integrator::new(1));
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(distance.u, 3.0)?;
/// ctx.xc_mut(distance.x)?[0] = 100.0;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(2.0)?;
/// assert!((sim.context().eval(distance.y)?[0] - 106.0).abs() < 1e-9);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Integrator {
    size: usize,
}

impl Integrator {
    /// Creates an integrator of vectors of `size` elements, which starts at zero.
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
        let x = d.continuous_state((0, 0, self.size), &x0, u, move |_, ctx, xdot| {
            copy(xdot, ctx.eval(u)?);
            Ok(())
        });
        let y = d.vector_output("y", self.size, Dep::Z, |_, ctx, y| {
            copy(y, ctx.xc());
            Ok(())
        });
        IntegratorPorts { u, y, x }
    }
}
