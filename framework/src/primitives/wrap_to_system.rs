//! Wrapping of angles.

use super::check;
use crate::Result;
use crate::prelude::*;

/// Wrapping of selected input elements to intervals, as for angles (Drake's `WrapToSystem`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `u0` | vector of `size` |
/// | output | `y0` | vector of `size`, direct feedthrough |
///
/// The derivative is one everywhere, even at the jumps.
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::WrapToSystem;
///
/// let mut b = DiagramBuilder::new();
/// let wrap = b.add("wrap", WrapToSystem::new(2).with_interval(1, 0.0, 4.0)?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(wrap.u, [-1.0, -1.0])?;
/// assert_eq!(ctx.eval(wrap.y)?, &[-1.0, 3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WrapToSystem {
    intervals: Vec<Option<(f64, f64)>>,
}

impl WrapToSystem {
    /// Creates a system that passes vectors of `size` elements unchanged.
    pub fn new(size: usize) -> Self {
        let intervals = vec![None; size];
        Self { intervals }
    }

    /// Wraps the element `index` to the half-open interval `low..high`.
    ///
    /// # Errors
    /// Returns an error if there is no such element, or unless `low` is below `high` and both are
    /// finite.
    pub fn with_interval(mut self, index: usize, low: f64, high: f64) -> Result<Self> {
        check::finite("WrapToSystem", "the interval", [&low, &high])?;
        if low >= high {
            let what =
                format!("the lower end must be below the upper end, got {low:?} and {high:?}");
            return check::fail("WrapToSystem", what);
        }
        let size = self.intervals.len();
        match self.intervals.get_mut(index) {
            Some(interval) => *interval = Some((low, high)),
            None => {
                let what = format!("the index of an element must be below {size}, got {index}");
                return check::fail("WrapToSystem", what);
            }
        }
        Ok(self)
    }
}

/// Adds a multiple of the interval's length to `x` so that it lies in the interval; the upper end
/// is excluded.
fn wrap<T: Scalar>(x: T, low: f64, high: f64) -> T {
    let turns = ((x.re() - low) / (high - low)).floor();
    let wrapped = x - T::from(turns * (high - low));
    // A tiny negative offset from `high` can round to `high` itself.
    if wrapped.re() >= high {
        wrapped - T::from(high - low)
    } else {
        wrapped
    }
}

/// Ports of [`WrapToSystem`].
#[derive(Clone, Copy, Debug)]
pub struct WrapToSystemPorts<T> {
    /// Input.
    pub u: InputPort<Vec<T>>,
    /// Output.
    pub y: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for WrapToSystem {
    type Ports = WrapToSystemPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.intervals.len();
        let u = d.vector_input("u0", size);
        let y = d.vector_output("y0", size, u, move |s, ctx, y| {
            for ((y, u), interval) in y.iter_mut().zip(ctx.eval(u)?).zip(&s.intervals) {
                *y = interval.map_or(*u, |(low, high)| wrap(*u, low, high));
            }
            Ok(())
        });
        WrapToSystemPorts { u, y }
    }
}
