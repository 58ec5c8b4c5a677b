//! A surface (A) and a convex core (B).

use super::core_depth::DeepestOfCore;
use super::near_triangles::{bounds, nearest_triangle};
use super::solution::{DecidingFeature, SurfaceSolution};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::proximity::convex::{ActiveFeatures, ConvexCore, RelativePose, convex_features};
use nalgebra::{Isometry3, Point3, Vector3};

/// Maximum number of points of a height field that are compared with a body one by one.
const MOST_VERTICES: usize = 10_000;

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
    let gap = mesh.tree.bounds().distance(&bounds);
    if gap > reach {
        return None;
    }
    let near = match core {
        ConvexCore::Segment { half } => {
            let end = x_mb.rotation * Vector3::new(0.0, 0.0, *half);
            let middle = x_mb.translation.vector;
            mesh.near_part(&(middle - end), &(middle + end), reach)?
        }
        _ if mesh.is_below(&bounds, reach) => return None,
        _ => bounds,
    };
    let center = (x_mb * Point3::from(core.center())).coords;
    if mesh.is_solid && gap == 0.0 && mesh.is_inside(&center) {
        return Some(overlap(mesh, core, x_mb, &bounds, center));
    }
    let (distance, active) = nearest_triangle(mesh, core, x_mb, &near, reach)?;
    if distance <= 0.0 && mesh.is_solid {
        // The same start for every reach, so that all queries give the same bits.
        let active = match mesh.heights() {
            Some(_) => nearest_triangle(mesh, core, x_mb, &bounds, 0.0).map_or(active, |(_, t)| t),
            None => active,
        };
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

/// Returns the deeper of the deepest point of the core and the deepest vertex of the mesh. `seed`
/// is a point of both.
fn overlap(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    seed: Vector3<f64>,
) -> SurfaceSolution {
    let mut deepest = DeepestOfCore::new(mesh, core, x_mb, seed);
    let vertex = deepest_vertex(mesh, core, x_mb, bounds, deepest.depth);
    if let Some(vertex) = &vertex {
        deepest.raise(vertex.depth, -(x_mb.rotation * vertex.normal_b));
    }
    let deepest = deepest.search(bounds);
    match vertex {
        Some(vertex) if vertex.depth > deepest.depth => {
            let decides = DecidingFeature::Vertex(vertex.active, vertex.p);
            SurfaceSolution::new(decides).exchanged()
        }
        _ => deepest.solution(),
    }
}

/// A vertex of a surface below the surface of a core.
struct DeepVertex {
    depth: f64,
    p: Vector3<f64>,
    active: ActiveFeatures,
    /// Outward normal of the core, in its frame.
    normal_b: Vector3<f64>,
}

/// Returns the vertex of the mesh that is deepest below the surface of the core, if it is deeper
/// than `known`.
fn deepest_vertex(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    known: f64,
) -> Option<DeepVertex> {
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
        let found = active.evaluate(&RelativePose::new(&x));
        Some(DeepVertex {
            depth: -found.distance,
            p: *p,
            active,
            normal_b: found.n_ab,
        })
    };
    let mut best: Option<DeepVertex> = None;
    let floor = -known.max(0.0) * (1.0 + 1e-12) - 1e-14 * core.extent();
    let mut take = |v: &Vector3<f64>| {
        let limit = best.as_ref().map_or(floor, |b| -b.depth);
        let is_deeper = |(n, height): &(Vector3<f64>, f64)| n.dot(v) - height < limit;
        // Most vertices are below the whole body.
        if bounds.lower.z - v.z < limit
            && bounds.distance2(v) <= 0.0
            && planes.iter().all(is_deeper)
            && let Some(found) = signed(v)
            && -found.depth < limit
        {
            best = Some(found);
        }
        best.as_ref().map_or(floor, |b| -b.depth)
    };
    match mesh.heights_within(bounds, MOST_VERTICES) {
        // Each vertex once, not once per triangle.
        Some(vertices) => vertices.for_each(|v| {
            take(&v);
        }),
        None => mesh.tree.descend(floor, signed_at_least, |i| {
            let corners = mesh.triangle(i).corners;
            corners.iter().map(&mut take).fold(floor, f64::min)
        }),
    }
    best
}
