//! Shape-preserving cubic interpolation.

use super::breaks::{check_breaks, check_samples, fail};
use super::cubic_spline::{SplineSegment, parabola};
use super::piecewise_polynomial::{PiecewisePolynomial, WHO};
use crate::Result;

impl PiecewisePolynomial {
    /// Creates cubic segments through `samples` that rise and fall only where the samples do
    /// (Drake's `CubicShapePreserving`, Matlab's `pchip`). The slope at a break is the weighted
    /// harmonic mean of the slopes on either side (Fritsch, Butland: A method for constructing
    /// local monotone piecewise cubic interpolants, 1984), zero at an extremum. At the ends it
    /// follows from three samples, or is zero if `zero_end_slopes` is true.
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`]. Without `zero_end_slopes`, at least three
    /// breaks are required.
    ///
    /// ```
    /// use tarragon_framework::trajectories::PiecewisePolynomial;
    /// let samples = [vec![0.0], vec![0.0], vec![1.0], vec![1.0]];
    /// let breaks = [0.0, 1.0, 2.0, 3.0];
    /// let step = PiecewisePolynomial::cubic_shape_preserving(&breaks, &samples, false)?;
    /// assert_eq!(step.value(0.5), [0.0]);
    /// assert_eq!(step.value(1.5), [0.5]);
    /// assert_eq!(step.value(2.5), [1.0]); // no overshoot
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn cubic_shape_preserving(
        breaks: &[f64],
        samples: &[Vec<f64>],
        zero_end_slopes: bool,
    ) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_samples(WHO, "samples", samples, breaks.len())?;
        let n = breaks.len();
        if n < 3 && !zero_end_slopes {
            return fail(
                WHO,
                format!(
                    "there must be at least 3 breaks for end slopes that are not zero, got {n}"
                ),
            );
        }
        let rows = samples[0].len();
        let mut slopes = vec![vec![0.0; rows]; n];
        let segment = |row: usize, i: usize| SplineSegment::of_row(breaks, samples, row, i);
        for (i, slopes) in slopes.iter_mut().enumerate() {
            let is_end = i == 0 || i == n - 1;
            for (row, slope) in slopes.iter_mut().enumerate() {
                *slope = match i {
                    _ if is_end && zero_end_slopes => 0.0,
                    0 => end_slope(segment(row, 0), segment(row, 1)),
                    _ if is_end => end_slope(segment(row, i - 1), segment(row, i - 2)),
                    _ => inner_slope(segment(row, i - 1), segment(row, i)),
                };
            }
        }
        Self::cubic_hermite(breaks, samples, &slopes)
    }
}

/// Returns the slope at the break between two segments.
fn inner_slope(a: SplineSegment, b: SplineSegment) -> f64 {
    let (s0, s1) = (a.slope, b.slope);
    if s0 == 0.0 || s1 == 0.0 || (s0 > 0.0) != (s1 > 0.0) {
        return 0.0;
    }
    let h = a.length + b.length;
    3.0 * h / ((h + b.length) / s0 + (h + a.length) / s1)
}

/// Returns the slope at the outer end of the first of two segments: that of the parabola through
/// three samples, limited so that the shape is preserved.
fn end_slope(first: SplineSegment, second: SplineSegment) -> f64 {
    let slope = parabola(first, second);
    let (s0, s1) = (first.slope, second.slope);
    if slope * s0 <= 0.0 {
        0.0
    } else if s0 * s1 <= 0.0 && slope.abs() > 3.0 * s0.abs() {
        3.0 * s0
    } else {
        slope
    }
}
