//! Positions and their numerical derivative.

use super::discrete_derivative::{DiscreteDerivative, InputHistory};
use crate::Result;
use crate::prelude::*;

/// Positions followed by their discrete derivative, a state computed from commanded positions
/// (Drake's `StateInterpolatorWithDiscreteDerivative`).
///
/// | port | name | type |
/// |---|---|---|
/// | input | `position` | vector of `size` |
/// | output | `state` | vector of 2 `size`: positions (direct feedthrough), then velocities |
///
/// The velocities are those of [`DiscreteDerivative`].
///
/// ```
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::StateInterpolatorWithDiscreteDerivative;
///
/// let mut b = DiagramBuilder::new();
/// let states = b.add("states", StateInterpolatorWithDiscreteDerivative::new(1, 0.1)?);
/// let mut ctx = b.build()?.default_context();
/// ctx.fix(states.position, 3.0)?;
/// states.history.set(&mut ctx, &[2.0], &[1.5])?;
/// assert_eq!(ctx.eval(states.state)?, &[3.0, 5.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StateInterpolatorWithDiscreteDerivative {
    derivative: DiscreteDerivative,
}

impl StateInterpolatorWithDiscreteDerivative {
    /// Creates a system for `size` positions, sampled every `period` (s).
    ///
    /// # Errors
    /// Returns an error if the period is not positive.
    pub fn new(size: usize, period: f64) -> Result<Self> {
        let derivative = DiscreteDerivative::new(size, period)?;
        Ok(Self { derivative })
    }

    /// Lets the samples before the first one count as zero.
    pub fn with_initial_transient(self) -> Self {
        Self {
            derivative: self.derivative.with_initial_transient(),
        }
    }
}

/// Ports of [`StateInterpolatorWithDiscreteDerivative`].
#[derive(Clone, Copy, Debug)]
pub struct StateInterpolatorPorts<T> {
    /// Positions.
    pub position: InputPort<Vec<T>>,
    /// Positions and velocities.
    pub state: OutputPort<Vec<T>>,
    /// The samples.
    pub history: InputHistory<T>,
}

impl<T: Scalar> LeafSystem<T> for StateInterpolatorWithDiscreteDerivative {
    type Ports = StateInterpolatorPorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.derivative.size;
        let position = d.vector_input("position", size);
        let history = self.derivative.declare_history(d, position);
        let deps = (position, history.deps());
        let state = d.vector_output("state", 2 * size, deps, move |_, ctx, state| {
            let (q, v) = state.split_at_mut(size);
            q.copy_from_slice(ctx.eval(position)?);
            history.derivative(ctx, v)
        });
        StateInterpolatorPorts {
            position,
            state,
            history,
        }
    }
}
