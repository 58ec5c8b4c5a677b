//! B-spline bases.

use super::breaks::fail;
use super::trajectory::clamp;
use crate::{Result, Scalar};

/// Name of the type in messages.
const WHO: &str = "BsplineBasis";

/// Placement of knots (Drake's `KnotVectorType`).
///
/// ```
/// use tarragon_framework::trajectories::{BsplineBasis, KnotVectorType};
/// let uniform = BsplineBasis::uniform(2, 3, KnotVectorType::Uniform, (0.0, 2.0))?;
/// assert_eq!(uniform.knots(), [-1.0, 0.0, 1.0, 2.0, 3.0]);
/// let clamped = BsplineBasis::uniform(2, 3, KnotVectorType::ClampedUniform, (0.0, 2.0))?;
/// assert_eq!(clamped.knots(), [0.0, 0.0, 1.0, 2.0, 2.0]);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnotVectorType {
    /// Equally spaced; the curve does not touch its first and last control point.
    Uniform,
    /// Equally spaced, with the first and last knot repeated `order` times, so that the curve
    /// starts at its first control point and ends at its last one.
    ClampedUniform,
}

/// Basis functions of a spline: piecewise polynomials of degree `order - 1` over a sequence of
/// knots (Drake's `BsplineBasis`), evaluated by de Boor's algorithm.
///
/// ```
/// use tarragon_framework::trajectories::{BsplineBasis, KnotVectorType};
/// let basis = BsplineBasis::uniform(4, 6, KnotVectorType::ClampedUniform, (0.0, 3.0))?;
/// assert_eq!(basis.knots(), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
/// assert_eq!(basis.active_basis_functions(1.5), 1..5);
/// assert_eq!(basis.evaluate_basis_function(0, 0.5)?, 0.125);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BsplineBasis {
    order: usize,
    knots: Vec<f64>,
}

impl BsplineBasis {
    /// Creates a basis of splines of degree `order - 1` over the given knots, of which there are
    /// `order` more than basis functions.
    ///
    /// # Errors
    /// Returns an error if the order is 0, if there are fewer than `2 order` knots, if they are not
    /// finite or decrease, or if the span from knot `order - 1` to the one `order` before the end
    /// is empty.
    pub fn new(order: usize, knots: impl Into<Vec<f64>>) -> Result<Self> {
        let knots = knots.into();
        if order == 0 {
            return fail(WHO, "the order must be positive, got 0");
        }
        if knots.len() / 2 < order {
            let n = knots.len();
            return fail(
                WHO,
                format!("the number of knots must be at least twice the order {order}, got {n}"),
            );
        }
        if let Some(knot) = knots.iter().find(|k| !k.is_finite()) {
            return fail(WHO, format!("the knots must be finite, got {knot:?}"));
        }
        if let Some(i) = knots.windows(2).position(|w| w[1] < w[0]) {
            let (a, b) = (knots[i], knots[i + 1]);
            return fail(
                WHO,
                format!(
                    "knot {} at {b:?} is below knot {i} at {a:?}; sort the knots",
                    i + 1
                ),
            );
        }
        let basis = Self { order, knots };
        let (start, end) = basis.span();
        if start < end {
            return Ok(basis);
        }
        fail(
            WHO,
            format!("the span must not be empty, got {start:?} to {end:?}; use different knots"),
        )
    }

    /// Creates `num_basis_functions` splines of degree `order - 1` over `span`, the initial and the
    /// final parameter value (in Drake, 0 and 1 by default).
    ///
    /// # Errors
    /// Returns an error if the order is 0 or above the number of basis functions, or if the span is
    /// empty or not finite.
    pub fn uniform(
        order: usize,
        num_basis_functions: usize,
        kind: KnotVectorType,
        span: (f64, f64),
    ) -> Result<Self> {
        if order == 0 || num_basis_functions < order {
            return fail(
                WHO,
                format!(
                    "the order must be positive and at most the number of basis functions, got order \
                     {order} and {num_basis_functions} basis functions"
                ),
            );
        }
        let intervals = num_basis_functions - order + 1;
        let interval = (span.1 - span.0) / intervals as f64;
        let knot = |i: usize| {
            let place = match kind {
                KnotVectorType::Uniform => i as f64 - (order as f64 - 1.0),
                KnotVectorType::ClampedUniform => i.saturating_sub(order - 1).min(intervals) as f64,
            };
            // The end itself, free of rounding.
            if place == intervals as f64 {
                span.1
            } else {
                span.0 + place * interval
            }
        };
        let knots: Vec<f64> = (0..num_basis_functions + order).map(knot).collect();
        Self::new(order, knots)
    }

    /// Returns the number of control points that a point of the curve depends on: the degree + 1.
    pub fn order(&self) -> usize {
        self.order
    }
    /// Returns the degree of the polynomials.
    pub fn degree(&self) -> usize {
        self.order - 1
    }
    /// Returns the number of basis functions, which is also that of a curve's control points.
    pub fn num_basis_functions(&self) -> usize {
        self.knots.len() - self.order
    }
    /// Returns the knots.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }
    /// Returns the parameter value where curves start: knot `order - 1`.
    pub fn initial_parameter_value(&self) -> f64 {
        self.span().0
    }
    /// Returns the parameter value where curves end: knot `num_basis_functions`.
    pub fn final_parameter_value(&self) -> f64 {
        self.span().1
    }

    fn span(&self) -> (f64, f64) {
        let last = self.num_basis_functions();
        (self.knots[self.order - 1], self.knots[last])
    }

    /// Returns the index of the last knot that is not above the parameter value and is below the
    /// final one. The interval from it to the next knot contains the value. Values outside of the
    /// span are clamped to it.
    pub fn find_containing_interval(&self, parameter_value: f64) -> usize {
        let end = self.final_parameter_value();
        let within = &self.knots[self.order..self.num_basis_functions()];
        let above = within.partition_point(|k| *k <= parameter_value && *k < end);
        self.order - 1 + above
    }

    /// Returns the indices of the basis functions that may be non-zero at a parameter value
    /// (Drake's `ComputeActiveBasisFunctionIndices`).
    pub fn active_basis_functions(&self, parameter_value: f64) -> std::ops::Range<usize> {
        let interval = self.find_containing_interval(parameter_value);
        interval + 1 - self.order..interval + 1
    }

    /// Evaluates the basis function with an index; parameter values outside of the span are clamped
    /// to it.
    ///
    /// # Errors
    /// Returns an error if there is no such basis function.
    pub fn evaluate_basis_function<T: Scalar>(
        &self,
        index: usize,
        parameter_value: T,
    ) -> Result<T> {
        let n = self.num_basis_functions();
        if index >= n {
            return fail(
                WHO,
                format!("the index of a basis function must be below {n}, got {index}"),
            );
        }
        let (start, end) = self.span();
        let parameter = clamp(parameter_value, start, end);
        let interval = self.find_containing_interval(parameter.re());
        let mut points = vec![T::zero(); self.order];
        for (point, i) in points
            .iter_mut()
            .zip(self.active_basis_functions(parameter.re()))
        {
            *point = T::from(if i == index { 1.0 } else { 0.0 });
        }
        Ok(self.evaluate(interval, parameter, 0, &mut points))
    }

    /// Returns the basis for the derivatives of curves of a degree above 0.
    pub(super) fn of_derivatives(&self) -> Self {
        Self {
            order: self.order - 1,
            knots: self.knots[1..self.knots.len() - 1].to_vec(),
        }
    }

    /// Returns the basis of constants over the same span.
    pub(super) fn of_constants(&self) -> Self {
        let (start, end) = self.span();
        Self {
            order: 1,
            knots: vec![start, end],
        }
    }

    /// Returns the basis with one more knot, inserted right after the knot with index `interval`.
    pub(super) fn with_knot(&self, interval: usize, knot: f64) -> Self {
        let mut knots = self.knots.clone();
        knots.insert(interval + 1, knot);
        Self {
            order: self.order,
            knots,
        }
    }

    /// Evaluates a derivative of the curve, of an order not above the degree. `points` holds the
    /// control points active in the interval that contains the parameter value, and is overwritten
    /// (de Boor: A practical guide to splines, X).
    pub(super) fn evaluate<T: Scalar>(
        &self,
        interval: usize,
        parameter: T,
        derivative_order: usize,
        points: &mut [T],
    ) -> T {
        let (p, t) = (self.degree(), &self.knots);
        let first = interval - p;
        for k in 1..=derivative_order {
            for j in 0..=p - k {
                let i = first + j;
                let factor = (p + 1 - k) as f64 / (t[i + p + 1] - t[i + k]);
                points[j] = (points[j + 1] - points[j]) * T::from(factor);
            }
        }
        let left = p - derivative_order;
        for r in 1..=left {
            for j in (r..=left).rev() {
                let i = first + j;
                let (low, high) = (t[i + derivative_order], t[i + p + 1 - r]);
                let weight = (parameter - T::from(low)) / T::from(high - low);
                points[j] = points[j - 1] + (points[j] - points[j - 1]) * weight;
            }
        }
        points[left]
    }
}
