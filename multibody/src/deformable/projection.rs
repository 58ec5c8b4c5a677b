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
use super::element::{NUM_PAIRS, PAIRS};
use super::lanes::{
    LANES, Lanes, Matrix, Vector, apply_all, cofactors, combine, dot, from_fn, lane, outer,
    product, product_transposed, transpose,
};
use super::material::{Deformation, ElasticMaterial};
use super::polar::rotations;
use nalgebra::Matrix3;

/// Smallest sum of two stretches by which is divided.
const LEAST_STRETCH: f64 = 1e-9;
/// Smallest ratio of two squares of stretches up to which the squares are decomposed.
const LEAST_SQUARE: f64 = 1e-2;

/// Principal stretches of four deformation gradients: `F = axes diag(stretches) reference^T`.
struct PrincipalFrame {
    stretches: Vector,
    /// Principal axes as columns, and those of the reference configuration.
    axes: Matrix,
    reference: Matrix,
}

impl PrincipalFrame {
    #[inline(always)]
    fn of_rotation(f: &Matrix, r: &Matrix) -> Self {
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
    fn of_gradient(f: &Matrix) -> Self {
        let (squares, reference) = symmetric_eigens(&product(&transpose(f), f));
        let det = dot(&f[0], &cofactors(f)[0]);
        let [a, b, c] = squares;
        let good = |k: usize| {
            let (least, most) = (
                a.0[k].min(b.0[k]).min(c.0[k]),
                a.0[k].max(b.0[k]).max(c.0[k]),
            );
            det.0[k] > 0.0 && least > LEAST_SQUARE * most
        };
        if !(good(0) && good(1) && good(2) && good(3)) {
            return Self::of_rotation(f, &rotations(f));
        }
        let mut stretches = squares;
        let mut axes = product(f, &reference);
        for (k, s) in stretches.iter_mut().enumerate() {
            *s = s.map(f64::sqrt);
            let inverse = Lanes::splat(1.0) / *s;
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

/// Derivatives of four stresses in the frame of the principal stretches.
struct PrincipalDerivative {
    /// Between the stretches.
    stretch: Matrix,
    /// By the axis that the pair leaves out: eigenvalues of flip and twist.
    flip: Vector,
    twist: Vector,
}

impl ElasticMaterial {
    /// Writes the [`ElasticMaterial::stiffness`] of the positive semidefinite part of the
    /// derivative.
    #[inline(always)]
    pub(super) fn projected_stiffness(
        &self,
        d: &Deformation,
        g: &[Vector; 4],
        out: &mut [Matrix; NUM_PAIRS],
    ) {
        if self.is_linear() {
            return self.stiffness(d, g, out);
        }
        let frame = match self.model {
            MaterialModel::Corotated => PrincipalFrame::of_rotation(&d.f, &d.r),
            _ => PrincipalFrame::of_gradient(&d.f),
        };
        let h = self.principal_derivative(&frame.stretches).projected();
        let half = |f: fn(Lanes, Lanes) -> Lanes| -> Vector {
            from_fn(|k| f(h.flip[k], h.twist[k]) * 0.5)
        };
        let (same, swapped) = (half(|a, b| a + b), half(|a, b| a - b));
        let p = apply_all(&transpose(&frame.reference), g);
        let u = frame.axes;
        for (block, (a, b)) in out.iter_mut().zip(PAIRS) {
            let (p, q) = (&p[a], &p[b]);
            let mut m = combine(&h.stretch, &outer(p, q), |h, pq| h * pq);
            for (k, (i, j)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
                m[i][j] += swapped[k] * p[j] * q[i];
                m[j][i] += swapped[k] * p[i] * q[j];
                m[i][i] += same[k] * p[j] * q[j];
                m[j][j] += same[k] * p[i] * q[i];
            }
            *block = product_transposed(&product(&u, &m), &u);
        }
    }

    #[inline(always)]
    fn principal_derivative(&self, s: &Vector) -> PrincipalDerivative {
        let Lame { lambda, mu } = self.lame;
        let j = s[0] * s[1] * s[2] - 1.0;
        let c = [s[1] * s[2], s[2] * s[0], s[0] * s[1]];
        let is_corotated = self.model == MaterialModel::Corotated;
        let (own, gamma) = match is_corotated {
            true => (2.0 * mu, j * lambda),
            false => (mu, j * lambda - mu),
        };
        let stretch = from_fn(|a| {
            from_fn(|b| match a == b {
                true => c[a] * c[a] * lambda + own,
                false => c[a] * c[b] * lambda + gamma * s[3 - a - b],
            })
        });
        let twist = |k: usize| {
            let sum = (s[(k + 1) % 3] + s[(k + 2) % 3]).map(|sum| sum.max(LEAST_STRETCH));
            let rotation = match is_corotated {
                true => sum.map(|sum| 4.0 * mu / sum),
                false => Lanes::ZERO,
            };
            gamma * s[k] - rotation + own
        };
        PrincipalDerivative {
            stretch,
            flip: s.map(|s| -(gamma * s) + own),
            twist: from_fn(twist),
        }
    }
}

impl PrincipalDerivative {
    /// The same without negative eigenvalues.
    #[inline(always)]
    fn projected(mut self) -> Self {
        let good = are_positive_definite(&self.stretch);
        for k in (0..LANES).filter(|k| !good[*k]) {
            if let Some(kept) = without_negative(lane(&self.stretch, k)) {
                for (i, row) in self.stretch.iter_mut().enumerate() {
                    for (j, x) in row.iter_mut().enumerate() {
                        x.0[k] = kept[(i, j)];
                    }
                }
            }
        }
        let kept = |x: Lanes| x.map(|x| x.max(0.0));
        Self {
            flip: self.flip.map(kept),
            twist: self.twist.map(kept),
            ..self
        }
    }
}

/// Tells of four symmetric matrices which have only positive leading minors.
#[inline(always)]
fn are_positive_definite(m: &Matrix) -> [bool; LANES] {
    let minor = m[0][0] * m[1][1] - m[0][1] * m[0][1];
    let determinant = dot(&m[0], &cofactors(m)[0]);
    from_fn(|k| m[0][0].0[k] > 0.0 && minor.0[k] > 0.0 && determinant.0[k] > 0.0)
}

/// Returns a symmetric matrix without its negative eigenvalues, if it has some.
#[cold]
fn without_negative(m: Matrix3<f64>) -> Option<Matrix3<f64>> {
    let (values, vectors) = symmetric_eigen(m);
    (values.min() < 0.0).then(|| {
        let kept = Matrix3::from_diagonal(&values.map(|x| x.max(0.0)));
        vectors * kept * vectors.transpose()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deformable::lanes::from_matrices;
    use nalgebra::SMatrix;
    use proptest::prelude::*;

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

    fn gradients() -> [Vector; 4] {
        let (one, zero) = (Lanes::splat(1.0), Lanes::ZERO);
        [
            [zero; 3],
            [one, zero, zero],
            [zero, one, zero],
            [zero, zero, one],
        ]
    }

    proptest! {
        /// Also of inverted elements, whose derivative has several negative eigenvalues.
        #[test]
        fn projection_leaves_out_the_negative_eigenvalues(
            f in prop::array::uniform4(prop::array::uniform9(-1.5..1.5_f64)),
            poisson in -0.5..0.49_f64,
            is_corotated: bool,
        ) {
            let lame = Lame {
                lambda: poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
                mu: 0.5 / (1.0 + poisson),
            };
            let model = match is_corotated {
                true => MaterialModel::Corotated,
                false => MaterialModel::NeoHookean,
            };
            let material = ElasticMaterial { model, lame };
            let f = f.map(|f| Matrix3::from_column_slice(&f));
            let d = from_matrices(&f);
            let d = material.deformation(d, &d);
            let (mut whole, mut kept) = ([Matrix::default(); NUM_PAIRS], [Matrix::default(); NUM_PAIRS]);
            material.stiffness(&d, &gradients(), &mut whole);
            material.projected_stiffness(&d, &gradients(), &mut kept);
            for (k, f) in f.iter().enumerate() {
                // The derivative of a rotation grows with the inverse of the least sum of two
                // stretches, and rounding with it.
                let mut stretches = f.singular_values();
                stretches[2] *= f.determinant().signum();
                let least = stretches[1] + stretches[2];
                prop_assume!(least > 1e-2);
                let eigen = dense(&whole, k).symmetric_eigen();
                let positive = Dense::from_diagonal(&eigen.eigenvalues.map(|x| x.max(0.0)));
                let expected = eigen.eigenvectors * positive * eigen.eigenvectors.transpose();
                let error = (dense(&kept, k) - expected).amax();
                prop_assert!(error < 1e-12 / least * eigen.eigenvalues.amax(), "{f} {error:e}");
            }
        }
    }
}
