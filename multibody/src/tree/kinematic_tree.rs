//! The tree of bodies, parents before children.

use super::inboard_joint::InboardJoint;
use super::mobilizer::Mobilizer;
use crate::model::{BodyIndex, JointKind, RigidBody};
use crate::spatial::SpatialInertia;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};

/// A body with the joint that connects it to its inboard body.
#[derive(Clone, Debug)]
pub(crate) struct MobilizedBody {
    pub(crate) body: u32,
    pub(crate) parent: u32,
    pub(crate) q_start: u32,
    pub(crate) v_start: u32,
    num_positions: u32,
    num_velocities: u32,
    pub(crate) mobilizer: Mobilizer,
    pub(crate) kind: JointKind,
    /// The joint's axis or, if it has none of its own, the axes of F, expressed in the inboard
    /// body.
    pub(crate) axes: [Vector3<f64>; 3],
    /// Whether Bo is the joint's reference point.
    pub(crate) is_centered: bool,
    /// Whether the joint's child is the inboard body.
    pub(crate) reversed: bool,
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) inertia: SpatialInertia,
    /// Reflected inertia of the joint's motors.
    pub(crate) reflected: f64,
    /// Whether the inboard body is the world and the velocities are the body's angular velocity and
    /// the velocity of Bo, both in W. This makes many products superfluous.
    pub(crate) is_free: bool,
}

impl MobilizedBody {
    /// Creates the body of a joint whose coordinates start at the given ones.
    fn new(
        joint: &InboardJoint,
        inertia: SpatialInertia,
        reflected: f64,
        (q_start, v_start): (usize, usize),
    ) -> Self {
        let r_pf = &joint.x_pf.rotation;
        let (from_origin, is_path) = (
            joint.x_bm.translation.vector != Vector3::zeros(),
            matches!(joint.kind, JointKind::Curvilinear { .. }),
        );
        Self {
            body: joint.child.index() as u32,
            parent: joint.parent.index() as u32,
            q_start: q_start as u32,
            v_start: v_start as u32,
            num_positions: joint.kind.num_positions() as u32,
            num_velocities: joint.kind.num_velocities() as u32,
            mobilizer: Mobilizer::new(joint),
            kind: joint.kind.clone(),
            axes: match &joint.kind {
                JointKind::Revolute { axis }
                | JointKind::Prismatic { axis }
                | JointKind::Screw { axis, .. } => [r_pf * axis.into_inner(); 3],
                _ => [0, 1, 2].map(|k| r_pf * Vector3::ith(k, 1.0)),
            },
            is_centered: !(from_origin || joint.reversed && is_path),
            reversed: joint.reversed,
            x_pf: joint.x_pf,
            x_bm: joint.x_bm,
            inertia,
            reflected,
            is_free: joint.parent.index() == 0
                && joint.kind == JointKind::QuaternionFloating
                && *r_pf == UnitQuaternion::identity()
                && !from_origin,
        }
    }

    /// Returns the range of the joint's velocities among all velocities.
    pub(crate) fn velocities(&self) -> std::ops::Range<usize> {
        let start = self.v_start as usize;
        start..start + self.num_velocities as usize
    }
    pub(crate) fn positions(&self) -> std::ops::Range<usize> {
        let start = self.q_start as usize;
        start..start + self.num_positions as usize
    }
    /// Returns true for a path that the outboard body carries.
    pub(crate) fn is_reversed_path(&self) -> bool {
        self.reversed && matches!(self.kind, JointKind::Curvilinear { .. })
    }
    /// Returns true if the joint never moves Bo in the inboard body.
    #[inline]
    pub(crate) fn only_turns(&self) -> bool {
        let turns = matches!(self.kind, JointKind::Revolute { .. } | JointKind::Universal);
        (turns || self.kind.is_ball()) && self.is_centered
    }
}

/// The bodies in an order in which every parent comes before its children.
#[derive(Clone, Debug)]
pub(crate) struct KinematicTree {
    pub(crate) nodes: Vec<MobilizedBody>,
    /// Index in `nodes` of each body; unused for the world.
    pub(crate) node_of: Vec<u32>,
    inertias: Vec<SpatialInertia>,
    pub(crate) num_positions: usize,
    pub(crate) num_velocities: usize,
}

impl KinematicTree {
    pub(crate) fn new(bodies: &[RigidBody]) -> Self {
        Self {
            nodes: vec![],
            node_of: vec![0; bodies.len()],
            inertias: bodies.iter().map(|b| *b.spatial_inertia()).collect(),
            num_positions: 0,
            num_velocities: 0,
        }
    }

    /// Adds the next joint in tree order.
    pub(crate) fn push(&mut self, joint: &InboardJoint, reflected: f64) {
        let body = joint.child.index();
        self.node_of[body] = self.nodes.len() as u32;
        let starts = (self.num_positions, self.num_velocities);
        let inertia = self.inertias[body];
        self.nodes
            .push(MobilizedBody::new(joint, inertia, reflected, starts));
        self.num_positions += joint.kind.num_positions();
        self.num_velocities += joint.kind.num_velocities();
    }

    /// Returns the node of a body; `None` for the world.
    pub(crate) fn node(&self, body: BodyIndex) -> Option<&MobilizedBody> {
        match body {
            BodyIndex::WORLD => None,
            _ => Some(&self.nodes[self.node_of[body.index()] as usize]),
        }
    }
}
