use super::*;
use tarragon_framework::simd::{Kernel, dispatch};

/// Sizes that end in every kind of tile, and some of soft bodies.
fn sizes() -> impl Iterator<Item = usize> {
    (1..=70).chain([96, 131, 160])
}

/// Numbers between -0.5 and 0.5.
fn numbers(len: usize) -> Vec<f64> {
    let mut seed = len as u32 + 1;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24) - 0.5
    };
    (0..len).map(|_| next()).collect()
}

/// A matrix whose diagonal dominates, with NaN above it.
fn positive(n: usize) -> Vec<f64> {
    let mut a = numbers(n * n);
    for j in 0..n {
        a[j * n..j * n + j].fill(f64::NAN);
        a[j * n + j] += n as f64;
    }
    a
}

/// Element (i, j) of `X Y^T` by a plain loop.
fn product(n: usize, x: &[f64], y: &[f64], (i, j): (usize, usize)) -> f64 {
    let (m, p) = (x.len() / n, y.len() / n);
    (0..n).map(|k| x[k * m + i] * y[k * p + j]).sum()
}

/// The lower triangle of a factor as it is, with zeros above it.
fn triangle(n: usize, factor: &[f64]) -> Vec<f64> {
    let mut l = factor.to_vec();
    for j in 0..n {
        l[j * n..j * n + j].fill(0.0);
        l[j * n + j] = 1.0 / l[j * n + j];
    }
    l
}

/// Runs a kernel with the best vectors of this processor, with shorter ones, or with those of any
/// processor.
fn run<K: WideKernel>(vectors: Vectors, kernel: K) -> K::Output {
    struct Short<K>(K);
    impl<K: WideKernel> Kernel for Short<K> {
        type Output = K::Output;
        fn run<const FUSED: bool>(self) -> K::Output {
            self.0.run::<FUSED, false>()
        }
    }
    match vectors {
        Vectors::Best => dispatch_wide(kernel),
        Vectors::Short => dispatch(Short(kernel)),
        Vectors::Any => kernel.run::<false, false>(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Vectors {
    Best,
    Short,
    Any,
}

/// Calls a function with all vectors, which must return the same bits with the best and short ones;
/// returns these, and those with vectors of any processor.
fn with_all_vectors(f: impl Fn(Vectors) -> Vec<f64>) -> [Vec<f64>; 2] {
    let [best, short, any] = [Vectors::Best, Vectors::Short, Vectors::Any].map(f);
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&best), bits(&short));
    [best, any]
}

#[test]
fn factor_times_its_transpose_is_the_matrix() {
    for n in sizes() {
        let a = positive(n);
        let factors = with_all_vectors(|vectors| {
            let mut l = a.clone();
            assert!(run(vectors, DenseFactorization { n, a: &mut l }));
            triangle(n, &l)
        });
        for (l, j) in factors.iter().flat_map(|l| (0..n).map(move |j| (l, j))) {
            for i in j..n {
                let error = product(n, l, l, (i, j)) - a[j * n + i];
                // The diagonal is n, and sums have n terms.
                assert!(error.abs() <= 4e-15 * n as f64, "{n}: {i} {j} {error}");
            }
        }
    }
}

#[test]
fn indefinite_matrices_and_nan_have_no_factor() {
    for n in sizes() {
        for bad in (0..n).step_by(1 + n / 16).chain([n - 1]) {
            for value in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                let mut a = positive(n);
                a[bad * n + bad] = value;
                assert!(!factor(n, &mut a), "{n} {bad} {value}");
            }
        }
        // Positive on the diagonal, but not definite.
        if n > 1 {
            let mut a = positive(n);
            a[n - 1] = 2.0 * n as f64;
            assert!(!factor(n, &mut a), "{n}");
        }
    }
}

#[test]
fn solution_times_the_factor_is_the_right_side() {
    for n in sizes() {
        let mut factor_of_a = positive(n);
        assert!(factor(n, &mut factor_of_a));
        let l = triangle(n, &factor_of_a);
        for m in [4, 5, 6, 7, 8, 11, 12, 14, 16, 19, 22, 24, 26, 31, 48, 75] {
            let b = numbers(m * n);
            let solutions = with_all_vectors(|vectors| {
                let (mut b, l) = (b.clone(), &*factor_of_a);
                run(vectors, DenseSolution { n, l, b: &mut b });
                b
            });
            for (x, j) in solutions.iter().flat_map(|x| (0..n).map(move |j| (x, j))) {
                for i in 0..m {
                    let error = product(n, x, &l, (i, j)) - b[j * m + i];
                    assert!(error.abs() < 1e-14, "{m} by {n}: {i} {j} {error}");
                }
            }
        }
    }
}

#[test]
fn products_agree_with_plain_loops() {
    let subtracted = |n: usize, x: &[f64], y: &[f64], part: ProductPart| {
        let (m, p) = (x.len() / n, y.len() / n);
        let start = numbers(m * p);
        let results = with_all_vectors(|vectors| {
            let mut out = start.clone();
            let products = Products {
                n,
                x,
                y,
                part,
                out: &mut out,
            };
            run(vectors, products);
            for j in (0..p).filter(|_| part == ProductPart::Lower) {
                out[j * m..j * m + j].fill(0.0);
            }
            out
        });
        for (out, j) in results.iter().flat_map(|out| (0..p).map(move |j| (out, j))) {
            let first = if part == ProductPart::Lower { j } else { 0 };
            for i in first..m {
                let expected = start[j * m + i] - product(n, x, y, (i, j));
                let error = out[j * m + i] - expected;
                assert!(error.abs() < 1e-14, "{m} by {p}: {i} {j} {error}");
            }
        }
    };
    for m in sizes().filter(|m| *m >= COLUMNS) {
        for n in [1, 3, 4, 6, 17] {
            let x = numbers(m * n);
            subtracted(n, &x, &x, ProductPart::Lower);
            for p in [4, 5, 6, 7, 9, 16, 42] {
                subtracted(n, &x, &numbers(p * n), ProductPart::All);
            }
        }
    }
}
