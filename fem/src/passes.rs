//! The passes over elements that a step and its callers need.

use super::assembly::{
    ElementMass, GroupOutput, GroupPass, MatrixSum, add_scaled, norm2, stress_force,
};
use super::element::{ElementGroup, ElementShape};
use super::lanes::{Matrix, Vector, combine, dot, load_vectors, store_vectors};
use super::material::{Deformation, ElasticMaterial};
use tarragon_framework::simd::{LaneKernel, Pack};

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
    fn mass_matrix<P: Pack>(&self, shape: &ElementShape<P>) -> ElementMass<P> {
        ElementMass::new(self.density, shape).times(self.mass_factor())
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
    fn run<P: Pack>(&self, zero: P, _: usize, group: &ElementGroup, out: GroupOutput<'_>) {
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
    fn run<P: Pack>(&self, zero: P, _: usize, group: &ElementGroup, out: GroupOutput<'_>) {
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
        let momentum = ElementMass::new(self.constants.density, &shape).product(&v);
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

/// Gradients at the start of a step, of four elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartGradients {
    /// Deformation gradient at the end of the step if velocities do not change.
    f: Matrix,
    /// Gradient of the velocities.
    velocity: Matrix,
}

/// Finds the gradients at the start of a step.
pub(super) struct StartKernel<'a> {
    pub(super) dt: f64,
    pub(super) groups: &'a [ElementGroup],
    pub(super) positions: &'a [f64],
    pub(super) velocities: &'a [f64],
    pub(super) out: &'a mut [StartGradients],
}

impl LaneKernel for StartKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: Pack>(self, zero: P) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let shape = group.shape(zero);
            let v = group.gather(zero, self.velocities);
            let q = add_scaled(&group.gather(zero, self.positions), self.dt, &v);
            store_vectors(&shape.gradient(&q), &mut out.f);
            store_vectors(&shape.gradient(&v), &mut out.velocity);
        }
    }
}

/// The objective of a step without stiffness damping and external forces, its gradient, and the
/// impulses of that damping.
pub(super) struct ObjectivePass<'a> {
    pub(super) constants: StepConstants,
    /// By group.
    pub(super) start: &'a [StartGradients],
    /// Velocities at the end of the step, and their change.
    pub(super) velocities: &'a [f64],
    pub(super) change: &'a [f64],
    /// Change of the velocities that the matrix of damping is taken from, if it is another one.
    pub(super) damping_change: Option<&'a [f64]>,
}

impl ObjectivePass<'_> {
    /// Deformation at the end of the step, given the gradient of the change of velocity.
    #[inline(always)]
    fn deformation<P: Pack>(&self, start: &Matrix<P>, change: &Matrix<P>) -> Deformation<P> {
        let half = change[0][0].splat(0.5 * self.constants.dt);
        let f = combine(start, change, |start, change| change.mul_add(half, start));
        self.constants.material.deformation(f, &f)
    }
}

impl GroupPass for ObjectivePass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, n: usize, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let StepConstants {
            material,
            dt,
            alpha,
            beta,
            ..
        } = self.constants;
        // To gather three fields instead of this one took over a quarter of the pass.
        let change = group.gather(zero, self.change);
        let change_gradient = shape.gradient(&change);
        let start = load_vectors(zero, &self.start[n].f);
        let d = self.deformation(&start, &change_gradient);
        let mass = ElementMass::new(self.constants.density, &shape);
        let momentum = mass.product(&change);
        let mut kinetic = pairing(&momentum, &change) * 0.5;
        let mut inertial = momentum;
        if alpha != 0.0 {
            let v = group.gather(zero, self.velocities);
            let damping = mass.product(&v);
            kinetic += pairing(&damping, &v) * (0.5 * dt * alpha);
            inertial = add_scaled(&momentum, dt * alpha, &damping);
        }
        let mut squared = 0.0;
        if let Some(out) = out.forces {
            let elastic = stress_force(&material.stress(&d), &shape.gradients, shape.volume * dt);
            squared = norm2(&elastic).sum();
            store_vectors(&add_scaled(&elastic, 1.0, &inertial), out);
        }
        // The positions move by dt / 2 times the velocity, hence the factor 2.
        *out.energy = [
            (material.energy(&d) * shape.volume * 2.0 + kinetic).sum(),
            squared,
        ];
        if let Some(out) = out.damping {
            let d = match self.damping_change {
                Some(change) => {
                    self.deformation(&start, &shape.gradient(&group.gather(zero, change)))
                }
                None => d,
            };
            let velocity = load_vectors(zero, &self.start[n].velocity);
            let velocity = combine(&velocity, &change_gradient, |start, change| start + change);
            let stress = material.projected_stress_change(&d, &velocity);
            let by = shape.volume * (dt * beta);
            store_vectors(&stress_force(&stress, &shape.gradients, by), out);
        }
    }
}

/// The Hessian of the objective of a step, or its positive semidefinite part, and the matrix of
/// stiffness damping: the positive semidefinite part of the stiffness, times `dt beta`.
pub(super) struct HessianPass<'a> {
    pub(super) constants: StepConstants,
    /// Positions at the end of the step.
    pub(super) positions: &'a [f64],
    pub(super) projected: bool,
}

impl GroupPass for HessianPass<'_> {
    #[inline(always)]
    fn run<P: Pack>(&self, zero: P, _: usize, group: &ElementGroup, out: GroupOutput<'_>) {
        let shape = group.shape(zero);
        let StepConstants {
            material, dt, beta, ..
        } = self.constants;
        let f = shape.gradient(&group.gather(zero, self.positions));
        let d = material.deformation(f, &f);
        if let Some(matrix) = out.matrix {
            let (elastic, damping) = (0.5 * dt * dt, dt * beta);
            let mut out = MatrixSum {
                out: matrix,
                by: shape.volume * (elastic + damping),
                mass: self.constants.mass_matrix(&shape),
            };
            let share = match (self.projected, damping > 0.0) {
                (true, _) => 1.0,
                (false, true) => damping / (elastic + damping),
                (false, false) => 0.0,
            };
            material.projected_stiffness(&d, &shape.gradients, share, &mut out);
            out.complete();
        }
        *out.energy = [0.0; 2];
    }
}

#[inline(always)]
fn pairing<P: Pack>(x: &[Vector<P>; 4], y: &[Vector<P>; 4]) -> P {
    dot(&x[0], &y[0]) + dot(&x[1], &y[1]) + dot(&x[2], &y[2]) + dot(&x[3], &y[3])
}
