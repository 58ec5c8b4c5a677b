//! Depth of a body below the surface of a solid mesh: branch and bound on the signed distance,
//! which changes by at most the distance that a point moves.

use super::point::{DepthProbe, NearestFeature};
use super::solution::{DecidingFeature, SurfaceSolution};
use crate::accel::IndexedSurface;
use crate::accel::triangle_index::Box3;
use crate::accel::triangle_index::Triangle;
use crate::proximity::rounding::NEGLIGIBLE;
use nalgebra::{Isometry3, Point3, Vector3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Relative tolerance of the search: a depth that it finds is at most this fraction (or
/// [`SMALLEST`]) below the true one.
pub(super) const TOLERANCE: f64 = 1e-3;
/// Maximum number of cells examined before the best result so far is returned. Only bodies buried
/// in fine and rugged surfaces come near it.
pub(super) const MOST_CELLS: usize = 20_000;
/// Smallest difference of depths that matters, as a fraction of the size of the body.
pub(super) const SMALLEST: f64 = 1e-9;

/// A part of a body that is still to be examined; the one that may be deepest comes first.
pub(super) struct SearchCell<C> {
    pub(super) bound: f64,
    pub(super) number: u32,
    pub(super) part: C,
}

impl<C> PartialEq for SearchCell<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<C> Eq for SearchCell<C> {}
impl<C> PartialOrd for SearchCell<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<C> Ord for SearchCell<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound
            .total_cmp(&other.bound)
            .then(other.number.cmp(&self.number))
    }
}

/// Returns the depth up to which parts need not be examined.
pub(super) fn enough(best: f64, smallest: f64) -> f64 {
    best + (TOLERANCE * best).max(smallest)
}

/// Splits parts until none can be deeper than the greatest known depth, up to the tolerance.
/// `split` examines a part, passes its pieces on with bounds of their depths, and returns the
/// greatest depth so far. The bounds need not be tighter than its second argument.
pub(super) fn search<C>(
    roots: impl IntoIterator<Item = (f64, C)>,
    smallest: f64,
    most_cells: usize,
    mut split: impl FnMut(C, f64, &mut dyn FnMut(f64, C)) -> f64,
) {
    let mut number = 0;
    let cells = roots.into_iter().map(|(bound, part)| {
        number += 1;
        SearchCell {
            bound,
            number,
            part,
        }
    });
    let mut heap: BinaryHeap<_> = cells.collect();
    let last = number as usize + most_cells;
    let mut best = 0.0_f64;
    while let Some(cell) = heap.pop() {
        let enough = |best: f64| enough(best, smallest);
        if cell.bound <= enough(best) || number as usize > last {
            return;
        }
        let mut pieces = Vec::with_capacity(2);
        best = split(cell.part, enough(best), &mut |bound, part| {
            pieces.push((bound, part))
        });
        for (bound, part) in pieces {
            number += 1;
            let bound = bound.min(cell.bound);
            if bound > enough(best) {
                heap.push(SearchCell {
                    bound,
                    number,
                    part,
                });
            }
        }
    }
}

/// A bound of a set of points: none is deeper than the larger of `base - n.p` and `over`.
struct DepthLimit {
    n: Vector3<f64>,
    base: f64,
    over: f64,
}

impl IndexedSurface {
    /// Returns a bound of the depth of the points of a set that are within `radius` of `center`,
    /// where the surface was probed. `lowest` bounds `n.p` over these points from below. Expensive
    /// bounds are skipped once a cheap one is below `enough`. `try_point` receives points that are
    /// likely to be deep.
    pub(super) fn depth_bound(
        &self,
        at: &DepthProbe,
        center: &Vector3<f64>,
        radius: f64,
        enough: f64,
        lowest: impl Fn(&Vector3<f64>) -> f64,
        mut try_point: impl FnMut(Vector3<f64>),
    ) -> f64 {
        let ball = at.depth + radius;
        if ball <= enough {
            return ball;
        }
        // The surface is not farther away than the nearest triangle.
        let t = &self.triangle(at.triangle);
        let below = (t.base() - lowest(&t.normal)).max(t.height(center) + radius);
        let bound = ball.min(below.hypot(self.aside(at.triangle, center, radius)));
        if bound <= enough {
            return bound;
        }
        let Some(near) = self.limit(at.triangle, at.depth, center, radius) else {
            return bound;
        };
        let bound = bound.min(near.over.max(near.base - lowest(&near.n)));
        if bound <= enough || at.depth < radius {
            return bound;
        }
        // Between two sides, no point is deeper than below either, so not deeper than below any
        // mean of them.
        let behind = center - near.n * (2.0 * radius);
        let (other, _) = self.nearest(&behind);
        if other == at.triangle {
            return bound;
        }
        let Some(far) = self.limit(other, at.depth + 2.0 * radius, center, radius) else {
            return bound;
        };
        let height = |limit: &DepthLimit| limit.base - limit.n.dot(center);
        let step = (height(&far) - height(&near)) / (1.0 - near.n.dot(&far.n)).max(1e-3);
        if step.abs() <= 2.0 * radius {
            try_point(center - near.n * step);
        }
        let means = [0.5, 0.25, 0.75, 0.0].map(|s| {
            let n = near.n * s + far.n * (1.0 - s);
            near.base * s + far.base * (1.0 - s) - lowest(&n)
        });
        let mean = means.into_iter().fold(f64::INFINITY, f64::min);
        bound.min(near.over.max(far.over).max(mean))
    }

    /// Returns how far the points within `radius` of `center`, projected along the normal of a
    /// triangle, may lie outside of that triangle (m).
    fn aside(&self, triangle: usize, center: &Vector3<f64>, radius: f64) -> f64 {
        let t = &self.triangle(triangle);
        let inset = t.inset(center);
        if inset >= 0.0 {
            return (radius - inset).max(0.0);
        }
        let foot = center - t.normal * t.height(center);
        radius + (t.nearest(&foot) - foot).norm()
    }

    /// Returns the limit that a triangle at a distance of about `depth` sets for the points within
    /// `radius` of `center`.
    fn limit(
        &self,
        triangle: usize,
        depth: f64,
        center: &Vector3<f64>,
        radius: f64,
    ) -> Option<DepthLimit> {
        let t = &self.triangle(triangle);
        if self.aside(triangle, center, radius) == 0.0 {
            return Some(DepthLimit {
                n: t.normal,
                base: t.base(),
                over: t.height(center) + radius,
            });
        }
        Some(DepthLimit {
            n: t.normal,
            base: self.highest_exit(&t.normal, depth, center, radius)?,
            over: f64::NEG_INFINITY,
        })
    }

    /// Returns a height along `n` above which every point within `radius` of `center` is outside
    /// the solid when it has moved along `n`. A point on its way out crosses the surface, so it is
    /// not deeper than it is below that height. Returns `None` if the end of the paths is inside.
    fn highest_exit(
        &self,
        n: &Vector3<f64>,
        depth: f64,
        center: &Vector3<f64>,
        radius: f64,
    ) -> Option<f64> {
        let way = n * (depth.max(0.0) + 3.0 * radius);
        if self.depth(&(center + way)) >= -radius {
            return None;
        }
        let swept = Box3::around(&[*center, center + way]).grown(radius);
        Some(self.tree.highest_within(&swept, n, |i| {
            let corners = &self.triangle(i).corners;
            if Box3::around(corners).distance(&swept) > 0.0 {
                return f64::NEG_INFINITY;
            }
            let heights = corners.iter().map(|v| v.dot(n));
            heights.fold(f64::NEG_INFINITY, f64::max)
        }))
    }

    /// Returns the depth below the surface (m).
    pub(super) fn depth(&self, p: &Vector3<f64>) -> f64 {
        self.probe(p).depth
    }
}

/// A point of a body whose depth two faces limit: it is the body's lowest point along a mean of
/// their normals.
pub(super) struct FacesBetween {
    pub(super) p: Vector3<f64>,
    pub(super) features: [NearestFeature; 2],
    /// Weight of the first normal.
    pub(super) weight: f64,
    pub(super) depth: f64,
}

impl FacesBetween {
    pub(super) fn solution(&self, x_ab: &Isometry3<f64>) -> SurfaceSolution {
        let p_b = x_ab.inverse_transform_point(&Point3::from(self.p)).coords;
        SurfaceSolution::new(DecidingFeature::Between(self.features, self.weight, p_b))
    }
}

impl IndexedSurface {
    /// Returns the deepest point of a body near `p`, a point of the body whose depth is
    /// approximately right, if two faces limit it. `lowest` returns the point of the body that is
    /// lowest along a vector.
    ///
    /// The maximum over a convex body of the lesser of two linear functions is the minimum, over
    /// the means of the two functions, of the maximum of that mean; the means have one parameter.
    pub(super) fn between(
        &self,
        p: &Vector3<f64>,
        probe: &DepthProbe,
        lowest: impl Fn(&Vector3<f64>) -> Vector3<f64>,
    ) -> Option<FacesBetween> {
        let first = &self.triangle(probe.triangle);
        let reach = probe.depth * (1.0 + 2.0 * TOLERANCE);
        let mut other: Option<(f64, usize)> = None;
        self.tree.descend(
            reach * reach,
            |b| b.distance2(p),
            |i| {
                let t = &self.triangle(i);
                let d2 = (t.nearest(p) - p).norm_squared();
                let known = other.map_or(reach * reach, |o| o.0);
                if d2 < known && t.normal.dot(&first.normal) < 1.0 - 1e-9 {
                    other = Some((d2, i));
                }
                other.map_or(reach * reach, |o| o.0)
            },
        );
        let second = &self.triangle(other?.1);
        // How much deeper a point is below the first plane than below the second (m).
        let lead = |p: &Vector3<f64>| second.height(p) - first.height(p);
        let at = |weight: f64| lowest(&(first.normal * weight + second.normal * (1.0 - weight)));
        // The point that is lowest along the first normal is deeper below the first plane, so there
        // the first plane limits less.
        let (mut low, mut high) = (0.0, 1.0);
        let (mut below_second, mut below_first) = (at(low), at(high));
        if lead(&below_second) >= 0.0 || lead(&below_first) <= 0.0 {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let q = at(middle);
            if lead(&q) > 0.0 {
                (high, below_first) = (middle, q);
            } else {
                (low, below_second) = (middle, q);
            }
        }
        let (l, h) = (lead(&below_second), lead(&below_first));
        let s = if h > l { -l / (h - l) } else { 0.5 };
        let p = below_second + (below_first - below_second) * s;
        let depth = -first.height(&p);
        let here = self.probe(&p);
        let same = 10.0 * NEGLIGIBLE * (self.extent() + p.amax());
        let inside = |t: &Triangle| t.inset(&p) >= -same;
        let decided = inside(first) && inside(second) && (here.depth - depth).abs() <= same;
        (decided && depth >= probe.depth - same).then(|| FacesBetween {
            p,
            features: [NearestFeature::face(first), NearestFeature::face(second)],
            weight: 0.5 * (low + high),
            depth,
        })
    }
}
