//! Pattern of a model's matrices, and where elements add to them.

use super::element::{ElementGroup, NUM_PAIRS, PAIRS};
use super::lanes::{Matrix, Vector};
use tarragon_contact_solvers::sparse::BlockPattern;
use tarragon_framework::simd::{LANES, Lanes};

/// Numbers that one group stores for its matrices and for its forces.
const MATRIX_LEN: usize = 9 * NUM_PAIRS;
const FORCE_LEN: usize = 12;

/// Pattern of the matrices of a mesh, with the places of its elements in them.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementPattern {
    pub(super) matrix: BlockPattern,
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

impl ElementPattern {
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
        Self {
            matrix: BlockPattern::new(num_vertices, edges),
            blocks,
            forces,
            targets,
        }
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

    /// Returns true if the vertex belongs to an element.
    pub(super) fn is_used(&self, vertex: usize) -> bool {
        !self.forces.of(vertex).is_empty()
    }
}
