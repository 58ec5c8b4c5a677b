//! Editing of piecewise polynomials: concatenation, shift, reversal and scaling of time.

use super::Polynomial;
use super::breaks::{check_breaks, check_count, check_vector, fail};
use super::piecewise_polynomial::{PiecewisePolynomial, WHO, cubic};
use crate::Result;

/// ```
/// use tarragon_framework::trajectories::PiecewisePolynomial;
/// let mut p = PiecewisePolynomial::first_order_hold(&[0.0, 1.0], &[vec![0.0], vec![3.0]])?;
/// p.append_first_order_segment(2.0, &[5.0])?;
/// p.reverse_time();
/// p.shift_right(2.0)?;
/// p.scale_time(4.0)?;
/// assert_eq!(p.breaks(), [0.0, 4.0, 8.0]);
/// assert_eq!((p.value(2.0), p.value(6.0)), (vec![4.0], vec![1.5]));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
impl PiecewisePolynomial {
    /// Appends `other`, which must start where this one ends (Drake's `ConcatenateInTime`). The
    /// values may differ there.
    ///
    /// # Errors
    /// Returns an error if the rows differ, or if `other` starts at another time than this one ends
    /// (`other` is shifted by differences within rounding). In that case this one stays unchanged.
    pub fn concatenate_in_time(&mut self, other: &Self) -> Result<()> {
        check_count(
            WHO,
            "rows in the other trajectory",
            other.rows(),
            self.rows(),
        )?;
        let (end, start) = (self.end_time(), other.start_time());
        let offset = start - end;
        if offset.abs() > end.abs().max(1.0) * f64::EPSILON {
            return fail(
                WHO,
                format!(
                    "the other trajectory must start at the end of this one, {end:?} s, got {start:?} s; use `shift_right`"
                ),
            );
        }
        let mut breaks = self.breaks.clone();
        breaks.extend(other.breaks[1..].iter().map(|b| b - offset));
        check_breaks(WHO, &breaks, 2)?;
        self.breaks = breaks;
        self.segments.extend_from_slice(&other.segments);
        Ok(())
    }

    /// Appends a straight line to `sample` at `time` (s) (Drake's `AppendFirstOrderSegment`).
    ///
    /// # Errors
    /// Returns an error unless the time comes after the last break and there is one finite number
    /// per row.
    pub fn append_first_order_segment(&mut self, time: f64, sample: &[f64]) -> Result<()> {
        self.append(time, sample, |i, h, value, _| {
            [value[i], (sample[i] - value[i]) / h]
        })
    }

    /// Appends a cubic that starts with the value and slope at the current end, and ends at `time`
    /// (s) with `sample` and the slope `sample_dot` (1/s) (Drake's `AppendCubicHermiteSegment`).
    ///
    /// # Errors
    /// Same as [`PiecewisePolynomial::append_first_order_segment`].
    pub fn append_cubic_hermite_segment(
        &mut self,
        time: f64,
        sample: &[f64],
        sample_dot: &[f64],
    ) -> Result<()> {
        check_vector(WHO, "sample_dot", sample_dot, self.rows())?;
        self.append(time, sample, |i, h, value, slope| {
            cubic(h, (value[i], slope[i]), (sample[i], sample_dot[i]))
        })
    }

    /// Appends a segment. `coefficients` receives the row, the length (s), and the value and slope
    /// at the current end.
    fn append<const N: usize>(
        &mut self,
        time: f64,
        sample: &[f64],
        coefficients: impl Fn(usize, f64, &[f64], &[f64]) -> [f64; N],
    ) -> Result<()> {
        let (rows, end) = (self.rows(), self.end_time());
        check_vector(WHO, "the sample", sample, rows)?;
        if !(time > end && time.is_finite()) {
            return fail(
                WHO,
                format!("the sample must come after the last break at {end:?} s, got {time:?} s"),
            );
        }
        let (mut value, mut slope) = (vec![0.0; rows], vec![0.0; rows]);
        self.evaluate_derivative(end, 0, &mut value);
        self.evaluate_derivative(end, 1, &mut slope);
        let segment = Polynomial::from_fn(rows, N, |row, power| {
            coefficients(row, time - end, &value, &slope)[power]
        });
        segment.check_finite(WHO)?;
        self.breaks.push(time);
        self.segments.push(segment);
        Ok(())
    }

    /// Shifts all times by `offset` (s), which may be negative (Drake's `shiftRight`).
    ///
    /// # Errors
    /// Returns an error if the offset is not finite, or so large that breaks coincide. In that case
    /// nothing changes.
    pub fn shift_right(&mut self, offset: f64) -> Result<()> {
        let breaks: Vec<f64> = self.breaks.iter().map(|b| b + offset).collect();
        check_breaks(WHO, &breaks, 2)?;
        self.breaks = breaks;
        Ok(())
    }

    /// Replaces `p(t)` by `p(-t)` (Drake's `ReverseTime`), defined from minus the end to minus the
    /// start.
    pub fn reverse_time(&mut self) {
        for (segment, t) in self.segments.iter_mut().zip(self.breaks.windows(2)) {
            *segment = segment.of_affine_time(t[1] - t[0], -1.0);
        }
        self.segments.reverse();
        self.breaks.reverse();
        for time in &mut self.breaks {
            *time = -*time;
        }
    }

    /// Replaces `p(t)` by `p(t / scale)` (Drake's `ScaleTime`): a scale of 2 takes twice as long.
    ///
    /// # Errors
    /// Returns an error if the scale is not positive and finite, or so small or large that breaks
    /// or coefficients overflow. In that case nothing changes.
    pub fn scale_time(&mut self, scale: f64) -> Result<()> {
        if !(scale > 0.0 && scale.is_finite()) {
            return fail(
                WHO,
                format!(
                    "the scale of time must be positive and finite, got {scale:?}; to reverse it, use `reverse_time`"
                ),
            );
        }
        let breaks: Vec<f64> = self.breaks.iter().map(|b| b * scale).collect();
        let segments = self.segments.iter();
        let segments = segments.map(|p| p.of_affine_time(0.0, 1.0 / scale));
        *self = Self::from_segments(&breaks, segments.collect())?;
        Ok(())
    }
}
