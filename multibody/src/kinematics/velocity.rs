//! Velocities and accelerations of all bodies.

use super::across_joint::AcrossJoint;
use super::position::PositionKinematics;
use crate::error::Result;
use crate::model::BodyIndex;
use crate::model::checks::check_length;
use crate::spatial::{SpatialVector, add_cross, cross};
use crate::tree::{KinematicTree, MobilizedBody};
use std::any::Any;
use std::ops::Mul;
use std::sync::LazyLock;
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// Spatial velocities of all bodies at given positions and velocities.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let disc = plant.add_rigid_body("disc", ModelInstanceIndex::DEFAULT, SpatialInertia::zero())?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, disc, Vector3::z())?)?;
/// let plant = plant.build()?;
/// let positions = plant.calc_position_kinematics(&[0.0])?;
/// let velocities: VelocityKinematics<f64> = plant.calc_velocity_kinematics(&positions, &[3.0])?;
/// assert_eq!(velocities.v_wb(disc).rotational, Vector3::new(0.0, 0.0, 3.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VelocityKinematics<T: Scalar> {
    pub(crate) v: Vec<T>,
    pub(crate) v_wb: Vec<SpatialVector<T>>,
    /// The same without derivatives, and by body whether there are certainly none, if there can be
    /// any.
    real: Option<Box<VelocityKinematics<f64>>>,
    constant: Vec<bool>,
}

impl<T: Scalar> VelocityKinematics<T> {
    /// Creates empty kinematics, to be filled by `update`.
    pub(crate) fn empty() -> Self {
        Self {
            v: vec![],
            v_wb: vec![],
            real: None,
            constant: vec![],
        }
    }
    /// Returns the kinematics of a tree at rest.
    pub(crate) fn at_rest(tree: &KinematicTree) -> Self {
        Self {
            v: vec![T::zero(); tree.num_velocities],
            v_wb: vec![SpatialVector::zero(); tree.nodes.len() + 1],
            real: (T::NDERIV > 0).then(|| Box::new(VelocityKinematics::at_rest(tree))),
            constant: vec![true; tree.nodes.len() + 1],
        }
    }
    /// Returns the same without derivatives.
    pub(crate) fn real(&self) -> &VelocityKinematics<f64> {
        static EMPTY: LazyLock<VelocityKinematics<f64>> = LazyLock::new(VelocityKinematics::empty);
        let real = (self as &dyn Any).downcast_ref().or(self.real.as_deref());
        real.unwrap_or(&EMPTY)
    }
    /// Returns true if pose and velocity of a body certainly have no derivatives.
    pub(crate) fn is_constant(&self, body: u32) -> bool {
        T::NDERIV == 0 || self.constant[body as usize]
    }
    /// Returns the velocities v.
    pub fn velocities(&self) -> &[T] {
        &self.v
    }
    /// Returns `V_WB` of all bodies by [`BodyIndex`]: of Bo in W, expressed in W (rad/s, m/s).
    pub fn body_spatial_velocities(&self) -> &[SpatialVector<T>] {
        &self.v_wb
    }
    /// Returns `V_WB` of a body of the plant.
    pub fn v_wb(&self, body: BodyIndex) -> &SpatialVector<T> {
        &self.v_wb[body.index()]
    }

    /// Checks that the velocities belong to a tree of this size; their values were checked when the
    /// kinematics were computed.
    pub(crate) fn check(&self, tree: &KinematicTree) -> Result<()> {
        check_length("velocities", self.v.len(), tree.num_velocities)
    }

    /// Computes everything for new positions or velocities, which the caller has checked.
    pub(crate) fn update(
        &mut self,
        tree: &KinematicTree,
        positions: &PositionKinematics<T>,
        v: &[T],
    ) {
        self.v.clear();
        self.v.extend_from_slice(v);
        if T::NDERIV > 0 {
            let real = self
                .real
                .get_or_insert_with(|| Box::new(VelocityKinematics::empty()));
            real.v.clear();
            real.v.extend(v.iter().map(|x| x.re()));
            real.calc(tree, positions.real());
            self.constant.clear();
            self.constant.resize(tree.nodes.len() + 1, true);
        }
        self.calc(tree, positions);
    }

    /// Computes the spatial velocities.
    fn calc(&mut self, tree: &KinematicTree, positions: &PositionKinematics<T>) {
        let v = &self.v;
        self.v_wb.clear();
        self.v_wb
            .resize(tree.nodes.len() + 1, SpatialVector::zero());
        for node in &tree.nodes {
            let body = node.body as usize;
            if T::NDERIV > 0
                && let Some(real) = &self.real
            {
                self.constant[body] = self.constant[node.parent as usize]
                    && positions.is_constant(node.body)
                    && v[node.velocities()].iter().all(is_constant);
                if self.constant[body] {
                    self.v_wb[body] = SpatialVector::lift(&real.v_wb[body]);
                    continue;
                }
            }
            update_velocity(node, positions, v, &mut self.v_wb);
        }
    }
}

/// Computes `V_WB` of the bodies of some nodes, parents before children, at velocities of the
/// plant. The velocities of bodies outboard of which they are must be known.
pub(crate) fn spatial_velocities_of<T: Scalar>(
    nodes: &[MobilizedBody],
    positions: &PositionKinematics<T>,
    v: &[T],
    out: &mut [SpatialVector<T>],
) {
    for node in nodes {
        update_velocity(node, positions, v, out);
    }
}

/// Computes `V_WB` of a body from that of its inboard body.
#[inline]
fn update_velocity<T: Scalar>(
    node: &MobilizedBody,
    positions: &PositionKinematics<T>,
    v: &[T],
    all: &mut [SpatialVector<T>],
) {
    let v = &v[node.velocities()];
    if positions.lacks_derivatives(node.body) {
        add_joint_velocity(node, positions.real(), v, all)
    } else {
        add_joint_velocity(node, positions, v, all)
    }
}

/// Does the same with positions that may have no derivatives, and the velocities of the joint.
#[inline]
fn add_joint_velocity<T, C>(
    node: &MobilizedBody,
    positions: &PositionKinematics<C>,
    v: &[T],
    all: &mut [SpatialVector<T>],
) where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    let (v_wb, inboard) = with_inboard(node, all);
    if node.is_free {
        v_wb.set(v);
        return;
    }
    let p_pb = positions.p_wb(node.body) - positions.p_wb(node.parent);
    v_wb.clone_from(inboard);
    add_cross(&mut v_wb.translational, &inboard.rotational, &p_pb);
    for (column, v) in positions.columns[node.velocities()].iter().zip(v) {
        v_wb.add_scaled(column, *v);
    }
}

/// Returns the element of a node's body, and that of its inboard body.
#[inline]
fn with_inboard<'a, E>(node: &MobilizedBody, by_body: &'a mut [E]) -> (&'a mut E, &'a E) {
    let two = by_body.get_disjoint_mut([node.body as usize, node.parent as usize]);
    let [own, inboard] = two.expect("a body is not its own parent");
    (own, inboard)
}

/// Computes `A_WB` of all bodies; `vdot` is 0 if it is not given.
pub(crate) fn spatial_accelerations<T: Scalar>(
    tree: &KinematicTree,
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: Option<&[T]>,
    out: &mut Vec<SpatialVector<T>>,
) {
    out.clear();
    out.resize(tree.nodes.len() + 1, SpatialVector::zero());
    spatial_accelerations_of(&tree.nodes, positions, velocities, vdot, out);
}

/// Does the same for some nodes, parents before children. The accelerations of bodies outboard of
/// which they are must be known.
pub(crate) fn spatial_accelerations_of<T: Scalar>(
    nodes: &[MobilizedBody],
    positions: &PositionKinematics<T>,
    velocities: &VelocityKinematics<T>,
    vdot: Option<&[T]>,
    out: &mut [SpatialVector<T>],
) {
    for node in nodes {
        let (a_wb, inboard) = with_inboard(node, out);
        let vdot = vdot.map(|vdot| &vdot[node.velocities()]);
        if node.is_free {
            match vdot {
                Some(vdot) => a_wb.set(vdot),
                None => *a_wb = SpatialVector::zero(),
            }
            continue;
        }
        if positions.lacks_derivatives(node.body) {
            acceleration(node, positions.real(), velocities, vdot, inboard, a_wb)
        } else {
            acceleration(node, positions, velocities, vdot, inboard, a_wb)
        }
    }
}

/// Computes `A_WB` of a body from that of its inboard body, at positions that may have no
/// derivatives.
#[inline]
fn acceleration<T, C>(
    node: &MobilizedBody,
    positions: &PositionKinematics<C>,
    velocities: &VelocityKinematics<T>,
    vdot: Option<&[T]>,
    inboard: &SpatialVector<T>,
    a_wb: &mut SpatialVector<T>,
) where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    acceleration_across(node, positions, velocities, inboard, a_wb);
    let columns = &positions.columns[node.velocities()];
    for (column, vdot) in columns.iter().zip(vdot.unwrap_or_default()) {
        a_wb.add_scaled(column, *vdot);
    }
}

/// Does the same where the time derivatives of the velocities of the joint are 0.
#[inline]
pub(crate) fn acceleration_across<T, C>(
    node: &MobilizedBody,
    positions: &PositionKinematics<C>,
    velocities: &VelocityKinematics<T>,
    inboard: &SpatialVector<T>,
    a: &mut SpatialVector<T>,
) where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    let v = &velocities.v[node.velocities()];
    let joint = AcrossJoint::new(node, positions.body_poses(), &positions.r_wb);
    let p_pb = &joint.p_pb;
    let w_p = &velocities.v_wb[node.parent as usize].rotational;
    // Velocity relative to the inboard body.
    let mut v_pb = SpatialVector::zero();
    for (column, v) in positions.columns[node.velocities()].iter().zip(v) {
        v_pb.add_scaled(column, *v);
    }
    let w = &v_pb.rotational;
    a.clone_from(inboard);
    add_cross(&mut a.rotational, w_p, w);
    add_cross(&mut a.translational, &inboard.rotational, p_pb);
    add_cross(&mut a.translational, w_p, &cross(w_p, p_pb));
    if !node.only_turns() {
        let coriolis = cross(w_p, &v_pb.translational);
        a.translational += &coriolis;
        a.translational += &coriolis;
    }
    if !node.is_centered {
        add_cross(&mut a.translational, w, &cross(w, &joint.arm()));
    }
    if let Some(bias) = joint.bias(&positions.q[node.positions()], v) {
        a.rotational += &bias.rotational;
        a.translational += bias.translational + cross(&bias.rotational, &joint.arm());
    }
}
