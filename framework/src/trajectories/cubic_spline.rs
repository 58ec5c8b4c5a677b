//! Cubic splines with continuous second derivatives.

use super::breaks::{check_breaks, check_samples, check_vector};
use super::piecewise_polynomial::{PiecewisePolynomial, WHO};
use crate::Result;

/// End conditions of a cubic spline.
///
/// ```
/// use tarragon_framework::trajectories::{PiecewisePolynomial, SplineEnds};
/// let spline = PiecewisePolynomial::cubic_with_continuous_second_derivatives;
/// let (breaks, samples) = ([0.0, 1.0, 2.0], [vec![0.0], vec![1.0], vec![0.0]]);
/// let round = spline(&breaks, &samples, &SplineEnds::Periodic)?.make_derivative(1);
/// assert_eq!(round.value(0.0), round.value(2.0));
/// let parabola = spline(&breaks, &samples, &SplineEnds::NotAKnot)?; // t (2 - t)
/// assert_eq!(parabola.value(0.5), [0.75]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SplineEnds {
    /// Given slopes (1/s) at the start and the end, one number per row.
    Slopes {
        /// Slopes at the first break.
        start: Vec<f64>,
        /// Slopes at the last break.
        end: Vec<f64>,
    },
    /// Continuous third derivatives at the second and the second-to-last break: samples of a cubic
    /// yield that cubic, three samples a parabola. Requires three breaks.
    NotAKnot,
    /// The first and second derivatives at the end equal those at the start. Requires three breaks.
    /// The samples at the ends may differ.
    Periodic,
}

/// Equation `e[0] d[i-1] + e[1] d[i] + e[2] d[i+1] = e[3]` for the slopes d.
type Equation = [f64; 4];

impl PiecewisePolynomial {
    /// Creates the cubic spline through `samples` with continuous second derivatives (Drake's
    /// `CubicWithContinuousSecondDerivatives`).
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`]. Also returns an error if the end conditions
    /// require more breaks, or if their slopes have a different length.
    ///
    /// ```
    /// use tarragon_framework::trajectories::{PiecewisePolynomial, SplineEnds};
    /// let breaks = [0.0, 1.0, 3.0, 4.0];
    /// let cubes = breaks.map(|t: f64| vec![t.powi(3)]);
    /// let ends = SplineEnds::NotAKnot;
    /// let spline = PiecewisePolynomial::cubic_with_continuous_second_derivatives;
    /// let p = spline(&breaks, &cubes, &ends)?;
    /// assert!((p.value(2.0_f64)[0] - 8.0).abs() < 1e-14);
    /// # Ok::<(), tarragon_framework::Error>(())
    /// ```
    pub fn cubic_with_continuous_second_derivatives(
        breaks: &[f64],
        samples: &[Vec<f64>],
        ends: &SplineEnds,
    ) -> Result<Self> {
        let needed = match ends {
            SplineEnds::Slopes { .. } => 2,
            SplineEnds::NotAKnot | SplineEnds::Periodic => 3,
        };
        check_breaks(WHO, breaks, needed)?;
        check_samples(WHO, "samples", samples, breaks.len())?;
        let (n, rows) = (breaks.len(), samples[0].len());
        if let SplineEnds::Slopes { start, end } = ends {
            check_vector(WHO, "the start slope", start, rows)?;
            check_vector(WHO, "the end slope", end, rows)?;
        }
        let mut slopes = vec![vec![0.0; rows]; n];
        for row in 0..rows {
            let segment = |i: usize| SplineSegment::of_row(breaks, samples, row, i);
            let mut equations: Vec<Equation> = vec![[0.0, 1.0, 0.0, 0.0]; n];
            for (i, equation) in equations[1..n - 1].iter_mut().enumerate() {
                *equation = smooth(segment(i), segment(i + 1));
            }
            match ends {
                SplineEnds::Slopes { start, end } => {
                    (equations[0][3], equations[n - 1][3]) = (start[row], end[row]);
                }
                SplineEnds::NotAKnot if n == 3 => {
                    equations[0][3] = parabola(segment(0), segment(1));
                    equations[2][3] = parabola(segment(1), segment(0));
                }
                SplineEnds::NotAKnot => {
                    let [own, other, right] = not_a_knot(segment(0), segment(1));
                    equations[0] = [0.0, own, other, right];
                    let [own, other, right] = not_a_knot(segment(n - 2), segment(n - 3));
                    equations[n - 1] = [other, own, 0.0, right];
                }
                SplineEnds::Periodic => {
                    let closing = smooth(segment(n - 2), segment(0));
                    let end = periodic_end(&equations, closing);
                    (equations[0][3], equations[n - 1][3]) = (end, end);
                }
            }
            for (slopes, slope) in slopes.iter_mut().zip(solve(&equations)) {
                slopes[row] = slope;
            }
        }
        Self::cubic_hermite(breaks, samples, &slopes)
    }

    /// Creates the cubic spline through `samples` with continuous second derivatives that starts
    /// and ends at rest (Drake's `CubicWithContinuousSecondDerivatives` with zero end slopes).
    ///
    /// # Errors
    /// See [`PiecewisePolynomial::first_order_hold`].
    pub fn cubic_spline_at_rest(breaks: &[f64], samples: &[Vec<f64>]) -> Result<Self> {
        let zero = vec![0.0; samples.first().map_or(0, Vec::len)];
        let ends = SplineEnds::Slopes {
            start: zero.clone(),
            end: zero,
        };
        Self::cubic_with_continuous_second_derivatives(breaks, samples, &ends)
    }
}

/// The straight line between two samples of a row.
#[derive(Clone, Copy)]
pub(super) struct SplineSegment {
    /// Duration (s).
    pub(super) length: f64,
    /// Slope (1/s).
    pub(super) slope: f64,
}

impl SplineSegment {
    /// Returns the segment from break `i` to the next one.
    pub(super) fn of_row(breaks: &[f64], samples: &[Vec<f64>], row: usize, i: usize) -> Self {
        let length = breaks[i + 1] - breaks[i];
        Self {
            length,
            slope: (samples[i + 1][row] - samples[i][row]) / length,
        }
    }
}

/// Returns the equation for a continuous second derivative between two segments.
fn smooth(a: SplineSegment, b: SplineSegment) -> Equation {
    let (lower, upper) = (1.0 / a.length, 1.0 / b.length);
    let right = 3.0 * (a.slope * lower + b.slope * upper);
    [lower, 2.0 * (lower + upper), upper, right]
}

/// Returns the slope at the outer end of the first of two segments, by the parabola through their
/// three samples.
pub(super) fn parabola(first: SplineSegment, second: SplineSegment) -> f64 {
    let (h0, h1) = (first.length, second.length);
    ((2.0 * h0 + h1) * first.slope - h0 * second.slope) / (h0 + h1)
}

/// Not-a-knot condition: continuity of the third derivative between the end segment and its
/// neighbour, after eliminating the slope at the neighbour's far end. Returns the factor of the end
/// slope, the factor of the next slope, and the right-hand side (de Boor: A practical guide to
/// splines, IV).
fn not_a_knot(end: SplineSegment, neighbor: SplineSegment) -> [f64; 3] {
    let (h0, h1) = (end.length, neighbor.length);
    let h = h0 + h1;
    let right = (h0 + 2.0 * h) * h1 * end.slope + h0 * h0 * neighbor.slope;
    [h1, h, right / h]
}

/// Returns the common slope at both ends with which they join smoothly. The inner slopes are affine
/// functions of it.
fn periodic_end(equations: &[Equation], closing: Equation) -> f64 {
    let last = equations.len() - 1;
    let fixed = solve(equations);
    let mut homogeneous = equations.to_vec();
    for equation in &mut homogeneous {
        equation[3] = 0.0;
    }
    (homogeneous[0][3], homogeneous[last][3]) = (1.0, 1.0);
    let change = solve(&homogeneous);
    let [lower, own, upper, right] = closing;
    (right - lower * fixed[last - 1] - upper * fixed[1])
        / (own + lower * change[last - 1] + upper * change[1])
}

/// Solves the equations by Thomas's algorithm. All systems here stay regular without pivoting: the
/// inner equations are diagonally dominant, and so are those next to the ends once the end
/// equations are eliminated.
fn solve(equations: &[Equation]) -> Vec<f64> {
    let n = equations.len();
    let (mut upper, mut x) = (vec![0.0; n], vec![0.0; n]);
    for (i, [lo, own, up, right]) in equations.iter().enumerate() {
        let (upper_before, x_before) = match i {
            0 => (0.0, 0.0),
            _ => (upper[i - 1], x[i - 1]),
        };
        let pivot = own - lo * upper_before;
        upper[i] = up / pivot;
        x[i] = (right - lo * x_before) / pivot;
    }
    for i in (0..n - 1).rev() {
        x[i] -= upper[i] * x[i + 1];
    }
    x
}
