//! The boxes that V-HACD divides a body into.

use crate::error::{Error, Result};
use crate::mesh::surface::TriangleSurfaceMesh;
use nalgebra::Vector3;
use parry3d_f64::math::Vector;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};
use parry3d_f64::transformation::voxelization::VoxelSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of voxels along the longest side.
const RESOLUTION: u32 = 64;
/// Share of the volume of the hull that a part may leave empty in its own hull.
const CONCAVITY: f64 = 1e-3;

/// Box around one part of a body.
pub(super) struct Cell {
    pub(super) low: Vector3<f64>,
    pub(super) high: Vector3<f64>,
    /// Corners that may be inside the body; the bits of the index select the upper side per axis.
    pub(super) filled: [bool; 8],
}

/// Divides the box around a mesh into cells, each around one part of the body.
///
/// # Errors
/// Returns an error if the algorithm fails.
pub(super) fn cells(mesh: &TriangleSurfaceMesh, max_pieces: usize) -> Result<Vec<Cell>> {
    // The tolerances of parry are absolute, so the body is brought to size 1 around the origin.
    let (center, size) = mesh.calc_bounding_box();
    let longest = size.max();
    let points = mesh.vertices().iter().map(|p| {
        let p = (p - center) / longest;
        Vector::new(p.x, p.y, p.z)
    });
    let points: Vec<Vector> = points.collect();
    let triangles: Vec<[u32; 3]> = mesh.triangles().iter().map(|t| t.vertices()).collect();
    let parameters = VHACDParameters {
        resolution: RESOLUTION,
        concavity: CONCAVITY,
        // parry makes up to twice as many, rounded up to a power of two.
        max_convex_hulls: max_pieces as u32,
        ..VHACDParameters::default()
    };
    let work = || VHACD::decompose(&parameters, &points, &triangles, false);
    // Some of parry's hulls panic instead of failing.
    let parts = catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        Error::numerical(format!(
            "convex decomposition: the voxels of {} triangles must have convex hulls, but parry \
             failed to compute one",
            triangles.len()
        ))
    })?;
    let in_mesh = |p: Vector3<f64>| center + p * longest;
    let parts = parts.voxel_parts().iter().filter(|part| !part.is_empty());
    Ok(parts.map(|part| cell(part, in_mesh)).collect())
}

fn cell(part: &VoxelSet, in_mesh: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Cell {
    let coords = || part.voxels().iter().map(|v| v.coords);
    let first = part.voxels()[0].coords;
    let low = coords().fold(first, |low, c| low.min(c));
    let high = coords().fold(first, |high, c| high.max(c));
    let mut filled = [false; 8];
    for c in coords() {
        for (i, filled) in filled.iter_mut().enumerate() {
            let corner = [0, 1, 2].map(|axis| {
                if i >> axis & 1 == 1 {
                    high[axis]
                } else {
                    low[axis]
                }
            });
            *filled |= c.to_array() == corner;
        }
    }
    // A voxel is the cube of size `scale` around its point. The cells overlap by far less than
    // that, so that rounding leaves no gap between them.
    let slack = 0.5 + 1e-9;
    let at = |voxel: [i64; 3], shift: f64| {
        let o = Vector3::new(part.origin.x, part.origin.y, part.origin.z);
        in_mesh(o + Vector3::from(voxel).map(|i| i as f64 + shift) * part.scale)
    };
    Cell {
        low: at(low.to_array(), -slack),
        high: at(high.to_array(), slack),
        filled,
    }
}
