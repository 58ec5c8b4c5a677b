//! Deformable bodies in the problem of a step: the vertices that constraints move, and where
//! they act.
//!
//! A deformable body is a tree whose velocities are those of its active vertices, three for each.
//! All other vertices follow from them, so its block of A is a Schur complement.

use super::jacobian::JacobianFrame;
use super::regularization::{ContactParameters, InverseInertia, SiteLaw, SpringRow, StepSettings};
use crate::model::BodyIndex;
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use tarragon_contact_solvers::{
    BlockColumns, JacobianBlock, JacobianBlocks, Law, TreeVelocities, VertexColumns,
};
use tarragon_framework::Scalar;
use tarragon_framework::autodiff::is_constant;

/// The vertices of a deformable body that contacts touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveVertices {
    /// Inertia of their velocities, row by row, with all other vertices eliminated.
    pub(crate) a: Vec<f64>,
    /// Velocities at the start of the step, vertex after vertex.
    pub(crate) v0: Vec<f64>,
    /// Guess of the velocities at its end.
    pub(crate) guess: Vec<f64>,
    /// Velocities at its end if there were no contact.
    pub(crate) v_star: Vec<f64>,
}

impl ActiveVertices {
    /// Forgets all vertices.
    pub(crate) fn clear(&mut self) {
        self.a.clear();
        self.v0.clear();
        self.guess.clear();
        self.v_star.clear();
    }
}

/// One of two sides of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContactSide<T = f64> {
    /// A point of a rigid body.
    Body(BodyIndex),
    /// A point of a deformable body: its number, and up to four of its active vertices with their
    /// weights. Others have weight 0.
    Vertices {
        body: usize,
        vertices: [u32; 4],
        weights: [T; 4],
    },
}

/// A point where a deformable body touches another or is fixed to it: three rows, the velocity of B
/// relative to A there, along directions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeformableSite<T: Scalar = f64> {
    /// A and B.
    pub(crate) sides: [ContactSide<T>; 2],
    pub(crate) p_wc: Vector3<T>,
    /// Directions, expressed in W, as columns; for contact two tangents and the normal out of A
    /// into B.
    pub(crate) r_wc: Matrix3<T>,
    pub(crate) law: DeformableLaw<T>,
}

impl DeformableSite {
    /// Returns the same without derivatives, in another scalar.
    pub(crate) fn lift<T: Scalar>(&self) -> DeformableSite<T> {
        let lift_side = |side: &ContactSide| match side {
            ContactSide::Body(body) => ContactSide::Body(*body),
            ContactSide::Vertices {
                body,
                vertices,
                weights,
            } => ContactSide::Vertices {
                body: *body,
                vertices: *vertices,
                weights: weights.map(T::from),
            },
        };
        DeformableSite {
            sides: self.sides.each_ref().map(lift_side),
            p_wc: self.p_wc.map(T::from),
            r_wc: self.r_wc.map(T::from),
            law: match &self.law {
                DeformableLaw::Contact(parameters) => DeformableLaw::Contact(parameters.lift()),
                DeformableLaw::Fixed(g) => DeformableLaw::Fixed(g.map(T::from)),
            },
        }
    }
}

/// Law of a site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeformableLaw<T: Scalar = f64> {
    Contact(ContactParameters<T>),
    /// A and B are one point; the position of B relative to A (m) along the directions tells by how
    /// much they are not.
    Fixed(Vector3<T>),
}

impl<T: Scalar> DeformableLaw<T> {
    /// Returns the law of the rows, given the normal velocity of a contact at the start of the step
    /// (m/s). Deformable contact never has MuJoCo's law, which needs all three components of the
    /// velocity.
    pub(super) fn law(&self, settings: &StepSettings, w: &InverseInertia<'_, T>, vn: T) -> Law<T> {
        match self {
            Self::Contact(parameters) => settings.contact(parameters, w, |_| vn),
            Self::Fixed(g) => {
                let rigid = |g: &T| SpringRow {
                    g: *g,
                    k: f64::INFINITY,
                    tau: 0.0,
                };
                settings.law(&SiteLaw::Springs(g.iter().map(rigid).collect()), w)
            }
        }
    }
}

/// A column of the Jacobian of a site, and the velocity that it belongs to, among those of a step.
pub(super) type SiteColumns<T> = SmallVec<[([T; 3], usize); 24]>;

impl<T: Scalar> DeformableSite<T> {
    /// Returns true if nothing in it has derivatives, certainly.
    pub(super) fn is_constant(&self) -> bool {
        let is_constant_side = |side: &ContactSide<T>| match side {
            ContactSide::Body(_) => true,
            ContactSide::Vertices { weights, .. } => weights.iter().all(is_constant),
        };
        let is_constant_law = match &self.law {
            DeformableLaw::Contact(c) => [c.k, c.d, c.tau, c.mu, c.depth].iter().all(is_constant),
            DeformableLaw::Fixed(g) => g.iter().all(is_constant),
        };
        is_constant_law
            && self.sides.iter().all(is_constant_side)
            && self.p_wc.iter().chain(&self.r_wc).all(is_constant)
    }

    /// Adds the values of the Jacobian and the columns of its blocks. Trees and velocities include
    /// those of deformable bodies, of which the first is tree `first_tree`.
    pub(super) fn add_jacobian(
        &self,
        kinematics: &JacobianFrame<'_, T>,
        trees: &TreeVelocities,
        first_tree: usize,
        jacobian: &mut Vec<T>,
        vertices: &mut Vec<VertexColumns>,
    ) -> (JacobianBlocks, SiteColumns<T>) {
        let mut blocks: JacobianBlocks = SmallVec::new();
        let mut columns: SiteColumns<T> = SmallVec::new();
        for (side, sign) in self.sides.iter().zip([-1.0, 1.0]) {
            let directions = self.r_wc * T::from(sign);
            let start = jacobian.len();
            let (tree, kind) = match side {
                ContactSide::Body(body) => {
                    let Some(tree) = kinematics.trees.of_body(*body) else {
                        continue;
                    };
                    let range = trees.range(tree);
                    jacobian.resize(start + 3 * range.len(), T::zero());
                    let values = &mut jacobian[start..];
                    kinematics.add_point_velocity(*body, tree, &self.p_wc, &directions, values);
                    let column = |(k, velocity)| {
                        let row = |i: usize| values[i * range.len() + k];
                        ([row(0), row(1), row(2)], velocity)
                    };
                    columns.extend(range.clone().enumerate().map(column));
                    (tree, BlockColumns::All)
                }
                ContactSide::Vertices {
                    body,
                    vertices: own,
                    weights,
                } => {
                    let tree = first_tree + body;
                    let real = |k| directions.column(k).map(|x: T| x.re());
                    let own = VertexColumns::new(
                        own,
                        &weights.map(|weight| weight.re()),
                        [real(0), real(1), real(2)],
                    );
                    let weights = weights.iter().filter(|weight| weight.re() != 0.0);
                    for row in directions.column_iter() {
                        for w in weights.clone() {
                            jacobian.extend_from_slice(&[row[0] * *w, row[1] * *w, row[2] * *w]);
                        }
                    }
                    let first = trees.range(tree).start;
                    for (w, (column, _)) in weights.zip(own.first_columns()) {
                        for k in 0..3 {
                            let values = [0, 1, 2].map(|row| directions[(k, row)] * *w);
                            columns.push((values, first + column + k));
                        }
                    }
                    vertices.push(own);
                    (tree, BlockColumns::Vertices(vertices.len() as u32 - 1))
                }
            };
            blocks.push(JacobianBlock {
                tree: tree as u32,
                start: start as u32,
                columns: kind,
            });
        }
        blocks.sort_by_key(|b| b.tree);
        (blocks, columns)
    }
}

/// All that deformable bodies add to the problem of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeformableProblem {
    /// By deformable body; empty where nothing touches it.
    pub(crate) bodies: Vec<ActiveVertices>,
    pub(crate) sites: Vec<DeformableSite>,
}

impl DeformableProblem {
    /// Returns true if constraints move vertices of any body.
    pub(super) fn has_vertices(&self) -> bool {
        self.bodies.iter().any(|body| !body.v_star.is_empty())
    }
}

/// The derivatives of the part of deformable bodies in the problem.
#[derive(Clone, Debug)]
pub(crate) struct DeformableDerivatives<T: Scalar> {
    /// By deformable body.
    pub(crate) bodies: Vec<DerivedVertices<T>>,
    /// All sites of the problem.
    pub(crate) sites: Vec<DeformableSite<T>>,
}

impl<T: Scalar> DeformableDerivatives<T> {
    /// Returns those of no body.
    pub(crate) fn none() -> Self {
        Self {
            bodies: vec![],
            sites: vec![],
        }
    }
}

/// The numbers of [`ActiveVertices`] with derivatives; all empty for a body without any.
#[derive(Clone, Debug)]
pub(crate) struct DerivedVertices<T> {
    pub(crate) v0: Vec<T>,
    /// Velocities at the end of the step without constraints, such that A has no derivatives.
    pub(crate) v_star: Vec<T>,
    /// Inverse of the diagonal of A.
    pub(crate) inverse_diagonal: Vec<T>,
}

impl<T> DerivedVertices<T> {
    /// Returns those of a body without derivatives.
    pub(crate) fn none() -> Self {
        Self {
            v0: vec![],
            v_star: vec![],
            inverse_diagonal: vec![],
        }
    }
}
