//! The property that makes a mesh take part as the union of convex pieces.

use crate::error::{Error, Result};
use crate::mesh::DECOMPOSITION_PIECES;
use crate::properties::ProximityProperties;
use crate::shape::Shape;

/// Group and name of the property, a `usize`.
const MAX_PIECES: (&str, &str) = ("convex_decomposition", "max_pieces");

/// Makes a [`Mesh`](crate::Mesh) with these properties take part in proximity queries as the union
/// of at most `max_pieces` convex pieces instead of its convex hull, by setting
/// `("convex_decomposition", "max_pieces")`. Other shapes ignore the property.
///
/// A mesh is decomposed when it gets these properties in a scene; see
/// [`convex_decomposition`](crate::mesh::convex_decomposition). The section "Convex pieces of
/// meshes" above defines the results. 32 pieces open a mug or a bowl.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::proximity::add_convex_decomposition;
/// use tarragon_geometry::{GeometryInstance, Mesh, ProximityProperties};
/// let mut properties = ProximityProperties::new();
/// add_convex_decomposition(&mut properties, 32)?;
/// assert_eq!(properties.get::<usize>("convex_decomposition", "max_pieces")?, &32);
/// let mug = GeometryInstance::new(Isometry3::identity(), Mesh::new("mug.obj"), "mug")?
///     .with_proximity(properties);
/// # let _ = mug;
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if `max_pieces` is not from 1 to 256.
pub fn add_convex_decomposition(
    properties: &mut ProximityProperties,
    max_pieces: usize,
) -> Result<()> {
    check(max_pieces)?;
    properties.set(MAX_PIECES.0, MAX_PIECES.1, max_pieces);
    Ok(())
}

fn check(max_pieces: usize) -> Result<()> {
    let (group, name) = MAX_PIECES;
    if DECOMPOSITION_PIECES.contains(&max_pieces) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "property ('{group}', '{name}') must be from {} to {}, got {max_pieces}",
        DECOMPOSITION_PIECES.start(),
        DECOMPOSITION_PIECES.end()
    )))
}

/// Returns the permitted number of pieces of a mesh; `None` for other shapes and for meshes whose
/// properties do not ask for pieces.
///
/// # Errors
/// Returns an error if the property is not a `usize`, or out of range.
pub(crate) fn max_pieces(shape: &Shape, properties: &ProximityProperties) -> Result<Option<usize>> {
    let Shape::Mesh(_) = shape else {
        return Ok(None);
    };
    let found = properties.try_get::<usize>(MAX_PIECES.0, MAX_PIECES.1)?;
    found.map_or(Ok(()), |n| check(*n))?;
    Ok(found.copied())
}
