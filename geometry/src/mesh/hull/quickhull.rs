//! Quickhull: the hull as triangles.

use nalgebra::Vector3;
use robust::{Coord3D, orient3d};
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// Half a unit in the last place.
const HALF_ULP: f64 = f64::EPSILON / 2.0;
/// Error of a 3x3 determinant relative to its permanent (Shewchuk 1997, the bound A of orient3d).
const DETERMINANT_ERROR: f64 = (7.0 + 56.0 * HALF_ULP) * HALF_ULP;

/// Extreme points that span the same space as all points.
pub(super) enum InitialSimplex {
    Point(u32),
    Segment(u32, u32),
    Triangle([u32; 3]),
    Tetrahedron([u32; 4]),
}

/// Chooses distant points of the set. Points within ten times the `rounding` of a point, line or
/// plane count as being on it.
pub(super) fn initial_simplex(points: &[Vector3<f64>], rounding: f64) -> InitialSimplex {
    let tolerance = 10.0 * rounding;
    let furthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let mut best = (0, -1.0);
        for (i, p) in points.iter().enumerate() {
            let m = measure(p);
            if m > best.1 {
                best = (i as u32, m);
            }
        }
        best
    };
    let at = |i: u32| points[i as usize];
    // Extreme points along the widest axis.
    let (mut low, mut high) = ([0u32; 3], [0u32; 3]);
    for (i, p) in points.iter().enumerate() {
        for k in 0..3 {
            if p[k] < at(low[k])[k] {
                low[k] = i as u32;
            }
            if p[k] > at(high[k])[k] {
                high[k] = i as u32;
            }
        }
    }
    let width = |k: usize| at(high[k])[k] - at(low[k])[k];
    let k = (1..3).fold(0, |best, k| if width(k) > width(best) { k } else { best });
    let (a, b) = (low[k], high[k]);
    if width(k) <= tolerance {
        return InitialSimplex::Point(a);
    }
    let along = (at(b) - at(a)).normalize();
    let (c, distance) = furthest(&|p| (p - at(a)).cross(&along).norm());
    if distance <= tolerance {
        // a and b need not be the ends of the segment, which are extreme along the line.
        let mut order = [(0u32, f64::INFINITY), (0, f64::NEG_INFINITY)];
        for (i, p) in points.iter().enumerate() {
            let s = (p - at(a)).dot(&along);
            if s < order[0].1 {
                order[0] = (i as u32, s);
            }
            if s > order[1].1 {
                order[1] = (i as u32, s);
            }
        }
        return InitialSimplex::Segment(order[0].0, order[1].0);
    }
    let normal = (at(b) - at(a)).cross(&(at(c) - at(a))).normalize();
    let (d, distance) = furthest(&|p| (p - at(a)).dot(&normal).abs());
    if distance <= tolerance {
        return InitialSimplex::Triangle([a, b, c]);
    }
    InitialSimplex::Tetrahedron([a, b, c, d])
}

/// Returns a positive number if `p` sees the front of the triangle. The sign is exact.
fn side(points: &[Vector3<f64>], [a, b, c]: [u32; 3], p: u32) -> f64 {
    let coord = |i: u32| {
        let p = points[i as usize];
        Coord3D {
            x: p.x,
            y: p.y,
            z: p.z,
        }
    };
    -orient3d(coord(a), coord(b), coord(c), coord(p))
}

struct Facet {
    corners: [u32; 3],
    /// Facets beyond the edges from corner k to the next.
    neighbors: [u32; 3],
    /// Unit normal times twice the area.
    normal: Vector3<f64>,
    /// Cofactors of the permanent, for error bounds.
    magnitude: Vector3<f64>,
    /// Twice the area.
    area2: f64,
    /// First point of the linked list, through `HullBuilder::next`, of points above the facet.
    outside: u32,
    /// Farthest of these points, and its height times twice the area.
    furthest: (u32, f64),
    alive: bool,
}

impl Facet {
    fn new(points: &[Vector3<f64>], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        let (u, v) = (b - a, c - a);
        let normal = u.cross(&v);
        let (s, t) = (u.abs(), v.abs());
        let magnitude = Vector3::new(
            s.y * t.z + s.z * t.y,
            s.z * t.x + s.x * t.z,
            s.x * t.y + s.y * t.x,
        );
        Self {
            corners,
            neighbors: [NONE; 3],
            area2: normal.norm(),
            normal,
            magnitude,
            outside: NONE,
            furthest: (NONE, 0.0),
            alive: true,
        }
    }

    /// Classifies `p` relative to the plane of the facet.
    fn place(&self, points: &[Vector3<f64>], p: u32, rounding: f64) -> PlaneSide {
        let x = points[p as usize] - points[self.corners[0] as usize];
        let height = self.normal.dot(&x);
        let error = DETERMINANT_ERROR * self.magnitude.dot(&x.abs());
        if height < -error {
            return PlaneSide::Below;
        }
        if height > error && height > 2.0 * rounding * self.area2 {
            return PlaneSide::Above(height);
        }
        if side(points, self.corners, p) <= 0.0 {
            PlaneSide::Below
        } else if height + error <= 4.0 * rounding * self.area2 {
            PlaneSide::Barely
        } else {
            // The plane of a narrow facet is too uncertain to tell the height.
            PlaneSide::Above(height.max(0.0))
        }
    }
}

/// Position of a point relative to the plane of a facet; only the distance is subject to rounding.
enum PlaneSide {
    /// Below the plane or on it.
    Below,
    /// Above the plane, but not by more than rounding.
    Barely,
    /// Above the plane; holds the height times twice the area of the facet.
    Above(f64),
}

struct HullBuilder<'a> {
    points: &'a [Vector3<f64>],
    rounding: f64,
    facets: Vec<Facet>,
    free: Vec<u32>,
    /// Facets with points above them, first in, first out, so that the hull is refined evenly.
    /// Finishing one place first would take quadratic time where many facets share a vertex that is
    /// removed later, as on cylinders.
    todo: VecDeque<u32>,
    /// Per point, its successor in the outside list that it is in.
    next: Vec<u32>,
}

/// Returns the hull of points that span space as triangles, counter-clockwise as seen from outside,
/// with the triangles beyond their edges.
pub(super) fn triangles(
    points: &[Vector3<f64>],
    simplex: [u32; 4],
    rounding: f64,
) -> Vec<HullTriangle> {
    let mut builder = HullBuilder {
        points,
        rounding,
        facets: Vec::new(),
        free: Vec::new(),
        todo: VecDeque::new(),
        next: vec![NONE; points.len()],
    };
    builder.start(simplex);
    builder.grow();
    builder.finish()
}

/// Triangle of a closed surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct HullTriangle {
    pub(super) corners: [u32; 3],
    /// Triangles beyond the edges from corner k to the next.
    pub(super) neighbors: [u32; 3],
}

impl HullBuilder<'_> {
    fn start(&mut self, [a, mut b, mut c, d]: [u32; 4]) {
        // d must not see the front of (a, b, c).
        if side(self.points, [a, b, c], d) > 0.0 {
            (b, c) = (c, b);
        }
        let faces = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        let neighbors = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, neighbors) in faces.into_iter().zip(neighbors) {
            let mut facet = Facet::new(self.points, corners);
            facet.neighbors = neighbors;
            self.facets.push(facet);
        }
        for p in 0..self.points.len() as u32 {
            if ![a, b, c, d].contains(&p) {
                self.assign(p, &[0, 1, 2, 3]);
            }
        }
    }

    /// Adds the point to the outside list of the first facet that it is above, or drops it if there
    /// is none. A point outside the hull is above one of the `candidates` if these are all facets,
    /// or the new facets that replace one that it was above (Barber et al., section 2).
    fn assign(&mut self, p: u32, candidates: &[u32]) {
        let mut barely = None;
        for &f in candidates {
            match self.facets[f as usize].place(self.points, p, self.rounding) {
                PlaneSide::Above(height) => return self.put(p, f, height),
                PlaneSide::Barely => barely = barely.or(Some(f)),
                PlaneSide::Below => {}
            }
        }
        // A point in the plane of one facet may be far above another. The facets that it is above
        // are connected.
        let Some(first) = barely else {
            return;
        };
        let mut seen = vec![first];
        let mut at = 0;
        while let Some(&f) = seen.get(at) {
            at += 1;
            for beyond in self.facets[f as usize].neighbors {
                if seen.contains(&beyond) {
                    continue;
                }
                match self.facets[beyond as usize].place(self.points, p, self.rounding) {
                    PlaneSide::Above(height) => return self.put(p, beyond, height),
                    PlaneSide::Barely => seen.push(beyond),
                    PlaneSide::Below => {}
                }
            }
        }
    }

    fn put(&mut self, p: u32, f: u32, height: f64) {
        let facet = &mut self.facets[f as usize];
        self.next[p as usize] = facet.outside;
        if facet.outside == NONE {
            self.todo.push_back(f);
        }
        facet.outside = p;
        if facet.furthest.0 == NONE || height > facet.furthest.1 {
            facet.furthest = (p, height);
        }
    }

    fn grow(&mut self) {
        let mut visible = Vec::new();
        let mut horizon = Vec::new();
        let mut new = Vec::new();
        // Per vertex, the new facet whose horizon edge starts there.
        let mut starting = vec![NONE; self.points.len()];
        while let Some(f) = self.todo.pop_front() {
            let facet = &self.facets[f as usize];
            if !facet.alive || facet.outside == NONE {
                continue;
            }
            let apex = facet.furthest.0;
            self.look(f, apex, &mut visible, &mut horizon);
            new.clear();
            for &(from, to, beyond, edge) in &horizon {
                let mut facet = Facet::new(self.points, [from, to, apex]);
                facet.neighbors[0] = beyond;
                let index = match self.free.pop() {
                    Some(index) => {
                        self.facets[index as usize] = facet;
                        index
                    }
                    None => {
                        self.facets.push(facet);
                        self.facets.len() as u32 - 1
                    }
                };
                self.facets[beyond as usize].neighbors[edge] = index;
                starting[from as usize] = index;
                new.push(index);
            }
            for &index in &new {
                let to = self.facets[index as usize].corners[1];
                let following = starting[to as usize];
                self.facets[index as usize].neighbors[1] = following;
                self.facets[following as usize].neighbors[2] = index;
            }
            for &dead in &visible {
                let mut p = std::mem::replace(&mut self.facets[dead as usize].outside, NONE);
                while p != NONE {
                    let next = self.next[p as usize];
                    if p != apex {
                        self.assign(p, &new);
                    }
                    p = next;
                }
            }
            self.free.extend(&visible);
        }
    }

    /// Finds the facets that are visible from `apex`, starting with `first`, and the horizon edges
    /// around them as (from, to, facet beyond, its edge).
    fn look(
        &mut self,
        first: u32,
        apex: u32,
        visible: &mut Vec<u32>,
        horizon: &mut Vec<(u32, u32, u32, usize)>,
    ) {
        visible.clear();
        horizon.clear();
        visible.push(first);
        self.facets[first as usize].alive = false;
        let mut at = 0;
        while let Some(&f) = visible.get(at) {
            at += 1;
            for k in 0..3 {
                let facet = &self.facets[f as usize];
                let beyond = facet.neighbors[k];
                let other = &self.facets[beyond as usize];
                if !other.alive {
                    continue;
                }
                if side(self.points, other.corners, apex) > 0.0 {
                    self.facets[beyond as usize].alive = false;
                    visible.push(beyond);
                }
            }
        }
        for &f in visible.iter() {
            let facet = &self.facets[f as usize];
            for k in 0..3 {
                let beyond = facet.neighbors[k];
                let other = &self.facets[beyond as usize];
                if other.alive {
                    let (from, to) = (facet.corners[k], facet.corners[(k + 1) % 3]);
                    let edge = (0..3).find(|&e| other.corners[e] == to).unwrap_or(0);
                    horizon.push((from, to, beyond, edge));
                }
            }
        }
    }

    fn finish(self) -> Vec<HullTriangle> {
        let mut number = vec![NONE; self.facets.len()];
        let mut count = 0;
        for (f, facet) in self.facets.iter().enumerate() {
            if facet.alive {
                number[f] = count;
                count += 1;
            }
        }
        let alive = self.facets.iter().filter(|f| f.alive);
        alive
            .map(|f| HullTriangle {
                corners: f.corners,
                neighbors: f.neighbors.map(|n| number[n as usize]),
            })
            .collect()
    }
}
