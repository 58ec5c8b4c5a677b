//! Poses of all bodies, and the axes of all joints in the world.

use super::across_joint::AcrossJoint;
use super::pose::{compose, update_matrix};
use crate::error::{Error, Result};
use crate::model::checks::check_length;
use crate::model::{BodyIndex, FixedOffsetFrame};
use crate::spatial::SpatialVector;
use crate::tree::KinematicTree;
use crate::tree::mobilizer::lift;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::any::Any;
use std::sync::LazyLock;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

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
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let point_mass = nalgebra::Matrix3::zeros();
/// let bob = SpatialInertia::from_central(2.0, -Vector3::z(), point_mass)?;
/// let rod = plant.add_rigid_body("rod", ModelInstanceIndex::DEFAULT, bob)?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, rod, Vector3::y())?)?;
/// let plant = plant.build()?;
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
    poses: BodyPoses<T>,
    pub(crate) r_wb: Vec<Matrix3<T>>,
    /// Per velocity: the spatial velocity of the outboard body B in the inboard one, at Bo and
    /// expressed in W, at velocity 1.
    pub(crate) columns: Vec<SpatialVector<T>>,
    /// By velocity, whether it is the first of a body that moves freely. The columns of such a body
    /// never change.
    free: Vec<bool>,
    /// The same without derivatives, if there can be any.
    real: Option<Box<PositionKinematics<f64>>>,
}

impl<T: Scalar> PositionKinematics<T> {
    /// Creates empty kinematics, to be filled by `update`.
    pub(crate) fn empty() -> Self {
        Self {
            q: vec![],
            poses: BodyPoses::empty(),
            r_wb: vec![],
            columns: vec![],
            free: vec![],
            real: None,
        }
    }
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> &PositionKinematics<f64> {
        static EMPTY: LazyLock<PositionKinematics<f64>> = LazyLock::new(PositionKinematics::empty);
        let real = (self as &dyn Any).downcast_ref().or(self.real.as_deref());
        real.unwrap_or(&EMPTY)
    }
    /// Returns the positions q.
    pub fn positions(&self) -> &[T] {
        &self.q
    }
    /// Returns the poses `X_WB` by [`BodyIndex`].
    pub fn body_poses(&self) -> &[Isometry3<T>] {
        &self.poses.x_wb
    }
    /// Returns `X_WB` of a body of the plant.
    pub fn x_wb(&self, body: BodyIndex) -> &Isometry3<T> {
        &self.poses.x_wb[body.index()]
    }
    pub(crate) fn p_wb(&self, body: u32) -> &Vector3<T> {
        &self.poses.x_wb[body as usize].translation.vector
    }
    /// Returns true if the pose of a body certainly has no derivatives.
    pub(crate) fn is_constant(&self, body: u32) -> bool {
        self.poses.is_constant(body)
    }

    /// Returns the pose `X_WF` of a frame of the plant.
    pub(crate) fn frame_pose(&self, frame: &FixedOffsetFrame) -> Isometry3<T> {
        self.x_wb(frame.body()) * lift(frame.pose_in_body())
    }

    /// Returns true if there can be derivatives, but the pose of a body certainly has none.
    #[inline]
    pub(crate) fn lacks_derivatives(&self, body: u32) -> bool {
        T::NDERIV > 0 && self.is_constant(body)
    }

    /// Checks that the positions belong to a tree of this size.
    pub(crate) fn check(&self, tree: &KinematicTree) -> Result<()> {
        check_length("positions", self.q.len(), tree.num_positions)?;
        check_length("bodies", self.poses.x_wb.len(), tree.nodes.len() + 1)?;
        check_length("joint axes", self.columns.len(), tree.num_velocities)
    }

    /// Computes everything for new positions, which the caller has checked.
    pub(crate) fn update(
        &mut self,
        tree: &KinematicTree,
        q: &[T],
        body_name: impl Fn(usize) -> String,
    ) -> Result<()> {
        self.poses.update(tree, q, body_name)?;
        self.update_axes(tree, q);
        Ok(())
    }

    /// Does the same where the poses of the bodies are known.
    pub(crate) fn update_from_poses(
        &mut self,
        tree: &KinematicTree,
        q: &[T],
        poses: &BodyPoses<T>,
    ) {
        self.poses.clone_from(poses);
        self.update_axes(tree, q);
    }

    /// Computes all but the poses of the bodies.
    fn update_axes(&mut self, tree: &KinematicTree, q: &[T]) {
        self.q.clear();
        self.q.extend_from_slice(q);
        if T::NDERIV > 0 {
            let real = self
                .real
                .get_or_insert_with(|| Box::new(PositionKinematics::empty()));
            real.q.clear();
            real.q.extend(q.iter().map(|x| x.re()));
            real.poses.x_wb.clear();
            real.poses.x_wb.extend_from_slice(&self.poses.real);
            real.calc_axes(tree, None);
        }
        let real = self.real.take();
        self.calc_axes(tree, real.as_deref());
        self.real = real;
    }

    /// Computes rotations and axes; those without derivatives are copied from `real`, if given.
    fn calc_axes(&mut self, tree: &KinematicTree, real: Option<&PositionKinematics<f64>>) {
        let x_wb = &self.poses.x_wb;
        let constant = |body: usize| real.filter(|_| self.poses.is_constant(body as u32));
        self.r_wb.resize(x_wb.len(), Matrix3::zeros());
        for (body, (x, r_wb)) in x_wb.iter().zip(&mut self.r_wb).enumerate() {
            match constant(body) {
                Some(real) => r_wb.zip_apply(&real.r_wb[body], |r, real| *r = T::from(real)),
                None => update_matrix(&x.rotation, r_wb),
            }
        }
        self.columns
            .resize(tree.num_velocities, SpatialVector::zero());
        self.free.resize(tree.num_velocities, false);
        for node in &tree.nodes {
            let own = node.velocities();
            let columns = &mut self.columns[own.clone()];
            if own.is_empty() {
                continue;
            }
            let known = std::mem::replace(&mut self.free[own.start], node.is_free);
            self.free[own.start + 1..own.end].fill(false);
            if node.is_free {
                if !known {
                    columns.copy_from_slice(&SpatialVector::basis());
                }
                continue;
            }
            if T::NDERIV > 0
                && let Some(real) = constant(node.body as usize)
            {
                for (column, real) in columns.iter_mut().zip(&real.columns[own]) {
                    *column = SpatialVector::lift(real);
                }
                continue;
            }
            let joint = AcrossJoint::new(node, x_wb, &self.r_wb);
            joint.calc_columns(&self.q[node.positions()], columns);
        }
    }
}

/// Poses of all bodies, of which those without derivatives are known.
#[derive(Debug)]
pub(crate) struct BodyPoses<T: Scalar> {
    /// `X_WB` by body.
    pub(crate) x_wb: Vec<Isometry3<T>>,
    /// The same without derivatives, and whether there are certainly none; both are empty if there
    /// cannot be any.
    real: Vec<Isometry3<f64>>,
    constant: Vec<bool>,
}

impl<T: Scalar> Clone for BodyPoses<T> {
    fn clone(&self) -> Self {
        Self {
            x_wb: self.x_wb.clone(),
            real: self.real.clone(),
            constant: self.constant.clone(),
        }
    }
    fn clone_from(&mut self, other: &Self) {
        // Copies in one piece.
        self.x_wb.clear();
        self.x_wb.extend_from_slice(&other.x_wb);
        self.real.clear();
        self.real.extend_from_slice(&other.real);
        self.constant.clone_from(&other.constant);
    }
}

impl<T: Scalar> BodyPoses<T> {
    pub(crate) fn empty() -> Self {
        Self {
            x_wb: vec![],
            real: vec![],
            constant: vec![],
        }
    }

    fn is_constant(&self, body: u32) -> bool {
        T::NDERIV == 0 || self.constant[body as usize]
    }

    /// Computes the poses at positions that the caller has checked.
    #[inline]
    pub(crate) fn update(
        &mut self,
        tree: &KinematicTree,
        q: &[T],
        body_name: impl Fn(usize) -> String,
    ) -> Result<()> {
        if T::NDERIV == 0 {
            return calc_body_poses(tree, q, &mut self.x_wb, body_name);
        }
        let n = tree.nodes.len() + 1;
        self.x_wb.clear();
        self.x_wb.resize(n, Isometry3::identity());
        self.real.clear();
        self.real.resize(n, Isometry3::identity());
        self.constant.clear();
        self.constant.resize(n, true);
        for node in &tree.nodes {
            let (body, own) = (node.body as usize, &q[node.positions()]);
            let parent = node.parent as usize;
            let mut values = [0.0; 7];
            for (value, q) in values.iter_mut().zip(own) {
                *value = q.re();
            }
            let fail = || no_rotation(&body_name(body), own);
            let x_pb = node.mobilizer.relative_pose(&values).ok_or_else(fail)?;
            self.real[body] = match parent {
                0 => x_pb,
                _ => self.real[parent] * x_pb,
            };
            self.constant[body] = self.constant[parent] && own.iter().all(is_constant);
            if self.constant[body] {
                self.x_wb[body] = lift(&self.real[body]);
                continue;
            }
            let x_pb = node.mobilizer.relative_pose(own).ok_or_else(fail)?;
            match self.x_wb.get_disjoint_mut([parent, body]) {
                Ok([x_wp, x_wb]) if parent != 0 => compose(x_wp, &x_pb, x_wb),
                _ => self.x_wb[body] = x_pb,
            }
        }
        Ok(())
    }
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
