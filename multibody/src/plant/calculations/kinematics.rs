//! Poses, velocities, accelerations and Jacobians of a plant.

use crate::error::{Error, Result};
use crate::kinematics::{
    self, BodyPoses, JacobianWrt, PositionKinematics, SingularPitch, VelocityKinematics,
    jacobian_spatial_velocity,
};
use crate::model::{BodyIndex, FrameIndex};
use crate::plant::multibody_plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use crate::tree::{CoordinateKind, KinematicTree};
use nalgebra::{Isometry3, Matrix3xX, Matrix6xX, Vector3};
use tarragon_framework::Scalar;

impl MultibodyPlant {
    /// Computes the poses `X_WB` of all bodies, by [`BodyIndex`]; quaternions in q are normalised.
    /// Allocates only if `out` is too small.
    ///
    /// # Errors
    /// Returns an error if q has the wrong length, a value that is not finite, or a quaternion of
    /// length 0.
    pub fn calc_body_poses<T: Scalar>(&self, q: &[T], out: &mut Vec<Isometry3<T>>) -> Result<()> {
        let topology = &self.topology;
        topology.check(CoordinateKind::Positions, q)?;
        let name = |body| self.scoped_body_name(BodyIndex::new(body));
        kinematics::calc_body_poses(&topology.tree, q, out, name)
    }

    /// Computes body poses and joint axes at positions q; quaternions are normalised.
    ///
    /// # Errors
    /// Returns an error if q has the wrong length, a value that is not finite, or a quaternion of
    /// length 0.
    pub fn calc_position_kinematics<T: Scalar>(&self, q: &[T]) -> Result<PositionKinematics<T>> {
        let mut kinematics = PositionKinematics::empty();
        self.update_position_kinematics(&mut kinematics, q)?;
        Ok(kinematics)
    }

    /// Updates `positions` in place to those of [`Self::calc_position_kinematics`] at q. Allocates
    /// nothing if `positions` was computed for this plant before.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_position_kinematics`]; the previous content of
    /// `positions` is lost in that case.
    pub fn update_position_kinematics<T: Scalar>(
        &self,
        positions: &mut PositionKinematics<T>,
        q: &[T],
    ) -> Result<()> {
        let topology = &self.topology;
        topology.check(CoordinateKind::Positions, q)?;
        let name = |body| self.scoped_body_name(BodyIndex::new(body));
        positions.update(&topology.tree, q, name)
    }

    /// Computes the poses of all bodies, in place of others.
    pub(in crate::plant) fn update_body_poses<T: Scalar>(
        &self,
        poses: &mut BodyPoses<T>,
        q: &[T],
    ) -> Result<()> {
        let topology = &self.topology;
        topology.check(CoordinateKind::Positions, q)?;
        let name = |body| self.scoped_body_name(BodyIndex::new(body));
        poses.update(&topology.tree, q, name)
    }

    /// Computes the spatial velocities of all bodies.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant, or v has the wrong length or a
    /// value that is not finite.
    pub fn calc_velocity_kinematics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<VelocityKinematics<T>> {
        let mut velocities = VelocityKinematics::empty();
        self.update_velocity_kinematics(&mut velocities, positions, v)?;
        Ok(velocities)
    }

    /// Updates `velocities` in place to those of [`Self::calc_velocity_kinematics`] at v. Allocates
    /// nothing if `velocities` was computed for this plant before.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_velocity_kinematics`].
    pub fn update_velocity_kinematics<T: Scalar>(
        &self,
        velocities: &mut VelocityKinematics<T>,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<()> {
        let tree = self.tree_of(positions)?;
        let topology = &self.topology;
        topology.check(CoordinateKind::Velocities, v)?;
        velocities.update(tree, positions, v);
        Ok(())
    }

    /// Computes the spatial accelerations `A_WB` of all bodies by [`BodyIndex`]: of Bo in W,
    /// expressed in W (rad/s^2, m/s^2), for the time derivatives `vdot` of the velocities.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_velocity_kinematics`], and an error if `vdot` has the
    /// wrong length or a value that is not finite.
    pub fn calc_spatial_accelerations<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
    ) -> Result<Vec<SpatialVector<T>>> {
        let tree = self.tree_of(positions)?;
        velocities.check(tree)?;
        let topology = &self.topology;
        topology.check(CoordinateKind::Accelerations, vdot)?;
        let mut a_wb = vec![];
        kinematics::spatial_accelerations(tree, positions, velocities, Some(vdot), &mut a_wb);
        Ok(a_wb)
    }

    /// Computes the Jacobian of the spatial velocity of a point Bp of frame B in frame A, expressed
    /// in frame E: 6 by `num_velocities` (or `num_positions`), rotational rows first, `V_ABp_E = J
    /// v` (or `J qdot`). `p_bobp_b` is the position of Bp in B (m).
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant, or a frame is unknown.
    pub fn calc_jacobian_spatial_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        wrt: JacobianWrt,
        frame_b: FrameIndex,
        p_bobp_b: &Vector3<f64>,
        frame_a: FrameIndex,
        frame_e: FrameIndex,
    ) -> Result<Matrix6xX<T>> {
        let tree = self.tree_of(positions)?;
        let (b, a) = (self.frame(frame_b)?, self.frame(frame_a)?);
        let e = self.frame(frame_e)?;
        Ok(jacobian_spatial_velocity(
            tree,
            positions,
            wrt,
            (b, p_bobp_b),
            a,
            e,
        ))
    }

    /// Computes the lower half of [`Self::calc_jacobian_spatial_velocity`], the Jacobian of the
    /// translational velocity of Bp.
    ///
    /// # Errors
    /// Returns the errors of [`Self::calc_jacobian_spatial_velocity`].
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

    /// Computes the pose `X_WF` of a frame.
    ///
    /// # Errors
    /// Returns an error if the positions belong to another plant, or the frame is unknown.
    pub fn calc_frame_pose<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        frame: FrameIndex,
    ) -> Result<Isometry3<T>> {
        self.tree_of(positions)?;
        Ok(positions.frame_pose(self.frame(frame)?))
    }

    /// Computes `qdot = N(q) v`: rad/s or m/s, and 1/s for quaternions. Quaternions in q are not
    /// normalised here: the result is the derivative of q as given, whatever the length of its
    /// quaternions.
    ///
    /// # Errors
    /// Returns an error if v has the wrong length or a value that is not finite, or if roll, pitch
    /// and yaw are singular (at a pitch of 90 degrees).
    pub fn map_velocity_to_qdot<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<Vec<T>> {
        let tree = self.tree_of(positions)?;
        let topology = &self.topology;
        topology.check(CoordinateKind::Velocities, v)?;
        kinematics::velocity_to_qdot(tree, positions, v).map_err(|at| self.singular(&at))
    }

    /// Computes `v = N+(q) qdot`; the component of a quaternion's derivative that changes its
    /// length has no effect.
    ///
    /// # Errors
    /// Returns an error if qdot has the wrong length or a value that is not finite.
    pub fn map_qdot_to_velocity<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        qdot: &[T],
    ) -> Result<Vec<T>> {
        let tree = self.tree_of(positions)?;
        let topology = &self.topology;
        topology.check(CoordinateKind::PositionRates, qdot)?;
        Ok(kinematics::qdot_to_velocity(tree, positions, qdot))
    }

    #[cold]
    pub(in crate::plant) fn singular(&self, at: &SingularPitch) -> Error {
        Error::invalid(format!(
            "body '{}': the pitch must not be close to 90 degrees, where roll and yaw have no \
             derivatives, got {:?} rad; use a quaternion joint",
            self.scoped_body_name(at.body),
            at.pitch
        ))
    }

    /// Returns the plant's tree, after a check that `positions` belongs to it.
    pub(in crate::plant) fn tree_of<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
    ) -> Result<&KinematicTree> {
        let tree = &self.topology.tree;
        positions.check(tree)?;
        Ok(tree)
    }
}
