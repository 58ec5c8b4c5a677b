//! The element of our own in `drake:proximity_properties`: a mesh as the union of convex pieces.

use tarragon_geometry::ProximityProperties;

/// Element with the permitted number of convex pieces of a mesh.
pub(crate) const CONVEX_PIECES: &str = "tarragon:max_convex_pieces";

/// Sets the property of the element.
///
/// # Errors
/// Returns a message if the number is not an integer, or out of range.
pub(crate) fn set_convex_pieces(
    properties: &mut ProximityProperties,
    value: f64,
) -> Result<(), String> {
    // Negative and huge numbers become one of the ends, which are both out of range.
    let count = value as usize;
    if count as f64 != value || properties.set_max_pieces(count).is_err() {
        return Err(format!(
            "<{CONVEX_PIECES}> must be an integer from 1 to 256, got {value:?}"
        ));
    }
    Ok(())
}
