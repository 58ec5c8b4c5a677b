//! The trees of a plant: sets of bodies that joints connect without passing through the world.

use crate::model::BodyIndex;
use crate::tree::KinematicTree;
use std::ops::Range;

/// The trees that have velocities. Each has a range of the velocities of the plant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    ranges: Vec<Range<usize>>,
    nodes: Vec<Range<usize>>,
    /// Whether it is one body that moves freely.
    free: Vec<bool>,
    of_velocity: Vec<u32>,
    /// Per body; `None` if it cannot move.
    of_body: Vec<Option<u32>>,
}

impl Trees {
    pub(crate) fn new(tree: &KinematicTree) -> Self {
        let mut trees = Self {
            ranges: vec![],
            nodes: vec![],
            free: vec![],
            of_velocity: vec![],
            of_body: vec![None; tree.nodes.len() + 1],
        };
        // Tree order is depth first, so nodes and velocities of a tree follow each other.
        for (k, node) in tree.nodes.iter().enumerate() {
            let velocities = node.velocities();
            let inboard = trees.of_body[node.parent as usize];
            let own = match inboard {
                None if velocities.is_empty() => None,
                None => {
                    trees.ranges.push(velocities.clone());
                    trees.nodes.push(k..k + 1);
                    trees.free.push(node.is_free);
                    Some(trees.ranges.len() as u32 - 1)
                }
                Some(inboard) => {
                    trees.ranges[inboard as usize].end = velocities.end;
                    trees.nodes[inboard as usize].end = k + 1;
                    trees.free[inboard as usize] = false;
                    Some(inboard)
                }
            };
            trees.of_body[node.body as usize] = own;
            if let Some(own) = own {
                trees.of_velocity.resize(velocities.end, own);
            }
        }
        trees
    }
    /// Replaces all by those of a plant, followed by trees without bodies that have the given
    /// numbers of velocities.
    pub(super) fn extend_from(&mut self, plant: &Self, sizes: impl Iterator<Item = usize>) {
        // A derived `clone_from` would need new memory.
        self.ranges.clone_from(&plant.ranges);
        self.nodes.clone_from(&plant.nodes);
        self.free.clone_from(&plant.free);
        self.of_velocity.clone_from(&plant.of_velocity);
        self.of_body.clone_from(&plant.of_body);
        let mut first = plant.of_velocity.len();
        for size in sizes {
            let tree = self.ranges.len() as u32;
            self.ranges.push(first..first + size);
            self.nodes.push(0..0);
            self.free.push(false);
            first += size;
            self.of_velocity.resize(first, tree);
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }
    pub(super) fn num_velocities(&self) -> usize {
        self.of_velocity.len()
    }
    /// Returns the velocities of a tree.
    pub(crate) fn range(&self, tree: usize) -> Range<usize> {
        self.ranges[tree].clone()
    }
    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }
    /// Returns the nodes of a tree, parents before children.
    pub(crate) fn nodes(&self, tree: usize) -> Range<usize> {
        self.nodes[tree].clone()
    }
    /// Returns true if a tree is one body whose velocities are its angular velocity and that of its
    /// origin, both in W.
    pub(crate) fn is_free_body(&self, tree: usize) -> bool {
        self.free[tree]
    }
    pub(crate) fn of_velocity(&self, velocity: usize) -> usize {
        self.of_velocity[velocity] as usize
    }
    pub(crate) fn of_body(&self, body: BodyIndex) -> Option<usize> {
        self.of_body[body.index()].map(|tree| tree as usize)
    }
}
