//! The velocities of a problem by tree.

use std::ops::Range;

/// The velocities of a problem, divided among trees: each tree has a range of them.
///
/// A tree is a set of velocities that inertia couples with each other and with no others: the
/// bodies of a robot between the world and its leaves, or the vertices of a deformable body. Trees
/// are numbered in the order of their velocities.
#[derive(Clone, Debug, Default)]
pub struct TreeVelocities {
    ranges: Vec<Range<usize>>,
    /// Tree of each velocity.
    of_velocity: Vec<u32>,
}

impl TreeVelocities {
    /// Adds a tree with some number of velocities after all others.
    pub fn push(&mut self, size: usize) {
        let (tree, first) = (self.ranges.len() as u32, self.of_velocity.len());
        self.ranges.push(first..first + size);
        self.of_velocity.resize(first + size, tree);
    }

    /// Replaces all trees by `other`, and keeps the memory.
    pub fn copy_from(&mut self, other: &Self) {
        // A derived `clone_from` would need new memory.
        self.ranges.clone_from(&other.ranges);
        self.of_velocity.clone_from(&other.of_velocity);
    }

    /// Returns the number of trees.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns `true` if there is no tree.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the number of velocities of all trees.
    #[inline]
    pub fn num_velocities(&self) -> usize {
        self.of_velocity.len()
    }

    /// Returns the velocities of a tree.
    ///
    /// # Panics
    /// Panics if there is no such tree.
    #[inline]
    pub fn range(&self, tree: usize) -> Range<usize> {
        self.ranges[tree].clone()
    }

    /// Returns the velocities of all trees, tree by tree.
    #[inline]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Returns the tree of a velocity.
    ///
    /// # Panics
    /// Panics if there is no such velocity.
    #[inline]
    pub fn of_velocity(&self, velocity: usize) -> usize {
        self.of_velocity[velocity] as usize
    }
}
