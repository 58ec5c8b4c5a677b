//! Poses of all bodies, and the axes of all joints in the world.

use super::Node;
use crate::error::Result;
use crate::index::BodyIndex;
use crate::joint::JointKind;
use crate::plant::MultibodyPlant;
use crate::spatial::SpatialVector;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::f64::consts::TAU;
use tarragon_framework::Scalar;

/// What depends on the positions q only: poses of bodies and the axes about and along which joints
/// move them. Velocities, Jacobians, mass matrix, forces and energies are computed from it.
///
/// It can be used again for other positions with [`Self::update`], which allocates nothing.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let bob = SpatialInertia::from_central(2.0, Vector3::new(0.0, 0.0, -1.0), nalgebra::Matrix3::zeros())?;
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
    /// By body.
    pub(crate) x_wb: Vec<Isometry3<T>>,
    pub(crate) r_wb: Vec<Matrix3<T>>,
    /// Per velocity: the spatial velocity of the outboard body B in the inboard one, at Bo and
    /// expressed in W, at velocity 1.
    pub(crate) columns: Vec<SpatialVector<T>>,
}

impl<T: Scalar> PositionKinematics<T> {
    /// Of nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            q: vec![],
            x_wb: vec![],
            r_wb: vec![],
            columns: vec![],
        }
    }
    /// The positions q.
    pub fn positions(&self) -> &[T] {
        &self.q
    }
    /// Poses `X_WB` by [`BodyIndex`].
    pub fn body_poses(&self) -> &[Isometry3<T>] {
        &self.x_wb
    }
    /// `X_WB` of a body of the plant.
    pub fn x_wb(&self, body: BodyIndex) -> &Isometry3<T> {
        &self.x_wb[body.index()]
    }
    pub(crate) fn p_wb(&self, body: u32) -> &Vector3<T> {
        &self.x_wb[body as usize].translation.vector
    }

    /// Computes everything for other positions of the same plant.
    ///
    /// # Errors
    /// As [`MultibodyPlant::calc_position_kinematics`]; what was there before is lost then.
    pub fn update(&mut self, plant: &MultibodyPlant, q: &[T]) -> Result<()> {
        plant.calc_body_poses(q, &mut self.x_wb)?;
        let tree = &plant.finalized("calc_position_kinematics")?.tree;
        self.q.clear();
        self.q.extend_from_slice(q);
        self.r_wb.clear();
        let matrix = |x: &Isometry3<T>| x.rotation.to_rotation_matrix().into_inner();
        self.r_wb.extend(self.x_wb.iter().map(matrix));
        self.columns.clear();
        for node in &tree.nodes {
            let ends = node.ends(&self.x_wb, &self.r_wb);
            node.push_columns(&q[node.positions()], &ends, &mut self.columns);
        }
        Ok(())
    }
}

impl MultibodyPlant {
    /// Poses and joint axes at positions q (quaternions are normalised).
    ///
    /// # Errors
    /// Before `finalize`, if q has the wrong length, a value that is not finite, or a quaternion of
    /// length 0.
    pub fn calc_position_kinematics<T: Scalar>(&self, q: &[T]) -> Result<PositionKinematics<T>> {
        let mut kinematics = PositionKinematics::empty();
        kinematics.update(self, q)?;
        Ok(kinematics)
    }
}

/// A constant vector in the frame of a rotation.
pub(crate) fn turned<T: Scalar>(r: &Matrix3<T>, v: &Vector3<f64>) -> Vector3<T> {
    Vector3::from_fn(|i, _| r[(i, 0)] * v.x + r[(i, 1)] * v.y + r[(i, 2)] * v.z)
}

/// The inboard and the outboard body of a joint.
pub(crate) struct Ends<'a, T: Scalar> {
    r_wp: &'a Matrix3<T>,
    r_wb: &'a Matrix3<T>,
    /// `p_PoBo_W`.
    pub(crate) p_pb: Vector3<T>,
}

impl Node {
    /// The bodies that the joint connects; poses and rotations are by body.
    pub(crate) fn ends<'a, T: Scalar>(
        &self,
        x_wb: &[Isometry3<T>],
        r_wb: &'a [Matrix3<T>],
    ) -> Ends<'a, T> {
        let (parent, body) = (self.parent as usize, self.body as usize);
        Ends {
            r_wp: &r_wb[parent],
            r_wb: &r_wb[body],
            p_pb: x_wb[body].translation.vector - x_wb[parent].translation.vector,
        }
    }

    /// The way from the joint's point of reference to Bo, expressed in W: from Mo of the joint's
    /// child.
    pub(crate) fn arm<T: Scalar>(&self, ends: &Ends<'_, T>) -> Vector3<T> {
        if self.is_reversed_path() {
            // M is on the inboard body, and its Mo is no point of the outboard one.
            return ends.p_pb - turned(ends.r_wp, &self.x_pf.translation.vector);
        }
        let p_bm = &self.x_bm.translation.vector;
        match *p_bm == Vector3::zeros() {
            true => Vector3::zeros(),
            false => -turned(ends.r_wb, p_bm),
        }
    }

    fn is_reversed_path(&self) -> bool {
        self.reversed && matches!(self.kind, JointKind::Curvilinear { .. })
    }
    /// An axis of F, expressed in W.
    fn axis<T: Scalar>(&self, r_wp: &Matrix3<T>, axis: &Vector3<f64>) -> Vector3<T> {
        turned(r_wp, &(self.x_pf.rotation * axis))
    }
    /// An axis of the frame that moves along a path, expressed in W.
    fn path_axis<T: Scalar>(&self, ends: &Ends<'_, T>, axis: &Vector3<f64>) -> Vector3<T> {
        match self.reversed {
            true => self.axis(ends.r_wp, axis),
            false => turned(ends.r_wb, &(self.x_bm.rotation * axis)),
        }
    }

    fn push_columns<T: Scalar>(
        &self,
        q: &[T],
        ends: &Ends<'_, T>,
        columns: &mut Vec<SpatialVector<T>>,
    ) {
        let r_wp = ends.r_wp;
        let centered = self.x_bm.translation.vector == Vector3::zeros() && !self.is_reversed_path();
        let p = self.arm(ends);
        let turning = |w: Vector3<T>| SpatialVector {
            rotational: w,
            translational: match centered {
                true => Vector3::zeros(),
                false => w.cross(&p),
            },
        };
        let sliding = |v: Vector3<T>| SpatialVector {
            rotational: Vector3::zeros(),
            translational: v,
        };
        let axis = |k: usize| self.axis(r_wp, &Vector3::ith(k, 1.0));
        match &self.kind {
            JointKind::Weld { .. } => {}
            JointKind::Revolute { axis } => columns.push(turning(self.axis(r_wp, axis))),
            JointKind::Prismatic { axis } => columns.push(sliding(self.axis(r_wp, axis))),
            JointKind::Screw { axis, pitch } => {
                let axis = self.axis(r_wp, axis);
                columns.push(turning(axis) + sliding(axis * T::from(pitch / TAU)));
            }
            JointKind::Curvilinear { path } => {
                // Seen from the body that moves along the path, the other one moves backwards.
                let sign = if self.reversed { -1.0 } else { 1.0 };
                let rate = path.turning_rate(q[0]);
                let tangent = self.path_axis(ends, &Vector3::x()) * T::from(sign);
                let normal = self.path_axis(ends, &Vector3::z()) * T::from(sign * rate);
                columns.push(turning(normal) + sliding(tangent));
            }
            JointKind::Universal => {
                let (s, c) = q[0].sin_cos();
                columns.push(turning(axis(0)));
                columns.push(turning(axis(1) * c + axis(2) * s));
            }
            JointKind::BallRpy => columns.extend((0..3).map(|k| turning(axis(k)))),
            JointKind::Planar => {
                columns.extend((0..2).map(|k| sliding(axis(k))));
                columns.push(turning(axis(2)));
            }
            JointKind::RpyFloating | JointKind::QuaternionFloating => {
                columns.extend((0..3).map(|k| turning(axis(k))));
                columns.extend((0..3).map(|k| sliding(axis(k))));
            }
        }
    }

    /// The rest of the acceleration across the joint, of the joint's point of reference in the
    /// inboard body and expressed in W, when all time derivatives of velocities are 0.
    pub(crate) fn bias<T: Scalar>(
        &self,
        q: &[T],
        v: &[T],
        ends: &Ends<'_, T>,
    ) -> Option<SpatialVector<T>> {
        match &self.kind {
            JointKind::Universal => {
                let (s, c) = q[0].sin_cos();
                let axis = |k: usize| self.axis(ends.r_wp, &Vector3::ith(k, 1.0));
                Some(SpatialVector {
                    rotational: (axis(2) * c - axis(1) * s) * (v[0] * v[1]),
                    translational: Vector3::zeros(),
                })
            }
            // Towards the centre of the arc; from the other body, the frame's turn moves the point
            // so.
            JointKind::Curvilinear { path } => Some(SpatialVector {
                rotational: Vector3::zeros(),
                translational: self.path_axis(ends, &Vector3::y())
                    * (v[0] * v[0] * path.turning_rate(q[0])),
            }),
            _ => None,
        }
    }
}
