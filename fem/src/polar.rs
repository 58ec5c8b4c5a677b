//! Rotations of deformation gradients.
//!
//! The rotation of F is the one that maximizes `tr(R^T F)`. For an inverted element the least
//! stretch of `S = R^T F` is negative.
//!
//! Source: T. Kugelstadt, D. Koschier, J. Bender, "Fast Corotated FEM using Operator Splitting",
//! Computer Graphics Forum, 2018; B. Horn, "Closed-form solution of absolute orientation using unit
//! quaternions", Journal of the Optical Society of America A, 1987.

use super::eigen::symmetric_eigen;
use super::lanes::{
    Matrix, cofactors, combine, dot, from_fn, from_matrices, lane, load_vectors, product,
    product_transposed, squared_norm, store_vectors,
};
use nalgebra::{Matrix3, SMatrix};
use tarragon_framework::simd::{LANES, Pack};

/// Part of the cube of the largest eigenvalue below which the closed form loses digits.
const LEAST_SEPARATION: f64 = 1e-2;
/// Most steps of Newton's method for the largest eigenvalue: where roots are as close as the closed
/// form allows, it halves the distance in each of the first ten.
const MAX_NEWTON_STEPS: usize = 30;

/// Returns the rotations of four deformation gradients.
#[inline(always)]
pub(super) fn rotations<P: Pack>(f: &Matrix<P>) -> Matrix<P> {
    let norm2 = squared_norm(f);
    let cofactors = cofactors(f);
    let det = dot(&f[0], &cofactors[0]);
    let lambda = sum_of_stretches(f, norm2, det);
    // The sum of the stretches is a root of Horn's quartic, and its derivative by F is R.
    let fff = product(&product_transposed(f, f), f);
    let linear = lambda * lambda + norm2;
    let denominator = lambda * (lambda * lambda - norm2) - det * 2.0;
    let inverse = lambda.splat(1.0) / denominator;
    let twice = lambda * 2.0;
    let numerator = combine(f, &cofactors, |f, c| linear.mul_add(f, twice * c));
    let mut r = combine(&numerator, &fff, |a, b| (a - b * 2.0) * inverse);
    let cube = lambda * lambda * lambda;
    // The order of magnitude is one in which no product above is too small or too large.
    let (separate, large, small) = (
        denominator.greater(cube * LEAST_SEPARATION),
        cube.greater(cube.splat(1e-60)),
        cube.splat(1e60).greater(cube),
    );
    if (separate, large, small) != ([true; LANES], [true; LANES], [true; LANES]) {
        let (mut all, mut gradients) = (Matrix::default(), Matrix::default());
        store_vectors(&r, &mut all);
        store_vectors(f, &mut gradients);
        let all: [Matrix3<f64>; LANES] = from_fn(|k| {
            if separate[k] && large[k] && small[k] {
                lane(&all, k)
            } else {
                rotation_by_eigenvector(&lane(&gradients, k))
            }
        });
        r = load_vectors(lambda, &from_matrices(&all));
    }
    r
}

/// Largest root of the characteristic polynomial of Horn's matrix, from above.
#[inline(always)]
fn sum_of_stretches<P: Pack>(f: &Matrix<P>, norm2: P, det: P) -> P {
    let ff = product_transposed(f, f);
    let c0 = squared_norm(&ff) * 2.0 - norm2 * norm2;
    let mut x = (norm2 * 3.0).sqrt();
    for _ in 0..MAX_NEWTON_STEPS {
        let x2 = x * x;
        let value = (x2 - norm2 * 2.0) * x2 - det * x * 8.0 + c0;
        let slope = (x2 - norm2) * x * 4.0 - det * 8.0;
        let step = value / slope;
        x -= step;
        // From above, steps are positive but for rounding. A root that is not simple is left to the
        // other method.
        if step.greater(x * 1e-15) == [false; LANES] {
            break;
        }
    }
    x
}

/// Returns the rotation of a deformation gradient.
pub(super) fn rotation(f: &Matrix3<f64>) -> Matrix3<f64> {
    lane(&rotations(&from_matrices(&[*f; LANES])), 0)
}

/// The same by the eigenvector of Horn's matrix, for any matrix; the identity if it is 0 or not
/// finite.
#[cold]
fn rotation_by_eigenvector(f: &Matrix3<f64>) -> Matrix3<f64> {
    let largest = f.amax();
    if largest.is_nan() || largest == 0.0 || largest.is_infinite() {
        return Matrix3::identity();
    }
    // The division overflows for the smallest numbers of all.
    let f = if largest > 1e-300 {
        f / largest
    } else {
        f * 1e300
    };
    let horn = SMatrix::<f64, 4, 4>::new(
        f.trace(),
        f.m32 - f.m23,
        f.m13 - f.m31,
        f.m21 - f.m12,
        f.m32 - f.m23,
        f.m11 - f.m22 - f.m33,
        f.m12 + f.m21,
        f.m13 + f.m31,
        f.m13 - f.m31,
        f.m12 + f.m21,
        f.m22 - f.m11 - f.m33,
        f.m23 + f.m32,
        f.m21 - f.m12,
        f.m13 + f.m31,
        f.m23 + f.m32,
        f.m33 - f.m11 - f.m22,
    );
    let (values, vectors) = symmetric_eigen(horn);
    let q = vectors.column(values.imax()).normalize();
    let q = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
    nalgebra::UnitQuaternion::new_unchecked(q)
        .to_rotation_matrix()
        .into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tarragon_framework::math;

    /// Twelve steps of Newton's method end 1e-11 from the root of this one, whose stretches are
    /// 1.90, 1.74 and -1.66.
    #[test]
    fn newtons_method_reaches_roots_that_are_close_to_others() {
        let f = Matrix3::new(
            0.904_701_335_816_477_4,
            -1.157_611_608_416_459_2,
            1.148_909_227_630_552,
            -0.758_118_895_628_166_8,
            0.716_120_972_864_144,
            1.350_755_301_657_983_4,
            1.319_011_471_148_899_8,
            1.080_663_953_145_277_3,
            0.284_457_439_932_923_55,
        );
        let r = rotation(&f);
        assert!((r.tr_mul(&r) - Matrix3::identity()).amax() < 1e-12);
    }

    proptest! {
        /// Also near where the rotation jumps, and of any size and shape.
        #[test]
        fn rotations_are_orthogonal_to_rounding(
            turns in prop::array::uniform2(prop::array::uniform3(-3.0..3.0_f64)),
            stretches in prop::array::uniform3(0.01..2.0_f64),
            gap in 0.01..1.0_f64,
            is_inverted: bool,
        ) {
            let [a, b] = turns.map(|t| math::rotation_exp(&t.into()).to_rotation_matrix().into_inner());
            let [x, y, mut z] = stretches;
            if is_inverted {
                z = -x.min(y) * (1.0 - gap);
            }
            let f = a * Matrix3::from_diagonal(&nalgebra::Vector3::new(x, y, z)) * b.transpose();
            let r = rotation(&f);
            // The closed form divides by the sums of two stretches. Where they are small, the
            // eigenvector is as sensitive as the inverse of the least of them.
            let size = x.max(y).max(z);
            let sums = [x + y, y + z, z + x].map(|sum| (sum / size).min(1.0));
            let rounding = 1e-13 / sums.iter().product::<f64>();
            prop_assert!((r.tr_mul(&r) - Matrix3::identity()).amax() < rounding, "{f}");
            prop_assert!((r - a * b.transpose()).amax() < rounding, "{f}");
        }
    }
}
