//! The parts of two cores that support them in a common direction, and the points where they face
//! each other.
//!
//! Seen along the normal, both parts are points, segments, polygons or disks in a plane. If they
//! have a point in common, that point gives the witnesses and proves that the normal is stationary.

use nalgebra::{Vector2, Vector3};

/// Heights of points of a core that differ by less than this fraction of its extent differ by
/// rounding alone: four units in the last place, for a product of three terms.
pub(super) const LEVEL: f64 = 1e-15;

/// A flat convex set.
#[derive(Clone, Debug)]
pub(super) enum SupportRegion {
    Point(Vector3<f64>),
    Segment(Vector3<f64>, Vector3<f64>),
    /// Corners in order around the boundary.
    Polygon(Vec<Vector3<f64>>),
    /// A disk across the normal.
    Disk(Vector3<f64>, f64),
}

impl SupportRegion {
    pub(super) fn point(p: Vector3<f64>) -> Self {
        Self::Point(p)
    }
    pub(super) fn segment(p: Vector3<f64>, q: Vector3<f64>) -> Self {
        Self::Segment(p, q)
    }
    pub(super) fn disk(center: Vector3<f64>, radius: f64) -> Self {
        Self::Disk(center, radius)
    }
    pub(super) fn polygon(corners: Vec<Vector3<f64>>) -> Self {
        match corners[..] {
            [p] => Self::Point(p),
            [p, q] => Self::Segment(p, q),
            _ => Self::Polygon(corners),
        }
    }
    /// Returns the convex hull of points in any order, projected along `n`.
    pub(super) fn hull(points: Vec<Vector3<f64>>, n: &Vector3<f64>) -> Self {
        if points.len() <= 2 {
            return Self::polygon(points);
        }
        let basis = TangentBasis::new(n);
        let flat: Vec<_> = points.iter().map(|p| basis.project(p)).collect();
        Self::polygon(hull(&flat).into_iter().map(|i| points[i]).collect())
    }
    /// Returns the region with its points mapped by a rigid motion.
    pub(super) fn map(self, f: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> Self {
        match self {
            Self::Point(p) => Self::Point(f(&p)),
            Self::Segment(p, q) => Self::Segment(f(&p), f(&q)),
            Self::Polygon(points) => Self::Polygon(points.iter().map(f).collect()),
            Self::Disk(center, radius) => Self::Disk(f(&center), radius),
        }
    }
}

/// Two orthonormal vectors perpendicular to a normal.
pub(super) struct TangentBasis {
    pub(super) t1: Vector3<f64>,
    pub(super) t2: Vector3<f64>,
}

impl TangentBasis {
    pub(super) fn new(n: &Vector3<f64>) -> Self {
        // Duff et al., Building an Orthonormal Basis, Revisited, JCGT 2017.
        let sign = 1.0_f64.copysign(n.z);
        let a = -1.0 / (sign + n.z);
        let b = n.x * n.y * a;
        Self {
            t1: Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
            t2: Vector3::new(b, sign + n.y * n.y * a, -n.y),
        }
    }
    fn project(&self, p: &Vector3<f64>) -> Vector2<f64> {
        Vector2::new(self.t1.dot(p), self.t2.dot(p))
    }
}

/// The points where two regions are nearest to each other when projected along the normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacingPoints {
    /// The point on each region, up to its height along the normal.
    pub(super) a: Vector3<f64>,
    pub(super) b: Vector3<f64>,
    /// Their distance perpendicular to the normal (m); zero if the regions face each other.
    pub(super) aside: f64,
}

/// Returns the points of the regions of A and of B, both in one frame, that are nearest to each
/// other when projected along the unit vector `n`; where the regions overlap, the middle of the
/// overlap.
pub(super) fn facing(a: &SupportRegion, b: &SupportRegion, n: &Vector3<f64>) -> FacingPoints {
    let at = |a: Vector3<f64>, b: Vector3<f64>| {
        let q = b - a;
        let aside = (q - n * n.dot(&q)).norm();
        FacingPoints { a, b, aside }
    };
    if let (SupportRegion::Point(p), SupportRegion::Point(q)) = (a, b) {
        return at(*p, *q);
    }
    // Coordinates are relative to a point of A, to avoid cancellation.
    let origin = match a {
        SupportRegion::Point(p) | SupportRegion::Segment(p, _) | SupportRegion::Disk(p, _) => *p,
        SupportRegion::Polygon(points) => points[0],
    };
    let basis = TangentBasis::new(n);
    let flat = |r: &SupportRegion| FlatRegion::new(r, &origin, &basis);
    let (fa, fb) = (flat(a), flat(b));
    let (qa, qb) = fa.nearest(&fb);
    let lift = |q: Vector2<f64>| origin + basis.t1 * q.x + basis.t2 * q.y;
    at(lift(qa), lift(qb))
}

/// A region in the plane perpendicular to the normal.
enum FlatRegion {
    /// Corners in either winding; one or two are allowed.
    Polygon(Vec<Vector2<f64>>),
    Disk(Vector2<f64>, f64),
}

impl FlatRegion {
    fn new(region: &SupportRegion, origin: &Vector3<f64>, basis: &TangentBasis) -> Self {
        let at = |p: &Vector3<f64>| basis.project(&(p - origin));
        match region {
            SupportRegion::Point(p) => Self::Polygon(vec![at(p)]),
            SupportRegion::Segment(p, q) => Self::Polygon(vec![at(p), at(q)]),
            SupportRegion::Polygon(points) => {
                let mut corners: Vec<_> = points.iter().map(at).collect();
                if area2(&corners) < 0.0 {
                    corners.reverse();
                }
                Self::Polygon(corners)
            }
            SupportRegion::Disk(center, radius) => Self::Disk(at(center), *radius),
        }
    }

    fn nearest(&self, other: &Self) -> (Vector2<f64>, Vector2<f64>) {
        match (self, other) {
            (Self::Disk(c1, r1), Self::Disk(c2, r2)) => nearest_disks(c1, *r1, c2, *r2),
            (Self::Disk(c, r), Self::Polygon(points)) => nearest_disk_polygon(c, *r, points),
            (Self::Polygon(points), Self::Disk(c, r)) => {
                let (on_disk, on_polygon) = nearest_disk_polygon(c, *r, points);
                (on_polygon, on_disk)
            }
            (Self::Polygon(a), Self::Polygon(b)) => nearest_polygons(a, b),
        }
    }
}

/// Returns twice the signed area.
fn area2(corners: &[Vector2<f64>]) -> f64 {
    let base = corners[0];
    let pairs = corners.windows(2);
    pairs.map(|w| (w[0] - base).perp(&(w[1] - base))).sum()
}

fn nearest_disks(
    c1: &Vector2<f64>,
    r1: f64,
    c2: &Vector2<f64>,
    r2: f64,
) -> (Vector2<f64>, Vector2<f64>) {
    let d = c2 - c1;
    let length = d.norm();
    let u = d.try_normalize(0.0).unwrap_or_else(Vector2::x);
    let (low, high) = ((length - r2).max(-r1), (length + r2).min(r1));
    if low <= high {
        let middle = c1 + u * (0.5 * (low + high));
        return (middle, middle);
    }
    (c1 + u * r1, c2 - u * r2)
}

fn nearest_disk_polygon(
    c: &Vector2<f64>,
    r: f64,
    points: &[Vector2<f64>],
) -> (Vector2<f64>, Vector2<f64>) {
    // Points of an inscribed polygon are points of the disk, so a common point with the polygon is
    // exact.
    const CORNERS: usize = 24;
    let inscribed: Vec<Vector2<f64>> = (0..CORNERS)
        .map(|i| std::f64::consts::TAU * i as f64 / CORNERS as f64)
        .map(|angle| c + Vector2::new(r * angle.cos(), r * angle.sin()))
        .collect();
    if let Some(middle) = middle_of_common(points, &inscribed) {
        return (middle, middle);
    }
    // The point nearest to a disk is the point nearest to its centre.
    let q = nearest_to(points, c);
    let d = q - c;
    let length = d.norm();
    (if length <= r { q } else { c + d * (r / length) }, q)
}

fn nearest_polygons(a: &[Vector2<f64>], b: &[Vector2<f64>]) -> (Vector2<f64>, Vector2<f64>) {
    let common = match (a, b) {
        ([p], _) => {
            let q = nearest_to(b, p);
            return (*p, q);
        }
        (_, [q]) => {
            let p = nearest_to(a, q);
            return (p, *q);
        }
        ([a0, a1], [b0, b1]) => return nearest_segments([a0, a1], [b0, b1]),
        (_, [_, _]) => middle_of_common(b, a),
        _ => middle_of_common(a, b),
    };
    if let Some(middle) = common {
        return (middle, middle);
    }
    let mut best = (f64::INFINITY, a[0], b[0]);
    for i in 0..a.len() {
        let (a0, a1) = (&a[i], &a[(i + 1) % a.len()]);
        for j in 0..b.len() {
            let (b0, b1) = (&b[j], &b[(j + 1) % b.len()]);
            let (p, q) = nearest_segments([a0, a1], [b0, b1]);
            let d = (q - p).norm();
            if d < best.0 {
                best = (d, p, q);
            }
        }
    }
    (best.1, best.2)
}

/// Returns the point of a point, segment or convex polygon (counter-clockwise) nearest to `q`.
fn nearest_to(points: &[Vector2<f64>], q: &Vector2<f64>) -> Vector2<f64> {
    let on_edge = |i: usize| {
        let (p, next) = (points[i], points[(i + 1) % points.len()]);
        let e = next - p;
        let length2 = e.norm_squared();
        let t = if length2 > 0.0 {
            (e.dot(&(q - p)) / length2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        p + e * t
    };
    let outside =
        |i: usize| (points[(i + 1) % points.len()] - points[i]).perp(&(q - points[i])) < 0.0;
    match points.len() {
        1 => points[0],
        2 => on_edge(0),
        n if !(0..n).any(outside) => *q,
        n => {
            let mut best = on_edge(0);
            for p in (1..n).map(on_edge) {
                if (p - q).norm_squared() < (best - q).norm_squared() {
                    best = p;
                }
            }
            best
        }
    }
}

/// Returns the middle of the intersection of a segment or polygon with a counter-clockwise polygon.
fn middle_of_common(subject: &[Vector2<f64>], window: &[Vector2<f64>]) -> Option<Vector2<f64>> {
    // Sutherland and Hodgman 1974.
    let mut points = subject.to_vec();
    let closed = subject.len() > 2;
    for i in 0..window.len() {
        let (base, next) = (window[i], window[(i + 1) % window.len()]);
        let e = next - base;
        let height = |p: &Vector2<f64>| e.perp(&(p - base));
        let mut kept = Vec::with_capacity(points.len() + 1);
        for k in 0..points.len() {
            let p = points[k];
            let h = height(&p);
            if h >= 0.0 {
                kept.push(p);
            }
            if closed || k + 1 < points.len() {
                let q = points[(k + 1) % points.len()];
                let hq = height(&q);
                if (h > 0.0 && hq < 0.0) || (h < 0.0 && hq > 0.0) {
                    kept.push(p + (q - p) * (h / (h - hq)));
                }
            }
        }
        points = kept;
        if points.is_empty() {
            return None;
        }
    }
    let base = points[0];
    let double_area = area2(&points);
    if points.len() > 2 && double_area > 0.0 {
        let mut moment = Vector2::zeros();
        for w in points.windows(2) {
            let (p, q) = (w[0] - base, w[1] - base);
            moment += (p + q) * (p.perp(&q) / 3.0);
        }
        let middle = base + moment / double_area;
        // For a sliver, the quotient may be anywhere.
        let on = nearest_to(window, &middle);
        if (on - middle).norm_squared() == 0.0 {
            return Some(middle);
        }
    }
    Some(points.iter().sum::<Vector2<f64>>() / points.len() as f64)
}

/// Returns the nearest points of two segments; the middle of the common part if they are parallel.
fn nearest_segments(
    [a0, a1]: [&Vector2<f64>; 2],
    [b0, b1]: [&Vector2<f64>; 2],
) -> (Vector2<f64>, Vector2<f64>) {
    let (u, v, w) = (a1 - a0, b1 - b0, b0 - a0);
    let (uu, vv) = (u.norm_squared(), v.norm_squared());
    let determinant = u.perp(&v);
    if determinant * determinant > 1e-28 * uu * vv {
        let (s, t) = (w.perp(&v) / determinant, w.perp(&u) / determinant);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            let p = a0 + u * s;
            return (p, p);
        }
    } else if uu > 0.0 && vv > 0.0 {
        let (t0, t1) = (u.dot(&w) / uu, u.dot(&(b1 - a0)) / uu);
        let (low, high) = (t0.min(t1).max(0.0), t0.max(t1).min(1.0));
        if low <= high {
            let p = a0 + u * (0.5 * (low + high));
            let q = nearest_to(&[*b0, *b1], &p);
            return (p, q);
        }
    }
    let ends = [
        (*a0, nearest_to(&[*b0, *b1], a0)),
        (*a1, nearest_to(&[*b0, *b1], a1)),
        (nearest_to(&[*a0, *a1], b0), *b0),
        (nearest_to(&[*a0, *a1], b1), *b1),
    ];
    let mut best = ends[0];
    for next in &ends[1..] {
        if (next.1 - next.0).norm_squared() < (best.1 - best.0).norm_squared() {
            best = *next;
        }
    }
    best
}

/// Returns the indices of the corners of the hull of points in the plane, counter-clockwise (Andrew
/// 1979).
fn hull(points: &[Vector2<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let key = |i: &usize| (points[*i].x, points[*i].y);
    order.sort_by(|i, j| {
        key(i)
            .partial_cmp(&key(j))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let chain = |order: &mut dyn Iterator<Item = usize>| {
        let mut chain: Vec<usize> = vec![];
        for i in order {
            while let [.., a, b] = chain[..] {
                if (points[b] - points[a]).perp(&(points[i] - points[a])) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(i);
        }
        chain.pop();
        chain
    };
    let mut lower = chain(&mut order.iter().copied());
    lower.extend(chain(&mut order.iter().rev().copied()));
    lower
}
