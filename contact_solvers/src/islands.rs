//! Islands: trees that constraints connect, which are problems of their own.

use super::jacobian::JacobianBlock;
use super::problem::ConvexConstraints;
use super::trees::TreeVelocities;
use std::ops::Range;
use tarragon_framework::DisjointSets;

/// Trees with the constraints that connect them: a problem that no others depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProblemIsland {
    /// Indices of trees, ascending.
    pub trees: Vec<usize>,
    /// Indices of constraints, ascending.
    pub constraints: Vec<usize>,
    /// Pairs of trees with a common constraint, by their place in `trees`, sorted.
    pub(crate) edges: Vec<(u32, u32)>,
}

/// The islands of a problem.
#[derive(Clone, Debug, Default)]
pub struct ProblemIslands {
    /// Islands, and others of earlier problems after them.
    storage: Vec<ProblemIsland>,
    len: usize,
    /// Place of each tree in its island.
    pub(crate) local: Vec<u32>,
    /// Trees that constraints connect.
    sets: DisjointSets,
    constrained: Vec<bool>,
    /// Island of each set with constraints, by its representative.
    island_of: Vec<u32>,
    /// Numbers of constraints with the same trees that follow each other.
    runs: Vec<Range<usize>>,
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
    #[inline]
    pub fn list(&self) -> &[ProblemIsland] {
        &self.storage[..self.len]
    }

    /// Returns the island of each constraint and its place there; `None` where nothing moves.
    #[inline]
    pub fn places(&self) -> &[Option<(u32, u32)>] {
        &self.places
    }

    /// Returns `true` if a constraint acts on a tree.
    ///
    /// # Panics
    /// Panics if there is no such tree.
    #[inline]
    pub fn is_constrained(&self, tree: usize) -> bool {
        self.constrained[tree]
    }

    /// Replaces the islands by the ones of these constraints. Allocates nothing unless a problem is
    /// larger than all before.
    ///
    /// # Panics
    /// Panics if a block belongs to a tree that is missing in `trees`.
    pub fn update(&mut self, trees: &TreeVelocities, constraints: &ConvexConstraints) {
        let n = trees.len();
        self.sets.reset(n);
        self.constrained.clear();
        self.constrained.resize(n, false);
        self.local.resize(n, 0);
        self.island_of.clear();
        self.island_of.resize(n, NONE);
        self.len = 0;
        self.runs.clear();
        // Constraints between the same trees mostly follow each other.
        let mut last: &[JacobianBlock] = &[];
        for (k, constraint) in constraints.list.iter().enumerate() {
            if k > 0 && have_same_trees(last, &constraint.blocks) {
                continue;
            }
            last = &constraint.blocks;
            if let Some(run) = self.runs.last_mut() {
                run.end = k;
            }
            self.runs.push(k..constraints.list.len());
            for block in last {
                self.constrained[block.tree as usize] = true;
                self.sets.unite(last[0].tree as usize, block.tree as usize);
            }
        }
        for tree in 0..n {
            if !self.constrained[tree] {
                continue;
            }
            let set = self.sets.find(tree);
            if self.island_of[set] == NONE {
                self.island_of[set] = self.len as u32;
                self.begin_island();
            }
            let island = &mut self.storage[self.island_of[set] as usize];
            self.local[tree] = island.trees.len() as u32;
            island.trees.push(tree);
        }
        self.places.clear();
        for run in &self.runs {
            let blocks = &constraints.list[run.start].blocks;
            let Some(first) = blocks.first() else {
                self.places.resize(run.end, None);
                continue;
            };
            let number = self.island_of[self.sets.find(first.tree as usize)];
            let island = &mut self.storage[number as usize];
            let places = (island.constraints.len() as u32..).zip(run.clone());
            self.places
                .extend(places.map(|(place, _)| Some((number, place))));
            island.constraints.extend(run.clone());
            for (i, a) in blocks.iter().enumerate() {
                for b in &blocks[i + 1..] {
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
