//! Jacobians of velocities.

use super::across_joint::turned;
use super::position::PositionKinematics;
use super::position_rates::velocity_block;
use crate::model::{BodyIndex, FixedOffsetFrame};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use nalgebra::{Matrix6xX, Vector3};
use tarragon_framework::Scalar;

/// The variable that a Jacobian is taken with respect to (Drake's `JacobianWrtVariable`).
///
/// ```
/// use tarragon_multibody::JacobianWrt;
/// assert_ne!(JacobianWrt::V, JacobianWrt::QDot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JacobianWrt {
    /// Time derivatives of the positions.
    QDot,
    /// Velocities.
    V,
}

/// Computes the Jacobian of the spatial velocity of a point Bp of frame B in frame A, expressed in
/// frame E.
pub(crate) fn jacobian_spatial_velocity<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    wrt: JacobianWrt,
    (b, p_bobp_b): (&FixedOffsetFrame, &Vector3<f64>),
    a: &FixedOffsetFrame,
    e: &FixedOffsetFrame,
) -> Matrix6xX<T> {
    let x_we = positions.frame_pose(e);
    let r_ew = x_we.rotation.to_rotation_matrix().into_inner().transpose();
    let p = b.pose_in_body() * nalgebra::Point3::from(*p_bobp_b);
    let (r_wb, p_wb) = (
        &positions.r_wb[b.body().index()],
        &positions.x_wb(b.body()).translation.vector,
    );
    let p_wbp = p_wb + turned(r_wb, &p.coords);
    let mut jacobian = Matrix6xX::zeros(tree.num_velocities);
    // Joints inboard of both A and B cancel: they move A as they move B.
    for (body, sign) in [(b.body(), 1.0), (a.body(), -1.0)] {
        let mut at = tree.node(body);
        while let Some(node) = at {
            for k in node.velocities() {
                let way = p_wbp - positions.p_wb(node.body);
                let SpatialVector {
                    rotational,
                    translational,
                } = positions.columns[k].velocity_at(&way);
                let mut column = jacobian.column_mut(k);
                for (rows, v) in [(0, r_ew * rotational), (3, r_ew * translational)] {
                    for i in 0..3 {
                        column[rows + i] += v[i] * sign;
                    }
                }
            }
            at = tree.node(BodyIndex::new(node.parent as usize));
        }
    }
    match wrt {
        JacobianWrt::V => jacobian,
        JacobianWrt::QDot => {
            let mut by_qdot = Matrix6xX::zeros(tree.num_positions);
            for node in &tree.nodes {
                let block = velocity_block(&node.kind, &positions.q[node.positions()]);
                for (position, block) in node.positions().zip(block) {
                    for (velocity, factor) in node.velocities().zip(block) {
                        let column = jacobian.column(velocity) * factor;
                        let mut sum = by_qdot.column_mut(position);
                        sum += column;
                    }
                }
            }
            by_qdot
        }
    }
}
