//! The triangles of a surface (A) near a convex core (B).

use crate::accel::IndexedSurface;
use crate::accel::triangle_index::{Box3, Triangle};
use crate::proximity::convex::{ActiveFeatures, ConvexCore, RelativePose, convex_features};
use nalgebra::{Isometry3, Point3, Vector3};
use std::cell::Cell;

/// Returns the bounding box of a core at a pose.
pub(super) fn bounds(core: &ConvexCore<'_>, x: &Isometry3<f64>) -> Box3 {
    let turn = || x.rotation.to_rotation_matrix().into_inner();
    let half = match core {
        ConvexCore::Segment { half } => Some((turn().column(2) * *half).abs()),
        ConvexCore::Box(half) => Some(turn().abs() * half),
        _ => None,
    };
    if let Some(half) = half {
        let center = &x.translation.vector;
        return Box3 {
            lower: center - half,
            upper: center + half,
        };
    }
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
pub(super) fn nearest_triangle(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
    reach: f64,
) -> Option<(f64, ActiveFeatures)> {
    let mut best: Option<(f64, ActiveFeatures)> = None;
    let lowest = |n: &Vector3<f64>| {
        let toward = x_mb.rotation.inverse_transform_vector(&-n);
        n.dot(&(x_mb * Point3::from(core.support(&toward))).coords)
    };
    // The faces of boxes, and often of other bodies, are perpendicular to the axes of the body's
    // frame. One of these axes therefore separates most nearby triangles from the body.
    let directions = [0, 1, 2].map(|i| x_mb.rotation * Vector3::ith(i, 1.0));
    let sides = directions.map(|n| [(n, lowest(&n)), (-n, lowest(&-n))]);
    let is_beyond = |t: &Triangle, known: f64| {
        sides.as_flattened().iter().any(|(n, low)| {
            let heights = t.corners.map(|v| n.dot(&v));
            low - heights[0].max(heights[1]).max(heights[2]) > known
        })
    };
    // The direction of the best triangle so far separates well, not only along the axes.
    let separating = Cell::new(None::<(Vector3<f64>, f64)>);
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
    mesh.descend_within(&bounds.grown(start), start, least, |_, t| {
        let known = best.as_ref().map_or(reach, |(d, _)| *d);
        if mesh.is_solid && best.as_ref().is_some_and(|(d, _)| *d <= 0.0) {
            return f64::NEG_INFINITY;
        }
        if Box3::around(&t.corners).distance(bounds) > known.max(0.0) {
            return best.as_ref().map_or(start, |(d, _)| *d);
        }
        // Most triangles below a body are far below it, which their planes tell at less cost.
        let low = lowest(&t.normal);
        if low - t.base() > known {
            separating.set(Some((t.normal, low)));
            return best.as_ref().map_or(start, |(d, _)| *d);
        }
        if is_beyond(t, known) {
            return best.as_ref().map_or(start, |(d, _)| *d);
        }
        if let Some(active) = convex_features(&ConvexCore::Triangle(t), core, x_mb, known) {
            let found = active.evaluate(&RelativePose::new(x_mb));
            if best.as_ref().is_none_or(|(d, _)| found.distance < *d) {
                best = Some((found.distance, active));
                separating.set(Some((found.n_ab, lowest(&found.n_ab))));
            }
        }
        best.as_ref().map_or(start, |(d, _)| *d)
    });
    best
}

/// Returns a point that a core and a solid have in common, in the frame of the solid.
pub(super) fn common_point(
    mesh: &IndexedSurface,
    core: &ConvexCore<'_>,
    x_mb: &Isometry3<f64>,
    bounds: &Box3,
) -> Option<Vector3<f64>> {
    if mesh.tree.bounds().distance(bounds) > 0.0 {
        return None;
    }
    let center = (x_mb * Point3::from(core.center())).coords;
    if mesh.is_inside(&center) {
        return Some(center);
    }
    let (distance, active) = nearest_triangle(mesh, core, x_mb, bounds, 0.0)?;
    (distance <= 0.0).then(|| active.evaluate(&RelativePose::new(x_mb)).p_b)
}
