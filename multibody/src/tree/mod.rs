//! The spanning tree of a plant: the inboard joint of each body, the order of the state, and the
//! motion of each body in its inboard body.

mod coordinates;
mod inboard_joint;
mod joint_graph;
mod kinematic_tree;
pub(crate) mod mobilizer;
mod topology;

pub(crate) use coordinates::CoordinateKind;
pub(crate) use joint_graph::{JointGraph, ReversedJoint};
pub(crate) use kinematic_tree::{KinematicTree, MobilizedBody};
pub(crate) use topology::Topology;
