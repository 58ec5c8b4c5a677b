//! Eigenvalues and eigenvectors of small symmetric matrices.

use super::lanes::{
    Matrix, Vector, add_to_diagonal, apply, cofactors, combine, dot, scale, squared_norm, trace,
    transpose,
};
use nalgebra::{SMatrix, SVector};
use tarragon_framework::simd::Pack;

/// Most sweeps of Jacobi's method. Matrices of this size need about five.
const MAX_SWEEPS: usize = 30;
/// Element off the diagonal, of a matrix of the size of 1, below which it is rounding.
const NO_ROTATION: f64 = 1e-17;

/// Eigenvalues of a symmetric matrix and its eigenvectors as columns, by Jacobi's method, which is
/// exact for matrices that are diagonal already.
pub(super) fn symmetric_eigen<const N: usize>(
    mut a: SMatrix<f64, N, N>,
) -> (SVector<f64, N>, SMatrix<f64, N, N>) {
    let mut vectors = SMatrix::<f64, N, N>::identity();
    for _ in 0..MAX_SWEEPS {
        let mut changed = false;
        for i in 0..N {
            for j in 0..i {
                let off = a[(i, j)];
                let (x, y) = (a[(i, i)], a[(j, j)]);
                if off.abs() <= f64::EPSILON * 0.1 * (x.abs() * y.abs()).sqrt() || off == 0.0 {
                    continue;
                }
                changed = true;
                let theta = (y - x) / (2.0 * off);
                // An angle whose square overflows is 0 but for rounding.
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                rotate(&mut a, &mut vectors, i, j, c, t * c);
            }
        }
        if !changed {
            break;
        }
    }
    (a.diagonal(), vectors)
}

/// `G^T a G` and `vectors G` with the rotation G in the plane of axes i and j, whose angle has
/// cosine c and sine s.
#[inline(always)]
fn rotate<const N: usize>(
    a: &mut SMatrix<f64, N, N>,
    vectors: &mut SMatrix<f64, N, N>,
    i: usize,
    j: usize,
    c: f64,
    s: f64,
) {
    for m in [&mut *a, vectors] {
        for k in 0..N {
            let (x, y) = (m[(k, i)], m[(k, j)]);
            m[(k, i)] = c * x - s * y;
            m[(k, j)] = s * x + c * y;
        }
    }
    for k in 0..N {
        let (x, y) = (a[(i, k)], a[(j, k)]);
        a[(i, k)] = c * x - s * y;
        a[(j, k)] = s * x + c * y;
    }
    a[(i, j)] = 0.0;
    a[(j, i)] = 0.0;
}

/// Eigenvalues of four symmetric matrices and their eigenvectors as columns.
///
/// The eigenvalue that lies apart from the two others is a root of a cubic polynomial that is never
/// close to another, so its eigenvector has no more than rounding errors, also where all three are
/// nearly equal. One rotation of the plane perpendicular to it leads to the others.
///
/// Source: D. Eberly, "A Robust Eigensolver for 3x3 Symmetric Matrices", Geometric Tools, 2014.
#[inline(always)]
pub(super) fn symmetric_eigens<P: Pack>(a: &Matrix<P>) -> (Vector<P>, Matrix<P>) {
    let zero = a[0][0].splat(0.0);
    let (mut m, mut mean) = (*a, zero);
    // Of a matrix that is nearly a multiple of the identity, rounding leaves a trace at first.
    for _ in 0..2 {
        let trace = trace(&m) * (1.0 / 3.0);
        add_to_diagonal(&mut m, -trace);
        mean += trace;
    }
    let size = (squared_norm(&m) * (1.0 / 6.0)).sqrt();
    // A multiple of the identity has no size; then every vector serves.
    let inverse = size.if_greater(zero, zero.splat(1.0) / size, zero);
    let m = combine(&m, &m, |x, _| x * inverse);
    let apart = eigenvector_apart(&m);
    let [first, second] = perpendicular(&apart);
    let (m_first, m_second) = (apply(&m, &first), apply(&m, &second));
    let (x, y) = (dot(&first, &m_first), dot(&second, &m_second));
    let (cos, sin) = rotation_of_plane(x, y, dot(&first, &m_second));
    let mut vectors = [apart, first, second];
    for i in 0..3 {
        let (p, q) = (first[i], second[i]);
        vectors[1][i] = cos * p - sin * q;
        vectors[2][i] = sin * p + cos * q;
    }
    let mut values = [zero; 3];
    for (value, v) in values.iter_mut().zip(&vectors) {
        *value = dot(v, &apply(&m, v)) * size + mean;
    }
    (values, transpose(&vectors))
}

/// Eigenvector of the eigenvalue that is the farthest from the others, of a matrix with trace 0 and
/// squared norm 6.
#[inline(always)]
fn eigenvector_apart<P: Pack>(m: &Matrix<P>) -> Vector<P> {
    // Eigenvalues are the roots of `t^3 - 3 t - 2 r`. With `r >= 0`, the largest is at least
    // sqrt(3), the others are not positive, and the slope there is at least 6.
    let r = dot(&m[0], &cofactors(m)[0]) * 0.5;
    let one = r.splat(1.0);
    let sign = one.copysign(r);
    let r = r.abs();
    let mut t = (r * -0.065 + 1.0 / 3.0) * r + 3.0_f64.sqrt();
    // From 1e-3 by way of 1e-6 and 1e-12.
    for _ in 0..3 {
        let t2 = t * t;
        t -= ((t2 - 3.0) * t - r * 2.0) / (t2 * 3.0 - 3.0);
    }
    let mut m = *m;
    add_to_diagonal(&mut m, -(t * sign));
    // The matrix of cofactors is the projection on the eigenvector, times at least 6.
    let c = cofactors(&m);
    let (mut v, mut most) = (c[0], c[0][0]);
    for (k, column) in c.iter().enumerate().skip(1) {
        let diagonal = column[k];
        for (v, c) in v.iter_mut().zip(column) {
            *v = diagonal.if_greater(most, *c, *v);
        }
        most = most.max(diagonal);
    }
    scale(&v, one / dot(&v, &v).sqrt())
}

/// Two unit vectors perpendicular to a third and to each other.
///
/// Source: T. Duff et al., "Building an Orthonormal Basis, Revisited", Journal of Computer Graphics
/// Techniques, 2017.
#[inline(always)]
fn perpendicular<P: Pack>([x, y, z]: &Vector<P>) -> [Vector<P>; 2] {
    let sign = z.splat(1.0).copysign(*z);
    let a = z.splat(-1.0) / (sign + *z);
    let xy = *x * *y * a;
    [
        [sign * *x * *x * a + 1.0, sign * xy, -sign * *x],
        [xy, *y * *y * a + sign, -*y],
    ]
}

/// Cosine and sine of the rotation of a plane that makes the matrix `[x, off; off, y]` diagonal,
/// whose elements are of the size of 1.
#[inline(always)]
fn rotation_of_plane<P: Pack>(x: P, y: P, off: P) -> (P, P) {
    let d = y - x;
    let root = (d * d + off * off * 4.0).sqrt();
    // The smaller of two tangents: that of an angle of at most 45 degrees.
    let t = off * 2.0 / (d + root.copysign(d));
    let t = x.splat(NO_ROTATION).if_greater(off.abs(), x.splat(0.0), t);
    let cos = x.splat(1.0) / (t * t + 1.0).sqrt();
    (cos, t * cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{from_matrices, lane};
    use nalgebra::Matrix3;
    use proptest::prelude::*;

    /// Symmetric matrices: dense ones of any size, diagonal ones with equal elements, and the
    /// identity but for small changes or for rounding.
    fn matrix() -> impl Strategy<Value = Matrix3<f64>> {
        let dense = (-100_i32..100, prop::array::uniform6(-1.0..1.0_f64)).prop_map(|(e, x)| {
            let m = Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5]);
            m * 10_f64.powi(e)
        });
        let diagonal = prop::array::uniform3(0..3_i32)
            .prop_map(|d| Matrix3::from_diagonal(&nalgebra::Vector3::from(d.map(f64::from))));
        let near_identity = (-330_i32..-3, prop::array::uniform6(-3..4_i32)).prop_map(|(e, x)| {
            let x = x.map(|x| f64::from(x) * 10_f64.powi(e));
            let m = Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5]);
            Matrix3::identity() + m
        });
        let rounding = prop::array::uniform3(-3..4_i32).prop_map(|x| {
            let x = x.map(|x| f64::from(x) * f64::EPSILON / 2.0);
            Matrix3::from_diagonal(&(nalgebra::Vector3::from(x).add_scalar(1.0)))
        });
        prop_oneof![3 => dense, 1 => diagonal, 1 => near_identity, 1 => rounding]
    }

    proptest! {
        #[test]
        fn four_matrices_have_the_eigenvalues_of_each(all in prop::array::uniform4(matrix())) {
            let (values, vectors) = symmetric_eigens(&from_matrices(&all));
            for (k, m) in all.iter().enumerate() {
                let d = nalgebra::Vector3::from(values.map(|x| x.0[k]));
                let v = lane(&vectors, k);
                let error = (v * Matrix3::from_diagonal(&d) * v.transpose() - m).amax();
                // Each step rounds a few times.
                prop_assert!(error <= 1e-14 * m.amax(), "{m} {error}");
                prop_assert!((v.tr_mul(&v) - Matrix3::identity()).amax() < 1e-14);
                let (mut alone, _) = symmetric_eigen(*m);
                let mut found = d;
                alone.as_mut_slice().sort_by(f64::total_cmp);
                found.as_mut_slice().sort_by(f64::total_cmp);
                prop_assert!((alone - found).amax() <= 1e-14 * m.amax());
            }
        }
    }
}
