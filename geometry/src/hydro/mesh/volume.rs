//! Pressure in volume meshes from files.

use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::error::{Error, Result};
use crate::mesh::{VolumeMesh, convert_volume_to_surface_mesh};

/// Returns the pressure of each vertex per modulus: the distance from the boundary relative to the
/// largest.
pub(in crate::hydro) fn pressure_of_volume(volume: &VolumeMesh) -> Result<Vec<f64>> {
    let boundary = IndexedSurface::new(&convert_volume_to_surface_mesh(volume)?)?;
    let rounding = 1e-14 * boundary.extent();
    let distances = volume.vertices().iter().map(|p| {
        let mut best = f64::INFINITY;
        let bound = |b: &Box3| b.distance2(p);
        boundary.tree.descend(f64::INFINITY, bound, |i| {
            let nearest = boundary.triangles[i].nearest(p);
            best = best.min((p - nearest).norm_squared());
            best
        });
        // Vertices on the boundary are at distance 0 but for rounding.
        match best.sqrt() {
            distance if distance <= rounding => 0.0,
            distance => distance,
        }
    });
    let mut pressures: Vec<f64> = distances.collect();
    let deepest = pressures.iter().copied().fold(0.0, f64::max);
    if deepest == 0.0 {
        return Err(Error::invalid(
            "a compliant volume mesh must have a vertex inside, got only vertices on the boundary; \
             divide its tetrahedra",
        ));
    }
    for pressure in &mut pressures {
        *pressure /= deepest;
    }
    Ok(pressures)
}
