//! Separated cores that nearly touch: the difference of their nearest points is too short to be an
//! exact direction.

use super::active::ActiveFeatures;
use super::core::ConvexCore;
use super::gjk::{CorePair, Gjk};
use super::local::{LocalFeature, NormalConstraint};
use super::point_cylinder::point_cylinder_features;
use super::point_ellipsoid::point_ellipsoid_features;
use super::stationary::{EQUAL, FACING, TOLERANCES};
use crate::proximity::rounding::NEGLIGIBLE;
use nalgebra::Vector3;

/// Returns the features on which the search has ended, if they are as far apart as the points that
/// it has found.
///
/// For long cores that nearly touch, the direction of such a short difference is too inaccurate to
/// give a margin, but its length is exact: it is the distance of two points of the cores.
pub(super) fn spanned(pair: &CorePair<'_>, gjk: &Gjk, least: f64) -> Option<ActiveFeatures> {
    let length = gjk.v.norm();
    let n = gjk.v.try_normalize(0.0)?;
    let n_b = -pair.x_ab.in_b(&n);
    // The effect that the rounding of the difference has on the margin in its direction.
    let rough = NEGLIGIBLE * pair.size * pair.size / length;
    let locals = |core: &ConvexCore<'_>, of_a: bool, n: &Vector3<f64>| {
        if core.is_flat() {
            LocalFeature::through_some_of(&gjk.spanned(of_a), n)
        } else {
            TOLERANCES.map(|t| core.local(n, t)).to_vec()
        }
    };
    let locals_b = locals(&pair.b, false, &n_b);
    let locals_a = locals(&pair.a, true, &n);
    let pairs = locals_a
        .iter()
        .flat_map(|&a| locals_b.iter().map(move |&b| (a, b)));
    let near = pairs.filter_map(|(a, b)| ActiveFeatures { n, a, b }.refined(&pair.x_ab));
    let mut best: Option<(f64, ActiveFeatures)> = None;
    for active in near.chain(vertices_against_round(pair, gjk)) {
        let found = active.evaluate(&pair.x_ab);
        let apart = found.p_b - found.p_a - found.n_ab * found.distance;
        let near = |x: f64, y: f64, tolerance: f64| (x - y).abs() <= tolerance;
        // Vertices and rims belong to the cores, so their distance is an upper bound of the signed
        // distance. Only the search shows how far the witness of an edge is from the ends of that
        // edge.
        let vertices =
            active.a.flat == NormalConstraint::None && active.b.flat == NormalConstraint::None;
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
fn vertices_against_round(pair: &CorePair<'_>, gjk: &Gjk) -> Vec<ActiveFeatures> {
    let against = |core: &ConvexCore<'_>, p: &Vector3<f64>| match core {
        ConvexCore::Cylinder { radius, half } => {
            point_cylinder_features(*radius, *half, p, f64::INFINITY)
        }
        ConvexCore::Ellipsoid(semi_axes) => point_ellipsoid_features(semi_axes, p, f64::INFINITY),
        _ => None,
    };
    let x_ab = &pair.x_ab;
    let of_a = gjk.spanned(true).into_iter().filter_map(|p| {
        let seen = against(&pair.b, &x_ab.in_b(&(p - x_ab.p)))?;
        Some(ActiveFeatures {
            n: -(x_ab.r * seen.n),
            a: LocalFeature::point(p),
            b: seen.a,
        })
    });
    let of_b = gjk.spanned(false).into_iter().filter_map(|p| {
        let seen = against(&pair.a, &x_ab.point(&p))?;
        Some(ActiveFeatures {
            n: seen.n,
            a: seen.a,
            b: LocalFeature::point(p),
        })
    });
    let flat_a = pair.a.is_flat().then_some(of_a);
    let flat_b = pair.b.is_flat().then_some(of_b);
    let all = flat_a.into_iter().flatten();
    all.chain(flat_b.into_iter().flatten()).collect()
}

/// Returns the nearest points that the search has found, as features.
pub(super) fn nearest_found(pair: &CorePair<'_>, gjk: &Gjk) -> Option<ActiveFeatures> {
    let n = gjk.v.try_normalize(0.0)?;
    let (p_a, p_b) = gjk.nearest_points();
    Some(ActiveFeatures {
        n,
        a: LocalFeature::point(p_a),
        b: LocalFeature::face(p_b, -pair.x_ab.in_b(&n)),
    })
}
