//! Derivatives of stresses without their negative eigenvalues.
//!
//! In the frame of the principal stretches the derivative of an isotropic stress falls into a 3x3
//! block of the stretches and, for each pair of axes, the eigenvalues of a flip and of a twist.
//!
//! Source: A. Stomakhin et al., "Energetically consistent invertible elasticity", Symposium on
//! Computer Animation, 2012, section 5; B. Smith, F. de Goes, T. Kim, "Analytic Eigensystems for
//! Isotropic Distortion Energies", ACM Transactions on Graphics, 2019.

use super::config::{Lame, MaterialModel};
use super::eigen::{symmetric_eigen, symmetric_eigens};
use super::element::INNER_PAIRS;
use super::lanes::{
    Matrix, Vector, apply, apply_all, cofactors, combine, dot, from_fn, from_matrices, lane,
    load_vectors, outer, product, product_transposed, scale, store_vectors, transpose,
};
use super::material::{BlockSink, Deformation, ElasticMaterial};
use super::polar::rotations;
use nalgebra::Matrix3;
use tarragon_framework::simd::{LANES, Pack};

/// Smallest sum of two stretches by which is divided.
const LEAST_STRETCH: f64 = 1e-9;
/// Smallest ratio of two squares of stretches up to which the squares are decomposed.
const LEAST_SQUARE: f64 = 1e-2;

/// Principal stretches of four deformation gradients: `F = axes diag(stretches) reference^T`.
struct PrincipalFrame<P> {
    stretches: Vector<P>,
    /// Principal axes as columns, and those of the reference configuration.
    axes: Matrix<P>,
    reference: Matrix<P>,
}

impl<P: Pack> PrincipalFrame<P> {
    #[inline(always)]
    fn of_rotation(f: &Matrix<P>, r: &Matrix<P>) -> Self {
        let s = product(&transpose(r), f);
        let s = combine(&s, &transpose(&s), |a, b| (a + b) * 0.5);
        let (stretches, reference) = symmetric_eigens(&s);
        Self {
            stretches,
            axes: product(r, &reference),
            reference,
        }
    }

    /// Does the same without the rotation, which takes less time, where all stretches are positive
    /// and not much smaller than the largest, so that their squares have enough digits.
    #[inline(always)]
    fn of_gradient(f: &Matrix<P>) -> Self {
        let (squares, reference) = symmetric_eigens(&product(&transpose(f), f));
        let det = dot(&f[0], &cofactors(f)[0]);
        let [a, b, c] = squares;
        let (least, most) = (a.min(b).min(c), a.max(b).max(c));
        let is_positive = det.greater(det.splat(0.0));
        let is_even = least.greater(most * LEAST_SQUARE);
        if (is_positive, is_even) != ([true; LANES], [true; LANES]) {
            return Self::of_rotation(f, &rotations(f));
        }
        let mut stretches = squares;
        let mut axes = product(f, &reference);
        for (k, s) in stretches.iter_mut().enumerate() {
            *s = s.sqrt();
            let inverse = s.splat(1.0) / *s;
            for row in &mut axes {
                row[k] = row[k] * inverse;
            }
        }
        Self {
            stretches,
            axes,
            reference,
        }
    }
}

/// Pairs of axes, by the axis that they leave out.
const AXIS_PAIRS: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];

/// Derivatives of four stresses in the frame of the principal stretches.
#[derive(Clone, Copy)]
struct PrincipalDerivative<P> {
    /// Between the stretches.
    stretch: Matrix<P>,
    /// By the axis that the pair leaves out: eigenvalues of flip and twist.
    flip: Vector<P>,
    twist: Vector<P>,
}

impl ElasticMaterial {
    #[inline(always)]
    fn principal_frame<P: Pack>(&self, d: &Deformation<P>) -> PrincipalFrame<P> {
        match self.model {
            MaterialModel::Corotated => PrincipalFrame::of_rotation(&d.f, &d.r),
            _ => PrincipalFrame::of_gradient(&d.f),
        }
    }

    /// Passes on a sum of the [`ElasticMaterial::stiffness`] and of that of the positive
    /// semidefinite part of the derivative, whose share is `share`.
    #[inline(always)]
    pub(super) fn projected_stiffness<P: Pack>(
        &self,
        d: &Deformation<P>,
        g: &[Vector<P>; 4],
        share: f64,
        out: &mut impl BlockSink<P>,
    ) {
        if self.is_linear() || share == 0.0 {
            return self.stiffness(d, g, out);
        }
        let frame = self.principal_frame(d);
        let h = self.principal_derivative(&frame.stretches);
        if h.has_small_negative_twists_alone(self.modulus()) {
            let mut spin = h.negative_twists(&frame.axes, share);
            if self.model == MaterialModel::Corotated {
                spin = combine(&spin, &self.spin(d), |a, b| a + b);
            }
            let rotated = apply_all(&frame.axes, &apply_all(&transpose(&frame.reference), g));
            return self.stiffness_with_spin(d, g, &rotated, Some(&spin), out);
        }
        let h = h.partly_projected(share);
        let (same, swapped) = h.of_pairs();
        let p = apply_all(&transpose(&frame.reference), g);
        let u = frame.axes;
        for (slot, (a, b)) in INNER_PAIRS {
            let pq = outer(&p[a], &p[b]);
            let mut m = combine(&h.stretch, &pq, |h, pq| h * pq);
            for (k, (i, j)) in AXIS_PAIRS.into_iter().enumerate() {
                m[i][j] = swapped[k].mul_add(pq[j][i], m[i][j]);
                m[j][i] = swapped[k].mul_add(pq[i][j], m[j][i]);
                m[i][i] = same[k].mul_add(pq[j][j], m[i][i]);
                m[j][j] = same[k].mul_add(pq[i][i], m[j][j]);
            }
            out.put(slot, product_transposed(&product(&u, &m), &u));
        }
    }

    /// Product of the positive semidefinite part of the derivative of the stress, in the nonlinear
    /// models, with a change of the deformation gradient.
    #[inline(always)]
    pub(super) fn projected_stress_change<P: Pack>(
        &self,
        d: &Deformation<P>,
        change: &Matrix<P>,
    ) -> Matrix<P> {
        let frame = self.principal_frame(d);
        let h = self.principal_derivative(&frame.stretches).projected();
        let (same, swapped) = h.of_pairs();
        let x = product(&transpose(&frame.axes), &product(change, &frame.reference));
        let diagonal = apply(&h.stretch, &[x[0][0], x[1][1], x[2][2]]);
        let mut y = x;
        for (k, (i, j)) in AXIS_PAIRS.into_iter().enumerate() {
            y[i][j] = same[k].mul_add(x[i][j], swapped[k] * x[j][i]);
            y[j][i] = same[k].mul_add(x[j][i], swapped[k] * x[i][j]);
            y[k][k] = diagonal[k];
        }
        product_transposed(&product(&frame.axes, &y), &frame.reference)
    }

    #[inline(always)]
    fn principal_derivative<P: Pack>(&self, s: &Vector<P>) -> PrincipalDerivative<P> {
        let Lame { lambda, mu } = self.lame;
        let number = |x: f64| s[0].splat(x);
        let j = s[0] * s[1] * s[2] - 1.0;
        let c = [s[1] * s[2], s[2] * s[0], s[0] * s[1]];
        let is_corotated = self.model == MaterialModel::Corotated;
        let (own, gamma) = self.own_and_gamma(j);
        let mut stretch = outer(&scale(&c, number(lambda)), &c);
        let (mut flip, mut twist) = (*s, *s);
        for a in 0..3 {
            for b in 0..3 {
                stretch[a][b] = if a == b {
                    stretch[a][a] + own
                } else {
                    gamma.mul_add(s[3 - a - b], stretch[a][b])
                };
            }
            flip[a] = -(gamma * s[a]) + own;
            twist[a] = gamma.mul_add(s[a], number(own));
            if is_corotated {
                let sum = (s[(a + 1) % 3] + s[(a + 2) % 3]).max(number(LEAST_STRETCH));
                twist[a] -= number(4.0 * mu) / sum;
            }
        }
        PrincipalDerivative {
            stretch,
            flip,
            twist,
        }
    }
}

impl<P: Pack> PrincipalDerivative<P> {
    /// Returns whether all negative eigenvalues are those of twists, and not much larger than a
    /// modulus.
    #[inline(always)]
    fn has_small_negative_twists_alone(&self, modulus: f64) -> bool {
        let [a, b, c] = self.twist;
        let least = a.min(b).min(c) + modulus;
        let [a, b, c] = self.flip;
        let least = least.min(a).min(b).min(c);
        let zero = least.splat(0.0);
        (least.greater(zero), are_positive_definite(&self.stretch))
            == ([true; LANES], [true; LANES])
    }

    /// The matrix Z for which a share of the negative twists, with the opposite sign, adds
    /// `[h_a]_x Z [h_b]_x` to the blocks, where `h` are the rotated gradients.
    ///
    /// A twist about the axis u changes F by `[u]_x R / sqrt(2)`.
    #[inline(always)]
    fn negative_twists(&self, axes: &Matrix<P>, share: f64) -> Matrix<P> {
        let zero = self.twist[0].splat(0.0);
        let mut scaled = *axes;
        for row in &mut scaled {
            for (x, twist) in row.iter_mut().zip(self.twist) {
                *x = *x * (twist.min(zero) * (0.5 * share));
            }
        }
        product_transposed(&scaled, axes)
    }

    /// Factors in the product with a matrix: of an element off the diagonal, by the axis that its
    /// pair leaves out, and of the one across the diagonal.
    #[inline(always)]
    fn of_pairs(&self) -> (Vector<P>, Vector<P>) {
        let (mut same, mut swapped) = (self.flip, self.flip);
        for (k, twist) in self.twist.into_iter().enumerate() {
            same[k] = (self.flip[k] + twist) * 0.5;
            swapped[k] = (self.flip[k] - twist) * 0.5;
        }
        (same, swapped)
    }

    /// The same with a share of the positive semidefinite part in place of the whole.
    #[inline(always)]
    fn partly_projected(self, share: f64) -> Self {
        if share == 1.0 {
            return self.projected();
        }
        let mix = |part: P, whole: P| part * share + whole * (1.0 - share);
        let mut part = self.projected();
        part.stretch = combine(&part.stretch, &self.stretch, mix);
        for k in 0..3 {
            part.flip[k] = mix(part.flip[k], self.flip[k]);
            part.twist[k] = mix(part.twist[k], self.twist[k]);
        }
        part
    }

    /// The same without negative eigenvalues.
    #[inline(always)]
    fn projected(mut self) -> Self {
        let zero = self.flip[0].splat(0.0);
        let good = are_positive_definite(&self.stretch);
        if good != [true; LANES] {
            let mut all = Matrix::default();
            store_vectors(&self.stretch, &mut all);
            let all: [Matrix3<f64>; LANES] = from_fn(|k| {
                if good[k] {
                    lane(&all, k)
                } else {
                    without_negative(lane(&all, k))
                }
            });
            self.stretch = load_vectors(zero, &from_matrices(&all));
        }
        for x in self.flip.iter_mut().chain(&mut self.twist) {
            *x = x.max(zero);
        }
        self
    }
}

/// Tells of four symmetric matrices which have only positive leading minors.
#[inline(always)]
fn are_positive_definite<P: Pack>(m: &Matrix<P>) -> [bool; LANES] {
    let minor = m[0][0] * m[1][1] - m[0][1] * m[0][1];
    let determinant = dot(&m[0], &cofactors(m)[0]);
    // Where an element is not a number, the determinant is not one either, and it comes last.
    m[0][0]
        .min(minor)
        .min(determinant)
        .greater(minor.splat(0.0))
}

/// Returns a symmetric matrix without its negative eigenvalues.
#[cold]
fn without_negative(m: Matrix3<f64>) -> Matrix3<f64> {
    let (values, vectors) = symmetric_eigen(m);
    if values.min() < 0.0 {
        let kept = Matrix3::from_diagonal(&values.map(|x| x.max(0.0)));
        vectors * kept * vectors.transpose()
    } else {
        m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{NUM_PAIRS, PAIRS};
    use nalgebra::{SMatrix, SVector};
    use proptest::prelude::*;
    use tarragon_framework::math;
    use tarragon_framework::simd::Lanes;

    type Dense = SMatrix<f64, 9, 9>;

    /// Derivative of the stress of one lane by the deformation gradient, both column by column:
    /// with unit vectors as gradients the blocks of vertices are those of columns.
    fn dense(blocks: &[Matrix; NUM_PAIRS], k: usize) -> Dense {
        let mut all = Dense::zeros();
        for (block, (a, b)) in blocks.iter().zip(PAIRS).filter(|(_, (a, _))| *a > 0) {
            let block = lane(block, k);
            let at = |v: usize| 3 * (v - 1);
            all.fixed_view_mut::<3, 3>(at(a), at(b)).copy_from(&block);
            if a != b {
                let mut mirrored = all.fixed_view_mut::<3, 3>(at(b), at(a));
                mirrored.copy_from(&block.transpose());
            }
        }
        all
    }

    impl BlockSink<Lanes> for [Matrix; NUM_PAIRS] {
        fn put(&mut self, slot: usize, block: Matrix) {
            self[slot] = block;
        }
    }

    fn gradients() -> [Vector; 4] {
        let (one, zero) = (Lanes::ZERO.splat(1.0), Lanes::ZERO);
        [
            [zero; 3],
            [one, zero, zero],
            [zero, one, zero],
            [zero, zero, one],
        ]
    }

    proptest! {
        /// Also of inverted elements, whose derivative has several negative eigenvalues, and of
        /// four that are turned and strained a little, of whose eigenvalues only those of twists
        /// are negative.
        #[test]
        fn projection_leaves_out_the_negative_eigenvalues(
            f in prop::array::uniform4(prop::array::uniform9(-1.5..1.5_f64)),
            turn in prop::option::of(prop::array::uniform3(-3.0..3.0_f64)),
            poisson in -0.5..0.49_f64,
            is_corotated: bool,
            share in prop_oneof![Just(1.0), 0.0..1.0_f64],
            change in prop::array::uniform9(-1.0..1.0_f64),
        ) {
            let lame = Lame {
                lambda: poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
                mu: 0.5 / (1.0 + poisson),
            };
            let model = if is_corotated { MaterialModel::Corotated } else { MaterialModel::NeoHookean };
            let material = ElasticMaterial { model, lame };
            let f = f.map(|f| {
                let f = Matrix3::from_column_slice(&f);
                turn.map_or(f, |turn| {
                    let r = math::rotation_exp(&turn.into()).to_rotation_matrix().into_inner();
                    r * (Matrix3::identity() + f * 0.1)
                })
            });
            let d = from_matrices(&f);
            let d = material.deformation(d, &d);
            let (mut whole, mut kept) = ([Matrix::default(); NUM_PAIRS], [Matrix::default(); NUM_PAIRS]);
            material.stiffness(&d, &gradients(), &mut whole);
            material.projected_stiffness(&d, &gradients(), share, &mut kept);
            let change = Matrix3::from_column_slice(&change);
            let stress = material.projected_stress_change(&d, &from_matrices(&[change; LANES]));
            for (k, f) in f.iter().enumerate() {
                // The derivative of a rotation grows with the inverse of the least sum of two
                // stretches, and rounding with it.
                let mut stretches = f.singular_values();
                stretches[2] *= f.determinant().signum();
                let least = stretches[1] + stretches[2];
                prop_assume!(least > 1e-2);
                let eigen = dense(&whole, k).symmetric_eigen();
                let positive = Dense::from_diagonal(&eigen.eigenvalues.map(|x| x.max(0.0)));
                let positive = eigen.eigenvectors * positive * eigen.eigenvectors.transpose();
                let rounding = 1e-12 / least * eigen.eigenvalues.amax();
                let expected = positive * share + dense(&whole, k) * (1.0 - share);
                let error = (dense(&kept, k) - expected).amax();
                prop_assert!(error < rounding, "{f} {error:e}");
                let expected = positive * SVector::<f64, 9>::from_column_slice(change.as_slice());
                let found = lane(&stress, k);
                let found = SVector::<f64, 9>::from_column_slice(found.as_slice());
                let error = (found - expected).amax();
                prop_assert!(error < 10.0 * rounding, "{f} {error:e}");
            }
        }
    }
}
