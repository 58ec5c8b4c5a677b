//! The trees of a plant: sets of bodies that joints connect without passing through the world.

use crate::model::BodyIndex;
use crate::tree::KinematicTree;
use std::ops::Range;
use tarragon_contact_solvers::TreeVelocities;

/// The trees that have velocities. Each has a range of the velocities of the plant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    velocities: TreeVelocities,
    nodes: Vec<Range<usize>>,
    /// Whether it is one body that moves freely.
    free: Vec<bool>,
    /// Per body; `None` if it cannot move.
    of_body: Vec<Option<u32>>,
}

impl Trees {
    pub(crate) fn new(tree: &KinematicTree) -> Self {
        let mut trees = Self {
            of_body: vec![None; tree.nodes.len() + 1],
            ..Self::default()
        };
        // Tree order is depth first, so nodes and velocities of a tree follow each other.
        let mut sizes = vec![];
        for (k, node) in tree.nodes.iter().enumerate() {
            let num_velocities = node.velocities().len();
            let inboard = trees.of_body[node.parent as usize];
            let own = match inboard {
                None if num_velocities == 0 => None,
                None => {
                    sizes.push(num_velocities);
                    trees.nodes.push(k..k + 1);
                    trees.free.push(node.is_free);
                    Some(sizes.len() as u32 - 1)
                }
                Some(inboard) => {
                    sizes[inboard as usize] += num_velocities;
                    trees.nodes[inboard as usize].end = k + 1;
                    trees.free[inboard as usize] = false;
                    Some(inboard)
                }
            };
            trees.of_body[node.body as usize] = own;
        }
        sizes.iter().for_each(|size| trees.velocities.push(*size));
        trees
    }
    /// Returns the velocities of all trees.
    pub(super) fn velocities(&self) -> &TreeVelocities {
        &self.velocities
    }
    pub(crate) fn len(&self) -> usize {
        self.velocities.len()
    }
    pub(super) fn num_velocities(&self) -> usize {
        self.velocities.num_velocities()
    }
    /// Returns the velocities of a tree.
    #[inline]
    pub(crate) fn range(&self, tree: usize) -> Range<usize> {
        self.velocities.range(tree)
    }
    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        self.velocities.ranges()
    }
    /// Returns the nodes of a tree, parents before children; none for the deformable bodies after
    /// the trees of the plant.
    pub(crate) fn nodes(&self, tree: usize) -> Range<usize> {
        self.nodes.get(tree).cloned().unwrap_or_default()
    }
    /// Returns true if a tree is one body whose velocities are its angular velocity and that of its
    /// origin, both in W.
    pub(crate) fn is_free_body(&self, tree: usize) -> bool {
        self.free[tree]
    }
    pub(crate) fn of_velocity(&self, velocity: usize) -> usize {
        self.velocities.of_velocity(velocity)
    }
    pub(crate) fn of_body(&self, body: BodyIndex) -> Option<usize> {
        self.of_body[body.index()].map(|tree| tree as usize)
    }
}
