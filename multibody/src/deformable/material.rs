//! Constitutive models: energy, stress and its derivative.
//!
//! Sources: A. Stomakhin et al., "Energetically consistent invertible elasticity", Symposium on
//! Computer Animation, 2012; B. Smith, F. de Goes, T. Kim, "Stable Neo-Hookean Flesh Simulation",
//! ACM Transactions on Graphics, 2018.

use super::config::{Lame, MaterialModel};
use super::element::{NUM_PAIRS, PAIRS};
use super::lanes::{
    Lanes, Matrix, Vector, add_to_diagonal, apply, apply_all, cofactors, combine, cross, dot,
    from_fn, identity, outer, product, product_transposed, scale, squared_norm, trace, transpose,
};
use super::polar::rotations;

/// Constitutive model with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElasticMaterial {
    pub(super) model: MaterialModel,
    pub(super) lame: Lame,
}

/// Deformation of four elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deformation {
    /// Deformation gradient.
    pub(super) f: Matrix,
    /// Rotation that the model uses: that at the start of the step or that of `f`.
    pub(super) r: Matrix,
}

/// Smallest sum of two stretches, relative to the largest, by which is divided.
const LEAST_STRETCH: f64 = 1e-6;

const ONE: Lanes = Lanes([1.0; super::lanes::LANES]);

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
    pub(super) fn deformation(&self, f: Matrix, start: &Matrix) -> Deformation {
        let r = match self.model {
            MaterialModel::Linear | MaterialModel::NeoHookean => identity(),
            MaterialModel::LinearCorotated => rotations(start),
            MaterialModel::Corotated => rotations(&f),
        };
        Deformation { f, r }
    }

    /// Strain of the linear models, in the frame of the rotation.
    #[inline(always)]
    fn small_strain(&self, d: &Deformation) -> Matrix {
        let g = match self.model {
            MaterialModel::Linear => d.f,
            _ => product(&transpose(&d.r), &d.f),
        };
        let mut e = combine(&g, &transpose(&g), |a, b| (a + b) * 0.5);
        add_to_diagonal(&mut e, -ONE);
        e
    }

    /// Energy per reference volume.
    #[inline(always)]
    pub(super) fn energy(&self, d: &Deformation) -> Lanes {
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
    pub(super) fn stress(&self, d: &Deformation) -> Matrix {
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
            MaterialModel::Corotated => {
                let c = cofactors(&d.f);
                let gamma = (dot(&d.f[0], &c[0]) - 1.0) * lambda;
                let s = combine(&d.f, &d.r, |f, r| (f - r) * (2.0 * mu));
                combine(&s, &c, |s, c| s + gamma * c)
            }
            MaterialModel::NeoHookean => {
                let c = cofactors(&d.f);
                let gamma = (dot(&d.f[0], &c[0]) - 1.0) * lambda - mu;
                combine(&d.f, &c, |f, c| f * mu + gamma * c)
            }
        }
    }

    /// Writes the derivatives of the forces at the vertices by their positions, negated and per
    /// reference volume, for the pairs of vertices [`PAIRS`].
    #[inline(always)]
    pub(super) fn stiffness(
        &self,
        d: &Deformation,
        g: &[Vector; 4],
        out: &mut [Matrix; NUM_PAIRS],
    ) {
        match self.model {
            MaterialModel::Linear => self.linear_stiffness(g, out),
            MaterialModel::LinearCorotated => {
                self.linear_stiffness(&apply_all(&d.r, g), out);
            }
            MaterialModel::Corotated => self.corotated_stiffness(d, g, out),
            MaterialModel::NeoHookean => self.neo_hookean_stiffness(d, g, out),
        }
    }

    /// That of the linear models with rotated gradients `h`. The isotropic law has the same form in
    /// every frame.
    #[inline(always)]
    fn linear_stiffness(&self, h: &[Vector; 4], out: &mut [Matrix; NUM_PAIRS]) {
        let Lame { lambda, mu } = self.lame;
        for (k, (a, b)) in out.iter_mut().zip(PAIRS) {
            let diagonal = dot(&h[a], &h[b]) * mu;
            let la = scale(&h[a], Lanes::splat(lambda));
            let mb = scale(&h[b], Lanes::splat(mu));
            for (i, row) in k.iter_mut().enumerate() {
                for (j, x) in row.iter_mut().enumerate() {
                    *x = la[i] * h[b][j] + mb[i] * h[a][j];
                }
            }
            add_to_diagonal(k, diagonal);
        }
    }

    /// `diagonal (g_a . g_b) I + lambda (C g_a) (C g_b)^T + gamma [F (g_b x g_a)]_x`: the part that
    /// comes from the determinant, and a multiple of the Laplacian.
    #[inline(always)]
    fn volume_stiffness(
        &self,
        d: &Deformation,
        g: &[Vector; 4],
        (a, b): (usize, usize),
        (diagonal, gamma): (f64, Lanes),
        c: &[Vector; 4],
    ) -> Matrix {
        let la = scale(&c[a], Lanes::splat(self.lame.lambda));
        let mut k = outer(&la, &c[b]);
        let isotropic = dot(&g[a], &g[b]) * diagonal;
        add_to_diagonal(&mut k, isotropic);
        if a != b {
            let w = scale(&apply(&d.f, &cross(&g[b], &g[a])), gamma);
            add_cross_matrix(&mut k, &w);
        }
        k
    }

    #[inline(always)]
    fn neo_hookean_stiffness(
        &self,
        d: &Deformation,
        g: &[Vector; 4],
        out: &mut [Matrix; NUM_PAIRS],
    ) {
        let c = cofactors(&d.f);
        let gamma = (dot(&d.f[0], &c[0]) - 1.0) * self.lame.lambda - self.lame.mu;
        let c = apply_all(&c, g);
        for (k, pair) in out.iter_mut().zip(PAIRS) {
            *k = self.volume_stiffness(d, g, pair, (self.lame.mu, gamma), &c);
        }
    }

    #[inline(always)]
    fn corotated_stiffness(&self, d: &Deformation, g: &[Vector; 4], out: &mut [Matrix; NUM_PAIRS]) {
        let c = cofactors(&d.f);
        let gamma = (dot(&d.f[0], &c[0]) - 1.0) * self.lame.lambda;
        let c = apply_all(&c, g);
        let h = apply_all(&d.r, g);
        let spin = spin_compliance(d);
        let mu2 = 2.0 * self.lame.mu;
        for (k, (a, b)) in out.iter_mut().zip(PAIRS) {
            *k = self.volume_stiffness(d, g, (a, b), (mu2, gamma), &c);
            // 2 mu [h_a]_x spin [h_b]_x, column by column.
            let sb = transpose(&cross_rows(&spin, &h[b]));
            for (j, column) in sb.iter().enumerate() {
                let column = cross(&h[a], column);
                for i in 0..3 {
                    k[i][j] += column[i] * mu2;
                }
            }
        }
    }
}

/// `(tr(S) I - S)^-1` with the left stretch `S = F R^T`: the inverse of the factor between a spin
/// of R and the skew part of `dF R^T`.
#[inline(always)]
fn spin_compliance(d: &Deformation) -> Matrix {
    let s = product_transposed(&d.f, &d.r);
    let t = trace(&s);
    let mut m = combine(&s, &transpose(&s), |a, b| (a + b) * -0.5);
    add_to_diagonal(&mut m, t);
    let c = cofactors(&m);
    let least = (squared_norm(&m).map(f64::sqrt)) * LEAST_STRETCH;
    let det = dot(&m[0], &c[0]);
    let det = Lanes(from_fn(|k| {
        let bound = least.0[k] * least.0[k] * least.0[k];
        det.0[k].max(bound).max(f64::MIN_POSITIVE)
    }));
    let inverse = ONE / det;
    combine(&c, &c, |c, _| c * inverse)
}

/// `m [v]_x`: the cross product of each row with v.
#[inline(always)]
fn cross_rows(m: &Matrix, v: &Vector) -> Matrix {
    [cross(&m[0], v), cross(&m[1], v), cross(&m[2], v)]
}

/// `k += [w]_x`.
#[inline(always)]
fn add_cross_matrix(k: &mut Matrix, w: &Vector) {
    k[0][1] -= w[2];
    k[0][2] += w[1];
    k[1][0] += w[2];
    k[1][2] -= w[0];
    k[2][0] -= w[1];
    k[2][1] += w[0];
}
