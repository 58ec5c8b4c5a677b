//! Velocities and accelerations of all bodies.

use super::{KinematicTree, PositionKinematics, check_length};
use crate::coordinates::Coordinates;
use crate::error::Result;
use crate::index::BodyIndex;
use crate::plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use tarragon_framework::Scalar;

/// Spatial velocities of all bodies at some positions and velocities.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let disc = plant.add_rigid_body("disc", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, disc, Vector3::z())?)?;
/// plant.finalize()?;
/// let positions = plant.calc_position_kinematics(&[0.0])?;
/// let velocities: VelocityKinematics<f64> = plant.calc_velocity_kinematics(&positions, &[3.0])?;
/// assert_eq!(velocities.v_wb(disc).rotational, Vector3::new(0.0, 0.0, 3.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VelocityKinematics<T: Scalar> {
    pub(crate) v: Vec<T>,
    pub(crate) v_wb: Vec<SpatialVector<T>>,
}

impl<T: Scalar> VelocityKinematics<T> {
    /// Of nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            v: vec![],
            v_wb: vec![],
        }
    }
    /// The velocities v.
    pub fn velocities(&self) -> &[T] {
        &self.v
    }
    /// `V_WB` of all bodies by [`BodyIndex`]: of Bo in W, expressed in W (rad/s, m/s).
    pub fn body_spatial_velocities(&self) -> &[SpatialVector<T>] {
        &self.v_wb
    }
    /// `V_WB` of a body of the plant.
    pub fn v_wb(&self, body: BodyIndex) -> &SpatialVector<T> {
        &self.v_wb[body.index()]
    }

    /// Computes everything for other positions or velocities of the same plant; allocates nothing.
    ///
    /// # Errors
    /// As [`MultibodyPlant::calc_velocity_kinematics`].
    pub fn update(
        &mut self,
        plant: &MultibodyPlant,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<()> {
        let asked = "calc_velocity_kinematics";
        let tree = plant.tree_of(asked, positions)?;
        plant.finalized(asked)?.check(Coordinates::Velocities, v)?;
        self.v.clear();
        self.v.extend_from_slice(v);
        self.v_wb.clear();
        self.v_wb
            .resize(tree.nodes.len() + 1, SpatialVector::zero());
        for node in &tree.nodes {
            let p_pb = positions.p_wb(node.body) - positions.p_wb(node.parent);
            let mut v_wb = self.v_wb[node.parent as usize].velocity_at(&p_pb);
            for k in node.velocities() {
                v_wb += positions.columns[k] * v[k];
            }
            self.v_wb[node.body as usize] = v_wb;
        }
        Ok(())
    }
}

impl MultibodyPlant {
    /// Spatial velocities of all bodies.
    ///
    /// # Errors
    /// Before `finalize`, if the positions are of another plant, or v has the wrong length or a
    /// value that is not finite.
    pub fn calc_velocity_kinematics<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) -> Result<VelocityKinematics<T>> {
        let mut velocities = VelocityKinematics::empty();
        velocities.update(self, positions, v)?;
        Ok(velocities)
    }

    /// Spatial accelerations `A_WB` of all bodies by [`BodyIndex`]: of Bo in W, expressed in W
    /// (rad/s^2, m/s^2), at the time derivatives `vdot` of the velocities.
    ///
    /// # Errors
    /// As [`Self::calc_velocity_kinematics`], or if `vdot` has the wrong length or a value that is
    /// not finite.
    pub fn calc_spatial_accelerations<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: &[T],
    ) -> Result<Vec<SpatialVector<T>>> {
        let asked = "calc_spatial_accelerations";
        let tree = self.tree_of(asked, positions)?;
        tree.check_velocities(velocities)?;
        let topology = self.finalized(asked)?;
        topology.check(Coordinates::Accelerations, vdot)?;
        let mut a_wb = vec![];
        tree.spatial_accelerations(positions, velocities, Some(vdot), &mut a_wb);
        Ok(a_wb)
    }

    /// The tree that belongs to positions.
    pub(crate) fn tree_of<T: Scalar>(
        &self,
        asked: &str,
        positions: &PositionKinematics<T>,
    ) -> Result<&KinematicTree> {
        let tree = &self.finalized(asked)?.tree;
        check_length("positions", positions.q.len(), tree.num_positions)?;
        check_length("bodies", positions.x_wb.len(), tree.nodes.len() + 1)?;
        check_length("joint axes", positions.columns.len(), tree.num_velocities)?;
        Ok(tree)
    }
}

impl KinematicTree {
    /// `A_WB` of all bodies; with all `vdot` 0 if they are not given.
    pub(crate) fn spatial_accelerations<T: Scalar>(
        &self,
        positions: &PositionKinematics<T>,
        velocities: &VelocityKinematics<T>,
        vdot: Option<&[T]>,
        out: &mut Vec<SpatialVector<T>>,
    ) {
        let v = &velocities.v;
        out.clear();
        out.resize(self.nodes.len() + 1, SpatialVector::zero());
        for node in &self.nodes {
            let (parent, body) = (node.parent as usize, node.body as usize);
            let ends = node.ends(&positions.x_wb, &positions.r_wb);
            let p_pb = &ends.p_pb;
            let (w_p, a_p) = (velocities.v_wb[parent].rotational, out[parent]);
            // Relative to the inboard body.
            let mut v_pb = SpatialVector::zero();
            for k in node.velocities() {
                v_pb += positions.columns[k] * v[k];
            }
            let w = v_pb.rotational;
            let arm = node.arm(&ends);
            let mut a = SpatialVector {
                rotational: a_p.rotational + w_p.cross(&w),
                translational: a_p.translational
                    + a_p.rotational.cross(p_pb)
                    + w_p.cross(&(w_p.cross(p_pb)))
                    + w_p.cross(&v_pb.translational) * T::from(2.0)
                    + w.cross(&w.cross(&arm)),
            };
            let q = &positions.q[node.positions()];
            if let Some(bias) = node.bias(q, &v[node.velocities()], &ends) {
                a += bias.velocity_at(&arm);
            }
            if let Some(vdot) = vdot {
                for k in node.velocities() {
                    a += positions.columns[k] * vdot[k];
                }
            }
            out[body] = a;
        }
    }
}
