//! Polynomials in time.

use super::Trajectory;
use super::breaks::{check_vector, fail};
use super::trajectory::hold;
use crate::{Result, Scalar};

/// Name of the type in messages.
const WHO: &str = "Polynomial";

/// Vector of polynomials in time (a column of Drake's `Polynomial`).
///
/// As a [`Trajectory`], it is defined for all time. A [`super::PiecewisePolynomial`] has one per
/// segment, in the time since the start of the segment.
///
/// ```
/// use tarragon_framework::trajectories::{Polynomial, Trajectory};
/// let p = Polynomial::new(&[vec![1.0, 2.0, 3.0], vec![4.0]])?; // 1 + 2 t + 3 t^2, 4
/// assert_eq!(p.value(2.0), [17.0, 4.0]);
/// assert_eq!(p.make_derivative(1).value(2.0), [14.0, 0.0]);
/// assert_eq!(p.integral(&[0.0, 0.0])?.value(2.0), [14.0, 8.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    rows: usize,
    /// Number of coefficients per row, at least one.
    terms: usize,
    /// Coefficients row by row, in ascending powers.
    coefficients: Vec<f64>,
}

impl Polynomial {
    /// Creates polynomials from the coefficients of each row, in ascending powers of the time (s);
    /// an empty row is zero.
    ///
    /// # Errors
    /// Returns an error if a coefficient is not finite.
    pub fn new(coefficients: &[Vec<f64>]) -> Result<Self> {
        let terms = coefficients.iter().map(Vec::len).max().unwrap_or(0);
        for (i, row) in coefficients.iter().enumerate() {
            check_vector(WHO, &format!("row {i}"), row, row.len())?;
        }
        let coefficient =
            |row: usize, power: usize| coefficients[row].get(power).copied().unwrap_or(0.0);
        Ok(Self::from_fn(coefficients.len(), terms, coefficient))
    }

    /// Creates polynomials from a function that gives the coefficient of each row and power.
    pub(super) fn from_fn(
        rows: usize,
        terms: usize,
        coefficient: impl Fn(usize, usize) -> f64,
    ) -> Self {
        // A polynomial without terms is stored as a zero coefficient, so that each row has a slice.
        let some = terms.max(1);
        let entry = |i: usize| match terms {
            0 => 0.0,
            _ => coefficient(i / some, i % some),
        };
        Self {
            rows,
            terms: some,
            coefficients: (0..rows * some).map(entry).collect(),
        }
    }

    /// Returns the highest stored power, even if its coefficient is zero.
    pub fn degree(&self) -> usize {
        self.terms - 1
    }

    /// Returns the coefficients of each row, in ascending powers.
    pub fn coefficients(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.coefficients.chunks_exact(self.terms)
    }

    fn coefficient(&self, row: usize, power: usize) -> f64 {
        self.coefficients[row * self.terms + power]
    }

    /// Returns the `order`-th derivative.
    pub fn make_derivative(&self, order: usize) -> Self {
        let terms = self.terms.saturating_sub(order);
        Self::from_fn(self.rows, terms, |row, power| {
            self.coefficient(row, power + order) * falling_factorial(power + order, order)
        })
    }

    /// Returns the integral over time whose value at time 0 is `constant`.
    ///
    /// # Errors
    /// Returns an error if `constant` does not have one finite number per row.
    pub fn integral(&self, constant: &[f64]) -> Result<Self> {
        check_vector(WHO, "the constant of integration", constant, self.rows)?;
        Ok(self.integral_from(constant))
    }

    /// Same as [`Polynomial::integral`], without the checks; there must be one constant per row.
    pub(super) fn integral_from(&self, constant: &[f64]) -> Self {
        Self::from_fn(self.rows, self.terms + 1, |row, power| match power {
            0 => constant[row],
            _ => self.coefficient(row, power - 1) / power as f64,
        })
    }

    /// Returns `q(t) = p(offset + factor t)`.
    pub(super) fn of_affine_time(&self, offset: f64, factor: f64) -> Self {
        let mut shifted = self.clone();
        for row in shifted.coefficients.chunks_exact_mut(self.terms) {
            // Repeated Horner division by (t - offset) leaves the coefficients of its powers.
            for first in 0..row.len() {
                for k in (first..row.len() - 1).rev() {
                    row[k] += offset * row[k + 1];
                }
            }
            let mut power = 1.0;
            for c in row {
                *c *= power;
                power *= factor;
            }
        }
        shifted
    }

    /// Checks that all coefficients are finite; they may have overflowed.
    pub(super) fn check_finite(&self, who: &str) -> Result<()> {
        if self.coefficients.iter().all(|c| c.is_finite()) {
            return Ok(());
        }
        fail(
            who,
            "the coefficients must be finite, but some overflowed; use samples and times of more similar magnitudes",
        )
    }

    /// Writes the `order`-th derivative at `time` (s), one element per row.
    #[inline]
    pub(super) fn write<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        // The usual orders use loops without products, which take half the time.
        match order {
            0 => self.horner(time, 0, |_| 1.0, out),
            1 => self.horner(time, 1, |power| power as f64, out),
            _ => self.horner(time, order, |power| falling_factorial(power, order), out),
        }
    }

    /// Same as [`Polynomial::write`], given the factor that the derivative gives each power.
    #[inline]
    fn horner<T: Scalar>(
        &self,
        time: T,
        order: usize,
        factor: impl Fn(usize) -> f64,
        out: &mut [T],
    ) {
        for (out, c) in out.iter_mut().zip(self.coefficients()) {
            let mut sum = T::zero();
            for (power, c) in c.iter().enumerate().skip(order).rev() {
                sum = sum * time + T::from(c * factor(power));
            }
            *out = sum;
        }
    }
}

/// Returns `power (power - 1) ...`, a product of `order` factors.
#[inline]
fn falling_factorial(power: usize, order: usize) -> f64 {
    (power + 1 - order..=power).map(|k| k as f64).product()
}

impl Trajectory for Polynomial {
    fn rows(&self) -> usize {
        self.rows
    }
    fn start_time(&self) -> f64 {
        f64::NEG_INFINITY
    }
    fn end_time(&self) -> f64 {
        f64::INFINITY
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        if let Some(time) = hold(self, time, order, out) {
            self.write(time, order, out);
        }
    }
}
