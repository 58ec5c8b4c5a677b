//! Planar paths of arcs and straight lines.

use super::Trajectory;
use super::breaks::{check_breaks, check_count, check_vector, fail, segment_at};
use super::trajectory::hold;
use crate::{Result, Scalar, math};
use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3, Vector6};

/// Name of the type in messages.
const WHO: &str = "PiecewiseConstantCurvatureTrajectory";

/// Largest cosine between directions that count as perpendicular.
const PERPENDICULAR: f64 = 128.0 * f64::EPSILON;

/// Planar path of circular arcs and straight lines, as a function of arclength s (m) (Drake's
/// `PiecewiseConstantCurvatureTrajectory`).
///
/// A frame M moves along the path in the frame A: Mx is the tangent, Mz the normal of the plane,
/// and My = Mz x Mx. Each segment has a constant turning rate (1/m), the angle about Mz per
/// arclength. Its magnitude is the curvature; it is positive where the path turns about Mz by the
/// right-hand rule. The tangent is continuous at breaks; the turning rate there is that of the
/// segment that starts.
///
/// A periodic path repeats after its length, whether or not its ends meet. Any other path continues
/// beyond its ends with the turning rate that it has there.
///
/// As a [`Trajectory`], time is arclength, the value is the position `p_AoMo_A` (m), and the path
/// is defined for all arclengths.
///
/// ```
/// use nalgebra::Vector3;
/// use std::f64::consts::FRAC_PI_2;
/// use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
/// // One metre ahead, then a quarter circle to the left.
/// let path = PiecewiseConstantCurvatureTrajectory::new(
///     &[0.0, 1.0, 1.0 + FRAC_PI_2],
///     &[0.0, 1.0],
///     &Vector3::x(),
///     &Vector3::z(),
///     &Vector3::zeros(),
///     false,
/// )?;
/// let end = path.pose(path.length());
/// assert!((end.translation.vector - Vector3::new(2.0, 1.0, 0.0)).norm() < 1e-15);
/// assert!((end.rotation * Vector3::x() - Vector3::y()).norm() < 1e-15);
/// # Ok::<(), tarragon_framework::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseConstantCurvatureTrajectory {
    /// Arclengths (m), starting at 0.
    breaks: Vec<f64>,
    /// Turning rates (1/m), one per segment.
    turning_rates: Vec<f64>,
    /// Poses `X_AM` at the breaks.
    break_poses: Vec<Isometry3<f64>>,
    is_periodic: bool,
}

impl PiecewiseConstantCurvatureTrajectory {
    /// Creates a path with one turning rate (1/m) from each break (m) to the next; the first break
    /// is 0. The tangent at the start and the normal of the plane are expressed in A; their lengths
    /// do not matter. The path starts at `initial_position`, `p_AoMo_A` (m).
    ///
    /// # Errors
    /// Returns an error if the first break is not 0, if there are fewer than two breaks or they do
    /// not increase, if the number of turning rates is not one less, if the tangent and the normal
    /// have no direction or are not perpendicular, or if a number is not finite.
    pub fn new(
        breaks: &[f64],
        turning_rates: &[f64],
        initial_curve_tangent: &Vector3<f64>,
        plane_normal: &Vector3<f64>,
        initial_position: &Vector3<f64>,
        is_periodic: bool,
    ) -> Result<Self> {
        check_breaks(WHO, breaks, 2)?;
        if breaks[0] != 0.0 {
            return fail(
                WHO,
                format!("the first break must be at 0 m, got {} m", breaks[0]),
            );
        }
        check_count(WHO, "turning rates", turning_rates.len(), breaks.len() - 1)?;
        check_vector(
            WHO,
            "the list of turning rates",
            turning_rates,
            turning_rates.len(),
        )?;
        check_vector(WHO, "the initial position", initial_position.as_slice(), 3)?;
        let x = direction("the initial tangent", initial_curve_tangent)?;
        let z = direction("the normal of the plane", plane_normal)?;
        if x.dot(&z).abs() > PERPENDICULAR {
            return fail(
                WHO,
                format!(
                    "the initial tangent {:?} must be perpendicular to the normal of the plane {:?}",
                    initial_curve_tangent.as_slice(),
                    plane_normal.as_slice()
                ),
            );
        }
        let y = z.cross(&x).normalize();
        let r_am = math::rotation_from_matrix(&Matrix3::from_columns(&[y.cross(&z), y, z]));
        let mut break_poses = vec![math::pose(r_am, *initial_position)];
        for (ends, rate) in breaks.windows(2).zip(turning_rates) {
            let along = along_segment(*rate, ends[1] - ends[0]);
            let next = break_poses[break_poses.len() - 1] * along;
            if next.translation.vector.iter().any(|x| !x.is_finite()) {
                return fail(
                    WHO,
                    format!(
                        "the path must end at finite positions, got a turning rate of {rate:?} 1/m"
                    ),
                );
            }
            break_poses.push(next);
        }
        Ok(Self {
            breaks: breaks.to_vec(),
            turning_rates: turning_rates.to_vec(),
            break_poses,
            is_periodic,
        })
    }

    /// Returns the arclength of the whole path (m).
    pub fn length(&self) -> f64 {
        self.breaks[self.breaks.len() - 1]
    }
    /// Returns true if the path repeats after its length.
    pub fn is_periodic(&self) -> bool {
        self.is_periodic
    }
    /// Returns the arclengths (m) between which the turning rate is constant.
    pub fn breaks(&self) -> &[f64] {
        &self.breaks
    }
    /// Returns the turning rates (1/m), one per segment.
    pub fn turning_rates(&self) -> &[f64] {
        &self.turning_rates
    }
    /// Returns true if the poses at both ends differ by at most `tolerance` in any element of
    /// position (m) and rotation matrix (Drake's `EndpointsAreNearlyEqual`).
    pub fn endpoints_are_nearly_equal(&self, tolerance: f64) -> bool {
        let (start, end) = (
            &self.break_poses[0],
            &self.break_poses[self.break_poses.len() - 1],
        );
        let rotation = |x: &Isometry3<f64>| x.rotation.to_rotation_matrix().into_inner();
        let apart = (rotation(start) - rotation(end)).amax();
        apart.max((start.translation.vector - end.translation.vector).amax()) <= tolerance
    }

    /// Returns the segment at an arclength (m), and the arclength from its start.
    fn segment<T: Scalar>(&self, s: T) -> (usize, T) {
        let mut s = s;
        if self.is_periodic {
            let turns = (s.re() / self.length()).floor();
            s -= T::from(turns * self.length());
        }
        let segment = segment_at(&self.breaks, s.re());
        (segment, s - T::from(self.breaks[segment]))
    }

    /// Returns the turning rate (1/m) at an arclength (m) (Drake's `curvature`).
    pub fn turning_rate<T: Scalar>(&self, s: T) -> f64 {
        self.turning_rates[self.segment(s).0]
    }

    /// Returns the pose `X_AM` at an arclength (m) (Drake's `CalcPose`).
    pub fn pose<T: Scalar>(&self, s: T) -> Isometry3<T> {
        let (segment, ds) = self.segment(s);
        let x_as = &self.break_poses[segment];
        let r_as =
            UnitQuaternion::new_unchecked(Quaternion::from(x_as.rotation.coords.map(T::from)));
        let x_as = math::pose(r_as, x_as.translation.vector.map(T::from));
        x_as * along_segment(self.turning_rates[segment], ds)
    }

    /// Returns the spatial velocity `V_AM_A` at an arclength (m) that changes at the rate `s_dot`
    /// (m/s): angular (rad/s), then translational (m/s) (Drake's `CalcSpatialVelocity`).
    pub fn velocity<T: Scalar>(&self, s: T, s_dot: T) -> Vector6<T> {
        let rate = T::from(self.turning_rate(s));
        let r_am = self.pose(s).rotation;
        let w = r_am * Vector3::new(T::zero(), T::zero(), rate * s_dot);
        joined(&w, &(r_am * Vector3::new(s_dot, T::zero(), T::zero())))
    }

    /// Returns the spatial acceleration `A_AM_A` at an arclength (m) with the rates `s_dot` (m/s)
    /// and `s_ddot` (m/s^2): angular (rad/s^2), then translational (m/s^2) (Drake's
    /// `CalcSpatialAcceleration`). At a break it is that of the segment that starts.
    pub fn acceleration<T: Scalar>(&self, s: T, s_dot: T, s_ddot: T) -> Vector6<T> {
        let rate = T::from(self.turning_rate(s));
        let r_am = self.pose(s).rotation;
        let alpha = r_am * Vector3::new(T::zero(), T::zero(), rate * s_ddot);
        let a = r_am * Vector3::new(s_ddot, rate * s_dot * s_dot, T::zero());
        joined(&alpha, &a)
    }
}

fn joined<T: Scalar>(rotational: &Vector3<T>, translational: &Vector3<T>) -> Vector6<T> {
    Vector6::from_fn(|i, _| match i {
        0..3 => rotational[i],
        _ => translational[i - 3],
    })
}

fn direction(what: &str, v: &Vector3<f64>) -> Result<Vector3<f64>> {
    // Scaling prevents overflow and underflow of the squares of large and small components.
    let scaled = v / v.amax();
    if scaled.iter().all(|x| x.is_finite()) {
        Ok(scaled.normalize())
    } else {
        fail(
            WHO,
            format!("{what} must be finite and not zero, got {:?}", v.as_slice()),
        )
    }
}

/// Returns the pose after an arclength (m) on an arc or a line, in the frame at its start.
fn along_segment<T: Scalar>(turning_rate: f64, ds: T) -> Isometry3<T> {
    let theta = ds * turning_rate;
    let rotation = math::rotation_z(theta);
    let position = if turning_rate == 0.0 {
        Vector3::new(ds, T::zero(), T::zero())
    } else {
        // Avoids the cancellation in 1 - cos(theta).
        let (s, c) = (theta * 0.5).sin_cos();
        let diameter = T::from(2.0) / T::from(turning_rate);
        Vector3::new(diameter * s * c, diameter * s * s, T::zero())
    };
    math::pose(rotation, position)
}

impl Trajectory for PiecewiseConstantCurvatureTrajectory {
    fn rows(&self) -> usize {
        3
    }
    /// Returns minus infinity: the path is defined for all arclengths; its own start is at 0.
    fn start_time(&self) -> f64 {
        f64::NEG_INFINITY
    }
    /// Returns infinity: the path is defined for all arclengths; its own end is at
    /// [`Self::length`].
    fn end_time(&self) -> f64 {
        f64::INFINITY
    }
    fn evaluate_derivative<T: Scalar>(&self, time: T, order: usize, out: &mut [T]) {
        let Some(s) = hold(self, time, order, out) else {
            return;
        };
        let pose = self.pose(s);
        if order == 0 {
            out.copy_from_slice(pose.translation.vector.as_slice());
            return;
        }
        // Each differentiation rotates the tangent by a quarter turn and scales it by the turning
        // rate.
        let turns = i32::try_from(order - 1).unwrap_or(i32::MAX);
        let scale = T::from(self.turning_rate(s).powi(turns));
        let (x, y) = match turns % 4 {
            0 => (scale, T::zero()),
            1 => (T::zero(), scale),
            2 => (-scale, T::zero()),
            _ => (T::zero(), -scale),
        };
        let derivative = pose.rotation * Vector3::new(x, y, T::zero());
        out.copy_from_slice(derivative.as_slice());
    }
}
