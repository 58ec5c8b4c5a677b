//! Flat cores whose faces or edges are nearly parallel.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use super::gjk::CorePair;
use super::local::{LocalFeature, NormalConstraint, SupportPiece};
use super::region::SupportRegion;
use super::stationary::{StationaryDirection, examine};
use nalgebra::Vector3;

/// Angle (rad) within which all combinations of faces and edges are tried.
const NEARLY_PARALLEL: f64 = 1e-6;

/// Replaces `best` by the best combination of corners, edges and faces that are nearly level at
/// `n`, if that is better. Where faces are nearly parallel, no angle shows which of them are
/// active.
pub(super) fn take_nearly_parallel(
    pair: &CorePair<'_>,
    n: &Vector3<f64>,
    best: &mut Option<StationaryDirection>,
) {
    let n = best.map_or(*n, |c| c.active.n);
    let locals_a = level_features(&pair.a, &n, pair.size);
    let locals_b = level_features(&pair.b, &-pair.x_ab.in_b(&n), pair.size);
    for a in &locals_a {
        for b in &locals_b {
            let one_point = a.flat == NormalConstraint::None || b.flat == NormalConstraint::None;
            let edges = matches!(
                (a.flat, b.flat),
                (NormalConstraint::Edge(_), NormalConstraint::Edge(_))
            );
            if !(one_point || edges) {
                continue;
            }
            let guess = ActiveFeatures { n, a: *a, b: *b };
            let Some(active) = guess.refined(&pair.x_ab) else {
                continue;
            };
            let next = examine(pair, Some(active), &active.n);
            if best.is_none_or(|b| next.is_better(&b, pair.scale)) {
                *best = Some(next);
                if next.is_certain(pair.scale) {
                    return;
                }
            }
        }
    }
}

/// Returns the face, the edges and the corners of a flat core that are nearly level at the unit
/// vector `n`.
fn level_features(core: &ConvexCore<'_>, n: &Vector3<f64>, size: f64) -> Vec<LocalFeature> {
    let corners = match core.region(n, NEARLY_PARALLEL * size) {
        SupportRegion::Polygon(corners) => corners,
        SupportRegion::Segment(p, q) => vec![p, q],
        SupportRegion::Point(p) | SupportRegion::Disk(p, _) => vec![p],
    };
    let mut locals = vec![core.local(n, NEARLY_PARALLEL)];
    let next = corners.iter().cycle().skip(1);
    for (p, q) in corners.iter().zip(next) {
        locals.push(LocalFeature::point(*p));
        let edge = (q - p).try_normalize(0.0);
        locals.extend(
            edge.map(|e| LocalFeature::new(SupportPiece::Point(*p), NormalConstraint::Edge(e))),
        );
    }
    locals
}
