//! A trajectory as a signal.

use crate::prelude::*;
use crate::trajectories::PiecewisePolynomial;

/// Outputs a trajectory at the current time, with derivatives if asked (Drake's `TrajectorySource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector of (derivatives + 1) x rows: the value, then each derivative |
///
/// Outside of the trajectory's time span the value is held and derivatives are zero.
#[derive(Clone, Debug)]
pub struct TrajectorySource {
    trajectory: PiecewisePolynomial,
    derivatives: usize,
}

impl TrajectorySource {
    /// Outputs `trajectory` and its first `derivatives` time derivatives, stacked.
    pub fn new(trajectory: PiecewisePolynomial, derivatives: usize) -> Self {
        Self {
            trajectory,
            derivatives,
        }
    }
}

/// Ports of [`TrajectorySource`].
#[derive(Clone, Copy, Debug)]
pub struct TrajectorySourcePorts<T> {
    /// Value and derivatives.
    pub y: OutputPort<Vec<T>>,
}

impl<T: Scalar> LeafSystem<T> for TrajectorySource {
    type Ports = TrajectorySourcePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let size = self.trajectory.rows() * (self.derivatives + 1);
        let y = d.vector_output("y0", size, &[Dep::Time], move |s, ctx, y| {
            let time = ctx.time();
            for (k, y) in y.chunks_exact_mut(s.trajectory.rows().max(1)).enumerate() {
                s.trajectory.evaluate_derivative(time, k, y);
            }
            Ok(())
        });
        TrajectorySourcePorts { y }
    }
}
