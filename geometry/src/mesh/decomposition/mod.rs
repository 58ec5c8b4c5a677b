//! Approximate convex decomposition: a mesh as the union of few convex pieces.
//!
//! V-HACD (Mamou & Ghorbel, "A simple and efficient approach for 3D mesh approximate convex
//! decomposition", 2009), as implemented by parry, splits the voxels of the body by planes along
//! the axes, where that leaves the least empty space between the parts and their hulls (`cells`).
//! Only the planes are taken from there: the mesh itself is cut along them (`clip`), so a piece is
//! the exact hull of one part of the body, and the pieces cover the body. Pieces that are nearly
//! convex together are joined again, and so are the best ones beyond the permitted number
//! (`merge`).

#[cfg(feature = "convex-decomposition")]
mod cells;
#[cfg(feature = "convex-decomposition")]
mod clip;
#[cfg(feature = "convex-decomposition")]
mod merge;

use super::hull::{ConvexHull, convex_hull};
use super::surface::TriangleSurfaceMesh;
use crate::error::{Error, Result};
use std::ops::RangeInclusive;

/// Permitted numbers of pieces.
pub(crate) const PIECES: RangeInclusive<usize> = 1..=256;

/// Decomposes the body bounded by a surface into at most `max_pieces` convex pieces, which cover it
/// and overlap at most a little. One piece is the convex hull.
///
/// Every piece is the hull of a part of the body, so the pieces fill a concavity only where no cut
/// opens it: more pieces leave more of it open. The body is divided on a grid of 64 cells along its
/// longest side, and pieces are joined while that adds less than 0.1% of the volume of the hull;
/// hence walls of any thickness are kept, but gaps below 1/64 of the size are closed. The space
/// that a closed surface encloses counts as filled. The result depends only on the arguments.
///
/// ```
/// # #[cfg(feature = "convex-decomposition")] {
/// use tarragon_geometry::mesh::{ConvexHull, convex_decomposition};
/// use tarragon_geometry::{InMemoryMesh, MemoryFile, Mesh};
/// // A corner of two walls at a right angle.
/// let obj = "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\n\
///            v 0 0 1\nv 3 0 1\nv 3 1 1\nv 1 1 1\nv 1 3 1\nv 0 3 1\n\
///            f 1 6 5 4\nf 1 4 3 2\nf 7 8 9 10\nf 7 10 11 12\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\n\
///            f 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
/// let walls = Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "walls")));
/// let pieces: Vec<ConvexHull> = convex_decomposition(&*walls.surface()?, 8)?;
/// assert!((2..=3).contains(&pieces.len())); // cuts are on the grid, which may leave a sliver
/// # }
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
///
/// # Errors
/// Returns an error if `max_pieces` is not from 1 to 256, if all vertices are on a line, or if the
/// crate was built without its feature `convex-decomposition`.
pub fn convex_decomposition(
    mesh: &TriangleSurfaceMesh,
    max_pieces: usize,
) -> Result<Vec<ConvexHull>> {
    if !PIECES.contains(&max_pieces) {
        return Err(Error::invalid(format!(
            "convex decomposition: number of pieces must be from {} to {}, got {max_pieces}",
            PIECES.start(),
            PIECES.end()
        )));
    }
    let hull = convex_hull(mesh.vertices())?;
    if hull.faces.is_empty() {
        return Err(Error::invalid(
            "convex decomposition: the vertices must not all be on a line",
        ));
    }
    if max_pieces == 1 {
        return Ok(vec![hull]);
    }
    decompose(mesh, hull, max_pieces)
}

#[cfg(not(feature = "convex-decomposition"))]
fn decompose(_: &TriangleSurfaceMesh, _: ConvexHull, max_pieces: usize) -> Result<Vec<ConvexHull>> {
    Err(Error::unsupported(format!(
        "convex decomposition: {max_pieces} pieces need the cargo feature 'convex-decomposition' of \
         tarragon or tarragon-geometry, which is not enabled; without it, use 1 piece"
    )))
}

#[cfg(feature = "convex-decomposition")]
fn decompose(
    mesh: &TriangleSurfaceMesh,
    hull: ConvexHull,
    max_pieces: usize,
) -> Result<Vec<ConvexHull>> {
    let whole = merge::HullPiece::new(hull);
    let mut pieces = vec![];
    for cell in cells::cells(mesh, max_pieces)? {
        let hull = convex_hull(&clip::points_in(mesh, &cell))?;
        // The points that a cell has on a line belong to its neighbours, too.
        if !hull.faces.is_empty() {
            pieces.push(merge::HullPiece::new(hull));
        }
    }
    merge::merge(&mut pieces, max_pieces, 1e-3 * whole.volume)?;
    if pieces.len() < 2 {
        return Ok(vec![whole.hull]);
    }
    Ok(pieces.into_iter().map(|piece| piece.hull).collect())
}

#[cfg(test)]
mod tests;
