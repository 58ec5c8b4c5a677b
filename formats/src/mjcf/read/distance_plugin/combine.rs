//! Parts of distance functions, and shapes combined from others.

use nalgebra::Vector3;

/// Returns the distance of a point from the z axis.
pub(super) fn from_axis(p: &Vector3<f64>) -> f64 {
    (p.x * p.x + p.y * p.y).sqrt()
}

/// Returns the part of `a` outside `b`.
pub(super) fn without(a: f64, b: f64) -> f64 {
    a.max(-b)
}

/// Union of two shapes, rounded over a width k (iquilezles.org/articles/smin).
pub(super) fn smooth_union(a: f64, b: f64, k: f64) -> f64 {
    let h = (0.5 + 0.5 * (b - a) / k).clamp(0.0, 1.0);
    b * (1.0 - h) + a * h - k * h * (1.0 - h)
}

/// Intersection of two shapes, rounded in the same way.
pub(super) fn smooth_intersection(a: f64, b: f64, k: f64) -> f64 {
    without(a.max(b), smooth_union(without(a, b), without(b, a), k))
}
