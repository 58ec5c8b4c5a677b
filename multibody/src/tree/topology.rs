//! The order of joints, positions and velocities.

use super::inboard_joint::InboardJoint;
use super::joint_graph::JointGraph;
use super::kinematic_tree::KinematicTree;
use crate::model::{BodyIndex, Joint, JointIndex, RigidBody};

/// The tree of a plant, and the order of joints, positions and velocities.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Joints in tree order, which is the order of the state.
    pub(crate) order: Vec<JointIndex>,
    /// First position and first velocity, per joint.
    pub(crate) starts: Vec<(usize, usize)>,
    /// Joint that connects each body towards the world.
    pub(crate) inboard: Vec<Option<JointIndex>>,
    pub(crate) num_positions: usize,
    pub(crate) num_velocities: usize,
    pub(crate) position_names: Vec<String>,
    pub(crate) velocity_names: Vec<String>,
    pub(crate) tree: KinematicTree,
}

impl Topology {
    /// Builds the tree and numbers positions and velocities, depth first. `reflected` holds the
    /// reflected inertia of the motors of each joint.
    pub(crate) fn new(
        graph: &JointGraph,
        bodies: &[RigidBody],
        joints: &[Joint],
        reflected: &[f64],
    ) -> Self {
        let mut topology = Self {
            order: vec![],
            starts: vec![(0, 0); joints.len()],
            inboard: vec![None; bodies.len()],
            num_positions: 0,
            num_velocities: 0,
            position_names: vec![],
            velocity_names: vec![],
            tree: KinematicTree::new(bodies),
        };
        let mut stack = vec![(None, BodyIndex::WORLD)];
        while let Some((inboard, body)) = stack.pop() {
            if let Some(index) = inboard {
                let i = JointIndex::index(index);
                topology.push(index, body, &joints[i], reflected[i]);
            }
            let outboard = graph.neighbours(body).iter().rev();
            let outboard = outboard.filter(|(joint, _)| Some(*joint) != inboard);
            stack.extend(outboard.map(|(joint, body)| (Some(*joint), *body)));
        }
        topology
    }

    /// Returns a joint oriented from the world outwards.
    pub(crate) fn inboard_joint(&self, index: JointIndex, joint: &Joint) -> InboardJoint {
        InboardJoint::new(joint, self.inboard[joint.child.index()] == Some(index))
    }

    /// Adds the next joint in tree order, with its outboard body.
    fn push(&mut self, index: JointIndex, body: BodyIndex, joint: &Joint, reflected: f64) {
        self.order.push(index);
        self.inboard[body.index()] = Some(index);
        self.starts[index.index()] = (self.num_positions, self.num_velocities);
        self.num_positions += joint.num_positions();
        self.num_velocities += joint.num_velocities();
        let named = |suffixes: &[&str]| -> Vec<String> {
            let name = |suffix: &&str| match suffixes.len() {
                1 => joint.name.clone(),
                _ => [&*joint.name, "_", suffix].concat(),
            };
            suffixes.iter().map(name).collect()
        };
        self.position_names
            .extend(named(joint.kind.position_suffixes()));
        self.velocity_names
            .extend(named(joint.kind.velocity_suffixes()));
        self.tree
            .push(&InboardJoint::new(joint, joint.child == body), reflected);
    }
}
