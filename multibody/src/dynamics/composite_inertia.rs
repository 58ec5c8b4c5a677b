//! Mass properties of bodies that move as one.

use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, turned};
use crate::spatial::{SpatialVector, add_cross, cross, subtract_cross};
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::{Matrix3, Vector3};
use std::ops::{Mul, Range};
use tarragon_framework::Scalar;

/// Mass properties about a point, expressed in W.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompositeInertia<T: Scalar> {
    pub(super) mass: T,
    /// Mass times the position of the centre of mass from the point.
    pub(super) moment: Vector3<T>,
    /// Rotational inertia: xx, yy, zz, xy, xz, yz.
    i: [T; 6],
}

impl<T: Scalar> CompositeInertia<T> {
    pub(super) fn zero() -> Self {
        Self {
            mass: T::zero(),
            moment: Vector3::zeros(),
            i: [T::zero(); 6],
        }
    }
    /// Returns the mass properties of a node's body about Bo.
    #[inline]
    pub(super) fn of(
        inertias: &Inertias<T>,
        node: &MobilizedBody,
        positions: &PositionKinematics<T>,
    ) -> Self {
        let (mass, moment) = mass_and_moment(inertias, node, positions);
        let r_wb = &positions.r_wb[node.body as usize];
        let i = match inertias.body(node) {
            Some(m) => rotated(&m.rotational, r_wb),
            None if positions.lacks_derivatives(node.body) => {
                let r_wb = &positions.real().r_wb[node.body as usize];
                rotated(&node.inertia.rotational_inertia(), r_wb).map(T::from)
            }
            None => rotated_of_model(&node.inertia.rotational_inertia(), r_wb),
        };
        Self { mass, moment, i }
    }
    /// Adds other mass properties; `r` is the position of their point from this one.
    pub(super) fn add(&mut self, other: &Self, r: &Vector3<T>) {
        let m = other.mass;
        let c = &other.moment;
        // Parallel-axis shift of the other inertia to this point.
        let s = r * m + c * T::from(2.0);
        let along = r.dot(&s);
        let product = |a: usize, b: usize| r[a] * c[b] + r[b] * c[a] + r[a] * r[b] * m;
        let square = |a: usize| along - product(a, a);
        let shifted = [
            square(0),
            square(1),
            square(2),
            -product(0, 1),
            -product(0, 2),
            -product(1, 2),
        ];
        for ((sum, i), shift) in self.i.iter_mut().zip(other.i).zip(shifted) {
            *sum += i + shift;
        }
        self.moment += c + r * m;
        self.mass += m;
    }
    /// Multiplies the rotational inertia by a vector.
    #[inline]
    pub(super) fn turn<V>(&self, w: &Vector3<V>) -> Vector3<V>
    where
        V: Scalar + Mul<T, Output = V>,
    {
        times_symmetric(&self.i, w)
    }
    /// Returns the rotational inertia about the point: xx, yy, zz, xy, xz, yz.
    pub(super) fn rotational_entries(&self) -> [T; 6] {
        self.i
    }
    /// Computes the force that the acceleration of the point and the angular velocity of the body
    /// take.
    #[inline]
    pub(super) fn force<V>(
        &self,
        a: &SpatialVector<V>,
        w: &Vector3<V>,
        force: &mut SpatialVector<V>,
    ) where
        V: Scalar + Mul<T, Output = V>,
    {
        self.update_momentum(a, force);
        add_cross(&mut force.rotational, w, &self.turn(w));
        add_cross(&mut force.translational, w, &cross(w, &self.moment));
    }
    /// Returns the diagonal of the map from a spatial velocity of the point to the momentum.
    pub(super) fn diagonal(&self) -> [T; 6] {
        let [xx, yy, zz, ..] = self.i;
        [xx, yy, zz, self.mass, self.mass, self.mass]
    }
    /// Returns the rotational inertia about the point.
    pub(super) fn rotational(&self) -> Matrix3<T> {
        let [xx, yy, zz, xy, xz, yz] = self.i;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }
    /// Computes the spatial momentum about the point from the spatial velocity of the point.
    pub(super) fn momentum(&self, v: &SpatialVector<T>) -> SpatialVector<T> {
        let mut momentum = SpatialVector::zero();
        self.update_momentum(v, &mut momentum);
        momentum
    }
    /// Does the same in place of another momentum.
    #[inline]
    fn update_momentum<V>(&self, v: &SpatialVector<V>, out: &mut SpatialVector<V>)
    where
        V: Scalar + Mul<T, Output = V>,
    {
        out.rotational = self.turn(&v.rotational);
        for (out, v) in out.translational.iter_mut().zip(&v.translational) {
            *out = *v * self.mass;
        }
        subtract_cross(&mut out.rotational, &v.translational, &self.moment);
        add_cross(&mut out.translational, &v.rotational, &self.moment);
    }
}

/// Multiplies a symmetric matrix, given by its entries xx, yy, zz, xy, xz and yz, by a vector.
#[inline]
pub(super) fn times_symmetric<T, C>(m: &[C; 6], v: &Vector3<T>) -> Vector3<T>
where
    T: Scalar + Mul<C, Output = T>,
    C: Scalar,
{
    let [xx, yy, zz, xy, xz, yz] = m;
    Vector3::new(
        v.x * *xx + v.y * *xy + v.z * *xz,
        v.x * *xy + v.y * *yy + v.z * *yz,
        v.x * *xz + v.y * *yz + v.z * *zz,
    )
}

/// Returns the entries xx, yy, zz, xy, xz and yz of `R I R^T`, computed for these only.
#[inline]
fn rotated<T, C: Copy>(i: &Matrix3<C>, r_wb: &Matrix3<T>) -> [T; 6]
where
    T: Scalar + Mul<C, Output = T>,
{
    entries(r_wb, |[x, y, z]| {
        std::array::from_fn(|j| x * i[(0, j)] + y * i[(1, j)] + z * i[(2, j)])
    })
}

/// Does the same for a rotational inertia of the model; those of most bodies are diagonal.
#[inline]
fn rotated_of_model<T: Scalar>(i: &Matrix3<f64>, r_wb: &Matrix3<T>) -> [T; 6] {
    let is_diagonal = i[(0, 1)] == 0.0 && i[(0, 2)] == 0.0 && i[(1, 2)] == 0.0;
    if T::NDERIV > 0 && is_diagonal {
        entries(r_wb, |[x, y, z]| {
            [x * i[(0, 0)], y * i[(1, 1)], z * i[(2, 2)]]
        })
    } else {
        rotated(i, r_wb)
    }
}

/// Returns the entries of `R I R^T`, where `times_inertia` multiplies a row by I.
#[inline]
fn entries<T: Scalar>(r_wb: &Matrix3<T>, times_inertia: impl Fn([T; 3]) -> [T; 3]) -> [T; 6] {
    let row = |k: usize| [r_wb[(k, 0)], r_wb[(k, 1)], r_wb[(k, 2)]];
    let rows: [[T; 3]; 3] = std::array::from_fn(|k| times_inertia(row(k)));
    let at = |a: usize, b: usize| {
        let [x, y, z] = &rows[a];
        *x * r_wb[(b, 0)] + *y * r_wb[(b, 1)] + *z * r_wb[(b, 2)]
    };
    [at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)]
}

/// Returns the mass of a node's body, and the mass times the position of the centre of mass from
/// Bo, expressed in W.
#[inline]
pub(super) fn mass_and_moment<T: Scalar>(
    inertias: &Inertias<T>,
    node: &MobilizedBody,
    positions: &PositionKinematics<T>,
) -> (T, Vector3<T>) {
    let r_wb = &positions.r_wb[node.body as usize];
    match inertias.body(node) {
        Some(m) => (m.mass, r_wb * m.moment),
        None => {
            let m = &node.inertia;
            let moment = turned(r_wb, &(m.center_of_mass() * m.mass()));
            (T::from(m.mass()), moment)
        }
    }
}

/// Computes the composite inertia of every node in tree order: that of its body and all bodies
/// outboard of it.
pub(super) fn composites<T: Scalar>(
    tree: &KinematicTree,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
) -> Vec<CompositeInertia<T>> {
    composites_of(tree, 0..tree.nodes.len(), inertias, positions)
}

/// Does the same for a range of nodes, which must have all bodies outboard of them.
pub(super) fn composites_of<T: Scalar>(
    tree: &KinematicTree,
    range: Range<usize>,
    inertias: &Inertias<T>,
    positions: &PositionKinematics<T>,
) -> Vec<CompositeInertia<T>> {
    let (first, nodes) = (range.start, &tree.nodes[range]);
    let of = |node: &MobilizedBody| CompositeInertia::of(inertias, node, positions);
    let mut all: Vec<CompositeInertia<T>> = nodes.iter().map(of).collect();
    for (i, node) in nodes.iter().enumerate().rev() {
        let inboard = tree.node_of.get(node.parent as usize);
        let inboard = inboard.filter(|_| node.parent != 0);
        if let Some(inboard) = inboard.and_then(|k| (*k as usize).checked_sub(first)) {
            let r = positions.p_wb(node.body) - positions.p_wb(node.parent);
            let composite = all[i];
            all[inboard].add(&composite, &r);
        }
    }
    all
}
