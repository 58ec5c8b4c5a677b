//! Surfaces that represent shapes in hydroelastic contact.

use std::sync::Arc;
use tarragon_framework::warnings::warn;
use tarragon_geometry::hydro::make_hydroelastic_mesh;
use tarragon_geometry::mesh::TriangleSurfaceMesh;
use tarragon_geometry::{GeometryProperties, Shape};

/// Returns the surface of the hydroelastic mesh of a shape, if it has one. If it cannot be made,
/// warns and returns `None`: the shape itself is still a good picture. `place` begins the warning.
pub(crate) fn surface_to_show(
    place: &dyn std::fmt::Display,
    shape: &Shape,
    properties: &GeometryProperties,
) -> Option<TriangleSurfaceMesh> {
    let mesh = make_hydroelastic_mesh(shape, properties);
    let surface = mesh.and_then(|mesh| mesh.map(|mesh| mesh.surface()).transpose());
    let surface = surface.unwrap_or_else(|error| {
        warn(format!(
            "{place} is shown without its hydroelastic mesh: {error}"
        ));
        None
    });
    surface.map(Arc::unwrap_or_clone)
}
