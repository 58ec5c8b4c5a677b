//! Islands: trees that constraints connect, which are problems of their own.

use super::jacobian::JacobianBlock;
use super::problem::ConvexConstraints;
use super::trees::Trees;

/// Trees with the constraints that connect them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProblemIsland {
    /// Indices of trees, ascending.
    pub(crate) trees: Vec<usize>,
    /// Indices of constraints, ascending.
    pub(crate) constraints: Vec<usize>,
    /// Pairs of trees with a common constraint, by their place in `trees`, sorted.
    pub(crate) edges: Vec<(u32, u32)>,
}

/// The islands of a problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProblemIslands {
    /// Islands, and others of earlier problems after them.
    storage: Vec<ProblemIsland>,
    len: usize,
    /// Place of each tree in its island.
    pub(crate) local: Vec<u32>,
    /// A tree of the same island for each tree, itself for one of them.
    parent: Vec<u32>,
    constrained: Vec<bool>,
    /// Island of the trees that are their own parents.
    island_of: Vec<u32>,
    /// By constraint: its island, and its place there.
    places: Vec<Option<(u32, u32)>>,
}

const NONE: u32 = u32::MAX;

/// Returns true if the blocks of two constraints belong to the same trees.
#[inline]
fn have_same_trees(a: &[JacobianBlock], b: &[JacobianBlock]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.tree == b.tree)
}

impl ProblemIslands {
    /// Returns the islands, sorted by their lowest tree. Trees without constraints are in none.
    pub(crate) fn list(&self) -> &[ProblemIsland] {
        &self.storage[..self.len]
    }

    /// Returns the islands of all constraints and their places there; `None` where nothing moves.
    pub(crate) fn places(&self) -> &[Option<(u32, u32)>] {
        &self.places
    }

    /// Returns true if a constraint acts on a tree.
    pub(crate) fn is_constrained(&self, tree: usize) -> bool {
        self.constrained[tree]
    }

    /// Finds the islands of other constraints.
    pub(crate) fn update(&mut self, trees: &Trees, constraints: &ConvexConstraints) {
        let n = trees.len();
        self.parent.clear();
        self.parent.extend(0..n as u32);
        self.constrained.clear();
        self.constrained.resize(n, false);
        self.local.resize(n, 0);
        self.island_of.clear();
        self.island_of.resize(n, NONE);
        self.len = 0;
        // Constraints between the same trees mostly follow each other.
        let mut last: &[JacobianBlock] = &[];
        for constraint in &constraints.list {
            let Some(first) = constraint.blocks.first() else {
                continue;
            };
            if have_same_trees(last, &constraint.blocks) {
                continue;
            }
            last = &constraint.blocks;
            for block in &constraint.blocks {
                self.constrained[block.tree as usize] = true;
                let (a, b) = (self.root(first.tree), self.root(block.tree));
                // The lowest tree stands for the set, so that the order of islands is theirs.
                self.parent[a.max(b) as usize] = a.min(b);
            }
        }
        for tree in 0..n {
            if !self.constrained[tree] {
                continue;
            }
            let root = self.root(tree as u32) as usize;
            if self.island_of[root] == NONE {
                self.island_of[root] = self.len as u32;
                self.begin_island();
            }
            let island = &mut self.storage[self.island_of[root] as usize];
            self.local[tree] = island.trees.len() as u32;
            island.trees.push(tree);
        }
        self.places.clear();
        let (mut last, mut island): (&[JacobianBlock], _) = (&[], 0);
        for (k, constraint) in constraints.list.iter().enumerate() {
            let Some(first) = constraint.blocks.first() else {
                self.places.push(None);
                continue;
            };
            let is_known = have_same_trees(last, &constraint.blocks);
            if !is_known {
                let root = self.root(first.tree) as usize;
                (last, island) = (&constraint.blocks, self.island_of[root] as usize);
            }
            let number = island as u32;
            let island = &mut self.storage[island];
            let place = island.constraints.len() as u32;
            self.places.push(Some((number, place)));
            island.constraints.push(k);
            if is_known {
                continue;
            }
            for (i, a) in constraint.blocks.iter().enumerate() {
                for b in &constraint.blocks[i + 1..] {
                    let local = |tree: u32| self.local[tree as usize];
                    island.edges.push((local(a.tree), local(b.tree)));
                }
            }
        }
        for island in &mut self.storage[..self.len] {
            island.edges.sort_unstable();
            island.edges.dedup();
        }
    }

    fn root(&mut self, mut tree: u32) -> u32 {
        loop {
            let parent = self.parent[tree as usize];
            if parent == tree {
                return tree;
            }
            let above = self.parent[parent as usize];
            self.parent[tree as usize] = above;
            tree = above;
        }
    }

    /// Adds an empty island.
    fn begin_island(&mut self) {
        match self.storage.get_mut(self.len) {
            Some(island) => {
                island.trees.clear();
                island.constraints.clear();
                island.edges.clear();
            }
            None => self.storage.push(ProblemIsland::default()),
        }
        self.len += 1;
    }
}
