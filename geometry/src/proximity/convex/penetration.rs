//! Overlapping cores: the least deep stationary direction, bounded by the polytope of EPA.

use super::core::ConvexCore;
use super::epa::Epa;
use super::gjk::CorePair;
use super::stationary::{EQUAL, StationaryDirection, examine, take_better};
use nalgebra::Vector3;

/// No cosine is as large: every minimum of the depth of two flat cores is a single direction (that
/// of a face of their difference), so that no other direction belongs to it.
const NO_BASIN: f64 = 2.0;
/// Cosine of 0.8 degrees. Facets of a polytope against a round core can be that small, and each has
/// a minimum of its own.
const FACETED_BASIN: f64 = 0.9999;
/// Cosine of 10 degrees. Minima of the depth of two round cores are taken to be farther apart.
const ROUND_BASIN: f64 = 0.985;

/// Directions within this cosine of a minimum of the depth belong to it.
fn same_basin(pair: &CorePair<'_>) -> f64 {
    let round =
        |c: &ConvexCore<'_>| matches!(c, ConvexCore::Cylinder { .. } | ConvexCore::Ellipsoid(_));
    let faceted = |c: &ConvexCore<'_>| matches!(c, ConvexCore::Polytope(_));
    if !round(&pair.a) && !round(&pair.b) {
        NO_BASIN
    } else if faceted(&pair.a) || faceted(&pair.b) {
        FACETED_BASIN
    } else {
        ROUND_BASIN
    }
}

/// Depths that differ by less than this fraction of the extents are equal: the planes of EPA's
/// faces are not more exact.
const DEPTH_ROUNDING: f64 = 1e-15;
/// A face of EPA whose plane is within this fraction of the extents of the boundary is a face of
/// the difference of two flat cores, but for rounding.
const ON_FACE: f64 = 1e-9;
/// Newton's method starts from a face of round cores once the boundary bulges over it by less than
/// this part of the depth: earlier it may run to another minimum, later EPA has grown faces in
/// vain.
const NEWTON_BULGE: f64 = 0.2;
/// Depths below this fraction of the extents count as this much for [`NEWTON_BULGE`]: shallow
/// contacts would need faces without end.
const SHALLOW: f64 = 1e-2;
/// Maximum number of EPA faces examined before the best result so far is returned.
const MOST_FACES: usize = 1000;

/// Finds the least deep stationary direction of overlapping cores.
pub(super) fn deepest(
    pair: &CorePair<'_>,
    n: &Vector3<f64>,
    overlapping: bool,
    best: &mut Option<StationaryDirection>,
) {
    if let (ConvexCore::Polytope(polytope), ConvexCore::Point) = (pair.a, pair.b)
        && let Some(normal) = polytope.nearest_plane(&pair.x_ab.p)
    {
        take_better(pair, &normal, best);
        return;
    }
    let mut epa = match Epa::new(pair, &-n) {
        Ok(epa) => epa,
        Err(normal) => {
            take_better(pair, &normal, best);
            take_better(pair, &-normal, best);
            return;
        }
    };
    let rounding = DEPTH_ROUNDING * pair.size;
    let same_basin = same_basin(pair);
    let flat = overlapping && pair.a.is_flat() && pair.b.is_flat();
    // The best direction found so far, before its features are examined.
    let mut bound = (f64::INFINITY, *n);
    for _ in 0..MOST_FACES {
        let Some(face) = epa.nearest() else { break };
        let depth = best.map_or(f64::INFINITY, |c| -c.margin).min(bound.0);
        if face.offset >= depth - rounding {
            take_at_least(pair, bound, best);
            // The depth is known, but the features may still be those of a neighbour.
            for n in best.map(|c| c.active.n).into_iter().chain([-face.m]) {
                if best.is_none_or(|c| !c.is_certain(pair.scale)) {
                    take_better(pair, &n, best);
                }
            }
            break;
        }
        let n = -face.m;
        let w = pair.support(&n);
        let depth_here = -n.dot(&w);
        let gap = depth_here - face.offset;
        let known = best.is_some_and(|c| {
            c.is_certain(pair.scale) && epa.spread(&face, &-c.active.n) >= same_basin
        });
        if known {
            // The bound of a small face around a known minimum is low only because the boundary
            // bulges.
            let mut here = None;
            take_better(pair, &n, &mut here);
            let same = |c: &StationaryDirection| c.active.n.dot(&n) >= same_basin;
            if here.is_some_and(|c| same(&c) && -c.margin >= depth - rounding) {
                continue;
            }
        }
        if depth_here < bound.0 {
            bound = (depth_here, n);
        }
        // For flat cores, EPA ends exactly on the nearest face, so only the features of that face
        // matter.
        let near = if flat {
            ON_FACE * pair.size
        } else {
            NEWTON_BULGE * depth_here.abs().max(SHALLOW * pair.size)
        };
        if gap <= near || (!flat && depth_here < depth) {
            take_better(pair, &n, best);
        }
        if gap <= rounding {
            break;
        }
        epa.grow(&face, w, face.m);
    }
    take_at_least(pair, bound, best);
}

/// Ensures that `best` is not deeper than the direction in `bound`. That direction is replaced by
/// its features if they are stationary nearby, and is taken as it is otherwise.
fn take_at_least(
    pair: &CorePair<'_>,
    bound: (f64, Vector3<f64>),
    best: &mut Option<StationaryDirection>,
) {
    let (depth, n) = bound;
    let is_deeper = |c: &StationaryDirection| -c.margin > depth + EQUAL * pair.scale;
    if depth.is_finite() && best.is_none_or(|c| is_deeper(&c)) {
        take_better(pair, &n, best);
        if best.is_none_or(|c| is_deeper(&c)) {
            *best = Some(examine(pair, None, &n));
        }
    }
}
