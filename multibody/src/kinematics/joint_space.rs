//! Velocities v and time derivatives of positions qdot: `qdot = N(q) v`, `v = N+(q) qdot`.

use super::{Node, PositionKinematics};
use crate::coordinates::Coordinates;
use crate::error::{Error, Result};
use crate::joint::JointKind;
use crate::plant::MultibodyPlant;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// Closer to a pitch of 90 degrees (in its cosine) roll and yaw turn about one axis.
const SINGULAR: f64 = 1e-3;

impl MultibodyPlant {
    /// `qdot = N(q) v`: rad/s or m/s, and 1/s for quaternions. The length of a quaternion in q
    /// counts, as the derivative of what q holds is meant.
    ///
    /// # Errors
    /// Before `finalize`, if v has the wrong length or a value that is not finite, or where roll,
    /// pitch and yaw are singular (a pitch of 90 degrees).
    pub fn map_velocity_to_qdot<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<Vec<T>> {
        let asked = "map_velocity_to_qdot";
        let tree = self.tree_of(asked, positions)?;
        self.finalized(asked)?.check(Coordinates::Velocities, v)?;
        let mut qdot = Vec::with_capacity(tree.num_positions);
        for node in &tree.nodes {
            let q = &positions.q[node.positions()];
            let mapped = node.push_qdot(q, &v[node.velocities()], &mut qdot);
            mapped.map_err(|pitch| self.singular(node, pitch))?;
        }
        Ok(qdot)
    }

    /// `v = N+(q) qdot`; of the derivative of a quaternion, what changes its length has no effect.
    ///
    /// # Errors
    /// Before `finalize`, or if qdot has the wrong length or a value that is not finite.
    pub fn map_qdot_to_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        qdot: &[T],
    ) -> Result<Vec<T>> {
        let asked = "map_qdot_to_velocity";
        let tree = self.tree_of(asked, positions)?;
        let topology = self.finalized(asked)?;
        topology.check(Coordinates::PositionRates, qdot)?;
        let mut v = Vec::with_capacity(tree.num_velocities);
        for node in &tree.nodes {
            let q = &positions.q[node.positions()];
            node.push_velocity(q, &qdot[node.positions()], &mut v);
        }
        Ok(v)
    }

    #[cold]
    fn singular(&self, node: &Node, pitch: f64) -> Error {
        let body = crate::index::BodyIndex::new(node.body as usize);
        Error::invalid(format!(
            "body '{}': roll, pitch and yaw have no derivatives at a pitch of {pitch} rad, which is too \
             close to 90 degrees; use a quaternion joint",
            self.scoped_body_name(body)
        ))
    }
}

/// Angular velocity in the fixed frame from rates of roll, pitch and yaw.
fn rates_to_velocity<T: Scalar>(rpy: &[T], rates: &[T]) -> Vector3<T> {
    let ((sp, cp), (sy, cy)) = (rpy[1].sin_cos(), rpy[2].sin_cos());
    Vector3::new(
        cy * cp * rates[0] - sy * rates[1],
        sy * cp * rates[0] + cy * rates[1],
        rates[2] - sp * rates[0],
    )
}

/// The inverse; the pitch where there is none.
fn velocity_to_rates<T: Scalar>(rpy: &[T], w: &[T]) -> Result<[T; 3], f64> {
    let ((sp, cp), (sy, cy)) = (rpy[1].sin_cos(), rpy[2].sin_cos());
    if cp.re().abs() < SINGULAR {
        return Err(rpy[1].re());
    }
    let roll = (cy * w[0] + sy * w[1]) / cp;
    Ok([roll, cy * w[1] - sy * w[0], w[2] + sp * roll])
}

impl Node {
    fn push_qdot<T: Scalar>(&self, q: &[T], v: &[T], out: &mut Vec<T>) -> Result<(), f64> {
        match &self.kind {
            JointKind::BallRpy => out.extend(velocity_to_rates(q, v)?),
            JointKind::RpyFloating => {
                out.extend(velocity_to_rates(q, v)?);
                out.extend_from_slice(&v[3..]);
            }
            JointKind::QuaternionFloating => {
                // Half the product of the pure quaternion w and q.
                let w = Vector3::new(v[0], v[1], v[2]) * T::from(0.5);
                let u = Vector3::new(q[1], q[2], q[3]);
                out.push(-w.dot(&u));
                out.extend((w * q[0] + w.cross(&u)).iter());
                out.extend_from_slice(&v[3..]);
            }
            _ => out.extend_from_slice(v),
        }
        Ok(())
    }

    fn push_velocity<T: Scalar>(&self, q: &[T], qdot: &[T], out: &mut Vec<T>) {
        match &self.kind {
            JointKind::BallRpy => out.extend(rates_to_velocity(q, qdot).iter()),
            JointKind::RpyFloating => {
                out.extend(rates_to_velocity(q, qdot).iter());
                out.extend_from_slice(&qdot[3..]);
            }
            JointKind::QuaternionFloating => {
                let (u, du) = (
                    Vector3::new(q[1], q[2], q[3]),
                    Vector3::new(qdot[1], qdot[2], qdot[3]),
                );
                let square = q[0] * q[0] + u.dot(&u);
                let w = (du * q[0] - u * qdot[0] + u.cross(&du)) * (T::from(2.0) / square);
                out.extend(w.iter());
                out.extend_from_slice(&qdot[4..]);
            }
            _ => out.extend_from_slice(qdot),
        }
    }

    /// The block of N+, whose columns are those of the joint's positions.
    pub(super) fn velocity_block<T: Scalar>(&self, q: &[T]) -> Vec<Vec<T>> {
        let unit = |k: usize| -> Vec<T> {
            let one = |i| if i == k { T::one() } else { T::zero() };
            (0..q.len()).map(one).collect()
        };
        let column = |k| {
            let mut v = vec![];
            self.push_velocity(q, &unit(k), &mut v);
            v
        };
        (0..q.len()).map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_velocities_are_inverse() {
        let (rpy, w) = ([0.3, -0.7, 2.0], [0.5, -1.0, 2.0]);
        let rates = velocity_to_rates::<f64>(&rpy, &w).unwrap();
        let back = rates_to_velocity(&rpy, &rates);
        assert!((back - Vector3::from(w)).amax() < 1e-15);
        assert!(velocity_to_rates(&[0.0, std::f64::consts::FRAC_PI_2, 0.0], &w).is_err());
    }
}
