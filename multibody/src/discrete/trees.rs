//! The trees of a plant: sets of bodies that joints connect without passing through the world.

use crate::model::BodyIndex;
use crate::tree::KinematicTree;
use std::ops::Range;

/// The trees that have velocities. Each has a range of the velocities of the plant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    ranges: Vec<Range<usize>>,
    of_velocity: Vec<u32>,
    /// Per body; `None` if it cannot move.
    of_body: Vec<Option<u32>>,
}

impl Trees {
    pub(crate) fn new(tree: &KinematicTree) -> Self {
        let mut trees = Self {
            ranges: vec![],
            of_velocity: vec![],
            of_body: vec![None; tree.nodes.len() + 1],
        };
        // Tree order is depth first, so the velocities of a tree follow each other.
        for node in &tree.nodes {
            let velocities = node.velocities();
            let inboard = trees.of_body[node.parent as usize];
            let own = match inboard {
                None if velocities.is_empty() => None,
                None => {
                    trees.ranges.push(velocities.clone());
                    Some(trees.ranges.len() as u32 - 1)
                }
                Some(inboard) => {
                    trees.ranges[inboard as usize].end = velocities.end;
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
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }
    /// Returns the velocities of a tree.
    pub(crate) fn range(&self, tree: usize) -> Range<usize> {
        self.ranges[tree].clone()
    }
    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }
    pub(crate) fn of_velocity(&self, velocity: usize) -> usize {
        self.of_velocity[velocity] as usize
    }
    pub(crate) fn of_body(&self, body: BodyIndex) -> Option<usize> {
        self.of_body[body.index()].map(|tree| tree as usize)
    }
}
