//! Derivatives of stresses without their negative eigenvalues.
//!
//! In the frame of the principal stretches the derivative of an isotropic stress falls into a 3x3
//! block of the stretches and, for each pair of axes, the eigenvalues of a flip and of a twist.
//!
//! Source: A. Stomakhin et al., "Energetically consistent invertible elasticity", Symposium on
//! Computer Animation, 2012, section 5; B. Smith, F. de Goes, T. Kim, "Analytic Eigensystems for
//! Isotropic Distortion Energies", ACM Transactions on Graphics, 2019.

use super::config::{Lame, MaterialModel};
use super::element::{NUM_PAIRS, PAIRS};
use super::lanes::{LANES, Lanes, Matrix, Vector, lane};
use super::material::{Deformation, ElasticMaterial};
use super::polar::{rotation, symmetric_eigen};
use nalgebra::{Matrix3, Vector3};
use std::array::from_fn;

/// Smallest sum of two stretches by which is divided.
const LEAST_STRETCH: f64 = 1e-9;

/// Derivative of a stress in the frame of the principal stretches.
struct PrincipalDerivative {
    /// Between the stretches.
    stretch: Matrix3<f64>,
    /// By the axis that the pair leaves out: eigenvalues of flip and twist.
    flip: Vector3<f64>,
    twist: Vector3<f64>,
}

impl ElasticMaterial {
    /// [`ElasticMaterial::stiffness`] of the positive semidefinite part of the derivative.
    #[inline(always)]
    pub(super) fn projected_stiffness(
        &self,
        d: &Deformation,
        g: &[Vector; 4],
    ) -> [Matrix; NUM_PAIRS] {
        if self.is_linear() {
            return self.stiffness(d, g);
        }
        let mut result = [[[Lanes::ZERO; 3]; 3]; NUM_PAIRS];
        for k in 0..LANES {
            let g: [Vector3<f64>; 4] = from_fn(|a| Vector3::from_fn(|i, _| g[a][i].0[k]));
            let r = match self.model {
                MaterialModel::Corotated => lane(&d.r, k),
                _ => rotation(&lane(&d.f, k)),
            };
            let blocks = self.projected_element(&lane(&d.f, k), &r, &g);
            for (to, block) in result.iter_mut().zip(&blocks) {
                for i in 0..3 {
                    for j in 0..3 {
                        to[i][j].0[k] = block[(i, j)];
                    }
                }
            }
        }
        result
    }

    fn projected_element(
        &self,
        f: &Matrix3<f64>,
        r: &Matrix3<f64>,
        g: &[Vector3<f64>; 4],
    ) -> [Matrix3<f64>; NUM_PAIRS] {
        let s = r.transpose() * f;
        let (stretches, v) = symmetric_eigen((s + s.transpose()) * 0.5);
        let h = self.principal_derivative(&stretches).projected();
        let same = (h.flip + h.twist) * 0.5;
        let swapped = (h.flip - h.twist) * 0.5;
        let p = g.map(|g| v.tr_mul(&g));
        let u = r * v;
        from_fn(|pair| {
            let (p, q) = (&p[PAIRS[pair].0], &p[PAIRS[pair].1]);
            let m = Matrix3::from_fn(|i, j| {
                if i != j {
                    let k = 3 - i - j;
                    return h.stretch[(i, j)] * p[i] * q[j] + swapped[k] * p[j] * q[i];
                }
                let (k, l) = ((i + 1) % 3, (i + 2) % 3);
                h.stretch[(i, i)] * p[i] * q[i] + same[l] * p[k] * q[k] + same[k] * p[l] * q[l]
            });
            u * m * u.transpose()
        })
    }

    fn principal_derivative(&self, s: &Vector3<f64>) -> PrincipalDerivative {
        let Lame { lambda, mu } = self.lame;
        let j = s.x * s.y * s.z - 1.0;
        let c = Vector3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let corotated = self.model == MaterialModel::Corotated;
        let (own, gamma) = match corotated {
            true => (2.0 * mu, lambda * j),
            false => (mu, lambda * j - mu),
        };
        let stretch = Matrix3::from_fn(|a, b| match a == b {
            true => own + lambda * c[a] * c[a],
            false => lambda * c[a] * c[b] + gamma * s[3 - a - b],
        });
        let twist = |k: usize| {
            let sum = (s[(k + 1) % 3] + s[(k + 2) % 3]).max(LEAST_STRETCH);
            let rotation = if corotated { 4.0 * mu / sum } else { 0.0 };
            own - rotation + gamma * s[k]
        };
        PrincipalDerivative {
            stretch,
            flip: s.map(|s| own - gamma * s),
            twist: Vector3::new(twist(0), twist(1), twist(2)),
        }
    }
}

impl PrincipalDerivative {
    /// The same without negative eigenvalues.
    fn projected(self) -> Self {
        let mut stretch = self.stretch;
        if !is_positive_definite(&stretch) {
            let (values, vectors) = symmetric_eigen(stretch);
            if values.min() < 0.0 {
                let kept = Matrix3::from_diagonal(&values.map(|x| x.max(0.0)));
                stretch = vectors * kept * vectors.transpose();
            }
        }
        Self {
            stretch,
            flip: self.flip.map(|x| x.max(0.0)),
            twist: self.twist.map(|x| x.max(0.0)),
        }
    }
}

/// Returns true if all leading minors of a symmetric matrix are positive.
fn is_positive_definite(m: &Matrix3<f64>) -> bool {
    m.m11 > 0.0 && m.m11 * m.m22 > m.m12 * m.m12 && m.determinant() > 0.0
}
