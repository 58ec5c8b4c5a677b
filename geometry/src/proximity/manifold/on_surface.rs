//! Several points of a body on the surface of a solid.

use super::point::{Manifold, ManifoldPoint};
use crate::proximity::PairDistance;
use crate::proximity::rounding::NEGLIGIBLE;
use crate::proximity::surface::{
    SurfaceContact, contacts_of_corners, contacts_of_peaks, surface_of,
};
use crate::shape::Shape;
use crate::values::value_of;
use nalgebra::Isometry3;
use tarragon_framework::Scalar;

/// Maximum number of points of a pair.
const MOST_POINTS: usize = 8;
/// Relative difference below which a corner counts as deep as the deepest point: the tolerance of
/// the search for the deepest point.
const SAME_DEPTH: f64 = 2e-3;

/// Returns the points of a surface A and a body B: its corners near the surface, the peaks of a
/// height field below its lowest face and, if none of these is as deep, the deepest point.
pub(super) fn on_surface<T: Scalar>(
    surface: &Shape,
    x_wa: &Isometry3<T>,
    body: &Shape,
    x_wb: &Isometry3<T>,
    found: &PairDistance<T>,
    reach: f64,
) -> Manifold<T> {
    let surface = match surface_of(surface, true) {
        Ok(Some(surface)) if surface.is_solid => surface,
        _ => return Manifold::new(),
    };
    let corners = contacts_of_corners(surface, x_wa, body, x_wb, reach);
    let peaks = contacts_of_peaks(surface, x_wa, body, x_wb, reach);
    let contacts = corners.iter().chain(&peaks);
    let mut points: Vec<_> = contacts
        .map(|c| ManifoldPoint::new(&c.distance, c.id))
        .collect();
    let deepest = points.iter().map(|p| p.depth.re());
    let deepest = deepest.fold(f64::NEG_INFINITY, f64::max);
    let depth = -found.distance.re();
    if depth > deepest + SAME_DEPTH * depth.abs() + NEGLIGIBLE * surface.extent() {
        points.push(ManifoldPoint::new(found, 0));
    }
    spread(points)
}

/// Returns the points of a surface A and a ball B, of which one is the deepest of the pair. Returns
/// `None` for a surface without a solid inside.
pub(super) fn of_ball<T: Scalar>(
    surface: &Shape,
    x_wa: &Isometry3<T>,
    ball: &Shape,
    x_wb: &Isometry3<T>,
    reach: f64,
) -> Option<Manifold<T>> {
    let surface = surface_of(surface, true).ok()??;
    let contacts = || contacts_of_corners(surface, x_wa, ball, x_wb, reach).into_iter();
    let point = |c: SurfaceContact<T>| ManifoldPoint::new(&c.distance, c.id);
    surface
        .is_solid
        .then(|| spread(contacts().map(point).collect()))
}

/// Returns at most [`MOST_POINTS`] points, deepest first: that one, then repeatedly the one
/// farthest from those chosen so far. The deepest points alone may be neighbours on a ridge that
/// carry only one end of a body.
fn spread<T: Scalar>(mut points: Vec<ManifoldPoint<T>>) -> Manifold<T> {
    points.sort_by(|p, q| q.depth.re().total_cmp(&p.depth.re()).then(p.id.cmp(&q.id)));
    if points.len() <= MOST_POINTS {
        return points.into_iter().collect();
    }
    let place = |i: usize| value_of(&points[i].p_wcb);
    let mut chosen = vec![0];
    let mut gaps = vec![f64::INFINITY; points.len()];
    while chosen.len() < MOST_POINTS {
        let last = place(chosen[chosen.len() - 1]);
        let mut farthest = (0, 0.0);
        for (i, gap) in gaps.iter_mut().enumerate() {
            *gap = gap.min((place(i) - last).norm_squared());
            if *gap > farthest.1 {
                farthest = (i, *gap);
            }
        }
        chosen.push(farthest.0);
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|i| points[i]).collect()
}
