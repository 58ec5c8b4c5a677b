//! The graph whose vertices are bodies and whose edges are joints.

use crate::model::{BodyIndex, Joint, JointIndex};
use std::collections::{BTreeMap, VecDeque};

/// Adjacency lists of the graph: the joints at each body, in order of addition.
pub(crate) struct JointGraph {
    neighbours: Vec<Vec<(JointIndex, BodyIndex)>>,
}

/// A joint with several degrees of freedom whose child is nearer to the world than its parent.
pub(crate) struct ReversedJoint {
    pub(crate) joint: JointIndex,
    /// The child, which is the inboard body.
    pub(crate) inboard: BodyIndex,
    /// The parent, which is the outboard body.
    pub(crate) outboard: BodyIndex,
}

impl JointGraph {
    pub(crate) fn new(num_bodies: usize, joints: &[Joint]) -> Self {
        let mut graph = Self {
            neighbours: vec![vec![]; num_bodies],
        };
        for (i, joint) in joints.iter().enumerate() {
            graph.connect(JointIndex::new(i), joint.parent, joint.child);
        }
        graph
    }

    /// Adds an edge.
    pub(crate) fn connect(&mut self, joint: JointIndex, parent: BodyIndex, child: BodyIndex) {
        self.neighbours[parent.index()].push((joint, child));
        self.neighbours[child.index()].push((joint, parent));
    }

    /// Returns the joints at a body, with the body at the other end of each.
    pub(crate) fn neighbours(&self, body: BodyIndex) -> &[(JointIndex, BodyIndex)] {
        &self.neighbours[body.index()]
    }

    /// Returns the base bodies of all trees without a joint to the world. Trees of several bodies
    /// come first, those with the most joints at their base before the others, as in Drake.
    ///
    /// # Errors
    /// Returns an error if the tree would need to reverse a joint with several degrees of freedom.
    pub(crate) fn free_bases(&self, joints: &[Joint]) -> Result<Vec<BodyIndex>, ReversedJoint> {
        let n = self.neighbours.len();
        let mut is_child = vec![false; n];
        let mut outboard = vec![0_usize; n];
        for joint in joints {
            is_child[joint.child.index()] = true;
            outboard[joint.parent.index()] += 1;
        }
        let mut reached = vec![false; n];
        self.reach(BodyIndex::WORLD, joints, &mut reached)?;
        let (mut connected, mut single) = (vec![], vec![]);
        // Without loops, every tree has a body that is not the child of any joint.
        for body in (1..n).map(BodyIndex::new) {
            if reached[body.index()] || is_child[body.index()] {
                continue;
            }
            let list = if self.neighbours(body).is_empty() {
                &mut single
            } else {
                &mut connected
            };
            list.push(body);
            self.reach(body, joints, &mut reached)?;
        }
        connected.sort_by_key(|b| std::cmp::Reverse(outboard[b.index()]));
        connected.extend(single);
        Ok(connected)
    }

    /// Marks all bodies connected to a base body.
    fn reach(
        &self,
        base: BodyIndex,
        joints: &[Joint],
        reached: &mut [bool],
    ) -> Result<(), ReversedJoint> {
        reached[base.index()] = true;
        let mut stack = vec![base];
        while let Some(body) = stack.pop() {
            for (index, other) in self.neighbours(body) {
                // There are no loops, so `other` is the body from which `body` was reached.
                if reached[other.index()] {
                    continue;
                }
                let joint = &joints[index.index()];
                if joint.child == body && joint.kind.num_velocities() > 1 {
                    return Err(ReversedJoint {
                        joint: *index,
                        inboard: body,
                        outboard: *other,
                    });
                }
                reached[other.index()] = true;
                stack.push(*other);
            }
        }
        Ok(())
    }

    /// Returns the bodies on the shortest path between two connected bodies, both included.
    pub(crate) fn path(&self, start: BodyIndex, end: BodyIndex) -> Vec<BodyIndex> {
        let mut from: BTreeMap<BodyIndex, BodyIndex> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(body) = open.pop_front() {
            for (_, other) in self.neighbours(body) {
                if *other != start && !from.contains_key(other) {
                    from.insert(*other, body);
                    open.push_back(*other);
                }
            }
        }
        let back = |body: &BodyIndex| from.get(body).copied();
        let mut bodies: Vec<BodyIndex> = std::iter::successors(Some(end), back).collect();
        bodies.reverse();
        bodies
    }
}
