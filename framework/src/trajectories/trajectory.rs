//! The interface of all trajectories.

use crate::Scalar;
use nalgebra::SVector;

/// Vector-valued function of time (Drake's `Trajectory`).
///
/// Time may be a dual number; the result then carries the derivatives with respect to whatever time
/// depends on. Before the start and after the end the value is held and derivatives are zero,
/// whether computed by order or by dual numbers. At the start and the end derivatives are
/// one-sided.
///
/// A user-defined trajectory works wherever one of this crate does:
///
/// ```
/// use tarragon_framework::{AutoDiff, Scalar, trajectories::Trajectory};
///
/// /// `sin(t)`, for all time.
/// struct Wave;
///
/// impl Trajectory for Wave {
///     fn rows(&self) -> usize {
///         1
///     }
///     fn start_time(&self) -> f64 {
///         f64::NEG_INFINITY
///     }
///     fn end_time(&self) -> f64 {
///         f64::INFINITY
///     }
///     fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
///         out[0] = (time + T::from(order as f64 * std::f64::consts::FRAC_PI_2)).sin();
///     }
/// }
///
/// let mut slope = [0.0];
/// Wave.evaluate_derivative(0.5, 1, &mut slope);
/// let dual = Wave.value(AutoDiff::variable(0.5, 0))[0];
/// assert!((dual.eps[0] - slope[0]).abs() < 1e-15);
/// ```
pub trait Trajectory: Send + Sync + 'static {
    /// Returns the number of elements of the value.
    fn rows(&self) -> usize;

    /// Returns the number of elements of a derivative. It differs from [`Trajectory::rows`] where
    /// the value is an orientation, whose derivative is an angular velocity.
    fn derivative_rows(&self) -> usize {
        self.rows()
    }

    /// Returns the time (s) from which on the trajectory is defined.
    fn start_time(&self) -> f64;

    /// Returns the time (s) up to which the trajectory is defined.
    fn end_time(&self) -> f64;

    /// Writes the `order`-th time derivative (1/s^order) at `time` (s), order 0 being the value.
    ///
    /// # Panics
    /// Panics if `out` does not have [`Trajectory::rows`] elements, or
    /// [`Trajectory::derivative_rows`] for an order above 0.
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]);

    /// Returns the value at `time` (s).
    fn value<T: Scalar>(&self, time: T) -> Vec<T> {
        let mut value = vec![T::zero(); self.rows()];
        self.evaluate_derivative(time, 0, &mut value);
        value
    }
}

/// Returns the time at which to evaluate: `time`, or the end at which the value is held. If the
/// derivative is zero, writes it and returns `None`.
///
/// # Panics
/// Panics if `out` has the wrong length for the order.
pub(super) fn hold<T: Scalar>(
    trajectory: &impl Trajectory,
    time: T,
    order: usize,
    out: &mut [T],
) -> Option<T> {
    let rows = match order {
        0 => trajectory.rows(),
        _ => trajectory.derivative_rows(),
    };
    assert_eq!(out.len(), rows, "`out` must have one element per row");
    let held = clamp(time, trajectory.start_time(), trajectory.end_time());
    // A NaN time is not outside; the results computed from it are NaN too.
    let outside = held.re() < time.re() || held.re() > time.re();
    if order > 0 && outside {
        out.fill(T::zero());
        return None;
    }
    Some(held)
}

/// Returns a derivative of a trajectory with `N` rows, or `N` derivative rows for an order above 0.
pub(super) fn derivative<T: Scalar, const N: usize>(
    trajectory: &impl Trajectory,
    time: T,
    order: usize,
) -> SVector<T, N> {
    let mut derivative = SVector::<T, N>::zeros();
    trajectory.evaluate_derivative(time, order, derivative.as_mut_slice());
    derivative
}

/// Clamps `time` to the range from `first` to `last`; a clamped time carries no derivatives.
pub(super) fn clamp<T: Scalar>(time: T, first: f64, last: f64) -> T {
    if time.re() < first {
        T::from(first)
    } else if time.re() > last {
        T::from(last)
    } else {
        time
    }
}
