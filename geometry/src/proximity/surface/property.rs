//! The property that makes a mesh use its true surface in queries.

use crate::error::Result;
use crate::properties::ProximityProperties;
use crate::shape::Shape;

/// Returns whether a geometry is a mesh whose properties ask for its true surface.
///
/// # Errors
/// Returns an error if the property is not a `bool`.
pub(crate) fn has_true_surface(shape: &Shape, properties: &ProximityProperties) -> Result<bool> {
    match shape {
        Shape::Mesh(_) => {
            let (group, name) = ProximityProperties::TRUE_SURFACE;
            let found = properties.try_get::<bool>(group, name)?;
            Ok(found.is_some_and(|is_true| *is_true))
        }
        _ => Ok(false),
    }
}
