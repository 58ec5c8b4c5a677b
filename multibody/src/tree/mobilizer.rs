//! The pose `X_PB(q)` of one body in its parent.
//!
//! Everything that does not depend on q is multiplied out when the tree is built. With half angle
//! h, a hinge contributes `R_PB = cos(h) A + sin(h) B` with constant quaternions A and B, so a
//! joint costs one sine and cosine and one pose product, whatever its offsets are.

use super::inboard_joint::InboardJoint;
use crate::model::JointKind;
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use std::f64::consts::TAU;
use std::sync::Arc;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_framework::{Scalar, math};

/// Motion of a child body B in its parent P.
#[derive(Clone, Debug)]
pub(crate) enum Mobilizer {
    /// Constant `X_PB`.
    Fixed(Isometry3<f64>),
    /// `R_PB = cos(q/2) a + sin(q/2) b`; `p_PB = p0 + cos(q) pc + sin(q) ps`.
    Hinge {
        a: Quaternion<f64>,
        b: Quaternion<f64>,
        p0: Vector3<f64>,
        /// `(pc, ps)`, absent where the axis passes through Bo.
        swing: Option<(Vector3<f64>, Vector3<f64>)>,
        /// Translation per angle, for a screw joint.
        along: Option<Vector3<f64>>,
    },
    /// Constant rotation; `p_PB = p0 + q d`.
    Slide {
        r_pb: UnitQuaternion<f64>,
        p0: Vector3<f64>,
        d: Vector3<f64>,
    },
    /// `X_PB = X_PF X_FM(q) X_MB` along a path.
    Path(Box<PathMobilizer>),
    /// `X_PB = X_PF X_FM(q) X_MB`, where q starts with a quaternion.
    Quaternion {
        has_translation: bool,
        /// `(X_PF, X_MB)`, absent where both are the identity.
        offsets: Option<Box<(Isometry3<f64>, Isometry3<f64>)>>,
    },
    /// `X_PB = X_PF X_FM(q) X_MB` for joints whose positions are angles and distances.
    Angles(Box<(JointKind, Isometry3<f64>, Isometry3<f64>)>),
}

/// Motion along a path; the path is fixed to B instead of P if `reversed`.
#[derive(Clone, Debug)]
pub(crate) struct PathMobilizer {
    path: Arc<PiecewiseConstantCurvatureTrajectory>,
    reversed: bool,
    x_pf: Isometry3<f64>,
    x_mb: Isometry3<f64>,
}

impl Mobilizer {
    pub(super) fn new(joint: &InboardJoint) -> Self {
        let (x_pf, x_mb) = (joint.x_pf, joint.x_bm.inverse());
        let fixed = |x_fm: Isometry3<f64>| x_pf * x_fm * x_mb;
        match &joint.kind {
            JointKind::Weld { x_fm } => Self::Fixed(fixed(*x_fm)),
            JointKind::Revolute { axis } | JointKind::Screw { axis, .. } => {
                let half_turn = Quaternion::from_imag(axis.into_inner());
                let (r_pf, r_mb) = (x_pf.rotation, x_mb.rotation);
                // Rodrigues: R(q) p = (n.p) n + cos(q) (p - (n.p) n) + sin(q) n x p.
                let p = x_mb.translation.vector;
                let along = axis.into_inner() * axis.dot(&p);
                let swing = (r_pf * (p - along), r_pf * axis.cross(&p));
                let lead = match &joint.kind {
                    JointKind::Screw { pitch, .. } => {
                        Some(r_pf * axis.into_inner() * (*pitch / TAU))
                    }
                    _ => None,
                };
                Self::Hinge {
                    a: (r_pf * r_mb).into_inner(),
                    b: r_pf.into_inner() * half_turn * r_mb.into_inner(),
                    p0: x_pf.translation.vector + r_pf * along,
                    swing: (swing.0 != Vector3::zeros()).then_some(swing),
                    along: lead,
                }
            }
            JointKind::Prismatic { axis } => {
                let x_pb = fixed(Isometry3::identity());
                Self::Slide {
                    r_pb: x_pb.rotation,
                    p0: x_pb.translation.vector,
                    d: x_pf.rotation * axis.into_inner(),
                }
            }
            JointKind::QuaternionFloating | JointKind::BallQuaternion => {
                let identity = Isometry3::identity();
                let trivial = x_pf == identity && x_mb == identity;
                Self::Quaternion {
                    has_translation: joint.kind.is_floating(),
                    offsets: (!trivial).then(|| Box::new((x_pf, x_mb))),
                }
            }
            JointKind::Curvilinear { path } => Self::Path(Box::new(PathMobilizer {
                path: path.clone(),
                reversed: joint.reversed,
                x_pf,
                x_mb,
            })),
            kind => Self::Angles(Box::new((kind.clone(), x_pf, x_mb))),
        }
    }

    /// Returns `X_PB`; `None` if a quaternion has no direction.
    #[inline]
    pub(crate) fn relative_pose<T: Scalar>(&self, q: &[T]) -> Option<Isometry3<T>> {
        Some(match self {
            Self::Fixed(x_pb) => lift(x_pb),
            Self::Hinge {
                a,
                b,
                p0,
                swing,
                along,
            } => {
                let (s, c) = (q[0] * 0.5).sin_cos();
                // The sum is a unit quaternion because A and B are orthonormal in R^4.
                let r = a.coords.zip_map(&b.coords, |a, b| c * a + s * b);
                let r_pb = UnitQuaternion::new_unchecked(Quaternion::from(r));
                let mut p = match swing {
                    None => p0.map(T::from),
                    Some((pc, ps)) => {
                        let (cos, sin) = (c * c - s * s, s * c * 2.0);
                        Vector3::from_fn(|i, _| cos * pc[i] + sin * ps[i] + p0[i])
                    }
                };
                if let Some(along) = along {
                    p += along.map(|d| q[0] * d);
                }
                math::pose(r_pb, p)
            }
            Self::Slide { r_pb, p0, d } => {
                let p = Vector3::from_fn(|i, _| q[0] * d[i] + p0[i]);
                math::pose(lift_rotation(r_pb), p)
            }
            Self::Path(motion) => {
                let x_fm = motion.path.pose(q[0]);
                let x_fm = if motion.reversed {
                    x_fm.inverse()
                } else {
                    x_fm
                };
                lift::<T>(&motion.x_pf) * x_fm * lift::<T>(&motion.x_mb)
            }
            Self::Quaternion {
                has_translation,
                offsets,
            } => {
                let r_fm = math::quaternion_wxyz([q[0], q[1], q[2], q[3]])?;
                let p_fm = match has_translation {
                    true => Vector3::new(q[4], q[5], q[6]),
                    false => Vector3::zeros(),
                };
                let x_fm = math::pose(r_fm, p_fm);
                match offsets {
                    None => x_fm,
                    Some(offsets) => lift::<T>(&offsets.0) * x_fm * lift::<T>(&offsets.1),
                }
            }
            Self::Angles(joint) => {
                let (kind, x_pf, x_mb) = &**joint;
                lift::<T>(x_pf) * by_angles(kind, q) * lift::<T>(x_mb)
            }
        })
    }
}

/// Returns `X_FM` of a joint whose positions are angles and distances.
fn by_angles<T: Scalar>(kind: &JointKind, q: &[T]) -> Isometry3<T> {
    let still = Vector3::zeros();
    match kind {
        JointKind::Universal => math::pose(math::rotation_x(q[0]) * math::rotation_y(q[1]), still),
        JointKind::BallRpy => math::pose(math::rpy(q[0], q[1], q[2]), still),
        JointKind::Planar => {
            let p = Vector3::new(q[0], q[1], T::zero());
            math::pose(math::rotation_z(q[2]), p)
        }
        JointKind::RpyFloating => {
            math::pose(math::rpy(q[0], q[1], q[2]), Vector3::new(q[3], q[4], q[5]))
        }
        _ => unreachable!(
            "the motion of a {} joint is computed by its own variant",
            kind.type_name()
        ),
    }
}

/// Converts a constant rotation to the scalar `T`.
#[inline]
pub(super) fn lift_rotation<T: Scalar>(r: &UnitQuaternion<f64>) -> UnitQuaternion<T> {
    UnitQuaternion::new_unchecked(Quaternion::from(r.coords.map(T::from)))
}

/// Converts a constant pose to the scalar `T`.
#[inline]
pub(crate) fn lift<T: Scalar>(x: &Isometry3<f64>) -> Isometry3<T> {
    math::pose(
        lift_rotation(&x.rotation),
        x.translation.vector.map(T::from),
    )
}
