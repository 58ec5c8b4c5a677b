//! The passes over elements that a step and its callers need.

use super::assembly::{
    GroupOutput, GroupPass, add_scaled, complete_matrix, mass, mass_product, norm2, stress_force,
};
use super::element::ElementGroup;
use super::lanes::{Lanes, Vector, dot};
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
    fn mass_matrix(&self, group: &ElementGroup) -> (Lanes, Lanes) {
        let (m, least) = mass(self.density, group);
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
    fn run<const FUSED: bool>(&self, group: &ElementGroup, out: GroupOutput<'_>) {
        let start = group.gradient(&group.gather(self.start));
        let f = group.gradient(&group.gather(self.positions));
        let d = self.material.deformation(f, &start);
        let stress = self.material.stress(&d);
        let forces = stress_force(&stress, &group.gradients, -group.volume);
        if let Some(out) = out.forces {
            *out = forces;
        }
        *out.energy = [(self.material.energy(&d) * group.volume).sum(), 0.0];
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
    fn run<const FUSED: bool>(&self, group: &ElementGroup, out: GroupOutput<'_>) {
        let StepConstants {
            material,
            dt,
            alpha,
            beta,
            ..
        } = self.constants;
        let x = group.gather(self.positions);
        let v = group.gather(self.velocities);
        let later = group.gradient(&add_scaled(&x, dt + beta, &v));
        let d = material.deformation(later, &group.gradient(&x));
        let impulse = stress_force(&material.stress(&d), &group.gradients, group.volume * -dt);
        let momentum = mass_product(mass(self.constants.density, group), &v);
        if let Some(out) = out.forces {
            *out = add_scaled(&impulse, -dt * alpha, &momentum);
        }
        if let Some(matrix) = out.matrix {
            material.stiffness(&d, &group.gradients, matrix);
            let by = group.volume * (dt * (0.5 * dt + beta));
            complete_matrix(matrix, by, self.constants.mass_matrix(group));
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
    fn run<const FUSED: bool>(&self, group: &ElementGroup, out: GroupOutput<'_>) {
        let StepConstants {
            material,
            dt,
            alpha,
            ..
        } = self.constants;
        let f = group.gradient(&group.gather(self.positions));
        let d = material.deformation(f, &f);
        let v = group.gather(self.velocities.end);
        let change = add_scaled(&v, -1.0, &group.gather(self.velocities.start));
        let m = mass(self.constants.density, group);
        let momentum = mass_product(m, &change);
        let damping = mass_product(m, &v);
        let mut squared = 0.0;
        if let Some(out) = out.forces {
            let elastic = stress_force(&material.stress(&d), &group.gradients, group.volume * dt);
            squared = norm2(&elastic).sum();
            let sum = add_scaled(&elastic, 1.0, &momentum);
            *out = add_scaled(&sum, dt * alpha, &damping);
        }
        // The positions move by dt / 2 times the velocity, hence the factor 2.
        let kinetic =
            pairing(&momentum, &change) * 0.5 + pairing(&damping, &v) * (0.5 * dt * alpha);
        *out.energy = [
            (material.energy(&d) * group.volume * 2.0 + kinetic).sum(),
            squared,
        ];
        if let Some(matrix) = out.matrix {
            match self.projected {
                true => material.projected_stiffness(&d, &group.gradients, matrix),
                false => material.stiffness(&d, &group.gradients, matrix),
            }
            let by = group.volume * (0.5 * dt * dt);
            complete_matrix(matrix, by, self.constants.mass_matrix(group));
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
    fn run<const FUSED: bool>(&self, group: &ElementGroup, out: GroupOutput<'_>) {
        let StepConstants {
            material, dt, beta, ..
        } = self.constants;
        let f = group.gradient(&group.gather(self.positions));
        let d = material.deformation(f, &f);
        if let Some(matrix) = out.matrix {
            material.projected_stiffness(&d, &group.gradients, matrix);
            let none = (Lanes::ZERO, Lanes::ZERO);
            complete_matrix(matrix, group.volume * (dt * beta), none);
        }
        *out.energy = [0.0; 2];
    }
}

#[inline(always)]
fn pairing(x: &[Vector; 4], y: &[Vector; 4]) -> Lanes {
    dot(&x[0], &y[0]) + dot(&x[1], &y[1]) + dot(&x[2], &y[2]) + dot(&x[3], &y[3])
}
