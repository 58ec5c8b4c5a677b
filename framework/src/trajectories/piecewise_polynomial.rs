//! Polynomials, one per segment of time.

use crate::{Error, Result, Scalar};

/// A vector of polynomials in time, one polynomial per segment and row (Drake's
/// `PiecewisePolynomial`).
///
/// Before the first and after the last break the value is held and derivatives are zero.
///
/// ```
/// use tarragon_framework::trajectories::PiecewisePolynomial;
/// let line = PiecewisePolynomial::first_order_hold(&[0.0, 2.0], &[vec![1.0], vec![5.0]])?;
/// assert_eq!(line.value(1.0), [3.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewisePolynomial {
    breaks: Vec<f64>,
    rows: usize,
    /// Per segment, per row: coefficients of rising powers of the time since the segment's begin.
    coefficients: Vec<Vec<[f64; 4]>>,
}

impl PiecewisePolynomial {
    /// Holds `samples[i]` from `breaks[i]` to `breaks[i + 1]`; the last sample is the value at the
    /// last break.
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`].
    pub fn zero_order_hold(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        Self::from_segments(breaks, samples, |i, row, _| {
            [samples[i][row], 0.0, 0.0, 0.0]
        })
    }

    /// Joins the samples by straight lines.
    ///
    /// # Errors
    /// If there are fewer than two breaks, if they do not increase, if a sample is missing or not
    /// finite, or if the samples have different lengths.
    pub fn first_order_hold(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        Self::from_segments(breaks, samples, |i, row, h| {
            let (a, b) = (samples[i][row], samples[i + 1][row]);
            [a, (b - a) / h, 0.0, 0.0]
        })
    }

    /// Cubic Hermite segments through `samples` with the given slopes `samples_dot` (1/s).
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`]; the slopes follow the same rules.
    pub fn cubic_hermite(
        breaks: &[f64],
        samples: &[Vec<f64>],
        samples_dot: &[Vec<f64>],
    ) -> Result<Self> {
        check(breaks, samples_dot, "samples_dot")?;
        Self::from_segments(breaks, samples, |i, row, h| {
            let (a, b) = (samples[i][row], samples[i + 1][row]);
            let (da, db) = (samples_dot[i][row], samples_dot[i + 1][row]);
            let slope = (b - a) / h;
            let c2 = (3.0 * slope - 2.0 * da - db) / h;
            let c3 = (da + db - 2.0 * slope) / (h * h);
            [a, da, c2, c3]
        })
    }

    /// The cubic spline through `samples` with continuous second derivatives that starts and ends
    /// at rest (Drake's `CubicWithContinuousSecondDerivatives` with zero end slopes).
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`].
    pub fn cubic_spline_at_rest(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        check(breaks, samples, "samples")?;
        let (n, rows) = (breaks.len(), samples[0].len());
        let mut slopes = vec![vec![0.0; rows]; n];
        for row in 0..rows {
            // Continuity of the second derivative at break i:
            //   d[i-1]/h[i-1] + 2 (1/h[i-1] + 1/h[i]) d[i] + d[i+1]/h[i]
            //     = 3 (slope[i-1]/h[i-1] + slope[i]/h[i]);  Thomas algorithm.
            let h = |i: usize| breaks[i + 1] - breaks[i];
            let slope = |i: usize| (samples[i + 1][row] - samples[i][row]) / h(i);
            let (mut upper, mut right) = (vec![0.0; n], vec![0.0; n]);
            for i in 1..n - 1 {
                let (lo, up) = (1.0 / h(i - 1), 1.0 / h(i));
                let pivot = 2.0 * (lo + up) - lo * upper[i - 1];
                upper[i] = up / pivot;
                let rhs = 3.0 * (slope(i - 1) * lo + slope(i) * up);
                right[i] = (rhs - lo * right[i - 1]) / pivot;
            }
            for i in (1..n - 1).rev() {
                slopes[i][row] = right[i] - upper[i] * slopes[i + 1][row];
            }
        }
        Self::cubic_hermite(breaks, samples, &slopes)
    }

    fn from_segments(
        breaks: &[f64],
        samples: &[Vec<f64>],
        segment: impl Fn(usize, usize, f64) -> [f64; 4],
    ) -> Result<Self> {
        check(breaks, samples, "samples")?;
        let rows = samples[0].len();
        let coefficients = (0..breaks.len() - 1)
            .map(|i| {
                (0..rows)
                    .map(|row| segment(i, row, breaks[i + 1] - breaks[i]))
                    .collect()
            })
            .collect();
        Ok(Self {
            breaks: breaks.to_vec(),
            rows,
            coefficients,
        })
    }

    /// Number of elements of the value.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Time of the first break (s).
    pub fn start_time(&self) -> f64 {
        self.breaks[0]
    }
    /// Time of the last break (s).
    pub fn end_time(&self) -> f64 {
        self.breaks[self.breaks.len() - 1]
    }

    /// The value at `time` (s).
    pub fn value<T: Scalar>(&self, time: T) -> Vec<T> {
        let mut value = vec![T::zero(); self.rows];
        self.evaluate_derivative(time, 0, &mut value);
        value
    }

    /// Writes the `order`-th time derivative at `time` (s), order 0 being the value.
    ///
    /// # Panics
    /// If `out` has not [`PiecewisePolynomial::rows`] elements.
    pub fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        assert_eq!(out.len(), self.rows, "one element per row is expected");
        let (first, last) = (self.start_time(), self.end_time());
        let outside = time.re() < first || time.re() > last;
        if outside && order > 0 {
            out.fill(T::zero());
            return;
        }
        // Held values do not depend on time: no derivative with respect to it either.
        let time = if outside {
            T::from(time.re().clamp(first, last))
        } else {
            time
        };
        let segment = self.breaks[1..self.breaks.len() - 1].partition_point(|b| *b <= time.re());
        let s = time - T::from(self.breaks[segment]);
        for (out, c) in out.iter_mut().zip(&self.coefficients[segment]) {
            let mut sum = T::zero();
            for power in (order..4).rev() {
                let falling: f64 = (power + 1 - order..=power).map(|k| k as f64).product();
                sum = sum * s + T::from(c[power] * falling);
            }
            *out = sum;
        }
    }
}

pub(super) fn check(breaks: &[f64], samples: &[Vec<f64>], what: &str) -> Result<()> {
    let fail = |message: String| Err(Error::invalid(format!("PiecewisePolynomial: {message}")));
    if breaks.len() < 2 {
        return fail(format!("{} breaks, at least 2 are expected", breaks.len()));
    }
    if let Some(i) = breaks
        .windows(2)
        .position(|w| !(w[0] < w[1] && w[1].is_finite() && w[0].is_finite()))
    {
        return fail(format!(
            "break {} at {} s does not come after break {i} at {} s",
            i + 1,
            breaks[i + 1],
            breaks[i]
        ));
    }
    if samples.len() != breaks.len() {
        let (found, expected) = (samples.len(), breaks.len());
        return fail(format!(
            "{found} {what}, one per break ({expected}) is expected"
        ));
    }
    let rows = samples[0].len();
    for (i, sample) in samples.iter().enumerate() {
        if sample.len() != rows {
            let found = sample.len();
            return fail(format!(
                "{what}[{i}] has {found} elements, {rows} are expected"
            ));
        }
        if sample.iter().any(|x| !x.is_finite()) {
            return fail(format!(
                "{what}[{i}] is {sample:?}, finite numbers are expected"
            ));
        }
    }
    Ok(())
}
