//! The general solver: from approximate directions to exact features.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use super::gjk::{CorePair, Gjk, GjkStatus};
use super::parallel::take_nearly_parallel;
use super::penetration::deepest;
use super::stationary::{EQUAL, StationaryDirection, examine, take_better};
use super::touching::{nearest_found, spanned};
use crate::proximity::rounding::NEGLIGIBLE;
use nalgebra::Isometry3;

/// Features are guessed once the bounds of the distance differ by less than this part of it. While
/// they are farther apart, the direction of the search turns too much for a guess to be right.
const FIRST_GUESS_GAP: f64 = 0.3;
/// After a guess that failed, the gap has to shrink to this part before the next one: each step of
/// the search costs much less than a guess, and a gap of the same size mostly gives the same guess.
const NEXT_GUESS_GAP: f64 = 0.1;
/// Ends searches that rounding keeps from converging; what they have found by then is refined all
/// the same.
const MOST_SEARCH_STEPS: usize = 128;
/// Cores that are apart by less than this fraction of their extents nearly touch: the difference of
/// their nearest points, which is rounded by 1e-16 of the extents, has only half of its digits left
/// as a direction.
const NEARLY_TOUCHING: f64 = 1e-8;

/// Returns the active features of two cores, or `None` beyond `reach`.
pub(in crate::proximity) fn convex_features(
    a: &ConvexCore<'_>,
    b: &ConvexCore<'_>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<ActiveFeatures> {
    let pair = CorePair::new(a, b, x_ab);
    let mut gjk = Gjk::new(&pair);
    let mut best: Option<StationaryDirection> = None;
    // Guesses are worth their cost only once the search has come closer.
    let mut guess_below = FIRST_GUESS_GAP;
    let mut overlapping = false;
    for _ in 0..MOST_SEARCH_STEPS {
        let status = gjk.step(&pair);
        if gjk.margin > reach {
            return None;
        }
        if status == GjkStatus::Overlapping {
            overlapping = true;
            break;
        }
        let length = gjk.v.norm();
        let gap = (length - gjk.margin) / length;
        let converged = status == GjkStatus::Converged;
        if !converged && gap > guess_below {
            continue;
        }
        guess_below = NEXT_GUESS_GAP * gap;
        take_better(&pair, &gjk.n, &mut best);
        if best.is_some_and(|c| c.is_certain(pair.scale) && c.margin >= 0.0) {
            return best.map(|c| c.active);
        }
        if converged {
            break;
        }
    }
    // For nearly touching cores, the nearest point identifies the features better than the best
    // margin.
    for n in [Some(gjk.n), gjk.v.try_normalize(0.0)]
        .into_iter()
        .flatten()
    {
        if best.is_none_or(|c| !c.is_certain(pair.scale)) {
            take_better(&pair, &n, &mut best);
        }
    }
    let flat = pair.a.is_flat() && pair.b.is_flat();
    if flat && !overlapping && best.is_none_or(|c| !c.is_certain(pair.scale)) {
        take_nearly_parallel(&pair, &gjk.n, &mut best);
    }
    let length = gjk.v.norm();
    let touching = !overlapping && length > 0.0 && length < NEARLY_TOUCHING * pair.size;
    if touching
        && best
            .is_none_or(|c| !c.is_certain(pair.scale) || c.margin < gjk.margin - EQUAL * pair.scale)
    {
        let least = best.map_or(f64::NEG_INFINITY, |c| c.margin);
        return spanned(&pair, &gjk, least).or_else(|| nearest_found(&pair, &gjk));
    }
    let negligible = NEGLIGIBLE * pair.size;
    if best.is_none_or(|c| !c.is_certain(pair.scale) || c.margin < -negligible) {
        deepest(&pair, &gjk.n, overlapping, &mut best);
    }
    Some(match best {
        Some(best) if best.is_certain(pair.scale) => best.active,
        // No features explain the direction, so the points that face each other there are used.
        Some(best) => examine(&pair, None, &best.active.n).active,
        // The two cores are points that coincide.
        None => examine(&pair, None, &gjk.n).active,
    })
}
