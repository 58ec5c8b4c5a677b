//! The expanding polytope algorithm (van den Bergen 2001): a polytope inside the difference of two
//! overlapping cores that grows toward the nearest boundary of the difference.
//!
//! The plane of a face is never farther from the origin than the boundary behind the face. The
//! nearest face therefore bounds the depth from below, while every direction bounds it from above.

use super::gjk::CorePair;
use nalgebra::Vector3;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A corner: a boundary point of the difference B - A, and the direction in which it was found.
#[derive(Clone, Copy, Debug)]
struct EpaVertex {
    w: Vector3<f64>,
    m: Vector3<f64>,
}

#[derive(Clone, Copy, Debug)]
struct EpaFace {
    corners: [u32; 3],
    /// The face across the edge from corner `i` to corner `i + 1`.
    across: [u32; 3],
    /// Outward unit normal and offset of its plane.
    m: Vector3<f64>,
    offset: f64,
    alive: bool,
}

/// A face in the queue. The nearest plane comes first; ties are ordered by index, which makes the
/// order reproducible.
#[derive(Clone, Copy, PartialEq)]
struct QueuedFace(f64, u32);

impl Eq for QueuedFace {}
impl PartialOrd for QueuedFace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for QueuedFace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// The nearest face.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearestFace {
    face: u32,
    /// Outward unit normal.
    pub(super) m: Vector3<f64>,
    /// Distance of its plane from the origin; no boundary point behind the face is nearer.
    pub(super) offset: f64,
}

/// The growing polytope.
pub(super) struct Epa {
    corners: Vec<EpaVertex>,
    faces: Vec<EpaFace>,
    queue: BinaryHeap<Reverse<QueuedFace>>,
    size: f64,
}

impl Epa {
    /// Creates a tetrahedron of boundary points that is wide in all directions. Returns the unit
    /// normal of the plane of the difference if the difference is flat.
    pub(super) fn new(pair: &CorePair<'_>, first: &Vector3<f64>) -> Result<Self, Vector3<f64>> {
        let look = |m: Vector3<f64>| EpaVertex {
            w: pair.support(&-m),
            m,
        };
        let mut corners = vec![look(*first), look(-first)];
        let basis = super::region::TangentBasis::new(first);
        // Each further corner is the farther of the supports in two opposite directions.
        let span = |corners: &[EpaVertex]| corners[1].w - corners[0].w;
        for m in [basis.t1, basis.t2] {
            if span(&corners).norm() > 1e-2 * pair.size {
                break;
            }
            let other = [look(m), look(-m)];
            if span(&other).norm() > span(&corners).norm() {
                corners = other.to_vec();
            }
        }
        let line = span(&corners);
        let Some(u) = line.try_normalize(1e-13 * pair.size) else {
            return Err(*first);
        };
        let away = |c: &EpaVertex| {
            let q = c.w - corners[0].w;
            (q - u * u.dot(&q)).norm()
        };
        let basis = super::region::TangentBasis::new(&u);
        let looks = [basis.t1, -basis.t1, basis.t2, -basis.t2].map(look);
        let third = farthest(&looks, away);
        if away(&third) <= 1e-13 * pair.size {
            return Err(basis.t1);
        }
        let normal = u.cross(&(third.w - corners[0].w)).normalize();
        let height = |c: &EpaVertex| normal.dot(&(c.w - corners[0].w)).abs();
        let fourth = farthest(&[look(normal), look(-normal)], height);
        if height(&fourth) <= 1e-13 * pair.size {
            return Err(normal);
        }
        corners.extend([third, fourth]);
        let mut this = Self {
            corners,
            faces: vec![],
            queue: BinaryHeap::new(),
            size: pair.size,
        };
        let w = |i: usize| this.corners[i].w;
        let flipped = (w(1) - w(0)).cross(&(w(2) - w(0))).dot(&(w(3) - w(0))) > 0.0;
        let order: [u32; 4] = if flipped { [0, 2, 1, 3] } else { [0, 1, 2, 3] };
        let [a, b, c, d] = order;
        // The winding that makes all normals point outward: corner 3 is behind (0, 1, 2).
        this.add([a, b, c], [1, 2, 3]);
        this.add([b, a, d], [0, 3, 2]);
        this.add([c, b, d], [0, 1, 3]);
        this.add([a, c, d], [0, 2, 1]);
        Ok(this)
    }

    fn add(&mut self, corners: [u32; 3], across: [u32; 3]) {
        let [p, q, r] = corners.map(|i| self.corners[i as usize].w);
        let normal = (q - p).cross(&(r - p));
        let index = self.faces.len() as u32;
        // The normal of a sliver is only rounding; a sliver is never the nearest face.
        let (m, offset) = match normal.try_normalize(1e-28 * self.size * self.size) {
            Some(m) => (m, m.dot(&p).max(m.dot(&q)).max(m.dot(&r))),
            None => (Vector3::zeros(), f64::INFINITY),
        };
        self.faces.push(EpaFace {
            corners,
            across,
            m,
            offset,
            alive: true,
        });
        self.queue.push(Reverse(QueuedFace(offset, index)));
    }

    /// Removes the face with the nearest plane from the queue and returns it.
    pub(super) fn nearest(&mut self) -> Option<NearestFace> {
        while let Some(Reverse(QueuedFace(offset, face))) = self.queue.pop() {
            let f = &self.faces[face as usize];
            if f.alive {
                return (offset < f64::INFINITY).then_some(NearestFace {
                    face,
                    m: f.m,
                    offset,
                });
            }
        }
        None
    }

    /// Returns the smallest cosine between the unit vector `m` and the directions in which the
    /// corners of a face were found.
    pub(super) fn spread(&self, face: &NearestFace, m: &Vector3<f64>) -> f64 {
        let corners = self.faces[face.face as usize].corners;
        let cosines = corners.map(|c| self.corners[c as usize].m.dot(m));
        cosines.into_iter().fold(face.m.dot(m), f64::min)
    }

    /// Expands the polytope beyond a face by the boundary point `w` found in direction `m`. Returns
    /// false if the point is not beyond the face, or if rounding has made the polytope inconsistent
    /// there; the face is then finished.
    pub(super) fn grow(&mut self, face: &NearestFace, w: Vector3<f64>, m: Vector3<f64>) -> bool {
        let beyond = |f: &EpaFace| f.m.dot(&w) > f.offset + 1e-15 * self.size;
        if !beyond(&self.faces[face.face as usize]) {
            return false;
        }
        // All faces that see the point, and the edges around them.
        let mut seen = vec![face.face];
        let mut horizon: Vec<(u32, u32, u32)> = vec![];
        let mut next = 0;
        while next < seen.len() {
            let f = self.faces[seen[next] as usize];
            next += 1;
            for i in 0..3 {
                let neighbor = f.across[i];
                if seen.contains(&neighbor) {
                    continue;
                }
                let g = &self.faces[neighbor as usize];
                // A sliver has no normal, so it is treated like the face it was reached from.
                if beyond(g) || g.offset == f64::INFINITY {
                    seen.push(neighbor);
                } else {
                    horizon.push((f.corners[i], f.corners[(i + 1) % 3], neighbor));
                }
            }
        }
        // Slivers added late may turn edges of the horizon into inner edges.
        horizon.retain(|edge| !seen.contains(&edge.2));
        // Sorted into a loop: each edge starts where the previous one ended.
        for i in 1..horizon.len() {
            let end = horizon[i - 1].1;
            match (i..horizon.len()).find(|k| horizon[*k].0 == end) {
                Some(k) => horizon.swap(i, k),
                None => return false,
            }
        }
        match (horizon.first(), horizon.last()) {
            (Some(first), Some(last)) if first.0 == last.1 && horizon.len() >= 3 => {}
            _ => return false,
        }
        let corner = self.corners.len() as u32;
        self.corners.push(EpaVertex { w, m });
        let (base, count) = (self.faces.len() as u32, horizon.len() as u32);
        for f in seen {
            self.faces[f as usize].alive = false;
        }
        for (i, (from, to, outside)) in (0..count).zip(horizon) {
            let (before, after) = (base + (i + count - 1) % count, base + (i + 1) % count);
            self.add([from, to, corner], [outside, after, before]);
            let f = &mut self.faces[outside as usize];
            if let Some(k) = (0..3).find(|k| f.corners[*k] == to && f.corners[(k + 1) % 3] == from)
            {
                f.across[k] = base + i;
            }
        }
        true
    }
}

fn farthest(corners: &[EpaVertex], height: impl Fn(&EpaVertex) -> f64) -> EpaVertex {
    let mut best = corners[0];
    for c in &corners[1..] {
        if height(c) > height(&best) {
            best = *c;
        }
    }
    best
}
