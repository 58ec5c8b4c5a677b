//! Stationary directions of the margin, with their features and how well these explain them.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use super::gjk::CorePair;
use super::local::{LocalFeature, NormalConstraint, SupportPiece};
use super::region::{LEVEL, SupportRegion, facing};
use nalgebra::Vector3;

/// Angles (rad) within which features around an approximate normal are assumed active. The errors
/// of approximate normals vary widely, so several angles are tried, the likely ones first.
pub(super) const TOLERANCES: [f64; 5] = [1e-7, 1e-4, 1e-2, 1e-11, 1e-14];
/// Points that face each other up to this fraction of the size do so exactly, up to rounding.
pub(super) const FACING: f64 = 2e-13;
/// Margins that differ by less than this fraction of the size are equal, up to rounding.
pub(super) const EQUAL: f64 = 2e-15;
/// Tolerances of height (fractions of the extents) that are tried where points that are level but
/// for rounding do not face each other: the tilt of two disks that are nearly parallel is lost in
/// the rounding of the direction, and with it which points of their rims are highest.
const WIDER_LEVELS: [f64; 3] = [1e-13, 1e-11, 1e-9];
/// Regions found with a tolerance above this one (the first of [`WIDER_LEVELS`]) are not level:
/// what they depart from it counts as an error. Up to here it is rounding, well below [`FACING`].
const STILL_LEVEL: f64 = 1e-13;

/// A stationary direction with its settled features.
#[derive(Clone, Copy, Debug)]
pub(super) struct StationaryDirection {
    pub(super) active: ActiveFeatures,
    /// The margin `g(n)`, a lower bound of the signed distance.
    pub(super) margin: f64,
    /// Largest error of the direction (m), such as the distance by which the supports miss facing
    /// each other, or the difference between the value of the features and the margin. It is zero
    /// up to rounding where the direction is stationary.
    error: f64,
}

impl StationaryDirection {
    pub(super) fn is_better(&self, other: &Self, scale: f64) -> bool {
        if (self.margin - other.margin).abs() <= EQUAL * scale {
            self.error < other.error
        } else {
            self.margin > other.margin
        }
    }
    pub(super) fn is_certain(&self, scale: f64) -> bool {
        self.error <= FACING * scale
    }
}

/// Replaces `best` by the best stationary direction near `n`, if that is better.
pub(super) fn take_better(
    pair: &CorePair<'_>,
    n: &Vector3<f64>,
    best: &mut Option<StationaryDirection>,
) {
    if let Some(next) = stationary_near(pair, n)
        && best.is_none_or(|b| next.is_better(&b, pair.scale))
    {
        *best = Some(next);
    }
}

/// Returns the best stationary direction near `n`.
fn stationary_near(pair: &CorePair<'_>, n: &Vector3<f64>) -> Option<StationaryDirection> {
    let n_b = -pair.x_ab.in_b(n);
    let mut locals_a = [pair.a.local(n, TOLERANCES[0]); TOLERANCES.len()];
    let mut locals_b = [pair.b.local(&n_b, TOLERANCES[0]); TOLERANCES.len()];
    let mut best: Option<StationaryDirection> = None;
    // Both tolerances grow together.
    for sum in 0..2 * TOLERANCES.len() - 1 {
        if (1..TOLERANCES.len()).contains(&sum) {
            locals_a[sum] = pair.a.local(n, TOLERANCES[sum]);
            locals_b[sum] = pair.b.local(&n_b, TOLERANCES[sum]);
        }
        for i in 0..=sum {
            let j = sum - i;
            if i >= TOLERANCES.len() || j >= TOLERANCES.len() {
                continue;
            }
            let (a, b) = (locals_a[i], locals_b[j]);
            if locals_a[..i].contains(&a) || locals_b[..j].contains(&b) {
                continue;
            }
            let guess = ActiveFeatures { n: *n, a, b };
            let Some(active) = guess.refined(&pair.x_ab) else {
                continue;
            };
            let next = examine(pair, Some(active), &active.n);
            if best.is_none_or(|b| next.is_better(&b, pair.scale)) {
                best = Some(next);
            }
            if next.is_certain(pair.scale) {
                return best;
            }
        }
    }
    best
}

/// Computes the true margin of a direction, and the distance by which its supports miss facing each
/// other. Without features, or with features that do not support the bodies there, the points that
/// face each other best are used.
pub(super) fn examine(
    pair: &CorePair<'_>,
    active: Option<ActiveFeatures>,
    n: &Vector3<f64>,
) -> StationaryDirection {
    let n_b = -pair.x_ab.in_b(n);
    let in_a = |p: &Vector3<f64>| pair.x_ab.point(p);
    let (top_a, top_b) = (pair.a.support(n), in_a(&pair.b.support(&n_b)));
    let margin = n.dot(&(top_b - top_a));
    let regions = |tolerance: f64| {
        let region_a = pair.a.region(n, tolerance * pair.size);
        let region_b = pair.b.region(&n_b, tolerance * pair.size).map(in_a);
        let nearest = facing(&region_a, &region_b, n);
        (region_a, region_b, nearest)
    };
    // Level parts, up to rounding. The tolerance is widened where two disks are nearly parallel and
    // rounding hides the direction that identifies the points of their rims.
    let mut level = LEVEL;
    let (mut region_a, mut region_b, mut nearest) = regions(level);
    for wider in WIDER_LEVELS {
        if nearest.aside <= FACING * pair.scale {
            break;
        }
        let next = regions(wider);
        if next.2.aside < nearest.aside {
            level = wider;
            (region_a, region_b, nearest) = next;
        }
    }
    let unlevel = if level > STILL_LEVEL {
        level * pair.size
    } else {
        0.0
    };
    // The facing points are exact perpendicular to the normal; the supports are exact along it.
    let raise = |p: &Vector3<f64>, top: &Vector3<f64>| p + n * n.dot(&(top - p));
    let p_a = raise(&nearest.a, &top_a);
    let p_b = raise(&nearest.b, &top_b);
    let p_b = pair.x_ab.in_b(&(p_b - pair.x_ab.p));
    if let Some(active) = active {
        let active = active.settled(&pair.x_ab, &p_a, &p_b);
        let value = active.evaluate(&pair.x_ab);
        let apart = (value.p_b - value.p_a - n * value.distance).norm();
        // Features may support the bodies without facing each other, for example one point of a rim
        // whose whole disk faces the other body.
        let outside = |p: Vector3<f64>, region: &SupportRegion| {
            facing(&SupportRegion::Point(p), region, n).aside
        };
        let outside = outside(value.p_a, &region_a).max(outside(value.p_b, &region_b));
        let off = (value.distance - margin).abs();
        let rest = [(&pair.a, &active.a, *n), (&pair.b, &active.b, n_b)]
            .map(|(core, local, n)| corner_error(core, local, &n, margin));
        if off <= FACING * pair.scale {
            return StationaryDirection {
                active,
                margin,
                error: [nearest.aside, off, apart, outside, unlevel]
                    .into_iter()
                    .chain(rest)
                    .fold(0.0, f64::max),
            };
        }
    }
    StationaryDirection {
        active: ActiveFeatures {
            n: *n,
            a: LocalFeature::point(p_a),
            b: LocalFeature::face(p_b, n_b),
        },
        margin,
        error: nearest.aside.max(unlevel).max(EQUAL * pair.scale),
    }
}

/// Returns a bound on the distance of a corner from the true witness on its core (m), if another
/// point is higher along `n`. The missing height corresponds to an angle, and far from the core an
/// angle is a long way.
fn corner_error(core: &ConvexCore<'_>, local: &LocalFeature, n: &Vector3<f64>, margin: f64) -> f64 {
    match local {
        LocalFeature {
            piece: SupportPiece::Point(p),
            flat: NormalConstraint::None,
        } if core.is_flat() => {
            let q = core.support(n) - p;
            let length = q.norm();
            if length > 0.0 {
                n.dot(&q) * (1.0 + margin.abs() / length)
            } else {
                0.0
            }
        }
        _ => 0.0,
    }
}
