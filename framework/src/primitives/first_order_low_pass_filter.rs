//! Low-pass filtering.

use super::check;
use crate::prelude::*;
use crate::{IntoValue, Result};

/// First-order low-pass filter `tau dz/dt = u - z`, `y = z` (Drake's `FirstOrderLowPassFilter`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector with one element per time constant |
/// | output | `y0` | vector of the same size, no feedthrough |
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::FirstOrderLowPassFilter;
///
/// let mut b = DiagramBuilder::new();
/// let filter = b.add("filter", FirstOrderLowPassFilter::new(0.5)?);
/// let diagram = b.build()?;
/// let mut ctx = diagram.default_context();
/// ctx.fix(filter.u, 1.0)?;
/// let mut sim = Simulator::new(&diagram, ctx)?;
/// sim.advance_to(0.5)?;
/// assert!((sim.context().eval(filter.y)?[0] - (1.0 - (-1.0_f64).exp())).abs() < 1e-3);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FirstOrderLowPassFilter {
    time_constants: Vec<f64>,
}

impl FirstOrderLowPassFilter {
    /// Creates a filter with one time constant (s) per element; its state starts at zero.
    ///
    /// # Errors
    /// Returns an error if a time constant is not positive.
    pub fn new(time_constants: impl IntoValue<Vec<f64>>) -> Result<Self> {
        let time_constants = time_constants.into_value();
        for tau in &time_constants {
            check::positive_time("FirstOrderLowPassFilter", "time constant", *tau)?;
        }
        Ok(Self { time_constants })
    }
}

/// Ports of [`FirstOrderLowPassFilter`].
#[derive(Clone, Copy, Debug)]
pub struct FirstOrderLowPassFilterPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
    /// The filtered value.
    pub x: ContinuousState<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for FirstOrderLowPassFilter {
    type Ports = FirstOrderLowPassFilterPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.time_constants.len();
        let u = d.vector_input("u0", size);
        let x0 = vec![T::zero(); size];
        let x = d.continuous_state((0, 0, size), &x0, (Dep::Z, u), move |s, ctx, xdot| {
            let terms = ctx.eval(u)?.iter().zip(ctx.xc()).zip(&s.time_constants);
            for (xdot, ((u, z), tau)) in xdot.iter_mut().zip(terms) {
                *xdot = (*u - *z) / T::from(*tau);
            }
            Ok(())
        });
        let y = d.vector_output("y0", size, Dep::Z, |_, ctx, y| {
            y.copy_from_slice(ctx.xc());
            Ok(())
        });
        FirstOrderLowPassFilterPorts { u, y, x }
    }
}
