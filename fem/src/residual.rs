//! The residual of a free step, element by element, over any scalar.
//!
//! The residual is the left side of the equation of `step` less the right one, as a function of the
//! state at both ends and of the parameters. Its derivatives with dual numbers make those of the
//! end of the step. Damping by the stiffness of the nonlinear models is left out: it is made of
//! projected matrices (see `damping_change`).

use super::assembly::LEAST_MASS;
use super::config::{DeformableBodyConfig, MaterialModel};
use super::element::FemElement;
use super::polar::rotation;
use nalgebra::{Matrix3, Vector3};
use std::array::from_fn;
use tarragon_framework::Scalar;

/// Number of parameters of a material that have derivatives.
pub const NUM_PARAMETERS: usize = 5;

/// Parameters of a step over a scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepParameters<T> {
    pub(super) model: MaterialModel,
    /// Lamé's parameters.
    pub(super) lambda: T,
    pub(super) mu: T,
    pub(super) density: T,
    /// Coefficients of mass and stiffness in the damping.
    pub(super) alpha: T,
    pub(super) beta: T,
    pub(super) dt: f64,
    pub(super) gravity: Vector3<f64>,
}

impl<T: Scalar> StepParameters<T> {
    /// Creates those of a body. `parameters` replaces Young's modulus, Poisson's ratio, density and
    /// the damping by mass and by stiffness.
    pub(super) fn new(
        config: &DeformableBodyConfig,
        [youngs, poissons, density, alpha, beta]: [T; NUM_PARAMETERS],
        dt: f64,
        gravity: Vector3<f64>,
    ) -> Self {
        let [lambda, mu] = config.lame_of(youngs, poissons);
        Self {
            model: config.material_model,
            lambda,
            mu,
            density,
            alpha,
            beta,
            dt,
            gravity,
        }
    }
}

/// Returns the parameters of a material: Young's modulus and Poisson's ratio, the density, and the
/// coefficients of damping by mass and by stiffness.
pub fn parameters_of(config: &DeformableBodyConfig) -> [f64; NUM_PARAMETERS] {
    [
        config.youngs_modulus,
        config.poissons_ratio,
        config.mass_density,
        config.mass_damping_coefficient,
        config.stiffness_damping_coefficient,
    ]
}

/// State at the vertices of an element: positions and velocities at the start of a step, and
/// velocities at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementEnds<T> {
    pub(super) q0: [Vector3<T>; 4],
    pub(super) v0: [Vector3<T>; 4],
    pub(super) v1: [Vector3<T>; 4],
}

impl<T: Scalar> StepParameters<T> {
    /// Returns the residual of an element at its vertices (N s).
    pub(super) fn residual(&self, e: &FemElement, x: &ElementEnds<T>) -> [Vector3<T>; 4] {
        let half = T::from(0.5 * self.dt);
        let moved = from_fn(|a| x.q0[a] + (x.v0[a] + x.v1[a]) * half);
        let stress = self.stress(e, x, &moved) * T::from(self.dt * e.volume);
        let mass = self.density * T::from(e.volume);
        let after = T::from(self.dt) * self.alpha;
        let changes: [Vector3<T>; 4] = from_fn(|a| x.v1[a] - x.v0[a] + x.v1[a] * after);
        let sum = changes[0] + changes[1] + changes[2] + changes[3];
        let least = mass * T::from(LEAST_MASS / 4.0);
        let weight = self.gravity.map(|g| T::from(0.25 * self.dt * g)) * mass;
        from_fn(|a| {
            let elastic = stress * e.gradients[a].map(T::from);
            sum * (mass / T::from(16.0)) + changes[a] * least + elastic - weight
        })
    }

    /// Returns the stress at the end of the step, with that of stiffness damping in the linear
    /// models.
    fn stress(&self, e: &FemElement, x: &ElementEnds<T>, moved: &[Vector3<T>; 4]) -> Matrix3<T> {
        let f = gradient(e, moved);
        let two_mu = self.mu + self.mu;
        match self.model {
            MaterialModel::Linear | MaterialModel::LinearCorotated => {
                let r = match self.model {
                    MaterialModel::Linear => Matrix3::identity(),
                    _ => rotation_of(&gradient(e, &x.q0)),
                };
                // Stress is linear: damping adds the gradient of the velocity.
                let later = f + gradient(e, &x.v1) * self.beta;
                let g = r.transpose() * later;
                let strain = (g + g.transpose()) * T::from(0.5) - Matrix3::identity();
                let pressure = Matrix3::identity() * (strain.trace() * self.lambda);
                r * (strain * two_mu + pressure)
            }
            MaterialModel::Corotated => {
                let c = cofactors(&f);
                let gamma = (determinant(&f, &c) - T::one()) * self.lambda;
                (f - rotation_of(&f)) * two_mu + c * gamma
            }
            MaterialModel::NeoHookean => {
                let c = cofactors(&f);
                let gamma = (determinant(&f, &c) - T::one()) * self.lambda - self.mu;
                f * self.mu + c * gamma
            }
        }
    }
}

/// Gradient of a field with these values at the vertices.
fn gradient<T: Scalar>(e: &FemElement, x: &[Vector3<T>; 4]) -> Matrix3<T> {
    let of = |a: usize| (x[a] - x[0]) * e.gradients[a].map(T::from).transpose();
    of(1) + of(2) + of(3)
}

fn cofactors<T: Scalar>(f: &Matrix3<T>) -> Matrix3<T> {
    let column = |k: usize| f.column(k).into_owned();
    let (a, b, c) = (column(0), column(1), column(2));
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

fn determinant<T: Scalar>(f: &Matrix3<T>, cofactors: &Matrix3<T>) -> T {
    f.column(0).dot(&cofactors.column(0))
}

/// Rotation of a deformation gradient, with first derivatives: the spin w of R in its own frame
/// follows from `(tr(S) I - S) w`, the axis of the skew part of `R^T dF`. Where that matrix is
/// singular, the rotation is constant.
fn rotation_of<T: Scalar>(f: &Matrix3<T>) -> Matrix3<T> {
    let real = rotation(&f.map(|x| x.re()));
    let r = real.map(T::from);
    if T::NDERIV == 0 {
        return r;
    }
    let s = r.transpose() * f;
    let stretch = s.map(|x| x.re());
    let spin_inertia = Matrix3::from_diagonal_element(stretch.trace()) - stretch;
    let Some(inverse) = spin_inertia.try_inverse() else {
        return r;
    };
    let axis = Vector3::new(s.m32 - s.m23, s.m13 - s.m31, s.m21 - s.m12);
    let spin = inverse.map(T::from) * axis;
    r + r * spin.cross_matrix()
}
