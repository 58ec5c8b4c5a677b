//! Maps between velocities v and time derivatives of positions qdot: `qdot = N(q) v`, `v = N+(q)
//! qdot`.

use super::position::PositionKinematics;
use crate::model::{BodyIndex, JointKind};
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::{Quaternion, Vector3};
use tarragon_framework::{Scalar, math};

/// Cosine of the pitch below which roll and yaw count as rotations about the same axis.
const SINGULAR: f64 = 1e-3;

/// A joint whose roll and yaw have no derivatives, because its pitch is close to 90 degrees.
pub(crate) struct SingularPitch {
    pub(crate) body: BodyIndex,
    /// The pitch (rad).
    pub(crate) pitch: f64,
}

/// Computes `qdot = N(q) v`.
pub(crate) fn velocity_to_qdot<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    v: &[T],
) -> Result<Vec<T>, SingularPitch> {
    let mut qdot = Vec::with_capacity(tree.num_positions);
    for node in &tree.nodes {
        let q = &positions.q[node.positions()];
        push_qdot(node, q, &v[node.velocities()], &mut qdot)?;
    }
    Ok(qdot)
}

/// Appends to `next` the positions after a time `dt` (s) at constant velocities v: `q + N(q) v dt`.
/// With `exact_rotations`, quaternions turn by `w dt` instead, which preserves their length.
pub(crate) fn advance_positions<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    v: &[T],
    (dt, exact_rotations): (f64, bool),
    next: &mut Vec<T>,
) -> Result<(), SingularPitch> {
    for node in &tree.nodes {
        let q = &positions.q[node.positions()];
        let v = &v[node.velocities()];
        let start = next.len();
        push_qdot(node, q, v, next)?;
        for (next, q) in next[start..].iter_mut().zip(q) {
            *next = *q + *next * dt;
        }
        if exact_rotations && node.kind.has_quaternion() {
            let turn = Vector3::new(v[0], v[1], v[2]) * T::from(dt);
            let turned =
                math::rotation_exp(&turn).into_inner() * Quaternion::new(q[0], q[1], q[2], q[3]);
            next[start..start + 4].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k]);
        }
    }
    Ok(())
}

/// Computes `v = N+(q) qdot`.
pub(crate) fn qdot_to_velocity<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    qdot: &[T],
) -> Vec<T> {
    let mut v = Vec::with_capacity(tree.num_velocities);
    for node in &tree.nodes {
        let q = &positions.q[node.positions()];
        push_velocity(&node.kind, q, &qdot[node.positions()], &mut v);
    }
    v
}

/// Computes the angular velocity, expressed in the fixed frame, from the rates of roll, pitch and
/// yaw.
fn rates_to_velocity<T: Scalar>(rpy: &[T], rates: &[T]) -> Vector3<T> {
    let ((sp, cp), (sy, cy)) = (rpy[1].sin_cos(), rpy[2].sin_cos());
    Vector3::new(
        cy * cp * rates[0] - sy * rates[1],
        sy * cp * rates[0] + cy * rates[1],
        rates[2] - sp * rates[0],
    )
}

/// Inverts [`rates_to_velocity`]; the error is the pitch (rad) at which that is singular.
fn velocity_to_rates<T: Scalar>(rpy: &[T], w: &[T]) -> Result<[T; 3], f64> {
    let ((sp, cp), (sy, cy)) = (rpy[1].sin_cos(), rpy[2].sin_cos());
    if cp.re().abs() < SINGULAR {
        return Err(rpy[1].re());
    }
    let roll = (cy * w[0] + sy * w[1]) / cp;
    Ok([roll, cy * w[1] - sy * w[0], w[2] + sp * roll])
}

fn push_qdot<T: Scalar>(
    node: &MobilizedBody,
    q: &[T],
    v: &[T],
    out: &mut Vec<T>,
) -> Result<(), SingularPitch> {
    let singular = |pitch| SingularPitch {
        body: BodyIndex::new(node.body as usize),
        pitch,
    };
    match node.kind {
        JointKind::BallRpy => out.extend(velocity_to_rates(q, v).map_err(singular)?),
        JointKind::RpyFloating => {
            out.extend(velocity_to_rates(q, v).map_err(singular)?);
            out.extend_from_slice(&v[3..]);
        }
        JointKind::QuaternionFloating | JointKind::BallQuaternion => {
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

fn push_velocity<T: Scalar>(kind: &JointKind, q: &[T], qdot: &[T], out: &mut Vec<T>) {
    match kind {
        JointKind::BallRpy => out.extend(rates_to_velocity(q, qdot).iter()),
        JointKind::RpyFloating => {
            out.extend(rates_to_velocity(q, qdot).iter());
            out.extend_from_slice(&qdot[3..]);
        }
        JointKind::QuaternionFloating | JointKind::BallQuaternion => {
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

/// Returns the block of N+ of one joint, as a list of columns, one per position.
pub(super) fn velocity_block<T: Scalar>(kind: &JointKind, q: &[T]) -> Vec<Vec<T>> {
    let unit = |k: usize| -> Vec<T> {
        let one = |i| if i == k { T::one() } else { T::zero() };
        (0..q.len()).map(one).collect()
    };
    let column = |k| {
        let mut v = vec![];
        push_velocity(kind, q, &unit(k), &mut v);
        v
    };
    (0..q.len()).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_to_rates_inverts_rates_to_velocity() {
        let (rpy, w) = ([0.3, -0.7, 2.0], [0.5, -1.0, 2.0]);
        let rates = velocity_to_rates::<f64>(&rpy, &w).unwrap();
        let back = rates_to_velocity(&rpy, &rates);
        assert!((back - Vector3::from(w)).amax() < 1e-15);
        assert!(velocity_to_rates(&[0.0, std::f64::consts::FRAC_PI_2, 0.0], &w).is_err());
    }
}
