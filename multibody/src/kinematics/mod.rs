//! The tree of bodies, and their poses from positions.

mod jacobian;
mod joint_space;
mod motion;
mod position;
mod velocity;

pub use jacobian::JacobianWrt;
pub use position::PositionKinematics;
pub(crate) use position::turned;
pub use velocity::VelocityKinematics;

use crate::body::RigidBody;
use crate::error::{Error, Result};
use crate::index::BodyIndex;
use crate::inertia::SpatialInertia;
use crate::joint::{Joint, JointKind};
use motion::Motion;
use nalgebra::{Isometry3, Unit, Vector3};
use tarragon_framework::Scalar;

/// A joint seen from the world: turned round if its child is the inboard body.
pub(crate) struct Inboard {
    pub(crate) kind: JointKind,
    pub(crate) parent: BodyIndex,
    pub(crate) child: BodyIndex,
    pub(crate) x_pf: Isometry3<f64>,
    pub(crate) x_bm: Isometry3<f64>,
    pub(crate) reversed: bool,
}

impl Inboard {
    /// `forward` if the joint's parent is the inboard body. Joints with several degrees of freedom
    /// are never turned.
    pub(crate) fn new(joint: &Joint, forward: bool) -> Self {
        if forward {
            return Self {
                kind: joint.kind.clone(),
                parent: joint.parent,
                child: joint.child,
                x_pf: joint.x_pf,
                x_bm: joint.x_bm,
                reversed: false,
            };
        }
        // The motion of F in M is that about the opposite axis, which has the same components in
        // both.
        let opposite = |axis: &Unit<Vector3<f64>>| Unit::new_unchecked(-axis.into_inner());
        let kind = match &joint.kind {
            JointKind::Weld { x_fm } => JointKind::Weld {
                x_fm: x_fm.inverse(),
            },
            JointKind::Revolute { axis } => JointKind::Revolute {
                axis: opposite(axis),
            },
            JointKind::Prismatic { axis } => JointKind::Prismatic {
                axis: opposite(axis),
            },
            JointKind::Screw { axis, pitch } => JointKind::Screw {
                axis: opposite(axis),
                pitch: *pitch,
            },
            // The path of M stays on F; see `reversed`.
            other => other.clone(),
        };
        Self {
            kind,
            parent: joint.child,
            child: joint.parent,
            x_pf: joint.x_bm,
            x_bm: joint.x_pf,
            reversed: true,
        }
    }
}

/// One body of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) body: u32,
    pub(crate) parent: u32,
    pub(crate) q_start: u32,
    pub(crate) v_start: u32,
    motion: Motion,
    kind: JointKind,
    /// Whether the joint's child is the inboard body.
    reversed: bool,
    x_pf: Isometry3<f64>,
    x_bm: Isometry3<f64>,
    pub(crate) inertia: SpatialInertia,
    /// Inertia of the joint's motors, as it feels them.
    pub(crate) reflected: f64,
}

impl Node {
    /// The velocities of the joint among all velocities.
    pub(crate) fn velocities(&self) -> std::ops::Range<usize> {
        let start = self.v_start as usize;
        start..start + self.kind.num_velocities()
    }
    pub(crate) fn positions(&self) -> std::ops::Range<usize> {
        let start = self.q_start as usize;
        start..start + self.kind.num_positions()
    }
}

/// The joints in an order in which every parent comes before its children.
#[derive(Clone, Debug)]
pub(crate) struct KinematicTree {
    pub(crate) nodes: Vec<Node>,
    /// Node of each body but the world.
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
    pub(crate) fn push(&mut self, joint: &Inboard, reflected: f64) {
        let body = joint.child.index();
        self.node_of[body] = self.nodes.len() as u32;
        self.nodes.push(Node {
            body: body as u32,
            parent: joint.parent.index() as u32,
            q_start: self.num_positions as u32,
            v_start: self.num_velocities as u32,
            motion: Motion::new(joint),
            kind: joint.kind.clone(),
            reversed: joint.reversed,
            x_pf: joint.x_pf,
            x_bm: joint.x_bm,
            inertia: self.inertias[body],
            reflected,
        });
        self.num_positions += joint.kind.num_positions();
        self.num_velocities += joint.kind.num_velocities();
    }

    /// The node of a body; none for the world.
    pub(crate) fn node(&self, body: BodyIndex) -> Option<&Node> {
        match body {
            BodyIndex::WORLD => None,
            _ => Some(&self.nodes[self.node_of[body.index()] as usize]),
        }
    }

    pub(crate) fn set_reflected(&mut self, body: BodyIndex, reflected: f64) {
        self.nodes[self.node_of[body.index()] as usize].reflected = reflected;
    }

    /// Checks that velocities are of this plant; their values were checked when they were made.
    pub(crate) fn check_velocities<T: Scalar>(
        &self,
        velocities: &VelocityKinematics<T>,
    ) -> Result<()> {
        check_length("velocities", velocities.v.len(), self.num_velocities)
    }

    /// Poses of all bodies in the world at positions that were checked; the world itself comes
    /// first.
    pub(crate) fn calc_body_poses<T: Scalar>(
        &self,
        q: &[T],
        out: &mut Vec<Isometry3<T>>,
        body_name: impl Fn(usize) -> String,
    ) -> Result<()> {
        out.clear();
        out.resize(self.nodes.len() + 1, Isometry3::identity());
        for node in &self.nodes {
            let q = &q[node.q_start as usize..];
            let Some(x_pb) = node.motion.relative_pose(q) else {
                return Err(no_rotation(&body_name(node.body as usize), q));
            };
            out[node.body as usize] = match node.parent {
                0 => x_pb,
                parent => out[parent as usize] * x_pb,
            };
        }
        Ok(())
    }
}

#[cold]
fn no_rotation<T: Scalar>(body: &str, q: &[T]) -> Error {
    Error::invalid(format!(
        "the positions of body '{body}' hold a quaternion without direction ({:?}); set a rotation, such \
         as [1, 0, 0, 0]",
        [0, 1, 2, 3].map(|i| q[i].re())
    ))
}

pub(crate) fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the number of {what} must be {expected}, got {found}"
    )))
}
