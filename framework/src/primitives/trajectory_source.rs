//! A trajectory as a signal.

use crate::prelude::*;
use crate::trajectories::{PiecewisePolynomial, Trajectory};

/// Source of a trajectory's value at the current time, optionally with derivatives (Drake's
/// `TrajectorySource`).
///
/// | port | name | type |
/// |---|---|---|
/// | output | `y0` | vector: the value, then each derivative |
///
/// Accepts any [`Trajectory`]. The value has one element per row of the trajectory, and each
/// derivative one per row of the trajectory's derivative: a pose of 7 elements with its velocity of
/// 6 is the state of a free body. Outside of the trajectory's time span the value is held and
/// derivatives are zero.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_framework::prelude::*;
/// use tarragon_framework::primitives::TrajectorySource;
/// use tarragon_framework::trajectories::PiecewisePose;
///
/// let poses = [0.0, 3.0].map(|x| Isometry3::translation(x, 0.0, 0.0));
/// let drive = PiecewisePose::make_linear(&[0.0, 2.0], &poses)?;
/// let mut b = DiagramBuilder::new();
/// let drive = b.add("drive", TrajectorySource::new(drive, 1));
/// let mut ctx = b.build()?.default_context();
/// ctx.set_time(1.0);
/// let state = [1.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0];
/// assert_eq!(ctx.eval(drive.y)?, &state);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TrajectorySource<P = PiecewisePolynomial> {
    trajectory: P,
    derivatives: usize,
}

impl<P: Trajectory> TrajectorySource<P> {
    /// Creates a source of `trajectory` and its first `derivatives` time derivatives, stacked.
    pub fn new(trajectory: P, derivatives: usize) -> Self {
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

impl<T: Scalar, P: Trajectory> LeafSystem<T> for TrajectorySource<P> {
    type Ports = TrajectorySourcePorts<T>;

    fn declare(&self, d: &mut Declare<Self, T>) -> Self::Ports {
        let (rows, more) = (self.trajectory.rows(), self.trajectory.derivative_rows());
        let size = rows + more * self.derivatives;
        let y = d.vector_output("y0", size, Dep::Time, move |s, ctx, y| {
            let (value, derivatives) = y.split_at_mut(rows);
            s.trajectory.evaluate_derivative(ctx.time(), 0, value);
            for (k, y) in derivatives.chunks_exact_mut(more.max(1)).enumerate() {
                s.trajectory.evaluate_derivative(ctx.time(), k + 1, y);
            }
            Ok(())
        });
        TrajectorySourcePorts { y }
    }
}
