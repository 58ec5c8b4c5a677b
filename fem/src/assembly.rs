//! Sums over all elements: forces, energies and matrices.
//!
//! Each element writes its own numbers, which are then added up vertex by vertex and block by
//! block, so results have the same bits for any number of threads.

use super::element::{ElementGroup, ElementShape, NUM_PAIRS, PAIRS};
use super::lanes::{Matrix, Vector, apply, dot, load_vectors, scale, store_vectors};
use super::material::BlockSink;
use super::pattern::{BlockTargets, ElementPattern};
use rayon::prelude::*;
use tarragon_framework::simd::{LaneKernel, Lanes, Pack, dispatch_lanes};

/// Most groups that one task computes.
pub(super) const GROUPS_PER_TASK: usize = 64;
/// Vertices and blocks that one task adds up.
const TARGETS_PER_TASK: usize = 512;
/// Part of the lumped mass that is added to the mass matrix. The one-point quadrature leaves
/// motions without kinetic energy, such as the rotation of a single element about its centroid.
pub(super) const LEAST_MASS: f64 = 1e-12;

/// Numbers of the elements and their sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembly {
    /// Only with several threads: one adds matrices up as it goes.
    element_matrices: Vec<[Matrix; NUM_PAIRS]>,
    element_forces: Vec<[Vector; 4]>,
    element_damping: Vec<[Vector; 4]>,
    /// By group: energy and square of the elastic impulses.
    element_energies: Vec<[f64; 2]>,
    pub(super) blocks: Vec<[f64; 9]>,
    /// By vertex.
    pub(super) forces: Vec<[f64; 3]>,
    pub(super) damping: Vec<[f64; 3]>,
}

/// Results of a pass for a group of elements; unwanted ones are `None`.
pub(super) struct GroupOutput<'a> {
    /// By pair of vertices, as in [`PAIRS`].
    pub(super) matrix: Option<&'a mut [Matrix; NUM_PAIRS]>,
    pub(super) forces: Option<&'a mut [Vector; 4]>,
    /// Impulses of stiffness damping, with the opposite sign.
    pub(super) damping: Option<&'a mut [Vector; 4]>,
    pub(super) energy: &'a mut [f64; 2],
}

/// Computation of one group of elements.
pub(super) trait GroupPass: Sync {
    /// Computes group number `n`. `zero` is the value that all others are made from.
    fn run<P: Pack>(&self, zero: P, n: usize, group: &ElementGroup, out: GroupOutput<'_>);
}

/// Which numbers a pass computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    matrix: bool,
    forces: bool,
    damping: bool,
}

impl Wanted {
    pub(super) const MATRIX: Self = Self {
        matrix: true,
        forces: false,
        damping: false,
    };
    pub(super) const FORCES: Self = Self {
        matrix: false,
        forces: true,
        damping: false,
    };
    pub(super) const MATRIX_AND_FORCES: Self = Self {
        forces: true,
        ..Self::MATRIX
    };
    pub(super) const FORCES_AND_DAMPING: Self = Self {
        damping: true,
        ..Self::FORCES
    };
}

/// A task: some groups with their storage, which is empty for numbers that are not wanted.
struct Task<'a, P> {
    pass: &'a P,
    /// Number of the first group.
    first: usize,
    groups: &'a [ElementGroup],
    matrices: MatrixStore<'a>,
    forces: &'a mut [[Vector; 4]],
    damping: &'a mut [[Vector; 4]],
    energies: &'a mut [[f64; 2]],
}

impl<G: GroupPass> Task<'_, G> {
    /// Runs the task on several threads, unless it is small or adds matrices up as it goes.
    fn run_in_parts(self) {
        let adds_up = matches!(self.matrices, MatrixStore::Sums { .. });
        if self.groups.len() <= GROUPS_PER_TASK || adds_up {
            return dispatch_lanes(self);
        }
        let (first, second) = self.split();
        rayon::join(|| first.run_in_parts(), || second.run_in_parts());
    }

    fn split(self) -> (Self, Self) {
        let middle = self.groups.len() / 2;
        let groups = self.groups.split_at(middle);
        let matrices = match self.matrices {
            MatrixStore::ByElement(all) => {
                let (first, second) = all.split_at_mut(middle);
                let store = MatrixStore::ByElement;
                (store(first), store(second))
            }
            // Sums stay with the first.
            other => (other, MatrixStore::None),
        };
        let forces = self.forces.split_at_mut(middle.min(self.forces.len()));
        let damping = self.damping.split_at_mut(middle.min(self.damping.len()));
        let energies = self.energies.split_at_mut(middle);
        let first = Self {
            pass: self.pass,
            first: self.first,
            groups: groups.0,
            matrices: matrices.0,
            forces: forces.0,
            damping: damping.0,
            energies: energies.0,
        };
        let second = Self {
            pass: self.pass,
            first: self.first + middle,
            groups: groups.1,
            matrices: matrices.1,
            forces: forces.1,
            damping: damping.1,
            energies: energies.1,
        };
        (first, second)
    }
}

impl<G: GroupPass> LaneKernel for Task<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<P: Pack>(self, zero: P) {
        let mut matrices = self.matrices;
        let mut matrix = [Matrix::default(); NUM_PAIRS];
        let (mut forces, mut damping) = (self.forces.iter_mut(), self.damping.iter_mut());
        let groups = self.groups.iter().zip(self.energies);
        for (n, (group, energy)) in groups.enumerate() {
            let out = GroupOutput {
                matrix: match &mut matrices {
                    MatrixStore::None => None,
                    MatrixStore::ByElement(all) => all.get_mut(n),
                    MatrixStore::Sums { .. } => Some(&mut matrix),
                },
                forces: forces.next(),
                damping: damping.next(),
                energy,
            };
            self.pass.run(zero, self.first + n, group, out);
            if let MatrixStore::Sums { targets, blocks } = &mut matrices {
                add_blocks(zero, &matrix, &targets[n], blocks);
            }
        }
    }
}

/// Where matrices of elements go.
enum MatrixStore<'a> {
    None,
    ByElement(&'a mut [[Matrix; NUM_PAIRS]]),
    /// Blocks that they are added to, by group.
    Sums {
        targets: &'a [BlockTargets],
        blocks: &'a mut [[f64; 9]],
    },
}

/// Adds the blocks of four elements to others.
#[inline(always)]
fn add_blocks<P: Pack>(
    zero: P,
    matrix: &[Matrix; NUM_PAIRS],
    targets: &BlockTargets,
    blocks: &mut [[f64; 9]],
) {
    for (block, targets) in matrix.iter().zip(targets) {
        let [[a, b, c], [d, e, f], [g, h, last]] = block;
        let first = P::transpose([zero.load(*a), zero.load(*b), zero.load(*c), zero.load(*d)]);
        let second = P::transpose([zero.load(*e), zero.load(*f), zero.load(*g), zero.load(*h)]);
        for (k, target) in targets.iter().enumerate() {
            // Unused lanes have no target.
            let Some(sum) = blocks.get_mut(*target as usize) else {
                continue;
            };
            let [a, b, c, d, e, f, g, h, i] = *sum;
            let Lanes([a, b, c, d]) = (zero.load(Lanes([a, b, c, d])) + first[k]).store();
            let Lanes([e, f, g, h]) = (zero.load(Lanes([e, f, g, h])) + second[k]).store();
            *sum = [a, b, c, d, e, f, g, h, i + last.0[k]];
        }
    }
}

impl Assembly {
    /// Runs a pass over all elements and adds up the numbers that are wanted.
    pub(super) fn run<P: GroupPass>(
        &mut self,
        groups: &[ElementGroup],
        pattern: &ElementPattern,
        pass: &P,
        wanted: Wanted,
        parallel: bool,
    ) {
        let n = groups.len();
        self.element_energies.resize(n, [0.0; 2]);
        let fields = [
            (wanted.forces, &mut self.element_forces),
            (wanted.damping, &mut self.element_damping),
        ];
        let [forces, damping] = fields.map(|(is_wanted, storage)| {
            if is_wanted {
                storage.resize(n, [Vector::default(); 4]);
                &mut storage[..]
            } else {
                &mut []
            }
        });
        let matrices = match (wanted.matrix, parallel) {
            (false, _) => MatrixStore::None,
            (true, true) => {
                self.element_matrices
                    .resize(n, [Matrix::default(); NUM_PAIRS]);
                MatrixStore::ByElement(&mut self.element_matrices)
            }
            (true, false) => {
                self.blocks.clear();
                self.blocks.resize(pattern.matrix.num_blocks(), [0.0; 9]);
                MatrixStore::Sums {
                    targets: &pattern.targets,
                    blocks: &mut self.blocks,
                }
            }
        };
        let task = Task {
            pass,
            first: 0,
            groups,
            matrices,
            forces,
            damping,
            energies: &mut self.element_energies,
        };
        if parallel {
            task.run_in_parts()
        } else {
            dispatch_lanes(task)
        }
        self.add_up(pattern, wanted, parallel);
    }

    fn add_up(&mut self, pattern: &ElementPattern, wanted: Wanted, parallel: bool) {
        let fields = [
            (wanted.forces, &self.element_forces, &mut self.forces),
            (wanted.damping, &self.element_damping, &mut self.damping),
        ];
        for (_, storage, out) in fields.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
            out.resize(pattern.matrix.num_vertices(), [0.0; 3]);
            in_tasks(parallel, out, |first, out| {
                pattern.gather_forces(storage, first, out);
            });
        }
        if wanted.matrix && parallel {
            self.blocks.resize(pattern.matrix.num_blocks(), [0.0; 9]);
            let storage = &self.element_matrices;
            in_tasks(parallel, &mut self.blocks, |first, out| {
                pattern.gather_blocks(storage, first, out);
            });
        }
    }

    /// Sum of the energies, and the norm of the elastic impulses element by element.
    pub(super) fn energy(&self) -> (f64, f64) {
        let mut sum = [0.0; 2];
        for e in &self.element_energies {
            sum[0] += e[0];
            sum[1] += e[1];
        }
        (sum[0], sum[1].sqrt())
    }
}

fn in_tasks<V: Send>(parallel: bool, out: &mut [V], f: impl Fn(usize, &mut [V]) + Sync) {
    if parallel {
        let chunks = out.par_chunks_mut(TARGETS_PER_TASK).enumerate();
        chunks.for_each(|(k, out)| f(TARGETS_PER_TASK * k, out));
    } else {
        f(0, out);
    }
}

/// Mass matrix of an element. Its blocks are multiples of the identity.
#[derive(Clone, Copy)]
pub(super) struct ElementMass<P> {
    /// Factor of all blocks.
    consistent: P,
    /// Lumped mass that is added to the blocks on the diagonal.
    lumped: P,
}

impl<P: Pack> ElementMass<P> {
    #[inline(always)]
    pub(super) fn new(density: f64, shape: &ElementShape<P>) -> Self {
        let m = shape.volume * density;
        Self {
            consistent: m * (1.0 / 16.0),
            lumped: m * (LEAST_MASS / 4.0),
        }
    }

    /// Returns a multiple of the matrix.
    #[inline(always)]
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            consistent: self.consistent * factor,
            lumped: self.lumped * factor,
        }
    }

    /// Returns the product with a field.
    #[inline(always)]
    pub(super) fn product(self, x: &[Vector<P>; 4]) -> [Vector<P>; 4] {
        let mut sum = x[0];
        for (i, sum) in sum.iter_mut().enumerate() {
            *sum = (*sum + x[1][i] + x[2][i] + x[3][i]) * self.consistent;
        }
        let mut all = *x;
        for x in &mut all {
            for (x, sum) in x.iter_mut().zip(sum) {
                *x = x.mul_add(self.lumped, sum);
            }
        }
        all
    }
}

/// Forces at the vertices of an element from its stress, times the volume or any other factor,
/// with the opposite sign.
#[inline(always)]
pub(super) fn stress_force<P: Pack>(
    stress: &Matrix<P>,
    gradients: &[Vector<P>; 4],
    by: P,
) -> [Vector<P>; 4] {
    let mut all = *gradients;
    for x in &mut all {
        *x = scale(&apply(stress, x), by);
    }
    all
}

/// Takes blocks of the stiffness K of an element, and writes those of `by K + M` with the mass
/// matrix M, once it is completed.
pub(super) struct MatrixSum<'a, P> {
    pub(super) out: &'a mut [Matrix; NUM_PAIRS],
    pub(super) by: P,
    pub(super) mass: ElementMass<P>,
}

impl<P: Pack> BlockSink<P> for MatrixSum<'_, P> {
    #[inline(always)]
    fn put(&mut self, slot: usize, mut block: Matrix<P>) {
        for row in &mut block {
            *row = scale(row, self.by);
        }
        store_vectors(&block, &mut self.out[slot]);
    }
}

impl<P: Pack> MatrixSum<'_, P> {
    /// Writes the blocks of the first vertex, with which rows add up to 0, and adds the mass.
    #[inline(always)]
    pub(super) fn complete(self) {
        let ElementMass { consistent, lumped } = self.mass;
        let block = |slot: usize| load_vectors(consistent, &self.out[slot]);
        let [b11, b22, b33] = [block(1), block(2), block(3)];
        let [b12, b13, b23] = [block(7), block(8), block(9)];
        let (mut b00, mut b01, mut b02, mut b03) = (b11, b11, b11, b11);
        for i in 0..3 {
            for j in 0..3 {
                b01[i][j] = -(b11[i][j] + b12[j][i] + b13[j][i]);
                b02[i][j] = -(b12[i][j] + b22[i][j] + b23[j][i]);
                b03[i][j] = -(b13[i][j] + b23[i][j] + b33[i][j]);
                b00[i][j] = -(b01[i][j] + b02[i][j] + b03[i][j]);
            }
        }
        for (slot, block) in [(0, b00), (4, b01), (5, b02), (6, b03)] {
            store_vectors(&block, &mut self.out[slot]);
        }
        for (block, (a, b)) in self.out.iter_mut().zip(PAIRS) {
            let m = if a == b {
                consistent + lumped
            } else {
                consistent
            };
            for (i, row) in block.iter_mut().enumerate() {
                row[i] = (m.load(row[i]) + m).store();
            }
        }
    }
}

/// `x + s y`, vertex by vertex.
#[inline(always)]
pub(super) fn add_scaled<P: Pack>(
    x: &[Vector<P>; 4],
    s: f64,
    y: &[Vector<P>; 4],
) -> [Vector<P>; 4] {
    let s = x[0][0].splat(s);
    let mut all = *x;
    for (x, y) in all.iter_mut().zip(y) {
        for (x, y) in x.iter_mut().zip(y) {
            *x = y.mul_add(s, *x);
        }
    }
    all
}

/// `|x|^2` over all vertices.
#[inline(always)]
pub(super) fn norm2<P: Pack>(x: &[Vector<P>; 4]) -> P {
    dot(&x[0], &x[0]) + dot(&x[1], &x[1]) + dot(&x[2], &x[2]) + dot(&x[3], &x[3])
}
