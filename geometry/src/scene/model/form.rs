//! How a geometry takes part in proximity queries.

use crate::error::{Error, Result};
use crate::properties::ProximityProperties;
use crate::proximity::{self, Body, ConvexPieces};
use crate::shape::{Convex, Shape};
use std::sync::Arc;

/// How a geometry takes part in proximity queries, from its shape and its properties.
#[derive(Clone, Debug, Default)]
pub(crate) enum ProximityForm {
    /// As its shape; a mesh as its hull.
    #[default]
    Solid,
    /// As the true surface of a mesh or a height field.
    TrueSurface,
    /// As the convex pieces of a mesh.
    Pieces(Arc<ConvexPieces>),
}

impl ProximityForm {
    /// Reads the properties, and decomposes the mesh if they ask for it.
    ///
    /// # Errors
    /// Returns an error if a property has a wrong type or value, if both forms of a mesh are asked
    /// for, or if the mesh cannot be decomposed.
    pub(super) fn of(shape: &Shape, properties: &ProximityProperties) -> Result<Self> {
        let mesh = match shape {
            Shape::Mesh(mesh) => mesh,
            Shape::HeightField(_) => return Ok(Self::TrueSurface),
            _ => return Ok(Self::Solid),
        };
        let is_true = proximity::has_true_surface(shape, properties)?;
        match proximity::max_pieces(shape, properties)? {
            Some(_) if is_true => Err(Error::invalid(
                "a mesh must have at most one of the properties ('mesh', 'true_surface') and \
                 ('convex_decomposition', 'max_pieces'), got both",
            )),
            Some(count) => Ok(Self::Pieces(Arc::new(ConvexPieces::of(mesh, count)?))),
            None if is_true => Ok(Self::TrueSurface),
            None => Ok(Self::Solid),
        }
    }

    /// Returns the body of a geometry with this form.
    #[inline]
    pub(crate) fn body<'a>(&'a self, shape: &'a Shape) -> Body<'a> {
        match self {
            Self::Solid => Body::Solid(shape),
            Self::TrueSurface => Body::TrueSurface(shape),
            Self::Pieces(pieces) => Body::Pieces(shape, pieces),
        }
    }

    /// Returns the convex pieces, if it takes part as those.
    pub(super) fn pieces(&self) -> Option<&[Convex]> {
        match self {
            Self::Pieces(pieces) => Some(pieces.shapes()),
            Self::Solid | Self::TrueSurface => None,
        }
    }
}
