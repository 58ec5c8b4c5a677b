//! Several points of a body on the surface of a solid.

use super::point::{Manifold, ManifoldPoint};
use crate::proximity::PairDistance;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::surface::{contacts_of_corners, surface_of};
use crate::shape::Shape;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// Maximum number of points of a pair.
const MOST_POINTS: usize = 8;
/// Relative difference below which the depths of a corner and of the deepest point are equal: that
/// of the search for the latter.
const SAME_DEPTH: f64 = 2e-3;

/// Returns the points of a surface A and a body B: its corners near the surface and, if none of
/// these is as deep, the deepest point.
pub(super) fn on_surface<T: Scalar>(
    (surface, x_wa): (&Shape, &Isometry3<T>),
    (body, x_wb): (&Shape, &Isometry3<T>),
    found: &PairDistance<T>,
    reach: f64,
) -> Manifold<T> {
    let surface = match surface_of(surface, true) {
        Ok(Some(surface)) if surface.is_solid => surface,
        _ => return Manifold::new(),
    };
    let point = |found: &PairDistance<T>, id: u32| ManifoldPoint {
        depth: -found.distance,
        p_wca: found.p_wca,
        p_wcb: found.p_wcb,
        nhat_ba_w: found.nhat_ba_w,
        id,
    };
    let contacts = contacts_of_corners(surface, x_wa, body, x_wb, reach);
    let mut points: Vec<_> = contacts
        .iter()
        .map(|c| point(&c.distance, 1 + c.corner + 8 * c.place))
        .collect();
    let deepest = points.iter().map(|p| p.depth.re());
    let deepest = deepest.fold(f64::NEG_INFINITY, f64::max);
    let depth = -found.distance.re();
    if depth > deepest + SAME_DEPTH * depth.abs() + NEGLIGIBLE * surface.extent() {
        points.push(point(found, 0));
    }
    points.sort_by(|p, q| q.depth.re().total_cmp(&p.depth.re()).then(p.id.cmp(&q.id)));
    points.into_iter().take(MOST_POINTS).collect()
}
