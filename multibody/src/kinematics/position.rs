//! Poses of all bodies, and the axes of all joints in the world.

use super::across_joint::AcrossJoint;
use crate::error::{Error, Result};
use crate::model::checks::check_length;
use crate::model::{BodyIndex, FixedOffsetFrame};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use crate::tree::mobilizer::lift;
use nalgebra::{Isometry3, Matrix3, Quaternion, UnitQuaternion, Vector3};
use std::any::Any;
use std::borrow::Cow;
use tarragon_framework::{Scalar, math};

/// Kinematics that depend only on the positions q: poses of bodies, and the axes about and along
/// which joints move them. Velocities, Jacobians, mass matrix, forces and energies are computed
/// from them.
///
/// [`update_position_kinematics`](crate::MultibodyPlant::update_position_kinematics) reuses the
/// storage for other positions and allocates nothing.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let point_mass = nalgebra::Matrix3::zeros();
/// let bob = SpatialInertia::from_central(2.0, -Vector3::z(), point_mass)?;
/// let rod = plant.add_rigid_body("rod", ModelInstanceIndex::DEFAULT, bob)?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, rod, Vector3::y())?)?;
/// plant.finalize()?;
/// let kinematics = plant.calc_position_kinematics(&[0.5_f64])?;
/// let mass_matrix = plant.calc_mass_matrix(&kinematics)?;
/// assert!((mass_matrix[(0, 0)] - 2.0).abs() < 1e-15); // m l^2
/// let gravity = plant.calc_gravity_generalized_forces(&kinematics)?;
/// assert!((gravity[0] + 2.0 * 9.81 * 0.5_f64.sin()).abs() < 1e-14); // -m g l sin(q)
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PositionKinematics<T: Scalar> {
    pub(crate) q: Vec<T>,
    /// `X_WB` by body.
    pub(crate) x_wb: Vec<Isometry3<T>>,
    pub(crate) r_wb: Vec<Matrix3<T>>,
    /// Per velocity: the spatial velocity of the outboard body B in the inboard one, at Bo and
    /// expressed in W, at velocity 1.
    pub(crate) columns: Vec<SpatialVector<T>>,
}

impl<T: Scalar> PositionKinematics<T> {
    /// Creates empty kinematics, to be filled by `update`.
    pub(crate) fn empty() -> Self {
        Self {
            q: vec![],
            x_wb: vec![],
            r_wb: vec![],
            columns: vec![],
        }
    }
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> Cow<'_, PositionKinematics<f64>> {
        if let Some(real) = (self as &dyn Any).downcast_ref() {
            return Cow::Borrowed(real);
        }
        Cow::Owned(PositionKinematics {
            q: self.q.iter().map(|x| x.re()).collect(),
            x_wb: self.x_wb.iter().map(real_pose).collect(),
            r_wb: self.r_wb.iter().map(|r| r.map(|x| x.re())).collect(),
            columns: self.columns.iter().map(SpatialVector::real).collect(),
        })
    }
    /// Returns the positions q.
    pub fn positions(&self) -> &[T] {
        &self.q
    }
    /// Returns the poses `X_WB` by [`BodyIndex`].
    pub fn body_poses(&self) -> &[Isometry3<T>] {
        &self.x_wb
    }
    /// Returns `X_WB` of a body of the plant.
    pub fn x_wb(&self, body: BodyIndex) -> &Isometry3<T> {
        &self.x_wb[body.index()]
    }
    pub(crate) fn p_wb(&self, body: u32) -> &Vector3<T> {
        &self.x_wb[body as usize].translation.vector
    }

    /// Returns the pose `X_WF` of a frame of the plant.
    pub(crate) fn frame_pose(&self, frame: &FixedOffsetFrame) -> Isometry3<T> {
        self.x_wb(frame.body()) * lift(frame.pose_in_body())
    }

    /// Checks that the positions belong to a tree of this size.
    pub(crate) fn check(&self, tree: &KinematicTree) -> Result<()> {
        check_length("positions", self.q.len(), tree.num_positions)?;
        check_length("bodies", self.x_wb.len(), tree.nodes.len() + 1)?;
        check_length("joint axes", self.columns.len(), tree.num_velocities)
    }

    /// Computes everything for new positions, which the caller has checked.
    pub(crate) fn update(
        &mut self,
        tree: &KinematicTree,
        q: &[T],
        body_name: impl Fn(usize) -> String,
    ) -> Result<()> {
        calc_body_poses(tree, q, &mut self.x_wb, body_name)?;
        self.q.clear();
        self.q.extend_from_slice(q);
        self.r_wb.clear();
        let matrix = |x: &Isometry3<T>| x.rotation.to_rotation_matrix().into_inner();
        self.r_wb.extend(self.x_wb.iter().map(matrix));
        self.columns.clear();
        for node in &tree.nodes {
            if node.is_free {
                self.columns.extend(SpatialVector::basis());
                continue;
            }
            let joint = AcrossJoint::new(node, &self.x_wb, &self.r_wb);
            joint.push_columns(&q[node.positions()], &mut self.columns);
        }
        Ok(())
    }
}

fn real_pose<T: Scalar>(x: &Isometry3<T>) -> Isometry3<f64> {
    let rotation = Quaternion::from(x.rotation.coords.map(|x| x.re()));
    math::pose(
        UnitQuaternion::new_unchecked(rotation),
        x.translation.vector.map(|x| x.re()),
    )
}

/// Computes the poses of all bodies in the world, the world itself first, at positions that the
/// caller has checked.
#[inline]
pub(crate) fn calc_body_poses<T: Scalar>(
    tree: &KinematicTree,
    q: &[T],
    out: &mut Vec<Isometry3<T>>,
    body_name: impl Fn(usize) -> String,
) -> Result<()> {
    out.clear();
    out.resize(tree.nodes.len() + 1, Isometry3::identity());
    for node in &tree.nodes {
        let q = &q[node.q_start as usize..];
        let Some(x_pb) = node.mobilizer.relative_pose(q) else {
            return Err(no_rotation(&body_name(node.body as usize), q));
        };
        out[node.body as usize] = match node.parent {
            0 => x_pb,
            parent => out[parent as usize] * x_pb,
        };
    }
    Ok(())
}

#[cold]
fn no_rotation<T: Scalar>(body: &str, q: &[T]) -> Error {
    Error::invalid(format!(
        "body '{body}': the quaternion in its positions must not be zero, got {:?}; set a \
         rotation, such as [1, 0, 0, 0]",
        [0, 1, 2, 3].map(|i| q[i].re())
    ))
}
