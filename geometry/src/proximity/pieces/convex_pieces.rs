//! The pieces of a mesh, with boxes around them.

use crate::accel::Polytope;
use crate::error::Result;
use crate::shape::{Convex, Mesh, Shape};
use nalgebra::Vector3;
use std::sync::Arc;

/// Convex pieces of a mesh, in its frame.
#[derive(Clone, Debug)]
pub(crate) struct ConvexPieces {
    convex: Arc<[Convex]>,
    pub(super) pieces: Vec<Piece>,
}

/// Convex piece and the box around it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) shape: Shape,
    pub(super) bounds: Bounds,
}

/// Box along the axes of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) center: Vector3<f64>,
    pub(super) half: Vector3<f64>,
}

impl ConvexPieces {
    /// Decomposes a mesh into at most `max_pieces` pieces.
    ///
    /// # Errors
    /// Returns the errors of [`Mesh::convex_pieces`].
    pub(crate) fn of(mesh: &Mesh, max_pieces: usize) -> Result<Self> {
        let convex = mesh.convex_pieces(max_pieces)?;
        let pieces = convex.iter().map(|piece| {
            Ok(Piece {
                bounds: Bounds::around(piece.polytope()?.vertices()),
                shape: piece.clone().into(),
            })
        });
        Ok(Self {
            pieces: pieces.collect::<Result<_>>()?,
            convex,
        })
    }

    pub(crate) fn polytopes(&self) -> impl Iterator<Item = &Polytope> {
        self.convex.iter().filter_map(|piece| piece.polytope().ok())
    }

    /// Returns the pieces as shapes of their own.
    pub(crate) fn shapes(&self) -> &[Convex] {
        &self.convex
    }
}

impl Bounds {
    pub(super) fn around(points: &[Vector3<f64>]) -> Self {
        let first = points.first().copied().unwrap_or_default();
        let low = points.iter().fold(first, |low, p| low.inf(p));
        let high = points.iter().fold(first, |high, p| high.sup(p));
        Self {
            center: (low + high) * 0.5,
            half: (high - low) * 0.5,
        }
    }

    /// Returns a lower bound of the signed distance of the contents of two boxes (m): overlapping
    /// bodies are separated by a translation along an axis that separates their boxes.
    pub(super) fn distance(&self, other: &Self) -> f64 {
        let gaps = (other.center - self.center).abs() - self.half - other.half;
        if gaps.max() <= 0.0 {
            return gaps.max();
        }
        gaps.map(|gap| gap.max(0.0)).norm()
    }
}
