//! Volume meshes from files.

use super::check::{check_tetrahedra, is_positive};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::error::{Error, Result};
use crate::mesh::{VolumeMesh, are_on_faces, boundary_faces, convert_volume_to_surface_mesh};
use std::sync::Arc;
use tarragon_framework::warnings::warn;

/// Cure for tetrahedra with all vertices on the boundary.
const REFINE: &str = "divide them with `tarragon convert MESH.vtk FIXED.vtk --refine`, or with \
                      `refine_volume_mesh` in code";

fn without_inside() -> Error {
    Error::invalid(format!(
        "tetrahedra of a compliant volume mesh must have a vertex inside the mesh, got only vertices \
         on its boundary; {REFINE}"
    ))
}

/// Returns the mesh of a file with all tetrahedra in the right order. A tetrahedron in the wrong
/// order or without volume is a warning that begins with `place`. Where all are in the wrong order,
/// the file has another convention.
pub(in crate::hydro) fn oriented(volume: Arc<VolumeMesh>, place: &str) -> Result<Arc<VolumeMesh>> {
    let Err(error) = check_tetrahedra(&volume) else {
        return Ok(volume);
    };
    let is_inverted = |e: usize| volume.calc_tetrahedron_volume(e) < 0.0;
    let count = volume.num_elements();
    if !(0..count).all(is_inverted) {
        warn(format!(
            "{place}: {error}; until then it counts as if they were exchanged, and tetrahedra \
             without volume are left out"
        ));
    }
    let tetrahedra = (0..count).map(|e| match (volume.element(e).vertices(), is_inverted(e)) {
        ([a, b, c, d], true) => [b, a, c, d],
        (vertices, false) => vertices,
    });
    let turned = VolumeMesh::new(tetrahedra, volume.vertices().to_vec())?;
    Ok(Arc::new(turned))
}

/// Leaves tetrahedra without a positive volume out. All vertices stay.
///
/// # Errors
/// Returns an error if no tetrahedron has a positive volume.
pub(in crate::hydro) fn without_inverted(volume: Arc<VolumeMesh>) -> Result<Arc<VolumeMesh>> {
    let count = volume.num_elements();
    let kept: Vec<usize> = (0..count).filter(|e| is_positive(&volume, *e)).collect();
    if kept.len() == count {
        return Ok(volume);
    }
    if kept.is_empty() {
        return Err(Error::invalid(format!(
            "a compliant volume mesh must have a tetrahedron with a positive volume, got none of \
             {count}; correct the tetrahedra, or reduce the margin if there is one"
        )));
    }
    let tetrahedra = kept.iter().map(|e| volume.element(*e));
    let positive = VolumeMesh::new(tetrahedra, volume.vertices().to_vec())?;
    Ok(Arc::new(positive))
}

/// Returns the distance of each vertex from the boundary (m).
///
/// # Errors
/// Returns an error if the boundary has no area.
pub(crate) fn distances_from_boundary(volume: &VolumeMesh) -> Result<Vec<f64>> {
    distances(volume, &is_on_boundary(volume))
}

/// Returns whether each vertex belongs to a face of the boundary.
fn is_on_boundary(volume: &VolumeMesh) -> Vec<bool> {
    are_on_faces(&boundary_faces(volume.tetrahedra()), volume.num_vertices())
}

fn distances(volume: &VolumeMesh, is_outside: &[bool]) -> Result<Vec<f64>> {
    let boundary = IndexedSurface::new(&convert_volume_to_surface_mesh(volume)?)?;
    let rounding = 1e-14 * boundary.extent();
    let distances = volume
        .vertices()
        .iter()
        .zip(is_outside)
        .map(|(p, is_outside)| {
            if *is_outside {
                return 0.0;
            }
            let mut best = f64::INFINITY;
            let bound = |b: &Box3| b.distance2(p);
            boundary.tree.descend(f64::INFINITY, bound, |i| {
                let nearest = boundary.triangle(i).nearest(p);
                best = best.min((p - nearest).norm_squared());
                best
            });
            // A vertex of no boundary face may still lie on one, but for rounding.
            match best.sqrt() {
                distance if distance <= rounding => 0.0,
                distance => distance,
            }
        });
    Ok(distances.collect())
}

/// Returns the pressure of each vertex per modulus: the distance from the boundary relative to the
/// largest. On the boundary, which a margin (m) moves outwards, it is that of the moved boundary:
/// negative, so that it rises to 0 over the margin.
pub(in crate::hydro) fn pressure_of_volume(volume: &VolumeMesh, margin: f64) -> Result<Vec<f64>> {
    let is_outside = is_on_boundary(volume);
    let mut pressures = distances(volume, &is_outside)?;
    let deepest = pressures.iter().copied().fold(0.0, f64::max);
    if deepest == 0.0 {
        return Err(without_inside());
    }
    for (pressure, is_outside) in pressures.iter_mut().zip(is_outside) {
        *pressure = if is_outside {
            0.0 - margin / deepest
        } else {
            *pressure / deepest
        };
    }
    Ok(pressures)
}

/// Returns true if all corners of a tetrahedron are on the boundary, given the pressures there. The
/// pressure inside is positive, so this holds exactly.
///
/// The pressure is the same everywhere in such a tetrahedron, and so has no gradient: 0 as at the
/// boundary, or negative with a margin. A contact surface in it would be an area without the force
/// of a deformation, so there is none.
pub(in crate::hydro) fn are_on_boundary(pressures: &[f64; 4]) -> bool {
    pressures.iter().all(|pressure| *pressure <= 0.0)
}

/// Warns of the tetrahedra with all vertices on the boundary, which have no contact. The message
/// begins with `place`. Tetrahedra without a positive volume do not count.
///
/// # Errors
/// Returns an error if no tetrahedron has contact.
pub(in crate::hydro) fn warn_of_tetrahedra_on_boundary(
    volume: &VolumeMesh,
    pressures: &[f64],
    place: &str,
) -> Result<()> {
    let (mut count, mut num_left_out) = (0, 0);
    for e in (0..volume.num_elements()).filter(|e| is_positive(volume, *e)) {
        let corners = volume.element(e).vertices().map(|v| pressures[v as usize]);
        count += 1;
        num_left_out += usize::from(are_on_boundary(&corners));
    }
    if count > 0 && num_left_out == count {
        return Err(without_inside());
    }
    if num_left_out > 0 {
        warn(format!(
            "{place}: tetrahedra must have a vertex inside the mesh for a gradient of pressure, got \
             {num_left_out} of {count} with all vertices on its boundary, which are left out of \
             contact; {REFINE}"
        ));
    }
    Ok(())
}
