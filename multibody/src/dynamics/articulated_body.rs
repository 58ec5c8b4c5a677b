//! Articulated-body inertia, and with it solutions of `M x = b` whose cost grows linearly with the
//! number of bodies (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 7).
//!
//! A joint with several degrees of freedom is treated as a chain of joints with one each, between
//! bodies without mass at the same place. Thus there is one kind of elimination.

use super::composite_inertia::{CompositeInertia, times_symmetric};
use super::forces::MultibodyForces;
use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics, spatial_accelerations};
use crate::model::BodyIndex;
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::{Matrix3, Vector3};
use std::ops::AddAssign;
use tarragon_framework::Scalar;

/// How many times the rounding errors of an articulated inertia a pivot must be, at least.
const PIVOT_TOLERANCE: f64 = 16.0 * f64::EPSILON;

/// A body that no force along one of its joint's degrees of freedom accelerates finitely.
pub(crate) struct SingularInertia {
    pub(crate) body: BodyIndex,
    /// Index of the velocity.
    pub(crate) velocity: usize,
    /// The articulated inertia along that velocity.
    pub(crate) pivot: f64,
}

/// Rows and columns of the entries that symmetric matrices store.
const ENTRIES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

/// Inertia of a body with the bodies outboard of it, whose joints are free to move: maps the
/// acceleration of a point to the force there, both expressed in W.
struct ArticulatedInertia {
    /// Moment per angular acceleration, symmetric: xx, yy, zz, xy, xz, yz.
    rotational: [f64; 6],
    /// Moment per acceleration of the point; its transpose is force per angular acceleration.
    coupling: Matrix3<f64>,
    /// Force per acceleration of the point, symmetric.
    translational: [f64; 6],
}

impl ArticulatedInertia {
    /// Returns the inertia of a body alone.
    fn of_body(m: &CompositeInertia<f64>) -> Self {
        Self {
            rotational: m.rotational_entries(),
            coupling: m.moment.cross_matrix(),
            translational: [m.mass, m.mass, m.mass, 0.0, 0.0, 0.0],
        }
    }

    #[inline]
    fn times(&self, a: &SpatialVector<f64>) -> SpatialVector<f64> {
        let (alpha, a) = (&a.rotational, &a.translational);
        SpatialVector {
            rotational: times_symmetric(&self.rotational, alpha) + self.coupling * a,
            translational: self.coupling.tr_mul(alpha) + times_symmetric(&self.translational, a),
        }
    }

    /// Subtracts `u u^T / pivot`.
    #[inline]
    fn eliminate(&mut self, u: &SpatialVector<f64>, inverse_pivot: f64) {
        let scaled = *u * inverse_pivot;
        for (k, (i, j)) in ENTRIES.into_iter().enumerate() {
            self.rotational[k] -= scaled.rotational[i] * u.rotational[j];
            self.translational[k] -= scaled.translational[i] * u.translational[j];
        }
        for j in 0..3 {
            for i in 0..3 {
                self.coupling[(i, j)] -= scaled.rotational[i] * u.translational[j];
            }
        }
    }

    /// Adds the inertia of an outboard body; `r` is the position of its origin from this one.
    #[inline]
    fn add_outboard(&mut self, outboard: &Self, r: &Vector3<f64>) {
        let h = &outboard.coupling;
        let [xx, yy, zz, xy, xz, yz] = outboard.translational;
        let columns = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
        // With R = [r]x: H + R M, and J - (H R)^T - (H + R M) R.
        let mut coupling = *h;
        for (k, column) in columns.into_iter().enumerate() {
            let column = cross(r, &Vector3::from(column));
            coupling.column_mut(k).add_assign(&column);
        }
        // Row i of a product with R is row i of the matrix, cross r.
        let times_r = |h: &Matrix3<f64>| {
            let row = |i: usize| cross(&Vector3::new(h[(i, 0)], h[(i, 1)], h[(i, 2)]), r);
            [row(0), row(1), row(2)]
        };
        let (inner, outer) = (times_r(h), times_r(&coupling));
        for (k, (i, j)) in ENTRIES.into_iter().enumerate() {
            self.rotational[k] += outboard.rotational[k] - inner[j][i] - outer[i][j];
            self.translational[k] += outboard.translational[k];
        }
        self.coupling += coupling;
    }

    /// Returns the largest moment and the largest force per unit of acceleration.
    fn scale(&self) -> (f64, f64) {
        let largest = |m: &[f64; 6]| m[0].abs().max(m[1].abs()).max(m[2].abs());
        (largest(&self.rotational), largest(&self.translational))
    }
}

/// A body with the bodies outboard of it.
struct Articulated {
    inertia: ArticulatedInertia,
    /// Sums of the moments and of the forces per unit of acceleration that were eliminated.
    noise: (f64, f64),
    /// Force of the inboard joint.
    force: SpatialVector<f64>,
}

/// The articulated-body factorization of the mass matrix at some positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArticulatedBodies {
    /// Per velocity: the force that accelerates the articulated body along it, per unit.
    forces: Vec<SpatialVector<f64>>,
    /// Per velocity: inverse of the articulated inertia along it.
    inverse_pivots: Vec<f64>,
}

impl ArticulatedBodies {
    /// Factors the mass matrix at new positions; returns the accelerations that forces cause.
    pub(crate) fn update(
        &mut self,
        tree: &KinematicTree,
        inertias: &Inertias<f64>,
        positions: &PositionKinematics<f64>,
        velocities: &VelocityKinematics<f64>,
        forces: &MultibodyForces<f64>,
    ) -> Result<Vec<f64>, SingularInertia> {
        let n = tree.num_velocities;
        self.forces.clear();
        self.forces.resize(n, SpatialVector::zero());
        self.inverse_pivots.clear();
        self.inverse_pivots.resize(n, 0.0);
        // Accelerations at vdot = 0, then those at the solution.
        let mut accelerations = vec![];
        spatial_accelerations(tree, positions, velocities, None, &mut accelerations);
        let alone = |node: &MobilizedBody| {
            let body = node.body as usize;
            let own = CompositeInertia::of(inertias, node, positions);
            let mut needed = SpatialVector::zero();
            let w = &velocities.v_wb[body].rotational;
            own.force(&accelerations[body], w, &mut needed);
            Articulated {
                inertia: ArticulatedInertia::of_body(&own),
                noise: (0.0, 0.0),
                force: needed - forces.spatial[body],
            }
        };
        let mut bodies: Vec<Articulated> = tree.nodes.iter().map(alone).collect();
        let mut vdot = vec![0.0; n];
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (inboard, rest) = bodies.split_at_mut(i);
            let Articulated {
                inertia,
                noise,
                force,
            } = &mut rest[0];
            for k in node.velocities().rev() {
                let column = &positions.columns[k];
                let along = inertia.times(column);
                let pivot = column.dot(&along) + inertias.reflected(node);
                let rounding = noise.0 * column.rotational.norm_squared()
                    + noise.1 * column.translational.norm_squared();
                if pivot.is_nan() || pivot <= PIVOT_TOLERANCE * rounding {
                    return Err(SingularInertia {
                        body: BodyIndex::new(node.body as usize),
                        velocity: k,
                        pivot,
                    });
                }
                let inverse_pivot = 1.0 / pivot;
                vdot[k] = (forces.generalized[k] - column.dot(force)) * inverse_pivot;
                force.add_scaled(&along, vdot[k]);
                self.forces[k] = along;
                self.inverse_pivots[k] = inverse_pivot;
                if node.parent != 0 || k != node.velocities().start {
                    let (rotational, translational) = inertia.scale();
                    noise.0 += rotational;
                    noise.1 += translational;
                    inertia.eliminate(&along, inverse_pivot);
                }
            }
            if node.parent != 0 {
                let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
                let parent = &mut inboard[tree.node_of[node.parent as usize] as usize];
                parent.inertia.add_outboard(inertia, &r);
                parent.noise.0 += noise.0 + noise.1 * r.norm_squared();
                parent.noise.1 += noise.1;
                force.rotational += cross(&r, &force.translational);
                parent.force += *force;
            }
        }
        self.spread(tree, positions, &mut vdot, &mut accelerations);
        Ok(vdot)
    }

    /// Replaces b by the solution of `M x = b`.
    pub(crate) fn solve<T: Scalar>(
        &self,
        tree: &KinematicTree,
        positions: &PositionKinematics<f64>,
        b: &mut [T],
        scratch: &mut Vec<SpatialVector<T>>,
    ) {
        scratch.clear();
        scratch.resize(tree.nodes.len() + 1, SpatialVector::zero());
        for node in tree.nodes.iter().rev() {
            let mut force = scratch[node.body as usize];
            for k in node.velocities().rev() {
                b[k] = (b[k] - dot(&positions.columns[k], &force)) * self.inverse_pivots[k];
                add_scaled(&mut force, &self.forces[k], b[k]);
            }
            if node.parent != 0 {
                let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
                force.rotational += cross(&r, &force.translational);
                scratch[node.parent as usize] += force;
            }
        }
        self.spread(tree, positions, b, scratch);
    }

    /// Completes a solution from the root outwards: subtracts what the motion of the inboard bodies
    /// contributes.
    fn spread<T: Scalar>(
        &self,
        tree: &KinematicTree,
        positions: &PositionKinematics<f64>,
        b: &mut [T],
        scratch: &mut [SpatialVector<T>],
    ) {
        for node in &tree.nodes {
            let mut a = SpatialVector::zero();
            if node.parent != 0 {
                a = scratch[node.parent as usize];
                let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
                a.translational -= cross(&r, &a.rotational);
            }
            for k in node.velocities() {
                b[k] -= dot(&self.forces[k], &a) * self.inverse_pivots[k];
                add_scaled(&mut a, &positions.columns[k], b[k]);
            }
            scratch[node.body as usize] = a;
        }
    }
}

fn dot<T: Scalar>(constant: &SpatialVector<f64>, x: &SpatialVector<T>) -> T {
    let (a, b) = (&constant.rotational, &constant.translational);
    let (x, y) = (&x.rotational, &x.translational);
    x[0] * a[0] + x[1] * a[1] + x[2] * a[2] + y[0] * b[0] + y[1] * b[1] + y[2] * b[2]
}

fn add_scaled<T: Scalar>(sum: &mut SpatialVector<T>, constant: &SpatialVector<f64>, x: T) {
    for i in 0..3 {
        sum.rotational[i] += x * constant.rotational[i];
        sum.translational[i] += x * constant.translational[i];
    }
}

/// Computes `constant x v`.
fn cross<T: Scalar>(r: &Vector3<f64>, v: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        v.z * r.y - v.y * r.z,
        v.x * r.z - v.z * r.x,
        v.y * r.x - v.x * r.y,
    )
}
