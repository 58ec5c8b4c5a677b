//! B-spline curves.

use super::breaks::{check_samples, fail};
use super::trajectory::hold;
use super::{BsplineBasis, Trajectory};
use crate::counted::counted;
use crate::{Result, Scalar};

/// Name of the type in messages.
const WHO: &str = "BsplineTrajectory";

/// B-spline curve: control points weighted by the functions of a basis (Drake's
/// `BsplineTrajectory`).
///
/// It lies in the convex hull of its control points. Outside of the span of the basis the value is
/// held, as in Drake, and derivatives are zero (in Drake, they are those at the ends).
///
/// ```
/// use tarragon_framework::trajectories::{
///     BsplineBasis, BsplineTrajectory, KnotVectorType, Trajectory,
/// };
/// let basis = BsplineBasis::uniform(3, 4, KnotVectorType::ClampedUniform, (0.0, 2.0))?;
/// let points = [vec![0.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0], vec![1.0, 0.0]];
/// let mut arch = BsplineTrajectory::new(basis, &points)?;
/// assert_eq!(arch.value(0.0), [0.0, 0.0]);
/// assert_eq!(arch.value(1.0), [0.5, 1.0]);
/// assert_eq!(arch.make_derivative(1).value(1.0), [1.0, 0.0]);
/// arch.insert_knots(&[0.5])?; // one more control point, the same curve
/// assert_eq!((arch.num_control_points(), arch.value(1.0)), (5, vec![0.5, 1.0]));
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BsplineTrajectory {
    basis: BsplineBasis,
    /// One control point per basis function, all of the same length.
    control_points: Vec<Vec<f64>>,
}

impl BsplineTrajectory {
    /// Creates the curve of `control_points`, one per function of `basis`.
    ///
    /// # Errors
    /// Returns an error if the number of control points differs, if they have different lengths, or
    /// if they are not finite.
    pub fn new(basis: BsplineBasis, control_points: &[Vec<f64>]) -> Result<Self> {
        let n = basis.num_basis_functions();
        check_samples(WHO, "control_points", control_points, n)?;
        Ok(Self {
            basis,
            control_points: control_points.to_vec(),
        })
    }

    /// Returns the basis.
    pub fn basis(&self) -> &BsplineBasis {
        &self.basis
    }
    /// Returns the number of control points.
    pub fn num_control_points(&self) -> usize {
        self.control_points.len()
    }
    /// Returns the control points.
    pub fn control_points(&self) -> &[Vec<f64>] {
        &self.control_points
    }

    /// Returns the `order`-th derivative within the span: a spline whose degree is lower by
    /// `order`, or zero if `order` is above the degree. Outside of the span, the returned
    /// trajectory holds its value like any other, whereas [`Trajectory::evaluate_derivative`] gives
    /// zero.
    pub fn make_derivative(&self, order: usize) -> Self {
        if order > self.basis.degree() {
            return Self {
                basis: self.basis.of_constants(),
                control_points: vec![vec![0.0; self.rows()]],
            };
        }
        let mut derivative = self.clone();
        for _ in 0..order {
            derivative = derivative.first_derivative();
        }
        derivative
    }

    fn first_derivative(&self) -> Self {
        let (p, t) = (self.basis.degree(), self.basis.knots());
        let point = |(i, points): (usize, &[Vec<f64>])| {
            let length = t[i + p + 1] - t[i + 1];
            let change = points[0].iter().zip(&points[1]).map(|(a, b)| b - a);
            // Where knots coincide, the basis function is zero, whatever its control point.
            let factor = if length > 0.0 { p as f64 / length } else { 0.0 };
            change.map(|change| factor * change).collect()
        };
        Self {
            basis: self.basis.of_derivatives(),
            control_points: self
                .control_points
                .windows(2)
                .enumerate()
                .map(point)
                .collect(),
        }
    }

    /// Inserts knots, and as many control points, without changing the curve (Boehm's algorithm).
    ///
    /// # Errors
    /// Returns an error if a knot lies outside of the span. In that case the curve stays unchanged.
    pub fn insert_knots(&mut self, knots: &[f64]) -> Result<()> {
        let (start, end) = (self.start_time(), self.end_time());
        if let Some(knot) = knots.iter().find(|k| !(start..=end).contains(*k)) {
            return fail(
                WHO,
                format!("a new knot must be from {start:?} s to {end:?} s, got {knot:?} s"),
            );
        }
        for knot in knots {
            self.insert_knot(*knot);
        }
        Ok(())
    }

    fn insert_knot(&mut self, knot: f64) {
        let (p, t) = (self.basis.degree(), self.basis.knots());
        let interval = self.basis.find_containing_interval(knot);
        let old = &self.control_points;
        let mut points = old[..=interval - p].to_vec();
        for i in interval - p + 1..=interval {
            let weight = (knot - t[i]) / (t[i + p] - t[i]);
            let pairs = old[i - 1].iter().zip(&old[i]);
            points.push(pairs.map(|(a, b)| a + weight * (b - a)).collect());
        }
        points.extend_from_slice(&old[interval..]);
        self.basis = self.basis.with_knot(interval, knot);
        self.control_points = points;
    }

    /// Returns the trajectory of `rows` elements of this one, starting at `start_row` (Drake's
    /// `CopyBlock`).
    ///
    /// # Errors
    /// Returns an error if the trajectory does not have that many rows.
    pub fn copy_block(&self, start_row: usize, rows: usize) -> Result<Self> {
        let n = self.rows();
        let Some(end) = start_row.checked_add(rows).filter(|end| *end <= n) else {
            return fail(
                WHO,
                format!(
                    "the block must lie within {num_rows}, got {found} from row {start_row} on",
                    num_rows = counted(n, "row"),
                    found = counted(rows, "row")
                ),
            );
        };
        let block = |point: &Vec<f64>| point[start_row..end].to_vec();
        Ok(Self {
            basis: self.basis.clone(),
            control_points: self.control_points.iter().map(block).collect(),
        })
    }
}

impl Trajectory for BsplineTrajectory {
    fn rows(&self) -> usize {
        self.control_points[0].len()
    }
    fn start_time(&self) -> f64 {
        self.basis.initial_parameter_value()
    }
    fn end_time(&self) -> f64 {
        self.basis.final_parameter_value()
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        let Some(time) = hold(self, time, order, out) else {
            return;
        };
        if order > self.basis.degree() {
            out.fill(T::zero());
            return;
        }
        let interval = self.basis.find_containing_interval(time.re());
        let active = &self.control_points[self.basis.active_basis_functions(time.re())];
        let mut points = vec![T::zero(); active.len()];
        for (row, out) in out.iter_mut().enumerate() {
            for (point, control) in points.iter_mut().zip(active) {
                *point = T::from(control[row]);
            }
            *out = self.basis.evaluate(interval, time, order, &mut points);
        }
    }
}
