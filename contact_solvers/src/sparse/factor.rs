//! Numeric part of the factorization, and solution of systems.

use super::eliminate::eliminate_pivots;
use super::fronts::{BorderVertex, Front, Fronts, TILE_VERTICES, triangle};
use super::pattern::BlockPattern;
use super::solution::Solution;
use super::tile::{TILE, TILE_LEN};
use super::tree::EliminationTree;

/// Cholesky factorization of a sparse symmetric positive definite matrix of 3x3 blocks.
///
/// The symbolic part ([`analyze`](Self::analyze)) is done once per pattern, the numeric part
/// ([`factor`](Self::factor)) once per matrix. Large fronts are factored in rayon tasks. Results
/// have the same bits for any number of threads, but not on processors with and without fused
/// multiply-add.
///
/// ```
/// use tarragon_contact_solvers::sparse::{BlockPattern, EliminationTree, SparseCholesky};
///
/// // A chain of three vertices: 4 on the diagonal, -1 between neighbors.
/// let pattern = BlockPattern::new(3, vec![(0, 1), (1, 2)]);
/// let diagonal = [4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0];
/// let edge = diagonal.map(|x| x / -4.0);
/// let blocks = [diagonal, diagonal, diagonal, edge, edge];
///
/// let mut cholesky = SparseCholesky::default();
/// cholesky.analyze(&EliminationTree::minimum_degree(&pattern), &pattern, &[]);
/// assert!(cholesky.factor(&blocks, false));
/// let mut x = vec![3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0];
/// cholesky.solve(&mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-15));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseCholesky {
    fronts: Fronts,
    /// Fronts after each other: the triangle of the pivots, then the rows of the border, both by
    /// rows of tiles. Unused rows and columns of the last tile of pivots are those of the identity.
    values: Vec<f64>,
    work: Vec<f64>,
    /// Schur complement of the participants as a full matrix.
    schur: Vec<f64>,
    /// Vector in the order of elimination.
    ordered: Vec<f64>,
    is_analyzed: bool,
}

impl SparseCholesky {
    /// Prepares for matrices of a pattern, whose vertices are eliminated in the order of a tree.
    ///
    /// `participants`, in ascending order, are eliminated after all others, so that
    /// [`schur`](Self::schur) is known. The tree must have been made for the same pattern.
    pub fn analyze(
        &mut self,
        tree: &EliminationTree,
        pattern: &BlockPattern,
        participants: &[u32],
    ) {
        self.fronts.analyze(tree, pattern, participants);
        self.values.resize(self.fronts.factor_len(), 0.0);
        self.work.resize(self.fronts.work_len, 0.0);
        self.ordered.resize(3 * pattern.num_vertices(), 0.0);
        let n = 3 * participants.len();
        self.schur.clear();
        self.schur.resize(n * n, 0.0);
        self.is_analyzed = true;
    }

    /// Participants of the last analysis; `None` before the first.
    #[inline]
    pub fn participants(&self) -> Option<&[u32]> {
        self.is_analyzed.then(|| self.fronts.participants())
    }

    /// Number of products of tiles that a factorization takes: a measure of its time.
    pub fn num_products(&self) -> usize {
        let roots = self.fronts.roots.iter();
        roots
            .map(|r| self.fronts.fronts[*r as usize].products)
            .sum()
    }

    /// Returns `true` if a factorization with `parallel` is divided into several tasks.
    pub fn has_tasks(&self) -> bool {
        let mut roots = self.fronts.roots.iter();
        roots.any(|root| self.fronts.fronts[*root as usize].has_tasks)
    }

    /// Factors a matrix, whose blocks have the order of the pattern; returns false if it is not
    /// positive definite. `parallel` allows several threads.
    ///
    /// Of blocks on the diagonal, only the lower triangle is read.
    ///
    /// # Panics
    /// Panics if there are fewer blocks than in the pattern.
    pub fn factor(&mut self, blocks: &[[f64; 9]], parallel: bool) -> bool {
        let Self { fronts, .. } = self;
        let mut all = true;
        for root in &fronts.roots {
            let front = &fronts.fronts[*root as usize];
            let values = &mut self.values[front.subtree_start..front.start + front.len()];
            let task = Elimination {
                fronts,
                blocks,
                parallel,
            };
            let schur = if fronts.participants().is_empty() {
                None
            } else {
                Some(&mut self.schur[..])
            };
            all = all && task.eliminate(*root as usize, values, &mut self.work, schur);
        }
        all
    }

    /// Schur complement of the participants, a full matrix of three rows per participant: their
    /// block of the matrix when all other vertices move freely.
    pub fn schur(&self) -> &[f64] {
        &self.schur
    }

    /// Replaces `b`, which has three numbers per vertex, by the solution of `A x = b`.
    ///
    /// # Panics
    /// Panics if `b` has another length.
    pub fn solve(&mut self, b: &mut [f64]) {
        let Self {
            fronts,
            values,
            ordered,
            ..
        } = self;
        for (rank, v) in fronts.order.iter().enumerate() {
            let v = *v as usize;
            ordered[3 * rank..3 * rank + 3].copy_from_slice(&b[3 * v..3 * v + 3]);
        }
        Solution { fronts, values }.solve(ordered);
        self.write_back(b);
    }

    /// Changes of all vertices when the participants change by `x`, and nothing but them is acted
    /// on: extends x by `-A_rr^-1 A_rp x`.
    ///
    /// # Panics
    /// Panics if `x` has not three numbers per participant, or `all` per vertex.
    pub fn extend(&mut self, x: &[f64], all: &mut [f64]) {
        let Self {
            fronts,
            values,
            ordered,
            ..
        } = self;
        let first = ordered.len() - x.len();
        ordered[..first].fill(0.0);
        ordered[first..].copy_from_slice(x);
        Solution { fronts, values }.extend(ordered);
        self.write_back(all);
    }

    fn write_back(&self, b: &mut [f64]) {
        for (rank, v) in self.fronts.order.iter().enumerate() {
            let v = *v as usize;
            b[3 * v..3 * v + 3].copy_from_slice(&self.ordered[3 * rank..3 * rank + 3]);
        }
    }
}

#[derive(Clone, Copy)]
struct Elimination<'a> {
    fronts: &'a Fronts,
    blocks: &'a [[f64; 9]],
    parallel: bool,
}

impl Elimination<'_> {
    /// Factors the subtree of a front and leaves its update matrix at the start of the work space.
    /// `schur` receives the triangle of the pivots before they are eliminated.
    fn eliminate(
        self,
        n: usize,
        values: &mut [f64],
        work: &mut [f64],
        schur: Option<&mut [f64]>,
    ) -> bool {
        let front = &self.fronts.fronts[n];
        let (below, own) = values.split_at_mut(front.start - front.subtree_start);
        let children = &self.fronts.children[front.children.clone()];
        let parallel = self.parallel && front.is_parallel;
        if !self.eliminate_children(children, parallel, below, &mut *work, 0) {
            return false;
        }
        let (updates, update) = work.split_at_mut(front.work_offset);
        let update = &mut update[..front.update_len()];
        own.fill(0.0);
        update.fill(0.0);
        self.assemble(front, own);
        let (pivots, border) = own.split_at_mut(front.pivots_len());
        for c in &self.fronts.children[front.children.clone()] {
            let child = &self.fronts.fronts[*c as usize];
            let places = &self.fronts.borders[child.border.clone()];
            let source = &updates[child.offset..child.offset + child.update_len()];
            let target = Target {
                pivot_rows: front.pivot_rows,
                pivots,
                border,
                update,
            };
            target.add_update(source, places);
        }
        if let Some(schur) = schur {
            copy_triangle(pivots, front.pivots.len(), schur);
        }
        let factored = eliminate_pivots(front, self.parallel, pivots, border, update);
        if front.work_offset > 0 {
            work.copy_within(front.work_offset..front.work_offset + front.update_len(), 0);
        }
        factored
    }

    /// Factors the subtrees of some children. `at` is the place of `work` in that of the parent.
    fn eliminate_children(
        self,
        children: &[u32],
        parallel: bool,
        values: &mut [f64],
        work: &mut [f64],
        at: usize,
    ) -> bool {
        let Some((first, others)) = children.split_first() else {
            return true;
        };
        let child = &self.fronts.fronts[*first as usize];
        let len = child.start + child.len() - child.subtree_start;
        let (own, rest) = values.split_at_mut(len);
        let work = &mut work[child.offset - at..];
        let at = child.offset;
        if !parallel || others.is_empty() {
            return self.eliminate(*first as usize, own, work, None)
                && self.eliminate_children(others, parallel, rest, work, at);
        }
        let (own_work, work) = work.split_at_mut(child.work_len);
        let at = at + child.work_len;
        let (a, b) = rayon::join(
            || self.eliminate(*first as usize, own, own_work, None),
            || self.eliminate_children(others, parallel, rest, work, at),
        );
        a && b
    }

    /// Adds the entries of the matrix.
    fn assemble(&self, front: &Front, own: &mut [f64]) {
        let rows = front.pivot_rows;
        let (pivots, border) = own.split_at_mut(front.pivots_len());
        for unused in 3 * front.pivots.len()..TILE * rows {
            let at = triangle_place(unused / 3, unused / 3) + (TILE + 1) * (unused % 3);
            pivots[at] = 1.0;
        }
        let mut target = Target {
            pivot_rows: rows,
            pivots,
            border,
            update: &mut [],
        };
        for entry in &self.fronts.entries[front.entries.clone()] {
            let block = &self.blocks[entry.block as usize];
            let to = target.at(entry.row as usize, entry.column as usize);
            for j in 0..3 {
                for i in 0..3 {
                    to[j * TILE + i] += if entry.is_transposed {
                        block[3 * j + i]
                    } else {
                        block[3 * i + j]
                    };
                }
            }
        }
    }
}

/// Place of the 3x3 block of two vertices in a triangle by rows of tiles.
fn triangle_place(row: usize, column: usize) -> usize {
    let tiles = triangle(row / TILE_VERTICES);
    tiles * TILE_LEN + 3 * column * TILE + 3 * (row % TILE_VERTICES)
}

/// The same in rows of tiles of equal length.
fn border_place(row: usize, column: usize, row_len: usize) -> usize {
    row / TILE_VERTICES * row_len + 3 * column * TILE + 3 * (row % TILE_VERTICES)
}

/// Adds the 3x3 block of two vertices to another; both begin lists, by columns of a tile.
#[inline(always)]
fn add_block(from: &[f64], to: &mut [f64]) {
    const LEN: usize = 2 * TILE + 3;
    if let (Some(from), Some(to)) = (from.first_chunk::<LEN>(), to.first_chunk_mut::<LEN>()) {
        for j in 0..3 {
            for i in 0..3 {
                to[j * TILE + i] += from[j * TILE + i];
            }
        }
    }
}

/// Copies the triangle of the first vertices to both triangles of a full matrix.
fn copy_triangle(triangle: &[f64], num_vertices: usize, full: &mut [f64]) {
    let n = 3 * num_vertices;
    for column in 0..n {
        for row in column..n {
            let at = triangle_place(row / 3, column / 3) + column % 3 * TILE + row % 3;
            full[column * n + row] = triangle[at];
            full[row * n + column] = triangle[at];
        }
    }
}

/// The three parts of a front.
struct Target<'a> {
    pivot_rows: usize,
    pivots: &'a mut [f64],
    border: &'a mut [f64],
    update: &'a mut [f64],
}

impl Target<'_> {
    /// Adds the update matrix of a child, whose border has these places in ascending order.
    fn add_update(self, source: &[f64], places: &[BorderVertex]) {
        let num_pivots = TILE_VERTICES * self.pivot_rows;
        let row_len = self.pivot_rows * TILE_LEN;
        let place = |k: usize| places[k].place as usize;
        let num_inner = places.partition_point(|b| (b.place as usize) < num_pivots);
        for column in 0..places.len() {
            let from = |row: usize| &source[triangle_place(row, column)..];
            let own = place(column);
            if column >= num_inner {
                for row in column..places.len() {
                    let at = triangle_place(place(row) - num_pivots, own - num_pivots);
                    add_block(from(row), &mut self.update[at..]);
                }
                continue;
            }
            for row in column..num_inner {
                let at = triangle_place(place(row), own);
                add_block(from(row), &mut self.pivots[at..]);
            }
            for row in num_inner..places.len() {
                let at = border_place(place(row) - num_pivots, own, row_len);
                add_block(from(row), &mut self.border[at..]);
            }
        }
    }

    /// Values from the 3x3 block of two vertices, by columns of a tile.
    #[inline(always)]
    fn at(&mut self, row: usize, column: usize) -> &mut [f64] {
        let pivots = TILE_VERTICES * self.pivot_rows;
        if row < pivots {
            return &mut self.pivots[triangle_place(row, column)..];
        }
        let row = row - pivots;
        if column < pivots {
            let at = border_place(row, column, self.pivot_rows * TILE_LEN);
            return &mut self.border[at..];
        }
        &mut self.update[triangle_place(row, column - pivots)..]
    }
}
