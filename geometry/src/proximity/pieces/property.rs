//! The property that makes a mesh take part as the union of convex pieces.

use crate::error::Result;
use crate::properties::{ProximityProperties, checks::check_max_pieces};
use crate::shape::Shape;

/// Returns the permitted number of pieces of a mesh; `None` for other shapes and for meshes whose
/// properties do not ask for pieces.
///
/// # Errors
/// Returns an error if the property is not a `usize`, or out of range.
pub(crate) fn max_pieces(shape: &Shape, properties: &ProximityProperties) -> Result<Option<usize>> {
    let Shape::Mesh(_) = shape else {
        return Ok(None);
    };
    let (group, name) = ProximityProperties::MAX_PIECES;
    let found = properties.try_get::<usize>(group, name)?;
    found.map_or(Ok(()), |n| check_max_pieces(*n))?;
    Ok(found.copied())
}
