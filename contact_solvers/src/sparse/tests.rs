//! Elimination trees and factorizations of random patterns, against dense matrices.

use super::{BlockPattern, EliminationTree, SparseCholesky};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

/// Random patterns: a few edges per vertex, in parts that may be unconnected, and groups of
/// vertices with equal neighbors, as bodies with six velocities have.
fn patterns() -> impl Strategy<Value = BlockPattern> {
    (1..20_u32, 1..4_u32).prop_flat_map(|(n, group)| {
        let pairs = prop::collection::vec((0..n, 0..n), 0..2 * n as usize);
        pairs.prop_map(move |pairs| {
            let vertices = |i: u32| group * i..group * (i + 1);
            let own = (0..n).map(|i| (i, i));
            let mut edges: Vec<(u32, u32)> = own
                .chain(pairs)
                .flat_map(|(i, j)| vertices(i).flat_map(move |v| vertices(j).map(move |w| (v, w))))
                .filter(|(v, w)| v != w)
                .map(|(v, w)| (v.min(w), v.max(w)))
                .collect();
            edges.sort_unstable();
            edges.dedup();
            BlockPattern::new((n * group) as usize, edges)
        })
    })
}

/// A grid of vertices with edges between neighbors.
fn grid(side: u32) -> BlockPattern {
    let vertex = |x: u32, y: u32, z: u32| x + side * (y + side * z);
    let mut edges = vec![];
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                let others = [(x + 1, y, z), (x, y + 1, z), (x, y, z + 1)];
                let inside = |(x, y, z): &(u32, u32, u32)| *x.max(y).max(z) < side;
                let own = vertex(x, y, z);
                let others = others.into_iter().filter(inside);
                edges.extend(others.map(|(x, y, z)| (own, vertex(x, y, z))));
            }
        }
    }
    edges.sort_unstable();
    BlockPattern::new(side.pow(3) as usize, edges)
}

/// Blocks of a matrix whose diagonal elements are twice as large as the sum of the others of their
/// row, at most: its condition number is at most 3.
fn matrix(pattern: &BlockPattern) -> Vec<[f64; 9]> {
    let n = pattern.num_vertices();
    let mut blocks = vec![[0.0; 9]; pattern.num_blocks()];
    for (k, block) in blocks.iter_mut().enumerate() {
        for (i, x) in block.iter_mut().enumerate() {
            *x = ((9 * k + i) as f64).sin();
        }
    }
    for (v, block) in blocks[..n].iter_mut().enumerate() {
        let size = 6.0 * (1 + pattern.neighbors(v as u32).len()) as f64;
        let [_, a, b, _, _, c, ..] = *block;
        *block = [size, a, b, a, size, c, b, c, size];
    }
    blocks
}

fn dense(pattern: &BlockPattern, blocks: &[[f64; 9]]) -> DMatrix<f64> {
    let n = pattern.num_vertices();
    let mut dense = DMatrix::zeros(3 * n, 3 * n);
    let diagonal = (0..n as u32).map(|v| (v, v));
    let all = diagonal.chain(pattern.edges().iter().copied());
    for ((v, w), block) in all.zip(blocks) {
        for (k, x) in block.iter().enumerate() {
            let (row, column) = (3 * v as usize + k / 3, 3 * w as usize + k % 3);
            dense[(row, column)] = *x;
            dense[(column, row)] = *x;
        }
    }
    dense
}

fn right_side(pattern: &BlockPattern) -> Vec<f64> {
    let len = 3 * pattern.num_vertices();
    (0..len).map(|i| (i as f64).cos()).collect()
}

/// By vertex: its node. By node: its parent.
fn nodes_and_parents(tree: &EliminationTree, num_vertices: usize) -> (Vec<usize>, Vec<usize>) {
    let mut nodes = vec![usize::MAX; num_vertices];
    let mut parents = vec![usize::MAX; tree.num_nodes()];
    for n in 0..tree.num_nodes() {
        for v in tree.vertices(n) {
            let node = std::mem::replace(&mut nodes[*v as usize], n);
            assert_eq!(node, usize::MAX, "vertex {v} is in two nodes");
        }
        for child in tree.children(n) {
            assert!(
                (*child as usize) < n,
                "child {child} follows its parent {n}"
            );
            parents[*child as usize] = n;
        }
    }
    (nodes, parents)
}

proptest! {
    /// Each edge joins vertices of which one is in the same node as the other, or in an ancestor.
    #[test]
    fn nodes_separate_their_descendants(pattern in patterns()) {
        let tree = EliminationTree::minimum_degree(&pattern);
        let (nodes, parents) = nodes_and_parents(&tree, pattern.num_vertices());
        prop_assert!(nodes.iter().all(|n| *n != usize::MAX));
        for (v, w) in pattern.edges() {
            let (a, b) = (nodes[*v as usize], nodes[*w as usize]);
            // Numbers of ancestors are larger.
            let (mut below, above) = (a.min(b), a.max(b));
            while below < above {
                below = parents[below];
            }
            prop_assert_eq!(below, above, "edge {} {}", v, w);
        }
        let is_root = |n: &u32| parents[*n as usize] == usize::MAX;
        let roots: Vec<u32> = (0..tree.num_nodes() as u32).filter(is_root).collect();
        prop_assert_eq!(tree.roots(), &roots);
    }

    #[test]
    fn solutions_are_those_of_a_dense_factorization(pattern in patterns()) {
        let blocks = matrix(&pattern);
        let mut cholesky = SparseCholesky::default();
        let tree = EliminationTree::minimum_degree(&pattern);
        cholesky.analyze(&tree, &pattern, &[]);
        prop_assert!(cholesky.factor(&blocks, false));
        let b = right_side(&pattern);
        let mut x = b.clone();
        cholesky.solve(&mut x);
        let dense = dense(&pattern, &blocks).cholesky().expect("positive definite");
        let expected = dense.solve(&DVector::from_vec(b));
        let error = (DVector::from_vec(x) - &expected).amax();
        // Both round sums of up to 180 terms, and the condition number is at most 3.
        let bound = 2.0 * 3.0 * 180.0 * f64::EPSILON * expected.amax();
        prop_assert!(error <= bound, "{} {}", error, bound);
    }
}

#[test]
fn participants_have_the_schur_complement_of_a_dense_matrix() {
    let pattern = grid(3);
    let blocks = matrix(&pattern);
    let participants = [4, 13, 20];
    let mut cholesky = SparseCholesky::default();
    let tree = EliminationTree::minimum_degree(&pattern);
    cholesky.analyze(&tree, &pattern, &participants);
    assert!(cholesky.factor(&blocks, false));
    let inverse = dense(&pattern, &blocks).try_inverse().expect("regular");
    let rows = participants.iter().flat_map(|v| 3 * v..3 * v + 3);
    let rows: Vec<usize> = rows.map(|i| i as usize).collect();
    let part = inverse.select_rows(&rows).select_columns(&rows);
    let schur = part.try_inverse().expect("regular");
    let error = (DMatrix::from_column_slice(9, 9, cholesky.schur()) - &schur).amax();
    // Sums of up to 81 terms, in a factorization and two inverses of condition numbers up to 3.
    assert!(
        error < 3.0 * 3.0 * 81.0 * f64::EPSILON * schur.amax(),
        "{error}"
    );
}

#[test]
fn indefinite_matrices_are_refused_and_the_factor_serves_again() {
    let pattern = grid(4);
    let blocks = matrix(&pattern);
    let tree = EliminationTree::minimum_degree(&pattern);
    let mut cholesky = SparseCholesky::default();
    cholesky.analyze(&tree, &pattern, &[]);
    let mut solve = |blocks: &[[f64; 9]]| {
        let mut x = right_side(&pattern);
        cholesky.factor(blocks, true).then(|| {
            cholesky.solve(&mut x);
            x
        })
    };
    let before = solve(&blocks).expect("positive definite");
    for v in [0, 21, 63] {
        for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
            let mut wrong = blocks.clone();
            wrong[v][4] = bad;
            assert_eq!(solve(&wrong), None, "{v} {bad}");
        }
    }
    assert_eq!(solve(&blocks), Some(before));
}

#[test]
fn threads_do_not_change_bits() {
    let pattern = grid(14);
    let blocks = matrix(&pattern);
    let tree = EliminationTree::minimum_degree(&pattern);
    let solve = |num_threads: usize, parallel: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(num_threads);
        pool.build().expect("threads").install(|| {
            let mut cholesky = SparseCholesky::default();
            cholesky.analyze(&tree, &pattern, &[]);
            assert!(cholesky.has_tasks());
            assert!(cholesky.factor(&blocks, parallel));
            let mut x = right_side(&pattern);
            cholesky.solve(&mut x);
            x
        })
    };
    let one = solve(1, false);
    assert_eq!(solve(1, true), one);
    assert_eq!(solve(2, true), one);
    assert_eq!(solve(3, true), one);
}

#[test]
#[should_panic(expected = "ascending order")]
fn unsorted_edges_are_refused() {
    BlockPattern::new(3, vec![(1, 2), (0, 1)]);
}
