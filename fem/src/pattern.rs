//! Sparsity pattern of a model's matrices: 3x3 blocks by vertices, and where elements add to them.

use super::element::{ElementGroup, NUM_PAIRS, PAIRS};
use super::lanes::{LANES, Lanes, Matrix, Vector};
use tarragon_framework::simd::{Kernel, dispatch, multiply_add};

/// Numbers that one group stores for its matrices and for its forces.
const MATRIX_LEN: usize = 9 * NUM_PAIRS;
const FORCE_LEN: usize = 12;

/// Blocks of a symmetric matrix: those on the diagonal by vertex, then those of the edges (i, j),
/// `i < j`, in ascending order, with the rows of i.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockPattern {
    pub(super) num_vertices: usize,
    pub(super) edges: Vec<(u32, u32)>,
    /// By vertex: first of its `neighbors`.
    neighbor_starts: Vec<u32>,
    /// Neighbor, and block of the edge to it.
    neighbors: Vec<(u32, u32)>,
    /// By block and by vertex: what elements add to it.
    blocks: Contributions,
    forces: Contributions,
    /// By group: the same blocks.
    pub(super) targets: Vec<BlockTargets>,
}

/// By pair of vertices and lane: the block that a group adds to; `u32::MAX` for unused lanes.
pub(super) type BlockTargets = [[u32; LANES]; NUM_PAIRS];

/// By target: places in the storage of the groups, each as `LANES * entry + lane`.
#[derive(Clone, Debug, Default)]
struct Contributions {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Contributions {
    fn new(num_targets: usize, items: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0; num_targets + 1];
        for (target, _) in items.clone() {
            starts[target as usize + 1] += 1;
        }
        for k in 0..num_targets {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut places = vec![0; starts[num_targets] as usize];
        for (target, place) in items {
            let at = &mut next[target as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        Self { starts, places }
    }

    #[inline(always)]
    fn of(&self, target: usize) -> &[u32] {
        &self.places[self.starts[target] as usize..self.starts[target + 1] as usize]
    }

    /// Adds up `N` numbers of consecutive entries for each target.
    #[inline(always)]
    fn gather<const N: usize>(&self, storage: &[Lanes], first: usize, out: &mut [[f64; N]]) {
        for (k, out) in out.iter_mut().enumerate() {
            let mut sum = [0.0; N];
            for place in self.of(first + k) {
                let (entry, lane) = (*place as usize / LANES, *place as usize % LANES);
                if let Some(values) = storage[entry..].first_chunk::<N>() {
                    for (sum, value) in sum.iter_mut().zip(values) {
                        *sum += value.0[lane];
                    }
                }
            }
            *out = sum;
        }
    }
}

impl BlockPattern {
    pub(super) fn new(num_vertices: usize, groups: &[ElementGroup]) -> Self {
        let lanes = |group: &ElementGroup| {
            let volumes = group.volume.0;
            (0..LANES).filter(move |k| volumes[*k] > 0.0)
        };
        let pairs = groups.iter().flat_map(|group| {
            lanes(group).flat_map(move |k| {
                let edges = PAIRS.into_iter().filter(|(a, b)| a != b);
                edges.map(move |(a, b)| (group.vertices[a][k], group.vertices[b][k]))
            })
        });
        let mut edges: Vec<(u32, u32)> = pairs.collect();
        edges.sort_unstable();
        edges.dedup();
        let block = |(i, j): (u32, u32)| {
            if i == j {
                i
            } else {
                (num_vertices + edges.partition_point(|edge| *edge < (i, j))) as u32
            }
        };
        let mut matrix_items = vec![];
        let mut targets = vec![[[u32::MAX; LANES]; NUM_PAIRS]; groups.len()];
        let mut force_items = vec![];
        for (n, group) in groups.iter().enumerate() {
            // In the order in which one thread adds them up.
            for (slot, (a, b)) in PAIRS.into_iter().enumerate() {
                for k in lanes(group) {
                    let target = block((group.vertices[a][k], group.vertices[b][k]));
                    let entry = n * MATRIX_LEN + 9 * slot;
                    matrix_items.push((target, (LANES * entry + k) as u32));
                    targets[n][slot][k] = target;
                }
            }
            for k in lanes(group) {
                for (a, vertices) in group.vertices.iter().enumerate() {
                    let entry = n * FORCE_LEN + 3 * a;
                    force_items.push((vertices[k], (LANES * entry + k) as u32));
                }
            }
        }
        let num_blocks = num_vertices + edges.len();
        let blocks = Contributions::new(num_blocks, matrix_items.iter().copied());
        let forces = Contributions::new(num_vertices, force_items.iter().copied());
        let around = edges.iter().enumerate().flat_map(|(e, (i, j))| {
            let block = (num_vertices + e) as u32;
            [(*i, (*j, block)), (*j, (*i, block))]
        });
        let mut neighbors: Vec<(u32, (u32, u32))> = around.collect();
        neighbors.sort_unstable();
        let start = |v| neighbors.partition_point(|(i, _)| (*i as usize) < v) as u32;
        Self {
            num_vertices,
            neighbor_starts: (0..=num_vertices).map(start).collect(),
            neighbors: neighbors.into_iter().map(|(_, n)| n).collect(),
            edges,
            blocks,
            forces,
            targets,
        }
    }

    pub(super) fn num_blocks(&self) -> usize {
        self.num_vertices + self.edges.len()
    }

    /// Neighbors of a vertex in ascending order, each with the block of the edge to it.
    #[inline(always)]
    pub(super) fn neighbors(&self, vertex: u32) -> &[(u32, u32)] {
        let v = vertex as usize;
        &self.neighbors[self.neighbor_starts[v] as usize..self.neighbor_starts[v + 1] as usize]
    }

    /// Adds up the matrices of all elements into the blocks from `first`.
    pub(super) fn gather_blocks(
        &self,
        storage: &[[Matrix; NUM_PAIRS]],
        first: usize,
        out: &mut [[f64; 9]],
    ) {
        let storage = storage.as_flattened().as_flattened().as_flattened();
        self.blocks.gather(storage, first, out);
    }

    /// Adds up the forces of all elements at the vertices from `first`.
    pub(super) fn gather_forces(
        &self,
        storage: &[[Vector; 4]],
        first: usize,
        out: &mut [[f64; 3]],
    ) {
        let storage = storage.as_flattened().as_flattened();
        self.forces.gather(storage, first, out);
    }

    /// Product of a matrix and a field.
    pub(super) fn multiply(&self, blocks: &[[f64; 9]], x: &[f64], out: &mut [f64]) {
        let (x, _) = x.as_chunks::<3>();
        let (out, _) = out.as_chunks_mut::<3>();
        let (diagonal, others) = blocks.split_at(self.num_vertices);
        dispatch(BlockProduct {
            diagonal,
            edges: &self.edges,
            others,
            x,
            out,
        });
    }

    /// Returns true if the vertex belongs to an element.
    pub(super) fn is_used(&self, vertex: usize) -> bool {
        !self.forces.of(vertex).is_empty()
    }
}

/// Product of a matrix with vectors by vertex.
struct BlockProduct<'a> {
    diagonal: &'a [[f64; 9]],
    edges: &'a [(u32, u32)],
    others: &'a [[f64; 9]],
    x: &'a [[f64; 3]],
    out: &'a mut [[f64; 3]],
}

impl Kernel for BlockProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { x, out, .. } = self;
        for ((out, x), block) in out.iter_mut().zip(x).zip(self.diagonal) {
            *out = [0.0; 3];
            add_product::<FUSED>(block, x, out);
        }
        // The sum of a row stays in registers until its last edge.
        let (mut row, mut sum) = (0, [0.0; 3]);
        for ((i, j), block) in self.edges.iter().zip(self.others) {
            let (i, j) = (*i as usize, *j as usize);
            if i != row {
                add(&sum, &mut out[row]);
                (row, sum) = (i, [0.0; 3]);
            }
            add_product::<FUSED>(block, &x[j], &mut sum);
            let b = block;
            let transposed = [b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]];
            add_product::<FUSED>(&transposed, &x[i], &mut out[j]);
        }
        if let Some(out) = out.get_mut(row) {
            add(&sum, out);
        }
    }
}

#[inline(always)]
fn add_product<const FUSED: bool>(block: &[f64; 9], x: &[f64; 3], out: &mut [f64; 3]) {
    for (out, row) in out.iter_mut().zip(block.as_chunks::<3>().0) {
        let ([a, b, c], [x, y, z]) = (row, x);
        *out += multiply_add::<FUSED>(*a, *x, multiply_add::<FUSED>(*b, *y, c * z));
    }
}

#[inline(always)]
fn add(x: &[f64; 3], out: &mut [f64; 3]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}
