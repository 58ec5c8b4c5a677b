//! The property that makes a mesh use its true surface in queries.

use crate::error::Result;
use crate::properties::ProximityProperties;
use crate::shape::Shape;

/// Group and name of the property, a `bool`.
const TRUE_SURFACE: (&str, &str) = ("mesh", "true_surface");

/// Makes a [`Mesh`](crate::Mesh) with these properties use its true surface instead of its convex
/// hull in distance and penetration queries, by setting `("mesh", "true_surface")`. Other shapes
/// ignore the property. See [`signed_distance_true_surface`](super::signed_distance_true_surface).
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::proximity::add_true_surface;
/// use tarragon_geometry::{GeometryInstance, Mesh, ProximityProperties};
/// let mut properties = ProximityProperties::new();
/// add_true_surface(&mut properties);
/// assert_eq!(properties.get::<bool>("mesh", "true_surface")?, &true);
/// let gripper = GeometryInstance::new(Isometry3::identity(), Mesh::new("gripper.obj"), "gripper")?
///     .with_proximity(properties);
/// # let _ = gripper;
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn add_true_surface(properties: &mut ProximityProperties) {
    properties.set(TRUE_SURFACE.0, TRUE_SURFACE.1, true);
}

/// Returns whether a geometry is a mesh whose properties ask for its true surface.
///
/// # Errors
/// Returns an error if the property is not a `bool`.
pub(crate) fn has_true_surface(shape: &Shape, properties: &ProximityProperties) -> Result<bool> {
    match shape {
        Shape::Mesh(_) => {
            let found = properties.try_get::<bool>(TRUE_SURFACE.0, TRUE_SURFACE.1)?;
            Ok(found.is_some_and(|is_true| *is_true))
        }
        _ => Ok(false),
    }
}
