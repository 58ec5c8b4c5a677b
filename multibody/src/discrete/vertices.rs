//! Deformable bodies in the problem of a step: the vertices that constraints move, and where
//! they act.
//!
//! A deformable body is a tree whose velocities are those of its active vertices, three for each.
//! All other vertices follow from them, so its block of A is a Schur complement.

use super::regularization::ContactParameters;
use crate::model::BodyIndex;
use nalgebra::{Matrix3, Vector3};

/// Number of columns of a Jacobian that belong to the vertices of a deformable body: those of a
/// tetrahedron, at most.
pub(super) const MOST_COLUMNS: usize = 12;

/// The vertices of a deformable body that contacts touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveVertices {
    /// Inertia of their velocities, row by row, with all other vertices eliminated.
    pub(crate) a: Vec<f64>,
    /// Velocities at the start of the step, vertex after vertex.
    pub(crate) v0: Vec<f64>,
    /// Velocities at its end if there were no contact.
    pub(crate) v_star: Vec<f64>,
}

impl ActiveVertices {
    /// Forgets all vertices.
    pub(crate) fn clear(&mut self) {
        self.a.clear();
        self.v0.clear();
        self.v_star.clear();
    }
}

/// One of two sides of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContactSide {
    /// A point of a rigid body.
    Body(BodyIndex),
    /// A point of a deformable body: its number, and up to four of its active vertices with their
    /// weights. Others have weight 0.
    Vertices {
        body: usize,
        vertices: [u32; 4],
        weights: [f64; 4],
    },
}

/// A point where a deformable body touches another or is fixed to it: three rows, the velocity of B
/// relative to A there, along directions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeformableSite {
    /// A and B.
    pub(crate) sides: [ContactSide; 2],
    pub(crate) p_wc: Vector3<f64>,
    /// Directions, expressed in W, as columns; for contact two tangents and the normal out of A
    /// into B.
    pub(crate) r_wc: Matrix3<f64>,
    pub(crate) law: DeformableLaw,
}

/// Law of a site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeformableLaw {
    Contact(ContactParameters<f64>),
    /// A and B are one point; the position of B relative to A (m) along the directions tells by how
    /// much they are not.
    Fixed(Vector3<f64>),
}

/// All that deformable bodies add to the problem of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeformableProblem {
    /// By deformable body; empty where nothing touches it.
    pub(crate) bodies: Vec<ActiveVertices>,
    pub(crate) sites: Vec<DeformableSite>,
}

/// The columns of a tree that a block of a Jacobian has, three for each of some vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VertexColumns {
    /// First column of each vertex.
    first: [u32; 4],
    count: u32,
}

impl VertexColumns {
    /// Returns the columns of the vertices whose weight is not 0.
    pub(super) fn new(vertices: &[u32; 4], weights: &[f64; 4]) -> Self {
        let mut columns = Self {
            first: [0; 4],
            count: 0,
        };
        for (vertex, weight) in vertices.iter().zip(weights) {
            if *weight != 0.0 {
                columns.first[columns.count as usize] = 3 * vertex;
                columns.count += 1;
            }
        }
        columns
    }
    /// Returns the number of columns.
    pub(super) fn len(&self) -> usize {
        3 * self.count as usize
    }
    /// Returns the first column of each vertex.
    #[inline]
    pub(super) fn first_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let first = self.first[..self.count as usize].iter();
        first.map(|first| *first as usize)
    }
    /// Returns the columns.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.first_columns().flat_map(|first| first..first + 3)
    }
    /// Returns the velocities of these columns among those of the tree.
    #[inline]
    pub(super) fn gather<'a>(
        &self,
        all: &[f64],
        out: &'a mut [f64; MOST_COLUMNS],
    ) -> &'a mut [f64] {
        for (column, out) in self.iter().zip(out.iter_mut()) {
            *out = all[column];
        }
        &mut out[..self.len()]
    }
    /// Replaces the velocities of these columns among those of the tree.
    #[inline]
    pub(super) fn scatter(&self, own: &[f64], all: &mut [f64]) {
        for (column, own) in self.iter().zip(own) {
            all[column] = *own;
        }
    }
}
