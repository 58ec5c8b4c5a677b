//! Symbolic part of the factorization: one dense front per separator (multifrontal method).
//!
//! A front has the rows and columns of the vertices that it eliminates, its *pivots*, and of those
//! later vertices that become neighbors of them, its *border*. Some vertices, the *participants*,
//! may be kept for a last front, so that all others can be eliminated before.
//!
//! Source: I. Duff, J. Reid, "The multifrontal solution of indefinite sparse symmetric linear
//! equations", ACM Transactions on Mathematical Software, 1983.

use super::pattern::BlockPattern;
use super::tile::TILE_LEN;
use super::tree::EliminationTree;
use std::ops::Range;

/// Vertices of a row of tiles.
pub(super) const TILE_VERTICES: usize = 4;
/// Products of tiles in a subtree that are worth a task of their own.
pub(super) const PRODUCTS_PER_TASK: usize = 3000;
const NONE: u32 = u32::MAX;

/// Number of tiles of a lower triangle with `n` rows of tiles.
pub(super) fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// One dense front.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    /// Ranks of the pivots.
    pub(super) pivots: Range<usize>,
    /// The border in `Fronts::borders`.
    pub(super) border: Range<usize>,
    /// The children in `Fronts::children`.
    pub(super) children: Range<usize>,
    /// Entries of the matrix in `Fronts::entries`.
    pub(super) entries: Range<usize>,
    /// Rows of tiles of pivots and border.
    pub(super) pivot_rows: usize,
    pub(super) border_rows: usize,
    /// First value of this front in the factor, and of its subtree.
    pub(super) start: usize,
    pub(super) subtree_start: usize,
    /// Place of the update matrix in the work space of the parent, and that in the own work space
    /// while it is computed.
    pub(super) offset: usize,
    pub(super) work_offset: usize,
    /// Length of the work space.
    pub(super) work_len: usize,
    /// Products of tiles in the subtree.
    pub(super) products: usize,
    /// Whether the children are separate tasks.
    pub(super) is_parallel: bool,
    /// Whether they are separate tasks in this subtree, anywhere.
    pub(super) has_tasks: bool,
}

impl Front {
    /// Length of the triangle of the pivots, of the factor of this front, and of its update matrix.
    pub(super) fn pivots_len(&self) -> usize {
        triangle(self.pivot_rows) * TILE_LEN
    }
    pub(super) fn len(&self) -> usize {
        self.pivots_len() + self.pivot_rows * self.border_rows * TILE_LEN
    }
    pub(super) fn update_len(&self) -> usize {
        triangle(self.border_rows) * TILE_LEN
    }
}

/// Row of a front's border.
#[derive(Clone, Copy, Debug)]
pub(super) struct BorderVertex {
    pub(super) rank: u32,
    /// Position in the parent's front.
    pub(super) place: u32,
}

/// Block of the matrix that is added to a front at a row and a column, counted in vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) block: u32,
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) is_transposed: bool,
}

/// The tree of fronts, children before parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Fronts {
    pub(super) fronts: Vec<Front>,
    pub(super) borders: Vec<BorderVertex>,
    pub(super) children: Vec<u32>,
    pub(super) roots: Vec<u32>,
    pub(super) entries: Vec<Entry>,
    /// By rank: the vertex.
    pub(super) order: Vec<u32>,
    /// By vertex: the rank.
    pub(super) ranks: Vec<u32>,
    /// Vertices that the last front eliminates, in ascending order.
    participants: Vec<u32>,
    pub(super) work_len: usize,
    /// By rank: the front that saw it last, and its position there.
    seen: Vec<(u32, u32)>,
}

impl Fronts {
    /// Prepares for a pattern and participants, in ascending order.
    pub(super) fn analyze(
        &mut self,
        tree: &EliminationTree,
        pattern: &BlockPattern,
        participants: &[u32],
    ) {
        let num_vertices = pattern.num_vertices();
        participants.clone_into(&mut self.participants);
        self.rank_vertices(tree, num_vertices);
        self.borders.clear();
        self.entries.clear();
        self.children.clear();
        self.roots.clear();
        self.fronts.clear();
        self.seen.clear();
        self.seen.resize(num_vertices, (NONE, 0));
        let mut rank = 0;
        for n in 0..tree.num_nodes() {
            let kept = |v: &&u32| self.participants.binary_search(v).is_err();
            let count = tree.vertices(n).iter().filter(kept).count();
            self.push_front(rank..rank + count, tree.children(n), pattern);
            rank += count;
        }
        self.roots.extend_from_slice(tree.roots());
        if !self.participants.is_empty() {
            self.push_front(rank..num_vertices, tree.roots(), pattern);
            self.roots.clear();
            self.roots.push(self.fronts.len() as u32 - 1);
        }
        self.place_borders();
        self.place_values();
    }

    pub(super) fn participants(&self) -> &[u32] {
        &self.participants
    }

    /// Length of the factor.
    pub(super) fn factor_len(&self) -> usize {
        self.fronts.last().map_or(0, |f| f.start + f.len())
    }

    fn rank_vertices(&mut self, tree: &EliminationTree, num_vertices: usize) {
        let Self {
            order,
            ranks,
            participants,
            ..
        } = self;
        order.clear();
        let others = tree.order().iter();
        order.extend(others.filter(|v| participants.binary_search(v).is_err()));
        order.extend_from_slice(participants);
        ranks.clear();
        ranks.resize(num_vertices, 0);
        for (rank, v) in order.iter().enumerate() {
            ranks[*v as usize] = rank as u32;
        }
    }

    fn push_front(&mut self, pivots: Range<usize>, children: &[u32], pattern: &BlockPattern) {
        let n = self.fronts.len() as u32;
        let first_child = self.children.len();
        self.children.extend_from_slice(children);
        let first = self.borders.len();
        self.find_border(n, &pivots, children, pattern);
        let border = first..self.borders.len();
        self.borders[first..].sort_unstable_by_key(|b| b.rank);
        let pivot_rows = pivots.len().div_ceil(TILE_VERTICES);
        for (k, rank) in pivots.clone().enumerate() {
            self.seen[rank] = (n, k as u32);
        }
        for (k, b) in self.borders[first..].iter().enumerate() {
            self.seen[b.rank as usize] = (n, (TILE_VERTICES * pivot_rows + k) as u32);
        }
        let first_entry = self.entries.len();
        for (column, rank) in pivots.clone().enumerate() {
            let column = column as u32;
            let v = self.order[rank];
            let entry = |block, row, is_transposed| Entry {
                block,
                row,
                column,
                is_transposed,
            };
            self.entries.push(entry(v, column, false));
            for (w, block) in pattern.neighbors(v) {
                let other = self.ranks[*w as usize] as usize;
                // A block has the rows of the vertex with the lower index.
                if other > rank {
                    self.entries.push(entry(*block, self.seen[other].1, v < *w));
                }
            }
        }
        self.fronts.push(Front {
            border_rows: border.len().div_ceil(TILE_VERTICES),
            pivots,
            border,
            children: first_child..self.children.len(),
            entries: first_entry..self.entries.len(),
            pivot_rows,
            ..Front::default()
        });
    }

    /// Adds the later neighbors of the pivots and the borders of the children.
    fn find_border(
        &mut self,
        n: u32,
        pivots: &Range<usize>,
        children: &[u32],
        pattern: &BlockPattern,
    ) {
        let mut add = |borders: &mut Vec<BorderVertex>, rank: u32| {
            let seen = &mut self.seen[rank as usize];
            if rank as usize >= pivots.end && seen.0 != n {
                *seen = (n, 0);
                borders.push(BorderVertex { rank, place: 0 });
            }
        };
        for rank in pivots.clone() {
            for (w, _) in pattern.neighbors(self.order[rank]) {
                add(&mut self.borders, self.ranks[*w as usize]);
            }
        }
        for child in children {
            for k in self.fronts[*child as usize].border.clone() {
                let rank = self.borders[k].rank;
                add(&mut self.borders, rank);
            }
        }
    }

    /// Finds the positions of each border in the parent's front.
    fn place_borders(&mut self) {
        for (n, parent) in self.fronts.iter().enumerate() {
            let places = parent.pivots.clone().enumerate();
            for (k, rank) in places {
                self.seen[rank] = (n as u32, k as u32);
            }
            let first = TILE_VERTICES * parent.pivot_rows;
            for (k, b) in self.borders[parent.border.clone()].iter().enumerate() {
                self.seen[b.rank as usize] = (n as u32, (first + k) as u32);
            }
            for child in &self.children[parent.children.clone()] {
                for b in &mut self.borders[self.fronts[*child as usize].border.clone()] {
                    b.place = self.seen[b.rank as usize].1;
                }
            }
        }
    }

    /// Lays out the factor and the work space.
    fn place_values(&mut self) {
        let mut end = 0;
        for n in 0..self.fronts.len() {
            let mut front = self.fronts[n].clone();
            let (p, b) = (front.pivot_rows, front.border_rows);
            front.products = p * p * p / 6 + p * p * b / 2 + triangle(b) * p;
            let children = &self.children[front.children.clone()];
            let work = |c: &u32| self.fronts[*c as usize].products;
            let busy = children.iter().filter(|c| work(c) > PRODUCTS_PER_TASK);
            front.is_parallel = busy.count() > 1;
            let mut below = children.iter();
            front.has_tasks =
                front.is_parallel || below.any(|c| self.fronts[*c as usize].has_tasks);
            front.subtree_start = end;
            let (mut offset, mut most) = (0, 0);
            for c in children {
                let child = &mut self.fronts[*c as usize];
                front.products += child.products;
                front.subtree_start = front.subtree_start.min(child.subtree_start);
                child.offset = offset;
                most = most.max(offset + child.work_len);
                offset += if front.is_parallel {
                    child.work_len
                } else {
                    child.update_len()
                };
            }
            front.work_offset = offset;
            front.work_len = most.max(offset + front.update_len());
            front.start = end;
            end += front.len();
            self.fronts[n] = front;
        }
        // The roots have no border, so each can use the same work space.
        let roots = self.roots.iter().map(|r| self.fronts[*r as usize].work_len);
        self.work_len = roots.max().unwrap_or(0);
    }
}
