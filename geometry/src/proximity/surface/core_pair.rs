//! A surface (A) and a convex core (B).

use super::depth;
use super::solution::{DecidingFeature, SurfaceSolution};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::proximity::convex::{ActiveFeatures, ConvexCore, RelativePose, convex_features};
use nalgebra::{Isometry3, Point3, Vector3};

/// Returns the solution that decides the signed distance, or `None` beyond `reach`.
pub(super) fn solve(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    reach: f64,
) -> Option<SurfaceSolution> {
    if let ConvexCore::Point = core {
        return point(mesh, &x_mb.translation.vector, reach);
    }
    let bounds = bounds(core, x_mb);
    let is_apart = mesh.tree.bounds().distance(&bounds) > 0.0;
    if mesh.tree.bounds().distance(&bounds) > reach {
        return None;
    }
    let center = (x_mb * Point3::from(core.center())).coords;
    if mesh.is_solid && !is_apart && mesh.is_inside(&center) {
        return Some(overlap(mesh, core, x_mb, &bounds, center));
    }
    let (distance, active) = nearest_triangle(mesh, core, x_mb, &bounds, reach)?;
    if distance <= 0.0 && mesh.is_solid {
        let on_core = active.evaluate(&RelativePose::new(x_mb)).p_b;
        return Some(overlap(mesh, core, x_mb, &bounds, on_core));
    }
    Some(SurfaceSolution::new(DecidingFeature::Features(active)))
}

/// Same as [`solve`], for a sphere: `p` is its centre.
fn point(mesh: &IndexedSurface, p: &Vector3<f64>, reach: f64) -> Option<SurfaceSolution> {
    if mesh.tree.bounds().distance2(p) > reach * reach {
        return None;
    }
    let feature = match mesh.contains(p) {
        Some(false) => mesh.nearest_feature_within(p, reach)?,
        _ => mesh.nearest_feature(p),
    };
    let feature = if mesh.is_solid {
        feature
    } else {
        feature.outward(p)
    };
    Some(SurfaceSolution::new(DecidingFeature::Point(
        feature,
        Vector3::zeros(),
    )))
}

/// Returns the bounding box of a core at a pose.
pub(super) fn bounds(core: &ConvexCore<'_>, x: &Isometry3<f64>) -> Box3 {
    let highest = |d: &Vector3<f64>| {
        let support = core.support(&x.rotation.inverse_transform_vector(d));
        d.dot(&(x * Point3::from(support)).coords)
    };
    let axis = |i: usize| Vector3::ith(i, 1.0);
    Box3 {
        lower: Vector3::from_fn(|i, _| -highest(&-axis(i))),
        upper: Vector3::from_fn(|i, _| highest(&axis(i))),
    }
}

/// Returns the triangle nearest to the core. Where triangles cut the core, it returns one of them
/// for a solid, and the one that reaches deepest for a sheet.
fn nearest_triangle(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    reach: f64,
) -> Option<(f64, ActiveFeatures)> {
    let mut best: Option<(f64, ActiveFeatures)> = None;
    // The direction of the best triangle so far separates well, not only along the axes.
    let separating = std::cell::Cell::new(None::<(Vector3<f64>, f64)>);
    let least = |b: &Box3| {
        let gap = b.distance(bounds);
        if gap <= 0.0 && !mesh.is_solid {
            return f64::NEG_INFINITY;
        }
        match separating.get() {
            Some((n, low)) => gap.max(low - b.support(&n)),
            None => gap,
        }
    };
    // Slightly larger, because `descend` skips nodes at exactly this distance.
    let start = reach + f64::EPSILON * (1.0 + reach);
    mesh.tree.descend(start, least, |i| {
        let known = best.as_ref().map_or(reach, |(d, _)| *d);
        if known <= 0.0 && mesh.is_solid {
            return f64::NEG_INFINITY;
        }
        let t = &mesh.triangle(i);
        let beyond = Box3::around(&t.corners).distance(bounds) > known.max(0.0);
        if !beyond
            && let Some(active) = convex_features(&ConvexCore::Triangle(t), core, x_mb, known)
        {
            let found = active.evaluate(&RelativePose::new(x_mb));
            if best.as_ref().is_none_or(|(d, _)| found.distance < *d) {
                best = Some((found.distance, active));
                let n = found.n_ab;
                let toward = x_mb.rotation.inverse_transform_vector(&-n);
                let low = n.dot(&(x_mb * Point3::from(core.support(&toward))).coords);
                separating.set(Some((n, low)));
            }
        }
        best.as_ref().map_or(start, |(d, _)| *d)
    });
    best
}

/// Returns the deeper of the deepest point of the core and the deepest vertex of the mesh. `seed`
/// is a point of both.
fn overlap(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    seed: Vector3<f64>,
) -> SurfaceSolution {
    let deepest = depth::DeepestOfCore::new(mesh, core, x_mb, seed).search(bounds);
    if let Some((vertex, active)) = deepest_vertex(mesh, core, x_mb, bounds, deepest.depth) {
        return SurfaceSolution::new(DecidingFeature::Vertex(active, vertex)).exchanged();
    }
    deepest.solution()
}

/// Returns the vertex of the mesh that is deepest below the surface of the core, if it is deeper
/// than `known`.
fn deepest_vertex(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    known: f64,
) -> Option<(Vector3<f64>, ActiveFeatures)> {
    if let ConvexCore::Point | ConvexCore::Segment { .. } = core {
        return None;
    }
    let x_bm = x_mb.inverse();
    // The core lies below its supporting planes, so no point is deeper than its depth below any of
    // them.
    let directions = (0..27).filter(|k| *k != 13).map(|k| {
        let n_b = Vector3::new(k / 9, k / 3 % 3, k % 3).map(|i| f64::from(i) - 1.0);
        x_mb.rotation * n_b.normalize()
    });
    let center = (x_mb * Point3::from(core.center())).coords;
    let highest = |n: &Vector3<f64>| {
        let support = core.support(&x_mb.rotation.inverse_transform_vector(n));
        n.dot(&(x_mb * Point3::from(support)).coords)
    };
    let planes: Vec<_> = directions.map(|n| (n, highest(&n))).collect();
    let signed_at_least = |b: &Box3| {
        let over = |n: &Vector3<f64>, height: f64| -b.support(&-n) - height;
        let known = planes.iter().map(|(n, height)| over(n, *height));
        let known = known.fold(f64::NEG_INFINITY, f64::max);
        match (b.center() - center).try_normalize(0.0) {
            Some(n) => known.max(over(&n, highest(&n))),
            None => known,
        }
    };
    let signed = |p: &Vector3<f64>| {
        let p_b = (x_bm * Point3::from(*p)).coords;
        let x = Isometry3::translation(p_b.x, p_b.y, p_b.z);
        let active = convex_features(core, &ConvexCore::Point, &x, 0.0)?;
        Some((active.evaluate(&RelativePose::new(&x)).distance, active))
    };
    let mut best: Option<(f64, Vector3<f64>, ActiveFeatures)> = None;
    let floor = -known.max(0.0) * (1.0 + 1e-12) - 1e-14 * core.extent();
    mesh.tree.descend(floor, signed_at_least, |i| {
        for v in mesh.triangle(i).corners {
            let limit = best.as_ref().map_or(floor, |b| b.0);
            if bounds.distance2(&v) > 0.0 || signed_at_least(&Box3::around(&[v])) >= limit {
                continue;
            }
            if let Some((d, active)) = signed(&v)
                && d < limit
            {
                best = Some((d, v, active));
            }
        }
        best.as_ref().map_or(floor, |b| b.0)
    });
    best.map(|(_, v, active)| (v, active))
}
