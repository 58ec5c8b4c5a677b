//! Piecewise polynomials of time.

use super::breaks::{check_breaks, check_count, check_samples, check_vector, fail, segment_at};
use super::trajectory::hold;
use super::{Polynomial, Trajectory};
use crate::counted::counted;
use crate::{Result, Scalar};

/// Name of the type in messages.
pub(super) const WHO: &str = "PiecewisePolynomial";

/// Vector of piecewise polynomials in time, one polynomial per segment and row (Drake's
/// `PiecewisePolynomial`).
///
/// Before the first and after the last break the value is held and derivatives are zero (in Drake,
/// derivatives are held too, but `TrajectorySource` gives zero by default). A break belongs to the
/// segment that starts there.
///
/// ```
/// use tarragon_framework::trajectories::PiecewisePolynomial;
/// let line = PiecewisePolynomial::first_order_hold(&[0.0, 2.0], &[vec![1.0], vec![5.0]])?;
/// assert_eq!(line.value(1.0), [3.0]);
/// assert_eq!(line.make_derivative(1).value(1.0), [2.0]);
/// assert_eq!(line.integral(&[0.0])?.value(2.0), [6.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewisePolynomial {
    pub(super) breaks: Vec<f64>,
    /// One per segment, all with the same rows, in the time since the start of the segment.
    pub(super) segments: Vec<Polynomial>,
}

impl PiecewisePolynomial {
    /// Creates a trajectory from one polynomial per segment, in the time since the start of the
    /// segment.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two breaks (s), if they do not increase, if there
    /// is not one polynomial between each pair, or if the polynomials have different rows.
    ///
    /// ```
    /// use tarragon_framework::trajectories::{PiecewisePolynomial, Polynomial};
    /// let up = Polynomial::new(&[vec![0.0, 0.0, 1.0]])?; // (t - 1)^2
    /// let down = Polynomial::new(&[vec![4.0, -2.0]])?; // 4 - 2 (t - 3)
    /// let p = PiecewisePolynomial::from_segments(&[1.0, 3.0, 4.0], vec![up, down])?;
    /// assert_eq!((p.value(2.0), p.value(3.5)), (vec![1.0], vec![3.0]));
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn from_segments(breaks: &[f64], segments: Vec<Polynomial>) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_count(WHO, "segments", segments.len(), breaks.len() - 1)?;
        let rows = segments[0].rows();
        if let Some(i) = segments.iter().position(|p| p.rows() != rows) {
            let found = segments[i].rows();
            return fail(
                WHO,
                format!(
                    "segment {i} must have {num_rows}, got {found}",
                    num_rows = counted(rows, "row")
                ),
            );
        }
        for segment in &segments {
            segment.check_finite(WHO)?;
        }
        Ok(Self {
            breaks: breaks.to_vec(),
            segments,
        })
    }

    /// Holds `samples[i]` from `breaks[i]` to `breaks[i + 1]` (s). As in Drake, the last sample
    /// belongs to no segment: from the second-to-last break on, the second-to-last sample is held.
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`].
    pub fn zero_order_hold(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        Self::through(breaks, samples, |i, row, _| [samples[i][row]])
    }

    /// Connects the samples by straight lines.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two breaks (s), if they do not increase, if a
    /// sample is missing or not finite, or if the samples have different lengths.
    pub fn first_order_hold(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        Self::through(breaks, samples, |i, row, h| {
            let (a, b) = (samples[i][row], samples[i + 1][row]);
            [a, (b - a) / h]
        })
    }

    /// Creates cubic Hermite segments through `samples` with the given slopes `samples_dot` (1/s).
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`]; the same rules hold for the slopes.
    pub fn cubic_hermite(
        breaks: &[f64],
        samples: &[Vec<f64>],
        samples_dot: &[Vec<f64>],
    ) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_samples(WHO, "samples", samples, breaks.len())?;
        check_samples(WHO, "samples_dot", samples_dot, breaks.len())?;
        check_vector(WHO, "samples_dot[0]", &samples_dot[0], samples[0].len())?;
        Self::through(breaks, samples, |i, row, h| {
            cubic(
                h,
                (samples[i][row], samples_dot[i][row]),
                (samples[i + 1][row], samples_dot[i + 1][row]),
            )
        })
    }

    /// Creates the polynomial of lowest degree through all samples, as one segment (Drake's
    /// `LagrangeInterpolatingPolynomial`). With more than a few equally spaced samples it
    /// oscillates strongly between them (Runge's phenomenon); splines do not.
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`].
    ///
    /// ```
    /// use tarragon_framework::trajectories::PiecewisePolynomial;
    /// let samples = [vec![1.0], vec![4.0], vec![16.0]]; // t^2 at 1, 2 and 4
    /// let square = PiecewisePolynomial::lagrange_interpolant(&[1.0, 2.0, 4.0], &samples)?;
    /// assert_eq!(square.value(3.0), [9.0]);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn lagrange_interpolant(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_samples(WHO, "samples", samples, breaks.len())?;
        let n = breaks.len();
        let rows = (0..samples[0].len()).map(|row| {
            // Newton's divided differences, then Horner's scheme to powers of t - breaks[0].
            let mut differences: Vec<f64> = samples.iter().map(|s| s[row]).collect();
            for k in 1..n {
                for i in (k..n).rev() {
                    differences[i] =
                        (differences[i] - differences[i - 1]) / (breaks[i] - breaks[i - k]);
                }
            }
            let mut coefficients = vec![0.0; n];
            for i in (0..n).rev() {
                let node = breaks[i] - breaks[0];
                for k in (1..n).rev() {
                    coefficients[k] = coefficients[k - 1] - node * coefficients[k];
                }
                coefficients[0] = differences[i] - node * coefficients[0];
            }
            coefficients
        });
        let polynomial = Polynomial::new(&rows.collect::<Vec<_>>())?;
        Self::from_segments(&[breaks[0], breaks[n - 1]], vec![polynomial])
    }

    /// Creates one segment per pair of samples; `segment` receives the index, the row and the
    /// length (s).
    fn through<const N: usize>(
        breaks: &[f64],
        samples: &[Vec<f64>],
        segment: impl Fn(usize, usize, f64) -> [f64; N],
    ) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_samples(WHO, "samples", samples, breaks.len())?;
        let rows = samples[0].len();
        let polynomial = |i: usize| {
            let coefficients = |row| segment(i, row, breaks[i + 1] - breaks[i]);
            let coefficients: Vec<[f64; N]> = (0..rows).map(coefficients).collect();
            Polynomial::from_fn(rows, N, |row, power| coefficients[row][power])
        };
        let segments = (0..breaks.len() - 1).map(polynomial).collect();
        Self::from_segments(breaks, segments)
    }

    /// Returns the number of elements of the value.
    pub fn rows(&self) -> usize {
        self.segments[0].rows()
    }
    /// Returns the time of the first break (s).
    pub fn start_time(&self) -> f64 {
        self.breaks[0]
    }
    /// Returns the time of the last break (s).
    pub fn end_time(&self) -> f64 {
        self.breaks[self.breaks.len() - 1]
    }
    /// Returns the times (s) at which segments start, and the time at which the last one ends
    /// (Drake's `get_segment_times`).
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }
    /// Returns the polynomials of the segments, in the time since the start of the segment.
    pub fn segments(&self) -> &[Polynomial] {
        &self.segments
    }

    /// Returns the value at `time` (s).
    pub fn value<T: Scalar>(&self, time: T) -> Vec<T> {
        Trajectory::value(self, time)
    }

    /// Writes the `order`-th time derivative at `time` (s), order 0 being the value.
    ///
    /// # Panics
    /// Panics if `out` does not have [`PiecewisePolynomial::rows`] elements.
    pub fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        if let Some(time) = hold(self, time, order, out) {
            let segment = segment_at(&self.breaks, time.re());
            let since = time - T::from(self.breaks[segment]);
            self.segments[segment].write(since, order, out);
        }
    }

    /// Returns the `order`-th derivative within the breaks (Drake's `derivative`), ignoring jumps
    /// and kinks. Outside, the returned trajectory holds its value like any other, whereas
    /// [`PiecewisePolynomial::evaluate_derivative`] gives zero.
    pub fn make_derivative(&self, order: usize) -> Self {
        Self {
            breaks: self.breaks.clone(),
            segments: self
                .segments
                .iter()
                .map(|p| p.make_derivative(order))
                .collect(),
        }
    }

    /// Returns the continuous integral over time whose value at the first break is
    /// `value_at_start_time`.
    ///
    /// # Errors
    /// Returns an error if there is not one finite number per row.
    pub fn integral(&self, value_at_start_time: &[f64]) -> Result<Self> {
        check_vector(WHO, "value_at_start_time", value_at_start_time, self.rows())?;
        let mut value = value_at_start_time.to_vec();
        let mut segments = Vec::with_capacity(self.segments.len());
        for (segment, t) in self.segments.iter().zip(self.breaks.windows(2)) {
            let integral = segment.integral_from(&value);
            integral.write(t[1] - t[0], 0, &mut value);
            segments.push(integral);
        }
        Self::from_segments(&self.breaks, segments)
    }
}

/// Returns the coefficients of the cubic over `h` seconds between the (value, slope) pairs `begin`
/// and `end`.
pub(super) fn cubic(h: f64, begin: (f64, f64), end: (f64, f64)) -> [f64; 4] {
    let slope = (end.0 - begin.0) / h;
    let c2 = (3.0 * slope - 2.0 * begin.1 - end.1) / h;
    let c3 = (begin.1 + end.1 - 2.0 * slope) / (h * h);
    [begin.0, begin.1, c2, c3]
}

impl Trajectory for PiecewisePolynomial {
    fn rows(&self) -> usize {
        self.rows()
    }
    fn start_time(&self) -> f64 {
        self.start_time()
    }
    fn end_time(&self) -> f64 {
        self.end_time()
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        self.evaluate_derivative(time, order, out);
    }
}
