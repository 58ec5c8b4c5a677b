//! Interpolation of poses.

use super::breaks::fail;
use super::trajectory::{derivative, hold};
use super::{PiecewisePolynomial, PiecewiseQuaternionSlerp, SplineEnds, Trajectory};
use crate::{Result, Scalar, math};
use nalgebra::{Isometry3, UnitQuaternion, Vector3, Vector6};

/// Trajectory of poses `X_AB`: a piecewise polynomial for the position and a slerp for the
/// orientation (Drake's `PiecewisePose`).
///
/// Velocities and accelerations are those of the frame B in A, expressed in A: angular (rad/s),
/// then translational (m/s) of B's origin.
///
/// As a [`Trajectory`], the value has the seven elements `(w, x, y, z, p_x, p_y, p_z)`, the
/// positions of a free body; derivatives have six, like its velocities. Outside of its own breaks
/// each part is held and its derivatives are zero.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_framework::{math, trajectories::PiecewisePose};
/// let pose = |k| math::pose(math::rotation_z(k), Vector3::new(2.0 * k, 0.0, 0.0));
/// let poses = [0.0, 1.0].map(pose);
/// let screw = PiecewisePose::make_linear(&[0.0, 2.0], &poses)?;
/// assert_eq!(screw.pose(1.0).translation.vector, Vector3::new(1.0, 0.0, 0.0));
/// assert!((screw.velocity(1.0_f64)[2] - 0.5).abs() < 1e-15);
/// assert_eq!(screw.velocity(1.0)[3], 1.0);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewisePose {
    position: PiecewisePolynomial,
    orientation: PiecewiseQuaternionSlerp,
}

impl PiecewisePose {
    /// Creates a trajectory from the position `p_AoBo_A` (m), of three rows, and the orientation
    /// `R_AB`.
    ///
    /// # Errors
    /// Returns an error if the position does not have three rows.
    pub fn new(
        position: PiecewisePolynomial,
        orientation: PiecewiseQuaternionSlerp,
    ) -> Result<Self> {
        match position.rows() {
            3 => Ok(Self {
                position,
                orientation,
            }),
            rows => fail(
                "PiecewisePose",
                format!("the position must have 3 rows, got {rows}"),
            ),
        }
    }

    /// Interpolates `poses`, one per time (s), by straight lines and turns at constant rates
    /// (Drake's `MakeLinear`).
    ///
    /// # Errors
    /// Returns an error if there are fewer than two times, if they do not increase, or if a pose is
    /// missing or not finite.
    pub fn make_linear(times: &[f64], poses: &[Isometry3<f64>]) -> Result<Self> {
        let position = PiecewisePolynomial::first_order_hold(times, &positions(poses))?;
        Self::new(position, orientations(times, poses)?)
    }

    /// Same as [`PiecewisePose::make_linear`], but positions follow the cubic spline of continuous
    /// acceleration with the given velocities at the ends (m/s, expressed in A) (Drake's
    /// `MakeCubicLinearWithEndLinearVelocity`).
    ///
    /// # Errors
    /// Same as [`PiecewisePose::make_linear`]. Also returns an error if a velocity is not finite.
    pub fn make_cubic_linear_with_end_linear_velocity(
        times: &[f64],
        poses: &[Isometry3<f64>],
        start_velocity: &Vector3<f64>,
        end_velocity: &Vector3<f64>,
    ) -> Result<Self> {
        let ends = SplineEnds::Slopes {
            start: start_velocity.as_slice().to_vec(),
            end: end_velocity.as_slice().to_vec(),
        };
        let position = PiecewisePolynomial::cubic_with_continuous_second_derivatives(
            times,
            &positions(poses),
            &ends,
        )?;
        Self::new(position, orientations(times, poses)?)
    }

    /// Returns the trajectory of the position.
    pub fn position_trajectory(&self) -> &PiecewisePolynomial {
        &self.position
    }
    /// Returns the trajectory of the orientation.
    pub fn orientation_trajectory(&self) -> &PiecewiseQuaternionSlerp {
        &self.orientation
    }

    /// Returns the pose `X_AB` at `time` (s).
    pub fn pose<T: Scalar>(&self, time: T) -> Isometry3<T> {
        let position: Vector3<T> = derivative(&self.position, time, 0);
        math::pose(self.orientation.orientation(time), position)
    }

    /// Returns the spatial velocity at `time` (s): angular (rad/s), then translational (m/s).
    pub fn velocity<T: Scalar>(&self, time: T) -> Vector6<T> {
        derivative(self, time, 1)
    }

    /// Returns the spatial acceleration at `time` (s): angular (rad/s^2), then translational
    /// (m/s^2).
    pub fn acceleration<T: Scalar>(&self, time: T) -> Vector6<T> {
        derivative(self, time, 2)
    }
}

fn positions(poses: &[Isometry3<f64>]) -> Vec<Vec<f64>> {
    let position = |x: &Isometry3<f64>| x.translation.vector.as_slice().to_vec();
    poses.iter().map(position).collect()
}

fn orientations(times: &[f64], poses: &[Isometry3<f64>]) -> Result<PiecewiseQuaternionSlerp> {
    let rotations: Vec<UnitQuaternion<f64>> = poses.iter().map(|x| x.rotation).collect();
    PiecewiseQuaternionSlerp::new(times, &rotations)
}

impl Trajectory for PiecewisePose {
    fn rows(&self) -> usize {
        7
    }
    fn derivative_rows(&self) -> usize {
        6
    }
    /// Returns the time (s) of the first break of either part.
    fn start_time(&self) -> f64 {
        self.position
            .start_time()
            .min(self.orientation.start_time())
    }
    /// Returns the time (s) of the last break of either part.
    fn end_time(&self) -> f64 {
        self.position.end_time().max(self.orientation.end_time())
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        if let Some(time) = hold(self, time, order, out) {
            let (rotation, translation) = out.split_at_mut(out.len() - 3);
            self.orientation.evaluate_derivative(time, order, rotation);
            self.position.evaluate_derivative(time, order, translation);
        }
    }
}
