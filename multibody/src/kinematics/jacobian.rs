//! Jacobians of velocities.

use super::PositionKinematics;
use crate::error::Result;
use crate::index::{BodyIndex, FrameIndex};
use crate::plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use nalgebra::{Matrix3xX, Matrix6xX, Vector3};
use tarragon_framework::Scalar;

/// What a Jacobian is taken with respect to (Drake's `JacobianWrtVariable`).
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

impl MultibodyPlant {
    /// The Jacobian of the spatial velocity of a point Bp of frame B in frame A, expressed in frame
    /// E: 6 by `num_velocities` (or `num_positions`), rotational rows first, `V_ABp_E = J v` (or `J
    /// qdot`). `p_bobp_b` is the position of Bp in B (m).
    ///
    /// # Errors
    /// Before `finalize`, if the positions are of another plant, or a frame is unknown.
    pub fn calc_jacobian_spatial_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        wrt: JacobianWrt,
        frame_b: FrameIndex,
        p_bobp_b: &Vector3<f64>,
        frame_a: FrameIndex,
        frame_e: FrameIndex,
    ) -> Result<Matrix6xX<T>> {
        let tree = self.tree_of("calc_jacobian_spatial_velocity", positions)?;
        let (b, a) = (self.frame(frame_b)?, self.frame(frame_a)?);
        let x_we = self.calc_frame_pose(positions, frame_e)?;
        let r_ew = x_we.rotation.to_rotation_matrix().into_inner().transpose();
        let p = self.frame(frame_b)?.pose_in_body() * nalgebra::Point3::from(*p_bobp_b);
        let (r_wb, p_wb) = (
            &positions.r_wb[b.body().index()],
            &positions.x_wb[b.body().index()].translation.vector,
        );
        let p_wbp = p_wb + super::turned(r_wb, &p.coords);
        let mut jacobian = Matrix6xX::zeros(tree.num_velocities);
        // Joints inboard of A move A as they move B.
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
        Ok(match wrt {
            JacobianWrt::V => jacobian,
            JacobianWrt::QDot => {
                let mut by_qdot = Matrix6xX::zeros(tree.num_positions);
                for node in &tree.nodes {
                    let block = node.velocity_block(&positions.q[node.positions()]);
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
        })
    }

    /// The lower half of [`Self::calc_jacobian_spatial_velocity`]: the velocity of the point.
    ///
    /// # Errors
    /// As that.
    pub fn calc_jacobian_translational_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        wrt: JacobianWrt,
        frame_b: FrameIndex,
        p_bobp_b: &Vector3<f64>,
        frame_a: FrameIndex,
        frame_e: FrameIndex,
    ) -> Result<Matrix3xX<T>> {
        let all = self
            .calc_jacobian_spatial_velocity(positions, wrt, frame_b, p_bobp_b, frame_a, frame_e)?;
        Ok(all.fixed_rows::<3>(3).into_owned())
    }

    /// Pose `X_WF` of a frame.
    ///
    /// # Errors
    /// Before `finalize`, if the positions are of another plant, or the frame is unknown.
    pub fn calc_frame_pose<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        frame: FrameIndex,
    ) -> Result<nalgebra::Isometry3<T>> {
        self.tree_of("calc_frame_pose", positions)?;
        let frame = self.frame(frame)?;
        let x_wb = positions.x_wb(frame.body());
        Ok(x_wb * super::motion::lift(frame.pose_in_body()))
    }
}
