//! Islands: trees that constraints connect, which are problems of their own.

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
    /// Sorted by their lowest tree. Trees without constraints are in none.
    pub(crate) list: Vec<ProblemIsland>,
    /// Place of each tree in its island.
    pub(crate) local: Vec<u32>,
}

impl ProblemIslands {
    pub(crate) fn new(trees: &Trees, constraints: &ConvexConstraints<f64>) -> Self {
        let n = trees.len();
        let mut parent: Vec<usize> = (0..n).collect();
        fn root(parent: &mut [usize], mut x: usize) -> usize {
            while parent[x] != x {
                parent[x] = parent[parent[x]];
                x = parent[x];
            }
            x
        }
        let mut constrained = vec![false; n];
        for constraint in &constraints.list {
            let first = constraint.blocks.first().map_or(0, |b| b.tree as usize);
            for block in &constraint.blocks {
                constrained[block.tree as usize] = true;
                let (a, b) = (
                    root(&mut parent, first),
                    root(&mut parent, block.tree as usize),
                );
                // The lowest tree stands for the set, so that the order of islands is theirs.
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut islands = Self {
            list: vec![],
            local: vec![0; n],
        };
        let mut island_of = vec![usize::MAX; n];
        for tree in (0..n).filter(|tree| constrained[*tree]) {
            let r = root(&mut parent, tree);
            if island_of[r] == usize::MAX {
                island_of[r] = islands.list.len();
                islands.list.push(ProblemIsland::default());
            }
            let island = &mut islands.list[island_of[r]];
            islands.local[tree] = island.trees.len() as u32;
            island.trees.push(tree);
        }
        for (k, constraint) in constraints.list.iter().enumerate() {
            let Some(first) = constraint.blocks.first() else {
                continue;
            };
            let r = root(&mut parent, first.tree as usize);
            let island = &mut islands.list[island_of[r]];
            island.constraints.push(k);
            for (i, a) in constraint.blocks.iter().enumerate() {
                for b in &constraint.blocks[i + 1..] {
                    let local = |tree: u32| islands.local[tree as usize];
                    island.edges.push((local(a.tree), local(b.tree)));
                }
            }
        }
        for island in &mut islands.list {
            island.edges.sort_unstable();
            island.edges.dedup();
        }
        islands
    }
}
