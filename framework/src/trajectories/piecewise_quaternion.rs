//! Interpolation of orientations.

use super::breaks::{check_breaks, check_count, fail, segment_at};
use super::trajectory::{clamp, derivative, hold};
use super::{PiecewisePolynomial, Polynomial, Trajectory};
use crate::{Result, Scalar, math};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Name of the type in messages.
const WHO: &str = "PiecewiseQuaternionSlerp";

/// Orientations that turn from each to the next at a constant rate, the shortest way (Drake's
/// `PiecewiseQuaternionSlerp`; Shoemake: Animating rotation with quaternion curves, 1985).
///
/// The orientations are `R_AB` of a frame B in A; angular velocities and accelerations are those of
/// B in A, expressed in A. Where two orientations are half a turn apart, either direction is the
/// shortest.
///
/// As a [`Trajectory`], the value is the quaternion `(w, x, y, z)`, whose sign does not jump. A
/// derivative has three elements: order 1 is the angular velocity (rad/s), order 2 the angular
/// acceleration, which is zero like all higher orders. Outside of the span the orientation is held
/// and derivatives are zero (in Drake, the angular velocity is held).
///
/// ```
/// use tarragon_framework::{math, trajectories::PiecewiseQuaternionSlerp};
/// let quarters = [0.0, 1.0, 2.0].map(|k| math::rotation_z(k * std::f64::consts::FRAC_PI_2));
/// let turn = PiecewiseQuaternionSlerp::new(&[0.0, 1.0, 3.0], &quarters)?;
/// let half = turn.orientation(0.5);
/// assert!(half.angle_to(&math::rotation_z(std::f64::consts::FRAC_PI_4)) < 1e-15);
/// assert!((turn.angular_velocity(2.0).z - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseQuaternionSlerp {
    breaks: Vec<f64>,
    /// One per break, each with the sign that is closer to its predecessor.
    orientations: Vec<UnitQuaternion<f64>>,
    /// Angular velocities (rad/s), one per segment.
    angular_velocities: Vec<Vector3<f64>>,
}

impl PiecewiseQuaternionSlerp {
    /// Creates a trajectory through `orientations`, one per break (s).
    ///
    /// # Errors
    /// Returns an error if there are fewer than two breaks, if they do not increase, if an
    /// orientation is missing, or if a quaternion has no direction.
    pub fn new(breaks: &[f64], orientations: &[UnitQuaternion<f64>]) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        check_count(WHO, "orientations", orientations.len(), breaks.len())?;
        let mut slerp = Self {
            breaks: vec![breaks[0]],
            orientations: vec![unit(&orientations[0], 0)?],
            angular_velocities: vec![],
        };
        for (time, orientation) in breaks.iter().zip(orientations).skip(1) {
            slerp.append(*time, orientation)?;
        }
        Ok(slerp)
    }

    /// Appends a turn to `orientation`, which is reached at `time` (s).
    ///
    /// # Errors
    /// Returns an error if the time does not come after the last break, or if the quaternion has no
    /// direction.
    pub fn append(&mut self, time: f64, orientation: &UnitQuaternion<f64>) -> Result<()> {
        let last = self.breaks.len() - 1;
        let (end, before) = (self.breaks[last], self.orientations[last]);
        if !(time > end && time.is_finite()) {
            return fail(
                WHO,
                format!(
                    "the orientation must come after the last break at {end:?} s, got {time:?} s"
                ),
            );
        }
        let next = unit(orientation, last + 1)?;
        let next = if before.coords.dot(&next.coords) < 0.0 {
            UnitQuaternion::new_unchecked(-next.into_inner())
        } else {
            next
        };
        let velocity = math::rotation_log(&(next * before.inverse())) / (time - end);
        if velocity.iter().any(|w| !w.is_finite()) {
            return fail(
                WHO,
                format!(
                    "from {end:?} s to {time:?} s is too short for a turn; move the breaks apart"
                ),
            );
        }
        self.breaks.push(time);
        self.orientations.push(next);
        self.angular_velocities.push(velocity);
        Ok(())
    }

    /// Returns the times (s) of the given orientations.
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }
    /// Returns the given orientations, with signs chosen such that each quaternion is closer to its
    /// predecessor than its negative is.
    pub fn orientations(&self) -> &[UnitQuaternion<f64>] {
        &self.orientations
    }

    /// Returns the orientation at `time` (s).
    pub fn orientation<T: Scalar>(&self, time: T) -> UnitQuaternion<T> {
        let time = clamp(time, self.start_time(), self.end_time());
        let segment = segment_at(&self.breaks, time.re());
        let since = time - T::from(self.breaks[segment]);
        let turn = self.angular_velocities[segment].map(T::from) * since;
        let begin = self.orientations[segment].coords.map(T::from);
        math::rotation_exp(&turn) * UnitQuaternion::new_unchecked(Quaternion::from_vector(begin))
    }

    /// Returns the angular velocity at `time` (s), in rad/s.
    pub fn angular_velocity<T: Scalar>(&self, time: T) -> Vector3<T> {
        derivative(self, time, 1)
    }

    /// Returns the angular acceleration at `time` (s), in rad/s^2: zero, even at breaks, where the
    /// velocity jumps.
    pub fn angular_acceleration<T: Scalar>(&self, time: T) -> Vector3<T> {
        derivative(self, time, 2)
    }

    /// Returns the angular velocity (rad/s) within the breaks as a trajectory of three rows
    /// (Drake's `MakeDerivative`).
    pub fn make_angular_velocity(&self) -> PiecewisePolynomial {
        let velocities = self.angular_velocities.iter();
        let constant = |w: &Vector3<f64>| Polynomial::from_fn(3, 1, |row, _| w[row]);
        PiecewisePolynomial {
            breaks: self.breaks.clone(),
            segments: velocities.map(constant).collect(),
        }
    }
}

/// Normalizes the orientation with index `i`.
fn unit(orientation: &UnitQuaternion<f64>, i: usize) -> Result<UnitQuaternion<f64>> {
    let q = orientation.as_ref();
    math::quaternion_wxyz([q.w, q.i, q.j, q.k]).map_or_else(
        || {
            fail(
                WHO,
                format!("orientation {i} must be a quaternion of finite length above 0, got {q:?}"),
            )
        },
        Ok,
    )
}

impl Trajectory for PiecewiseQuaternionSlerp {
    fn rows(&self) -> usize {
        4
    }
    fn derivative_rows(&self) -> usize {
        3
    }
    fn start_time(&self) -> f64 {
        self.breaks[0]
    }
    fn end_time(&self) -> f64 {
        self.breaks[self.breaks.len() - 1]
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        let Some(time) = hold(self, time, order, out) else {
            return;
        };
        match order {
            0 => {
                let q = self.orientation(time);
                out.copy_from_slice(&[q.w, q.i, q.j, q.k]);
            }
            1 => {
                let segment = segment_at(&self.breaks, time.re());
                let velocity = self.angular_velocities[segment].map(T::from);
                out.copy_from_slice(velocity.as_slice());
            }
            _ => out.fill(T::zero()),
        }
    }
}
