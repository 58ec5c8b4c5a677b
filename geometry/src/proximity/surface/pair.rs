//! Signed distance of two bodies, at least one of which is represented by the true surface of a
//! mesh.

use super::solution::{DecidingFeature, SurfaceSolution};
use super::{core_pair, mesh_pair};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::error::Result;
use crate::proximity::PairDistance;
use crate::proximity::convex::{ActiveFeatures, LocalFeature};
use crate::proximity::dispatch::closest;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::shape_core::{core, extent, margin, precedes};
use crate::shape::Shape;
use crate::values::value_of;
use crate::values::values_of_pose;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Returns the signed distance of shape `a` at the pose `x_wa` and shape `b` at `x_wb`. A [`Mesh`]
/// is represented by its true surface if its flag `a_true` or `b_true` is set, and by its hull if
/// not; a height field always by its true surface; all other shapes are treated as in
/// [`signed_distance`](crate::proximity::signed_distance). Returns `None` if the distance is above
/// `max_distance` (m), which may be negative. The section "True surfaces of meshes" above defines
/// the distance of overlapping bodies and its accuracy.
///
/// [`Mesh`]: crate::Mesh
///
/// # Errors
/// Returns an error in the cases of [`signed_distance`](crate::proximity::signed_distance), or if a
/// mesh cannot be read or none of its triangles has a nonzero area.
///
/// ```
/// use nalgebra::Isometry3;
/// use tarragon_geometry::{InMemoryMesh, MemoryFile, Mesh, Sphere};
/// use tarragon_geometry::proximity::{signed_distance, signed_distance_true_surface};
/// // Two walls of a channel along y, whose bottom is open.
/// let obj = "v -1 -1 0\nv -1 1 0\nv -1 1 2\nv -1 -1 2\nv 1 -1 0\nv 1 1 0\nv 1 1 2\nv 1 -1 2\n\
///            f 1 2 3 4\nf 8 7 6 5\n";
/// let walls = Mesh::new(InMemoryMesh::new(MemoryFile::new(obj, ".obj", "walls"))).into();
/// let ball = Sphere::new(0.25)?.into();
/// let (o, x_wb) = (Isometry3::identity(), Isometry3::translation(0.5, 0.0, 1.0));
/// let far = f64::INFINITY;
/// let d = signed_distance_true_surface(&walls, true, &o, &ball, false, &x_wb, far)?;
/// assert_eq!(d.expect("nothing is beyond infinity").distance, 0.25);
/// assert!(signed_distance(&walls, &o, &ball, &x_wb)?.distance < 0.0); // in the hull
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn signed_distance_true_surface<T: Scalar>(
    a: &Shape,
    a_true: bool,
    x_wa: &Isometry3<T>,
    b: &Shape,
    b_true: bool,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<PairDistance<T>>> {
    let reach = max_distance.max(0.0);
    let found = match (a, b) {
        (Shape::HeightField(f), Shape::HalfSpace(_)) => {
            half_space(f.indexed_surface(), x_wa, x_wb, reach).map(PairDistance::swapped)
        }
        (Shape::HalfSpace(_), Shape::HeightField(f)) => {
            half_space(f.indexed_surface(), x_wb, x_wa, reach)
        }
        _ => of_bodies(a, a_true, x_wa, b, b_true, x_wb, max_distance)?,
    };
    Ok(found.filter(|d| d.distance.re() <= max_distance))
}

fn of_bodies<T: Scalar>(
    a: &Shape,
    a_true: bool,
    x_wa: &Isometry3<T>,
    b: &Shape,
    b_true: bool,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<PairDistance<T>>> {
    // The lowest vertex of a surface is also the lowest vertex of its hull.
    let surfaces_matter = !is_half_space(a) && !is_half_space(b);
    let surface_a = surface_of(a, a_true && surfaces_matter)?;
    let surface_b = surface_of(b, b_true && surfaces_matter)?;
    let reach = max_distance.max(0.0);
    Ok(match (surface_a, surface_b) {
        (None, None) => return closest(a, x_wa, b, x_wb, max_distance),
        (Some(m), None) => of_core(m, x_wa, b, x_wb, reach)?,
        (None, Some(m)) => of_core(m, x_wb, a, x_wa, reach)?.map(PairDistance::swapped),
        (Some(m), Some(n)) if precedes(&m.key(), x_wa, &n.key(), x_wb) => {
            of_surfaces(m, x_wa, n, x_wb, reach)
        }
        (Some(m), Some(n)) => of_surfaces(n, x_wb, m, x_wa, reach).map(PairDistance::swapped),
    })
}

/// Returns the surface of a shape that takes part by its true surface.
pub(in crate::proximity) fn surface_of(
    shape: &Shape,
    is_true: bool,
) -> Result<Option<&IndexedSurface>> {
    match shape {
        Shape::Mesh(mesh) if is_true => mesh.indexed_surface().map(Some),
        Shape::HeightField(field) => Ok(Some(field.indexed_surface())),
        _ => Ok(None),
    }
}

fn is_half_space(shape: &Shape) -> bool {
    matches!(shape, Shape::HalfSpace(_))
}

/// Returns the pose of B in A.
pub(super) fn relative<T: Scalar>(x_wa: &Isometry3<T>, x_wb: &Isometry3<T>) -> Isometry3<T> {
    let p_ab = x_wa.rotation.inverse() * (x_wb.translation.vector - x_wa.translation.vector);
    Isometry3::from_parts(p_ab.into(), x_wa.rotation.inverse() * x_wb.rotation)
}

/// Returns the distance of a mesh and a convex body.
fn of_core<T: Scalar>(
    mesh: &IndexedSurface,
    x_wm: &Isometry3<T>,
    body: &Shape,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Result<Option<PairDistance<T>>> {
    let (core, radius) = (core(body)?, margin(body));
    let x_mb = relative(x_wm, x_wb);
    let size = value_of(&x_mb.translation.vector).amax() + mesh.extent() + extent(body);
    let reach = radius + max_distance + NEGLIGIBLE * size;
    let found = core_pair::solve(mesh, &core, &values_of_pose(&x_mb), reach);
    Ok(found.map(|found| in_world(&found, x_wm, &x_mb, radius)))
}

/// Returns the distance of a half space and a surface, that of the lowest vertex.
fn half_space<T: Scalar>(
    surface: &IndexedSurface,
    x_wm: &Isometry3<T>,
    x_wh: &Isometry3<T>,
    reach: f64,
) -> Option<PairDistance<T>> {
    let x_hm = relative(x_wh, x_wm);
    let x = values_of_pose(&x_hm);
    let up = x.rotation.inverse_transform_vector(&Vector3::z());
    let mut lowest = (f64::INFINITY, Vector3::zeros());
    let least = |b: &Box3| -b.support(&-up);
    surface.tree.descend(f64::INFINITY, least, |i| {
        for v in surface.triangle(i).corners {
            if up.dot(&v) < lowest.0 {
                lowest = (up.dot(&v), v);
            }
        }
        lowest.0
    });
    if lowest.0 + x.translation.z > reach + NEGLIGIBLE * surface.extent() {
        return None;
    }
    let plane = LocalFeature::face(Vector3::zeros(), Vector3::z());
    let active = ActiveFeatures::on_plane(Vector3::z(), plane, LocalFeature::point(lowest.1));
    let found = SurfaceSolution::new(DecidingFeature::Features(active));
    Some(in_world(&found, x_wh, &x_hm, 0.0))
}

fn of_surfaces<T: Scalar>(
    a: &IndexedSurface,
    x_wa: &Isometry3<T>,
    b: &IndexedSurface,
    x_wb: &Isometry3<T>,
    max_distance: f64,
) -> Option<PairDistance<T>> {
    let x_ab = relative(x_wa, x_wb);
    let size = value_of(&x_ab.translation.vector).amax() + a.extent() + b.extent();
    let reach = max_distance + NEGLIGIBLE * size;
    let found = mesh_pair::solve(a, b, &values_of_pose(&x_ab), reach);
    found.map(|found| in_world(&found, x_wa, &x_ab, 0.0))
}

/// Returns the result in `T` for A at `x_wa` and B, with a margin of `radius`, at `x_ab` in A.
fn in_world<T: Scalar>(
    found: &SurfaceSolution,
    x_wa: &Isometry3<T>,
    x_ab: &Isometry3<T>,
    radius: f64,
) -> PairDistance<T> {
    let core = found.evaluate(x_ab);
    let radius = T::from(radius);
    let world = |p: &Vector3<T>| x_wa.rotation * p + x_wa.translation.vector;
    PairDistance {
        distance: core.distance - radius,
        nhat_ba_w: -(x_wa.rotation * core.n_ab),
        p_wca: world(&core.p_a),
        p_wcb: world(&(core.p_b - core.n_ab * radius)),
    }
}
