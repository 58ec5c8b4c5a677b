//! Kinds of joints.

use nalgebra::{Isometry3, Unit, UnitQuaternion, Vector3};
use std::sync::Arc;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_framework::{Scalar, math};

/// Motion of the child's joint frame M in the parent's joint frame F.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::JointKind;
/// let slide = JointKind::Prismatic { axis: Vector3::x_axis() };
/// assert_eq!((slide.type_name(), slide.num_positions()), ("prismatic", 1));
/// let free = JointKind::QuaternionFloating;
/// assert_eq!((free.num_positions(), free.num_velocities()), (7, 6));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// No motion: `X_FM` is constant.
    Weld {
        /// The constant pose of M in F.
        x_fm: Isometry3<f64>,
    },
    /// Rotation about an axis fixed in F and M; q is the angle (rad).
    Revolute {
        /// The axis, expressed in F (and in M).
        axis: Unit<Vector3<f64>>,
    },
    /// Translation along an axis fixed in F and M; q is the distance (m).
    Prismatic {
        /// The axis, expressed in F (and in M).
        axis: Unit<Vector3<f64>>,
    },
    /// Rotation about an axis fixed in F and M with translation along it; q is the angle (rad).
    Screw {
        /// The axis, expressed in F (and in M).
        axis: Unit<Vector3<f64>>,
        /// Translation along the axis per turn (m).
        pitch: f64,
    },
    /// Motion along a path of arcs and lines in a plane; q is the arclength (m), v its rate (m/s).
    Curvilinear {
        /// The pose `X_FM` as a function of the arclength.
        path: Arc<PiecewiseConstantCurvatureTrajectory>,
    },
    /// Rotation about x of F, then about y of M; q holds the two angles (rad), v their rates.
    Universal,
    /// Rotation about a point; q is roll, pitch and yaw of `R_FM` (rad), v is `w_FM_F` (rad/s).
    BallRpy,
    /// Rotation about a point; q is the quaternion `[qw, qx, qy, qz]` of `R_FM`, v is `w_FM_F`
    /// (rad/s).
    BallQuaternion,
    /// Motion in the xy-plane of F; q holds x, y (m) and the angle about z (rad), v their rates.
    Planar,
    /// Six degrees of freedom; q is `[roll, pitch, yaw, x, y, z]` of `X_FM`, v is `w_FM_F, v_FM_F`.
    RpyFloating,
    /// Six degrees of freedom; q is `[qw, qx, qy, qz, x, y, z]` of `X_FM`, v is `w_FM_F, v_FM_F`.
    QuaternionFloating,
}

/// Quantity of a joint that has limits.
#[derive(Clone, Copy)]
pub(crate) enum Limited {
    Position,
    Velocity,
    Acceleration,
}

impl JointKind {
    /// Returns the name of the type, as in Drake: `weld`, `revolute`, `prismatic`, `screw`,
    /// `curvilinear`, `universal`, `ball_rpy`, `planar`, `rpy_floating`, `quaternion_floating`. The
    /// name `ball_quaternion` is ours, because Drake has no such joint.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Weld { .. } => "weld",
            Self::Revolute { .. } => "revolute",
            Self::Prismatic { .. } => "prismatic",
            Self::Screw { .. } => "screw",
            Self::Curvilinear { .. } => "curvilinear",
            Self::Universal => "universal",
            Self::BallRpy => "ball_rpy",
            Self::BallQuaternion => "ball_quaternion",
            Self::Planar => "planar",
            Self::RpyFloating => "rpy_floating",
            Self::QuaternionFloating => "quaternion_floating",
        }
    }
    /// Returns the number of generalized positions.
    pub fn num_positions(&self) -> usize {
        self.position_suffixes().len()
    }
    /// Returns the number of generalized velocities.
    pub fn num_velocities(&self) -> usize {
        self.velocity_suffixes().len()
    }
    /// Returns the axis of a revolute, prismatic or screw joint; `None` for other kinds.
    pub fn axis(&self) -> Option<&Unit<Vector3<f64>>> {
        match self {
            Self::Revolute { axis } | Self::Prismatic { axis } | Self::Screw { axis, .. } => {
                Some(axis)
            }
            _ => None,
        }
    }
    /// Returns true for the two kinds with six degrees of freedom.
    pub fn is_floating(&self) -> bool {
        matches!(self, Self::RpyFloating | Self::QuaternionFloating)
    }
    /// Returns true for the two kinds that rotate about a fixed point.
    pub fn is_ball(&self) -> bool {
        matches!(self, Self::BallRpy | Self::BallQuaternion)
    }
    /// Returns true if the first four positions are a quaternion.
    pub fn has_quaternion(&self) -> bool {
        matches!(self, Self::BallQuaternion | Self::QuaternionFloating)
    }
    /// Returns the zero positions: 0 everywhere, except that a quaternion is `1, 0, 0, 0`.
    pub fn zero_positions(&self) -> Vec<f64> {
        let mut q = vec![0.0; self.num_positions()];
        if self.has_quaternion() {
            q[0] = 1.0;
        }
        q
    }
    /// Returns the suffixes of position names.
    pub(crate) fn position_suffixes(&self) -> &'static [&'static str] {
        match self {
            Self::Weld { .. } => &[],
            Self::Revolute { .. } | Self::Screw { .. } | Self::Curvilinear { .. } => &["q"],
            Self::Prismatic { .. } => &["x"],
            Self::Universal => &["qx", "qy"],
            Self::BallRpy => &["qx", "qy", "qz"],
            Self::BallQuaternion => &["qw", "qx", "qy", "qz"],
            Self::Planar => &["x", "y", "qz"],
            Self::RpyFloating => &["qx", "qy", "qz", "x", "y", "z"],
            Self::QuaternionFloating => &["qw", "qx", "qy", "qz", "x", "y", "z"],
        }
    }
    /// Returns the suffixes of velocity names.
    pub(crate) fn velocity_suffixes(&self) -> &'static [&'static str] {
        match self {
            Self::Weld { .. } => &[],
            Self::Revolute { .. } | Self::Screw { .. } => &["w"],
            Self::Prismatic { .. } | Self::Curvilinear { .. } => &["v"],
            Self::Universal => &["wx", "wy"],
            Self::BallRpy | Self::BallQuaternion => &["wx", "wy", "wz"],
            Self::Planar => &["vx", "vy", "wz"],
            Self::RpyFloating | Self::QuaternionFloating => &["wx", "wy", "wz", "vx", "vy", "vz"],
        }
    }
    /// Returns the positions of a floating joint whose M is at a pose in F.
    pub(crate) fn floating_positions<T: Scalar>(&self, x: &Isometry3<T>) -> Vec<T> {
        let p = x.translation.vector;
        [&self.turning_positions(&x.rotation), p.as_slice()].concat()
    }
    /// Returns the rotational positions of a ball joint or a floating joint for the rotation
    /// `R_FM`: a quaternion whose real part is not negative, or else roll, pitch and yaw.
    pub fn turning_positions<T: Scalar>(&self, r: &UnitQuaternion<T>) -> Vec<T> {
        if !self.has_quaternion() {
            math::rpy_of(r).as_slice().to_vec()
        } else {
            let is_negative = r.w.re() < 0.0;
            let sign = |x: T| if is_negative { -x } else { x };
            [r.w, r.i, r.j, r.k].map(sign).to_vec()
        }
    }
}
