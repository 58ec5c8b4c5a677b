//! Velocities and impulses of contacts with derivatives, from those of the bodies. A Jacobian with
//! derivatives would take longer.

use super::site::ContactSite;
use super::trees::Trees;
use crate::kinematics::PositionKinematics;
use crate::model::BodyIndex;
use crate::spatial::{SpatialVector, add_cross, subtract_cross};
use nalgebra::Vector3;
use std::ops::Mul;
use tarragon_framework::Scalar;

/// A contact whose bodies move. Its scalar is `f64` where the poses have no derivatives.
pub(super) struct ContactMotion<'a, C: Scalar> {
    pub(super) trees: &'a Trees,
    pub(super) positions: &'a PositionKinematics<C>,
    pub(super) site: &'a ContactSite<C>,
}

impl<C: Scalar> ContactMotion<'_, C> {
    /// Returns the bodies that can move, and whether they are A.
    #[inline]
    fn moving_bodies(&self) -> impl Iterator<Item = (BodyIndex, bool)> {
        let bodies = self.site.bodies.into_iter().zip([true, false]);
        bodies.filter(|(body, _)| self.trees.of_body(*body).is_some())
    }

    /// Returns the position of the contact point from the origin of a body, expressed in W.
    #[inline]
    fn arm(&self, body: BodyIndex) -> Vector3<C> {
        self.site.p_wc - self.positions.p_wb(body.index() as u32)
    }

    /// Returns the velocity of body B relative to body A at the contact point, expressed in W, from
    /// the spatial velocities of all bodies.
    #[inline]
    fn velocity_in_world<T>(&self, v_wb: &[SpatialVector<T>]) -> Vector3<T>
    where
        T: Scalar + Mul<C, Output = T>,
    {
        let mut sum: Vector3<T> = Vector3::zeros();
        for (body, is_a) in self.moving_bodies() {
            let v = &v_wb[body.index()];
            let mut at_point = v.translational;
            add_cross(&mut at_point, &v.rotational, &self.arm(body));
            if is_a {
                sum -= &at_point
            } else {
                sum += &at_point
            }
        }
        sum
    }

    /// Computes the same expressed in C.
    #[inline]
    pub(super) fn update_velocity<T>(&self, v_wb: &[SpatialVector<T>], out: &mut [T; 6])
    where
        T: Scalar + Mul<C, Output = T>,
    {
        let v = self.velocity_in_world(v_wb);
        for (k, out) in out[..3].iter_mut().enumerate() {
            *out = self.along(k, &v);
        }
    }

    #[inline]
    fn along<T>(&self, k: usize, v: &Vector3<T>) -> T
    where
        T: Scalar + Mul<C, Output = T>,
    {
        let r_wc = &self.site.r_wc;
        v.x * r_wc[(0, k)] + v.y * r_wc[(1, k)] + v.z * r_wc[(2, k)]
    }

    /// Adds a multiple of an impulse, expressed in C, to the sums of forces on the bodies about
    /// their origins, expressed in W.
    pub(super) fn add_impulse<T>(
        &self,
        impulse: &[T; 6],
        factor: f64,
        sums: &mut [SpatialVector<T>],
    ) where
        T: Scalar + Mul<C, Output = T>,
    {
        let r_wc = &self.site.r_wc;
        let [x, y, z] = [0, 1, 2].map(|i| impulse[i] * factor);
        let on_b = Vector3::from_fn(|i, _| x * r_wc[(i, 0)] + y * r_wc[(i, 1)] + z * r_wc[(i, 2)]);
        for (body, is_a) in self.moving_bodies() {
            let (arm, sum) = (self.arm(body), &mut sums[body.index()]);
            // arm x f = -(f x arm)
            if is_a {
                add_cross(&mut sum.rotational, &on_b, &arm);
                sum.translational -= &on_b;
            } else {
                subtract_cross(&mut sum.rotational, &on_b, &arm);
                sum.translational += &on_b;
            }
        }
    }
}
