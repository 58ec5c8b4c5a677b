//! Velocities and impulses of contacts with derivatives, from those of the bodies. A Jacobian with
//! derivatives would take longer.

use super::site::ContactSite;
use super::trees::Trees;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::{SpatialVector, cross};
use nalgebra::Vector3;
use std::borrow::Cow;
use tarragon_framework::Scalar;

/// A contact whose bodies move.
pub(super) struct ContactMotion<'a, T: Scalar> {
    pub(super) trees: &'a Trees,
    pub(super) positions: &'a PositionKinematics<T>,
    pub(super) site: Cow<'a, ContactSite<T>>,
}

impl<T: Scalar> ContactMotion<'_, T> {
    /// Returns the bodies that can move, with the position of the contact point from their origins
    /// and the sign of their velocities and impulses.
    fn moving_bodies(&self) -> impl Iterator<Item = (BodyIndex, Vector3<T>, f64)> {
        let p_wc = &self.site.p_wc;
        let bodies = self.site.bodies.into_iter().zip([-1.0, 1.0]);
        let moving = bodies.filter(|(body, _)| self.trees.of_body(*body).is_some());
        moving.map(move |(body, sign)| {
            let arm = p_wc - self.positions.p_wb(body.index() as u32);
            (body, arm, sign)
        })
    }

    /// Returns the velocity of body B relative to body A at the contact point, expressed in W, from
    /// the spatial velocities of all bodies.
    fn velocity_in_world(&self, v_wb: &[SpatialVector<T>]) -> Vector3<T> {
        let mut sum: Vector3<T> = Vector3::zeros();
        for (body, arm, sign) in self.moving_bodies() {
            let v = &v_wb[body.index()];
            let at_point = v.translational + cross(&v.rotational, &arm);
            match sign < 0.0 {
                true => sum -= at_point,
                false => sum += at_point,
            }
        }
        sum
    }

    /// Returns the same expressed in C.
    pub(super) fn velocity(&self, v_wb: &[SpatialVector<T>]) -> [T; 3] {
        let v = self.velocity_in_world(v_wb);
        std::array::from_fn(|k| self.along(k, &v))
    }

    /// Returns its normal component.
    pub(super) fn normal_velocity(&self, v_wb: &[SpatialVector<T>]) -> T {
        self.along(2, &self.velocity_in_world(v_wb))
    }

    fn along(&self, k: usize, v: &Vector3<T>) -> T {
        let r_wc = &self.site.r_wc;
        r_wc[(0, k)] * v.x + r_wc[(1, k)] * v.y + r_wc[(2, k)] * v.z
    }

    /// Adds a multiple of an impulse, expressed in C, to the sums of forces on the bodies about
    /// their origins, expressed in W.
    pub(super) fn add_impulse(&self, impulse: [T; 3], factor: f64, sums: &mut [SpatialVector<T>]) {
        let r_wc = &self.site.r_wc;
        let [x, y, z] = impulse.map(|x| x * factor);
        let on_b = Vector3::from_fn(|i, _| r_wc[(i, 0)] * x + r_wc[(i, 1)] * y + r_wc[(i, 2)] * z);
        for (body, arm, sign) in self.moving_bodies() {
            let (moment, sum) = (cross(&arm, &on_b), &mut sums[body.index()]);
            match sign < 0.0 {
                true => {
                    sum.rotational -= moment;
                    sum.translational -= on_b;
                }
                false => {
                    sum.rotational += moment;
                    sum.translational += on_b;
                }
            }
        }
    }
}
