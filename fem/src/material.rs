//! Constitutive models: energy, stress and its derivative.
//!
//! Sources: A. Stomakhin et al., "Energetically consistent invertible elasticity", Symposium on
//! Computer Animation, 2012; B. Smith, F. de Goes, T. Kim, "Stable Neo-Hookean Flesh Simulation",
//! ACM Transactions on Graphics, 2018.

use super::config::{Lame, MaterialModel};
use super::element::INNER_PAIRS;
use super::lanes::{
    Matrix, Vector, add_to_diagonal, apply, apply_all, cofactors, combine, cross, dot, identity,
    outer, product, product_transposed, scale, squared_norm, trace, transpose,
};
use super::polar::rotations;
use tarragon_framework::simd::Pack;

/// Constitutive model with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElasticMaterial {
    pub(super) model: MaterialModel,
    pub(super) lame: Lame,
}

/// Deformation of four elements.
#[derive(Clone, Copy)]
pub(super) struct Deformation<P> {
    /// Deformation gradient.
    pub(super) f: Matrix<P>,
    /// Rotation that the model uses: that at the start of the step or that of `f`.
    pub(super) r: Matrix<P>,
}

/// Takes the blocks of an element's matrix one by one: those of the [`INNER_PAIRS`].
// A closure may not be inlined, and would not be compiled for the processor of the kernel then.
pub(super) trait BlockSink<P> {
    fn put(&mut self, slot: usize, block: Matrix<P>);
}

/// Smallest sum of two stretches, relative to the largest, by which is divided.
const LEAST_STRETCH: f64 = 1e-6;

impl ElasticMaterial {
    /// Returns true if the force is linear in the positions within a step.
    pub(super) fn is_linear(&self) -> bool {
        matches!(
            self.model,
            MaterialModel::Linear | MaterialModel::LinearCorotated
        )
    }

    /// Modulus of longitudinal waves, as a measure of stiffness (Pa).
    pub(super) fn modulus(&self) -> f64 {
        self.lame.lambda.abs() + 2.0 * self.lame.mu
    }

    /// Deformation with gradient `f`. `start` is the gradient at the start of the step.
    #[inline(always)]
    pub(super) fn deformation<P: Pack>(&self, f: Matrix<P>, start: &Matrix<P>) -> Deformation<P> {
        let r = match self.model {
            MaterialModel::Linear | MaterialModel::NeoHookean => identity(f[0][0]),
            MaterialModel::LinearCorotated => rotations(start),
            MaterialModel::Corotated => rotations(&f),
        };
        Deformation { f, r }
    }

    /// Strain of the linear models, in the frame of the rotation.
    #[inline(always)]
    fn small_strain<P: Pack>(&self, d: &Deformation<P>) -> Matrix<P> {
        let g = match self.model {
            MaterialModel::Linear => d.f,
            _ => product(&transpose(&d.r), &d.f),
        };
        let mut e = combine(&g, &transpose(&g), |a, b| (a + b) * 0.5);
        let one = d.f[0][0].splat(1.0);
        add_to_diagonal(&mut e, -one);
        e
    }

    /// Energy per reference volume.
    #[inline(always)]
    pub(super) fn energy<P: Pack>(&self, d: &Deformation<P>) -> P {
        let Lame { lambda, mu } = self.lame;
        let j = dot(&d.f[0], &cross(&d.f[1], &d.f[2])) - 1.0;
        match self.model {
            MaterialModel::Linear | MaterialModel::LinearCorotated => {
                let e = self.small_strain(d);
                let t = trace(&e);
                squared_norm(&e) * mu + t * t * (0.5 * lambda)
            }
            MaterialModel::Corotated => {
                squared_norm(&combine(&d.f, &d.r, |f, r| f - r)) * mu + j * j * (0.5 * lambda)
            }
            MaterialModel::NeoHookean => {
                (squared_norm(&d.f) - 3.0) * (0.5 * mu) - j * mu + j * j * (0.5 * lambda)
            }
        }
    }

    /// First Piola-Kirchhoff stress.
    #[inline(always)]
    pub(super) fn stress<P: Pack>(&self, d: &Deformation<P>) -> Matrix<P> {
        let Lame { lambda, mu } = self.lame;
        match self.model {
            MaterialModel::Linear | MaterialModel::LinearCorotated => {
                let e = self.small_strain(d);
                let pressure = trace(&e) * lambda;
                let mut s = combine(&e, &e, |e, _| e * (2.0 * mu));
                add_to_diagonal(&mut s, pressure);
                match self.model {
                    MaterialModel::Linear => s,
                    _ => product(&d.r, &s),
                }
            }
            MaterialModel::Corotated | MaterialModel::NeoHookean => {
                let c = cofactors(&d.f);
                let (own, gamma) = self.own_and_gamma(dot(&d.f[0], &c[0]) - 1.0);
                let mut s = d.f;
                if self.model == MaterialModel::Corotated {
                    s = combine(&s, &d.r, |f, r| f - r);
                }
                combine(&s, &c, |s, c| gamma.mul_add(c, s * own))
            }
        }
    }

    /// Factors of F and of its cofactors in the stress of the nonlinear models, given the change of
    /// volume.
    #[inline(always)]
    pub(super) fn own_and_gamma<P: Pack>(&self, change: P) -> (f64, P) {
        let Lame { lambda, mu } = self.lame;
        match self.model {
            MaterialModel::Corotated => (2.0 * mu, change * lambda),
            _ => (mu, change * lambda - mu),
        }
    }

    /// Passes on the derivatives of the forces at the vertices by their positions, negated and per
    /// reference volume: a block for each of the [`INNER_PAIRS`] of vertices.
    #[inline(always)]
    pub(super) fn stiffness<P: Pack>(
        &self,
        d: &Deformation<P>,
        g: &[Vector<P>; 4],
        out: &mut impl BlockSink<P>,
    ) {
        match self.model {
            MaterialModel::Linear => self.linear_stiffness(g, out),
            MaterialModel::LinearCorotated => {
                self.linear_stiffness(&apply_all(&d.r, g), out);
            }
            MaterialModel::Corotated => {
                let spin = self.spin(d);
                self.stiffness_with_spin(d, g, &apply_all(&d.r, g), Some(&spin), out);
            }
            MaterialModel::NeoHookean => self.stiffness_with_spin(d, g, g, None, out),
        }
    }

    /// That of the linear models with rotated gradients `h`. The isotropic law has the same form in
    /// every frame.
    #[inline(always)]
    fn linear_stiffness<P: Pack>(&self, h: &[Vector<P>; 4], out: &mut impl BlockSink<P>) {
        let (lambda, mu) = (h[0][0].splat(self.lame.lambda), h[0][0].splat(self.lame.mu));
        for (slot, (a, b)) in INNER_PAIRS {
            let (la, mb) = (scale(&h[a], lambda), scale(&h[b], mu));
            let mut k = outer(&la, &h[b]);
            for (row, mb) in k.iter_mut().zip(mb) {
                for (x, ha) in row.iter_mut().zip(h[a]) {
                    *x = mb.mul_add(ha, *x);
                }
            }
            add_to_diagonal(&mut k, dot(&h[a], &mb));
            out.put(slot, k);
        }
    }

    /// Matrix Z of the corotated model, which adds `[h_a]_x Z [h_b]_x` to the blocks, with the
    /// rotated gradients h: the part that comes from the change of the rotation.
    #[inline(always)]
    pub(super) fn spin<P: Pack>(&self, d: &Deformation<P>) -> Matrix<P> {
        let mut spin = spin_compliance(d);
        for row in &mut spin {
            *row = scale(row, row[0].splat(2.0 * self.lame.mu));
        }
        spin
    }

    /// That of the nonlinear models: with F, its cofactors C and the factors of the stress,
    /// `own (g_a . g_b) I + lambda (C g_a) (C g_b)^T + gamma [F (g_b x g_a)]_x` and
    /// `[h_a]_x Z [h_b]_x`. Z may be any symmetric matrix.
    #[inline(always)]
    pub(super) fn stiffness_with_spin<P: Pack>(
        &self,
        d: &Deformation<P>,
        g: &[Vector<P>; 4],
        h: &[Vector<P>; 4],
        spin: Option<&Matrix<P>>,
        out: &mut impl BlockSink<P>,
    ) {
        let c = cofactors(&d.f);
        let (own, gamma) = self.own_and_gamma(dot(&d.f[0], &c[0]) - 1.0);
        let c = apply_all(&c, g);
        let lambda = gamma.splat(self.lame.lambda);
        for (slot, (a, b)) in INNER_PAIRS {
            let mut k = outer(&scale(&c[a], lambda), &c[b]);
            let isotropic = dot(&g[a], &g[b]) * own;
            add_to_diagonal(&mut k, isotropic);
            if a != b {
                let w = scale(&apply(&d.f, &cross(&g[b], &g[a])), gamma);
                add_cross_matrix(&mut k, &w);
            }
            if let Some(spin) = spin {
                for (j, column) in transpose(&cross_rows(spin, &h[b])).iter().enumerate() {
                    let column = cross(&h[a], column);
                    for i in 0..3 {
                        k[i][j] += column[i];
                    }
                }
            }
            out.put(slot, k);
        }
    }
}

/// `(tr(S) I - S)^-1` with the left stretch `S = F R^T`: the inverse of the factor between a spin
/// of R and the skew part of `dF R^T`.
#[inline(always)]
fn spin_compliance<P: Pack>(d: &Deformation<P>) -> Matrix<P> {
    let s = product_transposed(&d.f, &d.r);
    let t = trace(&s);
    let mut m = combine(&s, &transpose(&s), |a, b| (a + b) * -0.5);
    add_to_diagonal(&mut m, t);
    let c = cofactors(&m);
    let least = squared_norm(&m).sqrt() * LEAST_STRETCH;
    let det = dot(&m[0], &c[0]).max(least * least * least);
    let inverse = t.splat(1.0) / det.max(t.splat(f64::MIN_POSITIVE));
    combine(&c, &c, |c, _| c * inverse)
}

/// `m [v]_x`: the cross product of each row with v.
#[inline(always)]
fn cross_rows<P: Pack>(m: &Matrix<P>, v: &Vector<P>) -> Matrix<P> {
    [cross(&m[0], v), cross(&m[1], v), cross(&m[2], v)]
}

/// `k += [w]_x`.
#[inline(always)]
fn add_cross_matrix<P: Pack>(k: &mut Matrix<P>, w: &Vector<P>) {
    k[0][1] -= w[2];
    k[0][2] += w[1];
    k[1][0] += w[2];
    k[1][2] -= w[0];
    k[2][0] -= w[1];
    k[2][1] += w[0];
}
