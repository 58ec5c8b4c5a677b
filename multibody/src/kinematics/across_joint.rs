//! The motion across one joint, expressed in the world.

use crate::model::JointKind;
use crate::spatial::{SpatialVector, cross};
use crate::tree::MobilizedBody;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::f64::consts::TAU;
use std::ops::Mul;
use tarragon_framework::Scalar;

/// Rotates a constant vector.
pub(crate) fn turned<T: Scalar>(r: &Matrix3<T>, v: &Vector3<f64>) -> Vector3<T> {
    Vector3::from_fn(|i, _| r[(i, 0)] * v.x + r[(i, 1)] * v.y + r[(i, 2)] * v.z)
}

/// A joint with its inboard body P and its outboard body B, at given positions.
pub(crate) struct AcrossJoint<'a, T: Scalar> {
    body: &'a MobilizedBody,
    r_wp: &'a Matrix3<T>,
    r_wb: &'a Matrix3<T>,
    /// `p_PoBo_W`.
    pub(crate) p_pb: Vector3<T>,
}

impl<'a, T: Scalar> AcrossJoint<'a, T> {
    /// Creates the joint's view; poses and rotations are indexed by body.
    #[inline]
    pub(crate) fn new(
        joint: &'a MobilizedBody,
        x_wb: &[Isometry3<T>],
        r_wb: &'a [Matrix3<T>],
    ) -> Self {
        let (parent, body) = (joint.parent as usize, joint.body as usize);
        Self {
            body: joint,
            r_wp: &r_wb[parent],
            r_wb: &r_wb[body],
            p_pb: x_wb[body].translation.vector - x_wb[parent].translation.vector,
        }
    }

    /// Returns the position of Bo from the joint's reference point, expressed in W. The reference
    /// point is Mo of the outboard body, or Mo of the inboard one if a path is reversed.
    pub(crate) fn arm(&self) -> Vector3<T> {
        if self.body.is_reversed_path() {
            // M is fixed to the inboard body, so Mo is not a point of the outboard one.
            return self.p_pb - turned(self.r_wp, &self.body.x_pf.translation.vector);
        }
        let p_bm = &self.body.x_bm.translation.vector;
        if *p_bm == Vector3::zeros() {
            Vector3::zeros()
        } else {
            -turned(self.r_wb, p_bm)
        }
    }

    /// Returns an axis of F, or the joint's own axis, expressed in W.
    #[inline]
    fn axis(&self, k: usize) -> Vector3<T> {
        turned(self.r_wp, &self.body.axes[k])
    }
    /// Returns an axis of the frame that moves along a path, expressed in W.
    fn path_axis(&self, k: usize) -> Vector3<T> {
        if self.body.reversed {
            self.axis(k)
        } else {
            turned(self.r_wb, &(self.body.x_bm.rotation * Vector3::ith(k, 1.0)))
        }
    }

    /// Computes the columns of the joint's Jacobian: for each velocity, `V_PB` of Bo, expressed in
    /// W, at velocity 1.
    #[inline]
    pub(crate) fn calc_columns(&self, q: &[T], columns: &mut [SpatialVector<T>]) {
        let centered = self.body.is_centered;
        let p = self.arm();
        let turning = |w: Vector3<T>| SpatialVector {
            rotational: w,
            translational: if centered {
                Vector3::zeros()
            } else {
                cross(&w, &p)
            },
        };
        let sliding = |v: Vector3<T>| SpatialVector {
            rotational: Vector3::zeros(),
            translational: v,
        };
        let axis = |k: usize| self.axis(k);
        match &self.body.kind {
            JointKind::Weld { .. } => {}
            JointKind::Revolute { .. } => columns[0] = turning(axis(0)),
            JointKind::Prismatic { .. } => columns[0] = sliding(axis(0)),
            JointKind::Screw { pitch, .. } => {
                let axis = axis(0);
                columns[0] = turning(axis) + sliding(axis * T::from(pitch / TAU));
            }
            JointKind::Curvilinear { path } => {
                // In a reversed joint, B carries the path and moves backwards relative to P.
                let sign = if self.body.reversed { -1.0 } else { 1.0 };
                let rate = path.turning_rate(q[0]);
                let tangent = self.path_axis(0) * T::from(sign);
                let normal = self.path_axis(2) * T::from(sign * rate);
                columns[0] = turning(normal) + sliding(tangent);
            }
            JointKind::Universal => {
                let (s, c) = q[0].sin_cos();
                columns[0] = turning(axis(0));
                columns[1] = turning(axis(1) * c + axis(2) * s);
            }
            JointKind::BallRpy | JointKind::BallQuaternion => {
                (0..3).for_each(|k| columns[k] = turning(axis(k)));
            }
            JointKind::Planar => {
                (0..2).for_each(|k| columns[k] = sliding(axis(k)));
                columns[2] = turning(axis(2));
            }
            JointKind::RpyFloating | JointKind::QuaternionFloating => {
                (0..3).for_each(|k| columns[k] = turning(axis(k)));
                (0..3).for_each(|k| columns[3 + k] = sliding(axis(k)));
            }
        }
    }

    /// Returns the bias acceleration across the joint, `None` if it is zero: the acceleration of
    /// the joint's reference point in the inboard body, expressed in W, when the time derivatives
    /// of all velocities are 0.
    pub(crate) fn bias<V>(&self, q: &[T], v: &[V]) -> Option<SpatialVector<V>>
    where
        V: Scalar + Mul<T, Output = V>,
    {
        let scaled = |v: V, x: Vector3<T>| x.map(|x| v * x);
        match &self.body.kind {
            JointKind::Universal => {
                let (s, c) = q[0].sin_cos();
                let axis = |k: usize| self.axis(k);
                Some(SpatialVector {
                    rotational: scaled(v[0] * v[1], axis(2) * c - axis(1) * s),
                    translational: Vector3::zeros(),
                })
            }
            // Centripetal acceleration, towards the centre of the arc. For a reversed path, the
            // rotation of the moving frame gives the reference point the same acceleration.
            JointKind::Curvilinear { path } => Some(SpatialVector {
                rotational: Vector3::zeros(),
                translational: scaled(v[0] * v[0] * path.turning_rate(q[0]), self.path_axis(1)),
            }),
            _ => None,
        }
    }
}
