//! What every function of time offers.

use crate::Scalar;
use nalgebra::SVector;

/// A vector-valued function of time (Drake's `Trajectory`).
///
/// Time may be a dual number: the result then carries the derivatives with respect to whatever time
/// depends on. Before the start and after the end the value is held and derivatives are zero, those
/// by order and those by dual numbers alike. At the start and the end derivatives are one-sided.
///
/// A trajectory of one's own works wherever one of this crate does:
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
    /// Number of elements of the value.
    fn rows(&self) -> usize;

    /// Number of elements of a derivative. It differs from [`Trajectory::rows`] where the value is
    /// an orientation, whose derivative is an angular velocity.
    fn derivative_rows(&self) -> usize {
        self.rows()
    }

    /// Time (s) from which on the trajectory is defined.
    fn start_time(&self) -> f64;

    /// Time (s) up to which the trajectory is defined.
    fn end_time(&self) -> f64;

    /// Writes the `order`-th time derivative (1/s^order) at `time` (s), order 0 being the value.
    ///
    /// # Panics
    /// Panics if `out` has not [`Trajectory::rows`] elements, or [`Trajectory::derivative_rows`]
    /// for an order above 0.
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]);

    /// The value at `time` (s).
    fn value<T: Scalar>(&self, time: T) -> Vec<T> {
        let mut value = vec![T::zero(); self.rows()];
        self.evaluate_derivative(time, 0, &mut value);
        value
    }
}

/// The time at which to evaluate: `time`, or the end at which the value is held. None if the
/// derivative is zero, which is then written.
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
    assert_eq!(out.len(), rows, "one element per row is expected");
    let held = clamp(time, trajectory.start_time(), trajectory.end_time());
    // A time that is no number is not outside; what is computed from it is no number either.
    let outside = held.re() < time.re() || held.re() > time.re();
    if order > 0 && outside {
        out.fill(T::zero());
        return None;
    }
    Some(held)
}

/// A derivative of a trajectory of `N` rows, or of `N` rows of derivatives.
pub(super) fn derivative<T: Scalar, const N: usize>(
    trajectory: &impl Trajectory,
    time: T,
    order: usize,
) -> SVector<T, N> {
    let mut derivative = SVector::<T, N>::zeros();
    trajectory.evaluate_derivative(time, order, derivative.as_mut_slice());
    derivative
}

/// `time` within `first` and `last`; outside it is one of them, without derivatives.
pub(super) fn clamp<T: Scalar>(time: T, first: f64, last: f64) -> T {
    if time.re() < first {
        T::from(first)
    } else if time.re() > last {
        T::from(last)
    } else {
        time
    }
}
