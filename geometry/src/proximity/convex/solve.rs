//! The general solver: from approximate directions to exact features.

use super::active::{Active, Placed};
use super::core::Core;
use super::epa::Epa;
use super::gjk::{Gjk, Pair, Status};
use super::local::{Flat, Local, Piece};
use super::parallel::take_nearly_parallel;
use super::point_cylinder::point_cylinder_features;
use super::point_ellipsoid::point_ellipsoid_features;
use super::region::{Region, facing};
use nalgebra::{Isometry3, Vector3};

/// Angles (rad) within which features around an approximate normal are assumed active. The errors
/// of approximate normals vary widely, so several angles are tried, the likely ones first.
const TOLERANCES: [f64; 5] = [1e-7, 1e-4, 1e-2, 1e-11, 1e-14];
/// Points that face each other up to this fraction of the size do so exactly, up to rounding.
const FACING: f64 = 2e-13;
/// Margins that differ by less than this fraction of the size are equal, up to rounding.
const EQUAL: f64 = 2e-15;

/// A stationary direction with its settled features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) active: Active,
    /// The margin `g(n)`, a lower bound of the signed distance.
    margin: f64,
    /// Largest error of the direction (m), such as the distance by which the supports miss facing
    /// each other, or the difference between the value of the features and the margin. It is zero
    /// up to rounding where the direction is stationary.
    error: f64,
}

impl Candidate {
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

/// Returns the active features of two cores, or `None` beyond `reach`.
pub(in crate::proximity) fn convex_features(
    a: &Core<'_>,
    b: &Core<'_>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<Active> {
    let pair = Pair::new(a, b, x_ab);
    let mut gjk = Gjk::new(&pair);
    let mut best: Option<Candidate> = None;
    // Guesses are worth their cost only once the search has come closer.
    let mut guess_below = 0.3;
    let mut overlapping = false;
    for _ in 0..128 {
        let status = gjk.step(&pair);
        if gjk.margin > reach {
            return None;
        }
        if status == Status::Overlapping {
            overlapping = true;
            break;
        }
        let length = gjk.v.norm();
        let gap = (length - gjk.margin) / length;
        let converged = status == Status::Converged;
        if !converged && gap > guess_below {
            continue;
        }
        guess_below = 0.1 * gap;
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
    let touching = !overlapping && length > 0.0 && length < 1e-8 * pair.size;
    if touching
        && best
            .is_none_or(|c| !c.is_certain(pair.scale) || c.margin < gjk.margin - EQUAL * pair.scale)
    {
        let least = best.map_or(f64::NEG_INFINITY, |c| c.margin);
        return spanned(&pair, &gjk, least).or_else(|| nearest_found(&pair, &gjk));
    }
    let negligible = 1e-14 * pair.size;
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

/// Replaces `best` by the best stationary direction near `n`, if that is better.
fn take_better(pair: &Pair<'_>, n: &Vector3<f64>, best: &mut Option<Candidate>) {
    if let Some(next) = candidate(pair, n)
        && best.is_none_or(|b| next.is_better(&b, pair.scale))
    {
        *best = Some(next);
    }
}

/// Returns the features on which the search has ended, if they are as far apart as the points that
/// it has found.
///
/// For long cores that nearly touch, the direction of such a short difference is too inaccurate to
/// give a margin, but its length is exact: it is the distance of two points of the cores.
fn spanned(pair: &Pair<'_>, gjk: &Gjk, least: f64) -> Option<Active> {
    let length = gjk.v.norm();
    let n = gjk.v.try_normalize(0.0)?;
    let n_b = -pair.x_ab.in_b(&n);
    // The effect that the rounding of the difference has on the margin in its direction.
    let rough = 1e-14 * pair.size * pair.size / length;
    let locals = |core: &Core<'_>, of_a: bool, n: &Vector3<f64>| {
        if core.is_flat() {
            Local::through_some_of(&gjk.spanned(of_a), n)
        } else {
            TOLERANCES.map(|t| core.local(n, t)).to_vec()
        }
    };
    let locals_b = locals(&pair.b, false, &n_b);
    let locals_a = locals(&pair.a, true, &n);
    let pairs = locals_a
        .iter()
        .flat_map(|&a| locals_b.iter().map(move |&b| (a, b)));
    let near = pairs.filter_map(|(a, b)| Active { n, a, b }.refined(&pair.x_ab));
    let mut best: Option<(f64, Active)> = None;
    for active in near.chain(vertices_against_round(pair, gjk)) {
        let found = active.evaluate(&pair.x_ab);
        let apart = found.p_b - found.p_a - found.n_ab * found.distance;
        let near = |x: f64, y: f64, tolerance: f64| (x - y).abs() <= tolerance;
        // Vertices and rims belong to the cores, so their distance is an upper bound of the signed
        // distance. Only the search shows how far the witness of an edge is from the ends of that
        // edge.
        let vertices = active.a.flat == Flat::None && active.b.flat == Flat::None;
        let slack = EQUAL * pair.scale;
        let fits = if vertices {
            least - slack <= found.distance && found.distance <= length + slack
        } else {
            near(found.distance, length, FACING * pair.scale)
        };
        let margin = active.n.dot(&pair.support(&active.n));
        if fits
            && apart.norm() <= FACING * pair.scale
            && near(margin, found.distance, rough)
            && best.is_none_or(|b| found.distance < b.0)
        {
            best = Some((found.distance, active));
        }
    }
    best.map(|b| b.1)
}

/// Returns the features of each vertex on which the search has ended against the whole other core,
/// if that has a closed form. This near to a rim, Newton's method may not find it.
fn vertices_against_round(pair: &Pair<'_>, gjk: &Gjk) -> Vec<Active> {
    let against = |core: &Core<'_>, p: &Vector3<f64>| match core {
        Core::Cylinder { radius, half } => {
            point_cylinder_features(*radius, *half, p, f64::INFINITY)
        }
        Core::Ellipsoid(semi_axes) => point_ellipsoid_features(semi_axes, p, f64::INFINITY),
        _ => None,
    };
    let x_ab = &pair.x_ab;
    let of_a = gjk.spanned(true).into_iter().filter_map(|p| {
        let seen = against(&pair.b, &x_ab.in_b(&(p - x_ab.p)))?;
        Some(Active {
            n: -(x_ab.r * seen.n),
            a: Local::point(p),
            b: seen.a,
        })
    });
    let of_b = gjk.spanned(false).into_iter().filter_map(|p| {
        let seen = against(&pair.a, &x_ab.point(&p))?;
        Some(Active {
            n: seen.n,
            a: seen.a,
            b: Local::point(p),
        })
    });
    let flat_a = pair.a.is_flat().then_some(of_a);
    let flat_b = pair.b.is_flat().then_some(of_b);
    let all = flat_a.into_iter().flatten();
    all.chain(flat_b.into_iter().flatten()).collect()
}

/// Returns the nearest points that the search has found, as features.
fn nearest_found(pair: &Pair<'_>, gjk: &Gjk) -> Option<Active> {
    let n = gjk.v.try_normalize(0.0)?;
    let (p_a, p_b) = gjk.nearest_points();
    Some(Active {
        n,
        a: Local::point(p_a),
        b: Local::face(p_b, -pair.x_ab.in_b(&n)),
    })
}

/// Returns the best stationary direction near `n`.
fn candidate(pair: &Pair<'_>, n: &Vector3<f64>) -> Option<Candidate> {
    let n_b = -pair.x_ab.in_b(n);
    let mut locals_a = [pair.a.local(n, TOLERANCES[0]); TOLERANCES.len()];
    let mut locals_b = [pair.b.local(&n_b, TOLERANCES[0]); TOLERANCES.len()];
    let mut best: Option<Candidate> = None;
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
            let guess = Active { n: *n, a, b };
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
pub(super) fn examine(pair: &Pair<'_>, active: Option<Active>, n: &Vector3<f64>) -> Candidate {
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
    let mut level = 1e-15;
    let (mut region_a, mut region_b, mut nearest) = regions(level);
    for wider in [1e-13, 1e-11, 1e-9] {
        if nearest.aside <= FACING * pair.scale {
            break;
        }
        let next = regions(wider);
        if next.2.aside < nearest.aside {
            level = wider;
            (region_a, region_b, nearest) = next;
        }
    }
    let unlevel = if level > 1e-13 {
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
        let outside = |p: Vector3<f64>, region: &Region| facing(&Region::Point(p), region, n).aside;
        let outside = outside(value.p_a, &region_a).max(outside(value.p_b, &region_b));
        let off = (value.distance - margin).abs();
        let rest = [(&pair.a, &active.a, *n), (&pair.b, &active.b, n_b)]
            .map(|(core, local, n)| corner_error(core, local, &n, margin));
        if off <= FACING * pair.scale {
            return Candidate {
                active,
                margin,
                error: [nearest.aside, off, apart, outside, unlevel]
                    .into_iter()
                    .chain(rest)
                    .fold(0.0, f64::max),
            };
        }
    }
    Candidate {
        active: Active {
            n: *n,
            a: Local::point(p_a),
            b: Local::face(p_b, n_b),
        },
        margin,
        error: nearest.aside.max(unlevel).max(EQUAL * pair.scale),
    }
}

/// Returns a bound on the distance of a corner from the true witness on its core (m), if another
/// point is higher along `n`. The missing height corresponds to an angle, and far from the core an
/// angle is a long way.
fn corner_error(core: &Core<'_>, local: &Local, n: &Vector3<f64>, margin: f64) -> f64 {
    match local {
        Local {
            piece: Piece::Point(p),
            flat: Flat::None,
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

/// Returns the cosine of the angle around a minimum of the depth within which directions belong to
/// that minimum. Flat cores have no smooth minima; the facets of a polytope may be small.
fn same_basin(pair: &Pair<'_>) -> f64 {
    let round = |c: &Core<'_>| matches!(c, Core::Cylinder { .. } | Core::Ellipsoid(_));
    let faceted = |c: &Core<'_>| matches!(c, Core::Polytope(_));
    if !round(&pair.a) && !round(&pair.b) {
        2.0
    } else if faceted(&pair.a) || faceted(&pair.b) {
        0.9999
    } else {
        0.985
    }
}

/// Maximum number of EPA faces examined before the best result so far is returned.
const MOST_FACES: usize = 1000;

/// Finds the least deep stationary direction of overlapping cores.
fn deepest(pair: &Pair<'_>, n: &Vector3<f64>, overlapping: bool, best: &mut Option<Candidate>) {
    if let (Core::Polytope(polytope), Core::Point) = (pair.a, pair.b)
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
    let rounding = 1e-15 * pair.size;
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
            let same = |c: &Candidate| c.active.n.dot(&n) >= same_basin;
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
            1e-9 * pair.size
        } else {
            0.2 * depth_here.abs().max(1e-2 * pair.size)
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
fn take_at_least(pair: &Pair<'_>, bound: (f64, Vector3<f64>), best: &mut Option<Candidate>) {
    let (depth, n) = bound;
    let is_deeper = |c: &Candidate| -c.margin > depth + EQUAL * pair.scale;
    if depth.is_finite() && best.is_none_or(|c| is_deeper(&c)) {
        take_better(pair, &n, best);
        if best.is_none_or(|c| is_deeper(&c)) {
            *best = Some(examine(pair, None, &n));
        }
    }
}

/// Returns the active features of the half space z <= 0 (A) and a core, or `None` beyond `reach`.
pub(in crate::proximity) fn half_space_convex_features(
    b: &Core<'_>,
    x_ab: &Isometry3<f64>,
    reach: f64,
) -> Option<Active> {
    let n = Vector3::z();
    let x_ab = Placed::new(x_ab);
    let n_b = -x_ab.in_b(&n);
    let height = |p: &Vector3<f64>| x_ab.point(p).z;
    if height(&b.support(&n_b)) > reach {
        return None;
    }
    let active = Active {
        n,
        a: Local::face(Vector3::zeros(), n),
        b: b.local(&n_b, 1e-15),
    };
    // The middle of the part that touches first.
    let middle = middle_of_support(b, &n_b);
    Some(active.settled(&x_ab, &Vector3::zeros(), &middle))
}

/// Returns the middle of the points of a core that are farthest along the unit vector `n`.
pub(in crate::proximity) fn middle_of_support(core: &Core<'_>, n: &Vector3<f64>) -> Vector3<f64> {
    let region = core.region(n, 1e-15 * core.extent());
    facing(&region, &region, n).b
}
