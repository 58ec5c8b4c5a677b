//! Body poses from positions.
//!
//! Everything that does not depend on q is multiplied out when the tree is made. With half angle h,
//! a hinge contributes `R_PB = cos(h) A + sin(h) B` with constant quaternions A and B, so a joint
//! costs one sine and cosine and one pose product, whatever its offsets are.

use crate::error::{Error, Result};
use crate::joint::{Joint, JointKind};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use tarragon_framework::{Scalar, math};

/// How a child body B moves in its parent P.
#[derive(Clone, Debug)]
enum Motion {
    /// Constant `X_PB`.
    Fixed(Isometry3<f64>),
    /// `R_PB = cos(q/2) a + sin(q/2) b`; `p_PB = p0 + cos(q) pc + sin(q) ps`.
    Hinge {
        a: Quaternion<f64>,
        b: Quaternion<f64>,
        p0: Vector3<f64>,
        /// `(pc, ps)`, absent where the axis passes through Bo.
        swing: Option<(Vector3<f64>, Vector3<f64>)>,
    },
    /// Constant rotation; `p_PB = p0 + q d`.
    Slide {
        r_pb: UnitQuaternion<f64>,
        p0: Vector3<f64>,
        d: Vector3<f64>,
    },
    /// `X_PB = X_PF X_FM(q) X_MB`; the offsets are absent where both are the identity.
    Free(Option<Box<(Isometry3<f64>, Isometry3<f64>)>>),
}

impl Motion {
    fn new(joint: &Joint) -> Self {
        let (x_pf, x_mb) = (joint.x_pf, joint.x_bm.inverse());
        let fixed = |x_fm: Isometry3<f64>| x_pf * x_fm * x_mb;
        match &joint.kind {
            JointKind::Weld { x_fm } => Self::Fixed(fixed(*x_fm)),
            JointKind::Revolute { axis } => {
                let half_turn = Quaternion::from_imag(axis.into_inner());
                let (r_pf, r_mb) = (x_pf.rotation, x_mb.rotation);
                // Rodrigues: R(q) p = (n.p) n + cos(q) (p - (n.p) n) + sin(q) n x p.
                let p = x_mb.translation.vector;
                let along = axis.into_inner() * axis.dot(&p);
                let swing = (r_pf * (p - along), r_pf * axis.cross(&p));
                Self::Hinge {
                    a: (r_pf * r_mb).into_inner(),
                    b: r_pf.into_inner() * half_turn * r_mb.into_inner(),
                    p0: x_pf.translation.vector + r_pf * along,
                    swing: (swing.0 != Vector3::zeros()).then_some(swing),
                }
            }
            JointKind::Prismatic { axis } => {
                let x_pb = fixed(Isometry3::identity());
                Self::Slide {
                    r_pb: x_pb.rotation,
                    p0: x_pb.translation.vector,
                    d: x_pf.rotation * axis.into_inner(),
                }
            }
            JointKind::QuaternionFloating => {
                let identity = Isometry3::identity();
                let trivial = x_pf == identity && x_mb == identity;
                Self::Free((!trivial).then(|| Box::new((x_pf, x_mb))))
            }
        }
    }
}

/// One body of the tree.
#[derive(Clone, Debug)]
struct Node {
    body: u32,
    parent: u32,
    q_start: u32,
    motion: Motion,
}

/// The joints in an order in which every parent comes before its children.
#[derive(Clone, Debug, Default)]
pub(crate) struct KinematicTree {
    nodes: Vec<Node>,
    num_positions: usize,
}

impl KinematicTree {
    /// Adds the next joint in tree order.
    pub(crate) fn push(&mut self, joint: &Joint) {
        self.nodes.push(Node {
            body: joint.child.index() as u32,
            parent: joint.parent.index() as u32,
            q_start: self.num_positions as u32,
            motion: Motion::new(joint),
        });
        self.num_positions += joint.num_positions();
    }

    /// Poses of all bodies in the world; the world itself comes first.
    pub(crate) fn calc_body_poses<T: Scalar>(
        &self,
        q: &[T],
        out: &mut Vec<Isometry3<T>>,
        free_body_name: impl Fn(usize) -> String,
    ) -> Result<()> {
        if q.len() != self.num_positions {
            return Err(Error::invalid(format!(
                "{} positions were given, {} are expected",
                q.len(),
                self.num_positions
            )));
        }
        out.clear();
        out.resize(self.nodes.len() + 1, Isometry3::identity());
        for node in &self.nodes {
            let q = &q[node.q_start as usize..];
            let x_pb = relative_pose(&node.motion, q);
            let x_pb = x_pb.ok_or_else(|| {
                Error::invalid(format!(
                    "the positions of body '{}' hold a quaternion without direction ({:?}); set a \
                     rotation, such as [1, 0, 0, 0]",
                    free_body_name(node.body as usize),
                    [0, 1, 2, 3].map(|i| q[i].re())
                ))
            })?;
            out[node.body as usize] = match node.parent {
                0 => x_pb,
                parent => out[parent as usize] * x_pb,
            };
        }
        Ok(())
    }
}

/// `X_PB`; `None` for a floating joint without a rotation.
#[inline]
fn relative_pose<T: Scalar>(motion: &Motion, q: &[T]) -> Option<Isometry3<T>> {
    Some(match motion {
        Motion::Fixed(x_pb) => lift(x_pb),
        Motion::Hinge { a, b, p0, swing } => {
            let (s, c) = (q[0] * 0.5).sin_cos();
            // Of two constant quaternions; unit because A and B are orthonormal in R^4.
            let r = a.coords.zip_map(&b.coords, |a, b| c * a + s * b);
            let r_pb = UnitQuaternion::new_unchecked(Quaternion::from(r));
            let p = match swing {
                None => p0.map(T::from),
                Some((pc, ps)) => {
                    let (cos, sin) = (c * c - s * s, s * c * 2.0);
                    Vector3::from_fn(|i, _| cos * pc[i] + sin * ps[i] + p0[i])
                }
            };
            math::pose(r_pb, p)
        }
        Motion::Slide { r_pb, p0, d } => {
            let p = Vector3::from_fn(|i, _| q[0] * d[i] + p0[i]);
            math::pose(lift_rotation(r_pb), p)
        }
        Motion::Free(offsets) => {
            let r_fm = math::quaternion_wxyz([q[0], q[1], q[2], q[3]])?;
            let x_fm = math::pose(r_fm, Vector3::new(q[4], q[5], q[6]));
            match offsets {
                None => x_fm,
                Some(offsets) => lift::<T>(&offsets.0) * x_fm * lift::<T>(&offsets.1),
            }
        }
    })
}

/// A constant rotation as a `T`.
#[inline]
fn lift_rotation<T: Scalar>(r: &UnitQuaternion<f64>) -> UnitQuaternion<T> {
    UnitQuaternion::new_unchecked(Quaternion::from(r.coords.map(T::from)))
}

/// A constant pose as a `T`.
#[inline]
fn lift<T: Scalar>(x: &Isometry3<f64>) -> Isometry3<T> {
    math::pose(
        lift_rotation(&x.rotation),
        x.translation.vector.map(T::from),
    )
}
