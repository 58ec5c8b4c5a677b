//! The distance of separated cores by the method of Gilbert, Johnson and Keerthi (1988).

use super::active::RelativePose;
use super::core::ConvexCore;
use nalgebra::{Isometry3, Vector3};
use std::cell::Cell;

/// Two cores, with B expressed in A.
pub(super) struct CorePair<'a> {
    pub(super) a: ConvexCore<'a>,
    pub(super) b: ConvexCore<'a>,
    pub(super) x_ab: RelativePose<f64>,
    /// The extents of the cores (m).
    pub(super) size: f64,
    /// Scale of the rounding of points (m): the extents and the distance between the cores.
    pub(super) scale: f64,
    /// The most recently found vertices of polytopes.
    last: [Cell<usize>; 2],
}

impl<'a> CorePair<'a> {
    pub(super) fn new(a: &ConvexCore<'a>, b: &ConvexCore<'a>, x_ab: &Isometry3<f64>) -> Self {
        Self {
            a: *a,
            b: *b,
            x_ab: RelativePose::new(x_ab),
            size: a.extent() + b.extent(),
            scale: a.extent() + b.extent() + x_ab.translation.vector.norm(),
            last: [Cell::new(0), Cell::new(0)],
        }
    }

    /// Returns the point of the difference B - A that is lowest along `n`, with the points of A and
    /// of B, each in its own frame.
    #[inline]
    fn vertex(&self, n: &Vector3<f64>) -> DifferenceVertex {
        let a = self.a.support_near(&self.last[0], n);
        let n_b = -self.x_ab.in_b(n);
        let b = self.b.support_near(&self.last[1], &n_b);
        DifferenceVertex {
            w: self.x_ab.point(&b) - a,
            a,
            b,
        }
    }
    /// Returns the point of the difference B - A that is lowest along `n`. For a unit vector, its
    /// height is the margin `g(n)`.
    #[inline]
    pub(super) fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.vertex(n).w
    }
}

/// A point of the difference and the points of A and B that it comes from.
#[derive(Clone, Copy, Debug)]
struct DifferenceVertex {
    w: Vector3<f64>,
    a: Vector3<f64>,
    b: Vector3<f64>,
}

/// The result of a step of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GjkStatus {
    Searching,
    /// No better direction exists.
    Converged,
    /// The cores overlap, or touch up to rounding.
    Overlapping,
}

/// The state of the search.
pub(super) struct Gjk {
    simplex: [DifferenceVertex; 4],
    count: usize,
    /// The point of the simplex nearest to the origin.
    pub(super) v: Vector3<f64>,
    /// The best direction from A to B so far, and its margin.
    pub(super) n: Vector3<f64>,
    pub(super) margin: f64,
}

impl Gjk {
    pub(super) fn new(pair: &CorePair<'_>) -> Self {
        let n = (pair.x_ab.point(&pair.b.center()) - pair.a.center())
            .try_normalize(1e-9 * pair.size)
            .unwrap_or_else(Vector3::x);
        let first = pair.vertex(&n);
        let v = first.w;
        Self {
            simplex: [first; 4],
            count: 1,
            v,
            n,
            margin: n.dot(&v),
        }
    }

    /// Takes the support point in the direction of the nearest point into the simplex.
    pub(super) fn step(&mut self, pair: &CorePair<'_>) -> GjkStatus {
        let length = self.v.norm();
        if length <= 1e-13 * pair.size {
            return GjkStatus::Overlapping;
        }
        let n = self.v / length;
        let next = pair.vertex(&n);
        let w = next.w;
        let margin = n.dot(&w);
        if margin > self.margin {
            (self.n, self.margin) = (n, margin);
        }
        if length - self.margin <= 1e-15 * length
            || self.simplex[..self.count].iter().any(|s| s.w == w)
        {
            return GjkStatus::Converged;
        }
        self.simplex[self.count] = next;
        self.count += 1;
        let v = match self.reduce() {
            Some(v) => v,
            None => return GjkStatus::Overlapping,
        };
        // In exact arithmetic, the distance decreases.
        let stuck = v.norm_squared() >= self.v.norm_squared();
        self.v = v;
        if stuck {
            GjkStatus::Converged
        } else {
            GjkStatus::Searching
        }
    }

    /// Returns the vertices of a core that span the nearest point, each once: of A or of B, in its
    /// frame.
    pub(super) fn spanned(&self, of_a: bool) -> Vec<Vector3<f64>> {
        let mut points: Vec<Vector3<f64>> = Vec::with_capacity(4);
        for vertex in &self.simplex[..self.count] {
            let p = if of_a { vertex.a } else { vertex.b };
            if !points.contains(&p) {
                points.push(p);
            }
        }
        points
    }

    /// Returns the points of A and of B, each in its own frame, whose difference is the nearest
    /// point.
    pub(super) fn nearest_points(&self) -> (Vector3<f64>, Vector3<f64>) {
        let s = &self.simplex;
        let weights = match self.count {
            2 => {
                let e = s[1].w - s[0].w;
                let t = (e.dot(&(self.v - s[0].w)) / e.norm_squared()).clamp(0.0, 1.0);
                [1.0 - t, t, 0.0]
            }
            3 => {
                let normal = (s[1].w - s[0].w).cross(&(s[2].w - s[0].w));
                let part = |i: usize, j: usize| {
                    let (p, q) = (s[i].w - self.v, s[j].w - self.v);
                    (p.cross(&q).dot(&normal) / normal.norm_squared()).max(0.0)
                };
                let parts = [part(1, 2), part(2, 0), part(0, 1)];
                let sum: f64 = parts.iter().sum();
                parts.map(|p| p / sum)
            }
            _ => [1.0, 0.0, 0.0],
        };
        let mean = |of: fn(&DifferenceVertex) -> Vector3<f64>| {
            let terms = s.iter().zip(weights).map(|(vertex, w)| of(vertex) * w);
            terms.sum()
        };
        (mean(|s| s.a), mean(|s| s.b))
    }

    /// Returns the point of the simplex nearest to the origin, and drops the vertices that it does
    /// not need. Returns `None` if the origin is inside.
    fn reduce(&mut self) -> Option<Vector3<f64>> {
        let simplex = self.simplex;
        let s = simplex.map(|s| s.w);
        let (v, kept) = match self.count {
            1 => (s[0], [Some(0), None, None]),
            2 => on_segment(&s, 0, 1),
            3 => on_triangle(&s, 0, 1, 2),
            _ => on_tetrahedron(&s)?,
        };
        self.count = 0;
        for i in kept.into_iter().flatten() {
            self.simplex[self.count] = simplex[i];
            self.count += 1;
        }
        Some(v)
    }
}

/// The location of a core relative to a ball.
pub(in crate::proximity) enum NearPoint {
    /// No point of the core is in the ball.
    Beyond,
    /// The centre of the ball is in the core.
    Inside,
    /// The part of the core in the ball is within `radius` of the core's point `p`, which is not
    /// much farther from the centre than the nearest point is.
    Near { p: Vector3<f64>, radius: f64 },
}

/// Locates a core relative to the ball of `radius` around `center`.
pub(in crate::proximity) fn near_point(
    core: &ConvexCore<'_>,
    center: &Vector3<f64>,
    radius: f64,
) -> NearPoint {
    let x_ab = Isometry3::translation(center.x, center.y, center.z);
    let pair = CorePair::new(core, &ConvexCore::Point, &x_ab);
    let mut gjk = Gjk::new(&pair);
    for _ in 0..64 {
        let status = gjk.step(&pair);
        if gjk.margin > radius {
            return NearPoint::Beyond;
        }
        if status == GjkStatus::Overlapping {
            return NearPoint::Inside;
        }
        let length = gjk.v.norm();
        if status == GjkStatus::Converged || gjk.margin >= 0.7 * length {
            break;
        }
    }
    // For q in the core, (p - q).v >= |v| (margin - |v|), so |q - p|^2 is at most
    // |q - c|^2 - |v| (2 margin - |v|), where v = c - p.
    let length = gjk.v.norm();
    let square = radius * radius - length * (2.0 * gjk.margin - length);
    NearPoint::Near {
        p: center - gjk.v,
        radius: square.max(0.0).sqrt(),
    }
}

/// A nearest point and the vertices that span it.
type NearestOnSimplex = (Vector3<f64>, [Option<usize>; 3]);

fn on_segment(s: &[Vector3<f64>; 4], i: usize, j: usize) -> NearestOnSimplex {
    let (p, q) = (s[i], s[j]);
    let e = q - p;
    let t = -e.dot(&p);
    let length2 = e.norm_squared();
    if t <= 0.0 {
        (p, [Some(i), None, None])
    } else if t >= length2 {
        (q, [Some(j), None, None])
    } else {
        (p + e * (t / length2), [Some(i), Some(j), None])
    }
}

/// Returns the nearest point of a triangle by regions, as in Ericson, Real-Time Collision Detection
/// (2005), 5.1.5.
fn on_triangle(s: &[Vector3<f64>; 4], i: usize, j: usize, k: usize) -> NearestOnSimplex {
    let (a, b, c) = (s[i], s[j], s[k]);
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(&ac);
    let area2 = normal.norm_squared();
    if area2 > 0.0 {
        // The signs of the areas of the three parts into which the foot of the origin divides the
        // triangle.
        let part = |p: &Vector3<f64>, q: &Vector3<f64>| p.cross(q).dot(&normal);
        let (wa, wb, wc) = (part(&b, &c), part(&c, &a), part(&a, &b));
        if wa > 0.0 && wb > 0.0 && wc > 0.0 {
            let v = normal * (normal.dot(&a) / area2);
            return (v, [Some(i), Some(j), Some(k)]);
        }
    }
    let edges = [
        on_segment(s, i, j),
        on_segment(s, j, k),
        on_segment(s, k, i),
    ];
    least(&edges)
}

fn on_tetrahedron(s: &[Vector3<f64>; 4]) -> Option<NearestOnSimplex> {
    let faces = [(0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 3, 1), (1, 2, 3, 0)];
    let mut best: Option<NearestOnSimplex> = None;
    for (i, j, k, opposite) in faces {
        let normal = (s[j] - s[i]).cross(&(s[k] - s[i]));
        let inside = normal.dot(&(s[opposite] - s[i]));
        let origin = -normal.dot(&s[i]);
        // A flat tetrahedron has no inside, so all its faces count.
        if inside * origin > 0.0 {
            continue;
        }
        let next = on_triangle(s, i, j, k);
        if best.is_none_or(|b| next.0.norm_squared() < b.0.norm_squared()) {
            best = Some(next);
        }
    }
    best
}

fn least(candidates: &[NearestOnSimplex]) -> NearestOnSimplex {
    let mut best = candidates[0];
    for next in &candidates[1..] {
        if next.0.norm_squared() < best.0.norm_squared() {
            best = *next;
        }
    }
    best
}
