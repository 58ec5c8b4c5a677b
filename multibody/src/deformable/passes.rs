//! The passes over elements that a step and its callers need.

use super::assembly::{
    GroupOutput, GroupPass, MatrixSum, add_scaled, mass, mass_product, norm2, stress_force,
};
use super::element::{ElementGroup, ElementShape};
use super::lanes::{Pack, Vector, dot, store_vectors};
use super::material::ElasticMaterial;

/// Constants of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepConstants {
    pub(super) material: ElasticMaterial,
    pub(super) density: f64,
    /// Time step.
    pub(super) dt: f64,
    /// Coefficients of mass and stiffness in the damping.
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

impl StepConstants {
    /// Factor of the mass in the matrix of a step.
    fn mass_factor(&self) -> f64 {
        1.0 + self.alpha * self.dt
    }

    #[inline(always)]
    fn mass_matrix<P: Pack>(&self, shape: &ElementShape<P>) -> (P, P) {
        let (m, least) = mass(self.density, shape);
        (m * self.mass_factor(), least * self.mass_factor())
    }
}

/// Elastic energy and forces at given positions.
pub(super) struct ElasticPass<'a> {
    pub(super) material: ElasticMaterial,
    /// Positions that the rotations of the linear corotated model are taken from.
    pub(super) start: &'a [f64],
    pub(super) positions: &'a [f64],
}

impl GroupPass for ElasticPass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let start = shape.gradient(&group.gather(zero, self.start));
        let f = shape.gradient(&group.gather(zero, self.positions));
        let d = self.material.deformation(f, &start);
        let stress = self.material.stress(&d);
        let forces = stress_force(&stress, &shape.gradients, -shape.volume);
        if let Some(out) = out.forces {
            store_vectors(&forces, out);
        }
        *out.energy = [(self.material.energy(&d) * shape.volume).sum(), 0.0];
    }
}

/// The linear system of a step of a linear model: `A (v1 - v0) = b`. Because the force is linear,
/// the impulse of forces and damping is that at positions extrapolated by `dt + beta`.
pub(super) struct LinearPass<'a> {
    pub(super) constants: StepConstants,
    pub(super) positions: &'a [f64],
    pub(super) velocities: &'a [f64],
}

impl GroupPass for LinearPass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let StepConstants {
            material,
            dt,
            alpha,
            beta,
            ..
        } = self.constants;
        let x = group.gather(zero, self.positions);
        let v = group.gather(zero, self.velocities);
        let later = shape.gradient(&add_scaled(&x, dt + beta, &v));
        let d = material.deformation(later, &shape.gradient(&x));
        let impulse = stress_force(&material.stress(&d), &shape.gradients, shape.volume * -dt);
        let momentum = mass_product(mass(self.constants.density, &shape), &v);
        if let Some(out) = out.forces {
            store_vectors(&add_scaled(&impulse, -dt * alpha, &momentum), out);
        }
        if let Some(matrix) = out.matrix {
            let by = shape.volume * (dt * (0.5 * dt + beta));
            let mass = self.constants.mass_matrix(&shape);
            let mut out = MatrixSum {
                out: matrix,
                by,
                mass,
            };
            material.stiffness(&d, &shape.gradients, &mut out);
            out.complete();
        }
        *out.energy = [0.0; 2];
    }
}

/// State of an iteration: the velocities at the start and at the end of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct IterateVelocities<'a> {
    pub(super) start: &'a [f64],
    pub(super) end: &'a [f64],
}

/// Gradient and, if wanted, Hessian of the objective of a step without stiffness damping and
/// external forces; or only the objective.
pub(super) struct ObjectivePass<'a> {
    pub(super) constants: StepConstants,
    pub(super) velocities: IterateVelocities<'a>,
    /// Positions at the end of the step.
    pub(super) positions: &'a [f64],
    pub(super) projected: bool,
}

impl GroupPass for ObjectivePass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let StepConstants {
            material,
            dt,
            alpha,
            ..
        } = self.constants;
        let f = shape.gradient(&group.gather(zero, self.positions));
        let d = material.deformation(f, &f);
        let v = group.gather(zero, self.velocities.end);
        let change = add_scaled(&v, -1.0, &group.gather(zero, self.velocities.start));
        let m = mass(self.constants.density, &shape);
        let momentum = mass_product(m, &change);
        let damping = mass_product(m, &v);
        let mut squared = 0.0;
        if let Some(out) = out.forces {
            let elastic = stress_force(&material.stress(&d), &shape.gradients, shape.volume * dt);
            squared = norm2(&elastic).sum();
            let sum = add_scaled(&elastic, 1.0, &momentum);
            store_vectors(&add_scaled(&sum, dt * alpha, &damping), out);
        }
        // The positions move by dt / 2 times the velocity, hence the factor 2.
        let kinetic =
            pairing(&momentum, &change) * 0.5 + pairing(&damping, &v) * (0.5 * dt * alpha);
        *out.energy = [
            (material.energy(&d) * shape.volume * 2.0 + kinetic).sum(),
            squared,
        ];
        if let Some(matrix) = out.matrix {
            let by = shape.volume * (0.5 * dt * dt);
            let mass = self.constants.mass_matrix(&shape);
            let mut out = MatrixSum {
                out: matrix,
                by,
                mass,
            };
            match self.projected {
                true => material.projected_stiffness(&d, &shape.gradients, &mut out),
                false => material.stiffness(&d, &shape.gradients, &mut out),
            }
            out.complete();
        }
    }
}

/// The positive semidefinite part of the stiffness, times `dt beta`: the matrix of damping.
pub(super) struct DampingPass<'a> {
    pub(super) constants: StepConstants,
    pub(super) positions: &'a [f64],
}

impl GroupPass for DampingPass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let StepConstants {
            material, dt, beta, ..
        } = self.constants;
        let f = shape.gradient(&group.gather(zero, self.positions));
        let d = material.deformation(f, &f);
        if let Some(matrix) = out.matrix {
            let mut out = MatrixSum {
                out: matrix,
                by: shape.volume * (dt * beta),
                mass: (zero, zero),
            };
            material.projected_stiffness(&d, &shape.gradients, &mut out);
            out.complete();
        }
        *out.energy = [0.0; 2];
    }
}

#[inline(always)]
fn pairing<P: Pack>(x: &[Vector<P>; 4], y: &[Vector<P>; 4]) -> P {
    dot(&x[0], &y[0]) + dot(&x[1], &y[1]) + dot(&x[2], &y[2]) + dot(&x[3], &y[3])
}
