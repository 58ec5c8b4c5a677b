//! Analytic derivatives of inverse and forward dynamics (J. Carpentier, N. Mansard, "Analytical
//! Derivatives of Rigid Body Dynamics Algorithms", 2018; S. Singh, R. Russell, P. Wensing,
//! "Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra", 2022).
//!
//! Vectors belong to the point of space where the origin of their tree's first body is, and are
//! expressed in W. A joint with several degrees of freedom is a chain of groups: its axes of one
//! group are fixed in the frame that the groups before it move.

use super::composite_inertia::CompositeInertia;
use super::inertias::Inertias;
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{BodyIndex, JointKind};
use crate::spatial::SpatialVector;
use crate::tree::{KinematicTree, MobilizedBody};
use nalgebra::{DMatrix, Matrix3, Vector3};
use std::ops::Range;

/// Generalized forces of a motion and their derivatives, of
/// [`calc_inverse_dynamics_derivatives`](crate::MultibodyPlant::calc_inverse_dynamics_derivatives).
///
/// Column k of a derivative with respect to positions belongs to the motion `qdot = N(q) e_k`, as
/// if velocity k were 1 and the others 0; for joints other than floating and ball joints, that is
/// position k itself.
#[derive(Clone, Debug, PartialEq)]
pub struct InverseDynamicsDerivatives {
    /// Generalized forces (N, N m), in the order of v.
    pub tau: Vec<f64>,
    /// Derivatives with respect to positions, `num_velocities` square.
    pub dtau_dq: DMatrix<f64>,
    /// Derivatives with respect to velocities, `num_velocities` square.
    pub dtau_dv: DMatrix<f64>,
    /// Derivatives with respect to accelerations: the mass matrix.
    pub dtau_dvdot: DMatrix<f64>,
}

/// Accelerations and their derivatives, of
/// [`calc_forward_dynamics_derivatives`](crate::MultibodyPlant::calc_forward_dynamics_derivatives).
///
/// Column k of a derivative with respect to positions belongs to the motion `qdot = N(q) e_k`, as
/// if velocity k were 1 and the others 0; for joints other than floating and ball joints, that is
/// position k itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardDynamicsDerivatives {
    /// Time derivatives of the velocities.
    pub vdot: Vec<f64>,
    /// Derivatives with respect to positions, `num_velocities` square.
    pub dvdot_dq: DMatrix<f64>,
    /// Derivatives with respect to velocities, `num_velocities` square.
    pub dvdot_dv: DMatrix<f64>,
    /// Derivatives with respect to generalized forces: the inverse of the mass matrix.
    pub dvdot_dtau: DMatrix<f64>,
}

/// Forces on bodies: weight, and forces that stay as they are while the bodies move.
pub(crate) struct BodyForces<'a, G> {
    /// Acceleration (m/s^2) of gravity on a body.
    pub(crate) gravity: G,
    /// `F_Bo_W` by body.
    pub(crate) constant: &'a [SpatialVector<f64>],
}

/// Motion of a body, and what it and the bodies outboard of it contribute to derivatives.
#[derive(Clone)]
struct Moved {
    v: SpatialVector<f64>,
    a: SpatialVector<f64>,
    /// Composite inertia.
    inertia: CompositeInertia<f64>,
    /// Force of the inboard joint.
    force: SpatialVector<f64>,
    /// Change of the force with the angular velocity w of a motion x that adds to that of all
    /// bodies: `[spin w; 2 w x momentum]`.
    spin: Matrix3<f64>,
    momentum: Vector3<f64>,
    /// Change of the force with a rotation w of all bodies relative to applied forces:
    /// `[lever w; w x pull]`.
    lever: Matrix3<f64>,
    pull: Vector3<f64>,
}

impl Moved {
    fn add(&mut self, outboard: &Self) {
        self.inertia.add(&outboard.inertia, &Vector3::zeros());
        self.force += outboard.force;
        self.spin += outboard.spin;
        self.momentum += outboard.momentum;
        self.lever += outboard.lever;
        self.pull += outboard.pull;
    }
}

/// A velocity of the tree.
#[derive(Clone, Copy)]
struct Axis {
    /// Spatial velocity per unit.
    column: SpatialVector<f64>,
    /// Change of velocity and acceleration of all bodies outboard, as they see it, per unit of
    /// motion along the axis.
    velocity: SpatialVector<f64>,
    acceleration: SpatialVector<f64>,
    /// Change of their acceleration per unit of velocity.
    rate: SpatialVector<f64>,
}

fn motion_cross(x: &SpatialVector<f64>, y: &SpatialVector<f64>) -> SpatialVector<f64> {
    SpatialVector {
        rotational: x.rotational.cross(&y.rotational),
        translational: x.rotational.cross(&y.translational) + x.translational.cross(&y.rotational),
    }
}

fn force_cross(x: &SpatialVector<f64>, f: &SpatialVector<f64>) -> SpatialVector<f64> {
    SpatialVector {
        rotational: x.rotational.cross(&f.rotational) + x.translational.cross(&f.translational),
        translational: x.rotational.cross(&f.translational),
    }
}

/// Returns the velocities of a joint in groups, from the inboard to the outboard body.
fn groups(node: &MobilizedBody) -> [Range<usize>; 2] {
    let Range { start, end } = node.velocities();
    let split = |at: usize| [start..start + at, start + at..end];
    match node.kind {
        JointKind::Universal => split(1),
        JointKind::Planar => split(2),
        // Translations come last in v, but they move the centre of rotation.
        JointKind::RpyFloating | JointKind::QuaternionFloating => {
            let [rotations, translations] = split(3);
            [translations, rotations]
        }
        _ => [start..end, end..end],
    }
}

/// Computes inverse dynamics and its derivatives.
pub(crate) fn inverse_dynamics_derivatives(
    tree: &KinematicTree,
    inertias: &Inertias<f64>,
    positions: &PositionKinematics<f64>,
    velocities: &VelocityKinematics<f64>,
    vdot: &[f64],
    applied: &BodyForces<'_, impl Fn(BodyIndex) -> Vector3<f64>>,
) -> InverseDynamicsDerivatives {
    let n = tree.num_velocities;
    let v = &velocities.v;
    let mut moved: Vec<Moved> = Vec::with_capacity(tree.nodes.len());
    let zero = SpatialVector::zero();
    let unset = Axis {
        column: zero,
        velocity: zero,
        acceleration: zero,
        rate: zero,
    };
    let mut axes = vec![unset; n];
    let mut origin = Vector3::zeros();
    let parent_of = |node: &MobilizedBody| match node.parent {
        0 => None,
        parent => Some(tree.node_of[parent as usize] as usize),
    };
    for node in &tree.nodes {
        let body = node.body as usize;
        let (mut v_i, mut a_i) = match parent_of(node) {
            Some(parent) => (moved[parent].v, moved[parent].a),
            None => {
                origin = *positions.p_wb(node.body);
                (zero, zero)
            }
        };
        let p = positions.p_wb(node.body) - origin;
        for group in groups(node) {
            // Velocity of the frame where the axes are fixed.
            let carried = v_i;
            for k in group.clone() {
                let column = positions.columns[k].velocity_at(&-p);
                let rate = motion_cross(&carried, &column);
                v_i += column * v[k];
                a_i += column * vdot[k] + rate * v[k];
                (axes[k].column, axes[k].rate) = (column, rate);
            }
            for axis in &mut axes[group] {
                axis.velocity = motion_cross(&v_i, &axis.column);
                axis.acceleration =
                    motion_cross(&a_i, &axis.column) + motion_cross(&v_i, &axis.velocity);
                axis.rate += axis.velocity;
            }
        }
        let about_bo = CompositeInertia::of(inertias, node, positions);
        moved.push(Moved::new(
            &about_bo,
            &p,
            v_i,
            a_i,
            (applied.gravity)(BodyIndex::new(body)),
            &applied.constant[body],
        ));
    }
    for (i, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(parent) = parent_of(node) {
            let (inboard, outboard) = moved.split_at_mut(i);
            inboard[parent].add(&outboard[0]);
        }
    }
    let mut d = InverseDynamicsDerivatives {
        tau: vec![0.0; n],
        dtau_dq: DMatrix::zeros(n, n),
        dtau_dv: DMatrix::zeros(n, n),
        dtau_dvdot: DMatrix::zeros(n, n),
    };
    for (node, moved) in tree.nodes.iter().zip(&moved) {
        let [first, second] = groups(node);
        for k in second.clone() {
            d.own(tree, node, k, moved, &axes, [second.clone(), first.clone()]);
        }
        for k in first.clone() {
            d.own(tree, node, k, moved, &axes, [first.clone(), 0..0]);
        }
        for k in node.velocities() {
            let reflected = inertias.reflected(node);
            d.tau[k] += reflected * vdot[k];
            d.dtau_dvdot[(k, k)] += reflected;
        }
    }
    d
}

impl Moved {
    /// Returns what one body contributes, from its inertia about Bo; `p` is the position of Bo from
    /// the origin.
    fn new(
        about_bo: &CompositeInertia<f64>,
        p: &Vector3<f64>,
        v: SpatialVector<f64>,
        a: SpatialVector<f64>,
        gravity: Vector3<f64>,
        f_bo: &SpatialVector<f64>,
    ) -> Self {
        let mut inertia = CompositeInertia::zero();
        inertia.add(about_bo, p);
        let momentum = inertia.momentum(&v);
        let mut force = inertia.momentum(&a) + force_cross(&v, &momentum);
        // A x B x = B A^T - (A . B) for matrices of cross products.
        let product = |a: &Vector3<f64>, b: &Vector3<f64>| {
            b * a.transpose() - Matrix3::from_diagonal_element(a.dot(b))
        };
        let j = inertia.rotational();
        let (w, u, c) = (&v.rotational, &v.translational, &inertia.moment);
        let spin = w.cross_matrix() * (j * 2.0 - Matrix3::from_diagonal_element(j.trace()))
            - product(c, u) * 2.0;
        let mut lever = -product(c, &gravity);
        let mut pull = gravity * inertia.mass;
        force -= SpatialVector {
            rotational: c.cross(&gravity),
            translational: pull,
        };
        if *f_bo != SpatialVector::zero() {
            force -= f_bo.force_at(&-p);
            lever -= f_bo.rotational.cross_matrix() + product(p, &f_bo.translational);
            pull += f_bo.translational;
        }
        Self {
            v,
            a,
            inertia,
            force,
            spin,
            momentum: momentum.translational,
            lever,
            pull,
        }
    }

    /// Returns the change of the force with a motion x of the velocities.
    fn spin(&self, w: &Vector3<f64>) -> SpatialVector<f64> {
        SpatialVector {
            rotational: self.spin * w,
            translational: w.cross(&self.momentum) * 2.0,
        }
    }
    /// Returns the change of the force with a rotation relative to applied forces.
    fn lever(&self, w: &Vector3<f64>) -> SpatialVector<f64> {
        SpatialVector {
            rotational: self.lever * w,
            translational: w.cross(&self.pull),
        }
    }
}

impl InverseDynamicsDerivatives {
    /// Fills in the force along velocity k of a joint, and its mixed derivatives with the
    /// velocities of its own group, of the group inboard of it in the joint, and of inboard joints.
    fn own(
        &mut self,
        tree: &KinematicTree,
        node: &MobilizedBody,
        k: usize,
        moved: &Moved,
        axes: &[Axis],
        [own, inboard]: [Range<usize>; 2],
    ) {
        let axis = &axes[k];
        let column = &axis.column;
        self.tau[k] = column.dot(&moved.force);
        // Changes of the force with motion along this axis, and with its velocity.
        let with_q = moved.spin(&axis.velocity.rotational)
            + moved.inertia.momentum(&axis.acceleration)
            + moved.lever(&column.rotational)
            + force_cross(column, &moved.force);
        let with_v = moved.spin(&column.rotational) + moved.inertia.momentum(&axis.rate);
        // The same change seen along this axis, for any other motion.
        let (w, u) = (&column.rotational, &column.translational);
        let of_spin = moved.spin.tr_mul(w) + moved.momentum.cross(u) * 2.0;
        let of_lever = moved.lever.tr_mul(w) + moved.pull.cross(u);
        let of_motion = moved.inertia.momentum(column);
        for m in own {
            // Axes of a group do not turn with each other.
            let other = &axes[m].column;
            self.dtau_dq[(m, k)] = other.dot(&with_q);
            self.dtau_dv[(m, k)] = other.dot(&with_v);
            self.dtau_dvdot[(m, k)] = other.dot(&of_motion);
        }
        let mut with_inboard = |m: usize| {
            let other = &axes[m];
            let w = &other.column.rotational;
            self.dtau_dq[(m, k)] = other.column.dot(&with_q);
            self.dtau_dv[(m, k)] = other.column.dot(&with_v);
            self.dtau_dq[(k, m)] = of_spin.dot(&other.velocity.rotational)
                + of_motion.dot(&other.acceleration)
                + of_lever.dot(w);
            self.dtau_dv[(k, m)] = of_spin.dot(w) + of_motion.dot(&other.rate);
            let m_mk = of_motion.dot(&other.column);
            (self.dtau_dvdot[(m, k)], self.dtau_dvdot[(k, m)]) = (m_mk, m_mk);
        };
        inboard.for_each(&mut with_inboard);
        let mut at = node;
        while at.parent != 0 {
            at = &tree.nodes[tree.node_of[at.parent as usize] as usize];
            at.velocities().for_each(&mut with_inboard);
        }
    }
}

impl InverseDynamicsDerivatives {
    /// Returns the derivatives of the accelerations `vdot` at which these were computed; `None` if
    /// the mass matrix is not positive definite.
    pub(crate) fn inverted(&self, vdot: Vec<f64>) -> Option<ForwardDynamicsDerivatives> {
        let n = vdot.len();
        // Rows of [-dtau_dq, -dtau_dv, 1], one after the other.
        let mut rows = vec![0.0; 3 * n * n];
        for (i, row) in rows.chunks_exact_mut(3 * n).enumerate() {
            for k in 0..n {
                row[k] = -self.dtau_dq[(i, k)];
                row[n + k] = -self.dtau_dv[(i, k)];
            }
            row[2 * n + i] = 1.0;
        }
        solve_symmetric(self.dtau_dvdot.clone(), &mut rows, 3 * n)?;
        let part = |first: usize| DMatrix::from_fn(n, n, |i, k| rows[i * 3 * n + first + k]);
        Some(ForwardDynamicsDerivatives {
            vdot,
            dvdot_dq: part(0),
            dvdot_dv: part(n),
            dvdot_dtau: part(2 * n),
        })
    }
}

/// Replaces the rows of B by the solution of `M X = B`; `None` if M is not positive definite. With
/// `M = L^T L`, L has zeros where M has them, between joints of different branches.
fn solve_symmetric(mut m: DMatrix<f64>, b: &mut [f64], width: usize) -> Option<()> {
    let n = m.nrows();
    for k in (0..n).rev() {
        let pivot = m[(k, k)];
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        let root = pivot.sqrt();
        m[(k, k)] = root;
        for i in 0..k {
            m[(k, i)] /= root;
        }
        for i in (0..k).filter(|i| m[(k, *i)] != 0.0).collect::<Vec<_>>() {
            for j in 0..=i {
                m[(i, j)] -= m[(k, i)] * m[(k, j)];
            }
        }
    }
    let subtract = |from: &mut [f64], x: &[f64], factor: f64| {
        for (from, x) in from.iter_mut().zip(x) {
            *from -= factor * x;
        }
    };
    for k in (0..n).rev() {
        let (before, rest) = b.split_at_mut(k * width);
        let row = &mut rest[..width];
        row.iter_mut().for_each(|x| *x /= m[(k, k)]);
        for (i, other) in before.chunks_exact_mut(width).enumerate() {
            if m[(k, i)] != 0.0 {
                subtract(other, row, m[(k, i)]);
            }
        }
    }
    for k in 0..n {
        let (before, rest) = b.split_at_mut(k * width);
        let row = &mut rest[..width];
        for (i, other) in before.chunks_exact(width).enumerate() {
            if m[(k, i)] != 0.0 {
                subtract(row, other, m[(k, i)]);
            }
        }
        row.iter_mut().for_each(|x| *x /= m[(k, k)]);
    }
    Some(())
}
