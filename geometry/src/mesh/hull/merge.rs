//! Merging of coplanar triangles into faces.

use super::quickhull::HullTriangle;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use tarragon_framework::DisjointSets;

/// Set of triangles that form one face.
#[derive(Clone)]
struct CoplanarRegion {
    /// Sum of twice the area times the normal.
    normal: Vector3<f64>,
    /// Sum of the centroids, weighted by the length of the normal.
    moment: Vector3<f64>,
    weight: f64,
}

impl CoplanarRegion {
    fn center(&self) -> Vector3<f64> {
        self.moment / self.weight
    }
}

/// Returns twice the area of a triangle times its normal. Rounding tilts the product of two edges
/// of a needle along the needle, by much more than the width of the needle; its other parts are
/// accurate.
fn area_vector(a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>) -> Vector3<f64> {
    let (u, v) = (b - a, c - a);
    let product = u.cross(&v);
    let edges = [u, v, v - u];
    let longest = edges
        .iter()
        .max_by(|p, q| p.norm_squared().total_cmp(&q.norm_squared()));
    match longest.and_then(|edge| edge.try_normalize(0.0)) {
        Some(along) => product - along * along.dot(&product),
        None => product,
    }
}

/// Regions of a surface. The label of a region is one of its triangles: when two are united, that
/// of the region with the larger area remains.
struct CoplanarRegions {
    /// By label.
    list: Vec<CoplanarRegion>,
    sets: DisjointSets,
    /// Label of each set, by its representative.
    labels: Vec<u32>,
}

impl CoplanarRegions {
    fn new(points: &[Vector3<f64>], triangles: &[HullTriangle]) -> Self {
        let region = |t: &HullTriangle| {
            let [a, b, c] = t.corners.map(|v| points[v as usize]);
            let normal = area_vector(a, b, c);
            // A triangle whose area is lost to rounding still has a centre.
            let weight = normal.norm().max(f64::MIN_POSITIVE);
            CoplanarRegion {
                normal,
                moment: (a + b + c) * (weight / 3.0),
                weight,
            }
        };
        Self {
            list: triangles.iter().map(region).collect(),
            sets: DisjointSets::new(triangles.len()),
            labels: (0..triangles.len() as u32).collect(),
        }
    }
    fn get(&self, label: u32) -> &CoplanarRegion {
        &self.list[label as usize]
    }
    /// Returns the label of the region of a triangle.
    fn find(&self, triangle: u32) -> u32 {
        self.labels[self.sets.find(triangle as usize)]
    }
    /// Unites two regions, given by their labels.
    fn unite(&mut self, a: u32, b: u32) {
        let (small, large) = self.by_size(a, b);
        let CoplanarRegion {
            normal,
            moment,
            weight,
        } = self.list[small as usize];
        self.sets.unite(small as usize, large as usize);
        self.labels[self.sets.find(large as usize)] = large;
        let large = &mut self.list[large as usize];
        large.normal += normal;
        large.moment += moment;
        large.weight += weight;
    }
    fn by_size(&self, a: u32, b: u32) -> (u32, u32) {
        let key = |i: u32| (self.get(i).weight, i);
        if key(a) < key(b) { (a, b) } else { (b, a) }
    }
    /// Returns how far the centre of the smaller of two regions is below the plane of the larger;
    /// less than rounding if they are coplanar. The plane of a small region is too uncertain to
    /// use.
    fn depth(&self, a: u32, b: u32) -> f64 {
        let (small, large) = self.by_size(a, b);
        let (small, large) = (self.get(small), self.get(large));
        let Some(normal) = large.normal.try_normalize(0.0) else {
            return 0.0;
        };
        normal.dot(&(large.center() - small.center()))
    }
}

/// Factor on the usual tolerance up to which regions with a narrow or non-convex outline are merged
/// with neighbours.
const PATIENCE: f64 = 64.0;

/// Returns the faces of a closed convex surface. Triangles that are coplanar within `rounding` form
/// one face, and only points where three faces meet are corners (or two faces, if their planes are
/// so close to each other that their intersection is not straight).
pub(super) fn faces(
    points: &[Vector3<f64>],
    triangles: &[HullTriangle],
    rounding: f64,
) -> Vec<Vec<u32>> {
    let tolerance = 2.0 * rounding;
    let mut regions = CoplanarRegions::new(points, triangles);
    unite_coplanar(triangles, &mut regions, tolerance);
    // Regions that are split again: each of their triangles is a face.
    let mut apart = vec![false; triangles.len()];
    loop {
        let roots: Vec<u32> = (0..triangles.len() as u32)
            .map(|t| regions.find(t))
            .collect();
        let label = |(t, &root): (usize, &u32)| if apart[root as usize] { t as u32 } else { root };
        let labels: Vec<u32> = roots.iter().enumerate().map(label).collect();
        let whole = |label: u32| !apart[roots[label as usize] as usize];
        let outlines = outlines(points, triangles, &labels, &whole, tolerance);
        // Per region, how far from coplanar a neighbour may be to be merged; negative for none.
        let mut limit = vec![-1.0; triangles.len()];
        let mut poor = Vec::new();
        for (label, face) in outlines.iter().filter(|(l, _)| whole(*l)) {
            let normal = regions.get(*label).normal;
            limit[*label as usize] = match face {
                // The region is thinner than rounding or not simply connected.
                None => f64::INFINITY,
                // Only some of the triangles that belong together have been merged.
                Some(face) if is_reentrant(points, face, &normal, tolerance) => {
                    PATIENCE * tolerance
                }
                Some(face) if is_narrow(points, face, tolerance) => {
                    limit[*label as usize] = PATIENCE * tolerance;
                    continue;
                }
                Some(_) => continue,
            };
            poor.push(*label);
        }
        if unite_wanting(triangles, &mut regions, &labels, &limit, &whole) {
            continue;
        }
        if poor.is_empty() {
            let faces: Vec<_> = outlines.into_iter().filter_map(|(_, face)| face).collect();
            if faces.len() < 2 {
                // The body is hardly thicker than rounding, but its triangles do bound it.
                return triangles.iter().map(|t| t.corners.to_vec()).collect();
            }
            return faces;
        }
        // Coplanar by chance: no neighbour is close enough to make the region convex.
        poor.iter().for_each(|label| apart[*label as usize] = true);
    }
}

/// Merges every region that has a limit with its most coplanar whole neighbour within the limit.
/// Returns false if there is none.
fn unite_wanting(
    triangles: &[HullTriangle],
    regions: &mut CoplanarRegions,
    labels: &[u32],
    limit: &[f64],
    is_whole: &dyn Fn(u32) -> bool,
) -> bool {
    let mut best: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    for (t, &label) in labels.iter().enumerate() {
        if limit[label as usize] < 0.0 {
            continue;
        }
        for n in triangles[t].neighbors {
            let other = labels[n as usize];
            if other == label || !is_whole(other) {
                continue;
            }
            let depth = regions.depth(label, other).abs();
            if depth <= limit[label as usize] {
                let least = best.entry(label).or_insert((depth, other));
                if depth < least.0 {
                    *least = (depth, other);
                }
            }
        }
    }
    for (&label, &(_, other)) in &best {
        // A region that has just been merged into another is measured again in the next round:
        // chains of thin regions could otherwise join two faces that meet at an edge.
        if regions.find(label) == label && regions.find(other) == other {
            regions.unite(label, other);
        }
    }
    !best.is_empty()
}

/// Returns true if the corners of a face are so close to a line that they do not define a plane.
fn is_narrow(points: &[Vector3<f64>], face: &[u32], tolerance: f64) -> bool {
    let at = |i: usize| points[face[i] as usize] - points[face[0] as usize];
    let n = face.len();
    let length = (1..n).map(|i| at(i).norm()).fold(0.0, f64::max);
    let doubled: Vector3<f64> = (1..n - 1).map(|i| at(i).cross(&at(i + 1))).sum();
    doubled.norm() <= PATIENCE * tolerance * length
}

/// Returns true if the outline of a face has a re-entrant corner.
fn is_reentrant(
    points: &[Vector3<f64>],
    face: &[u32],
    normal: &Vector3<f64>,
    tolerance: f64,
) -> bool {
    let n = face.len();
    let Some(normal) = normal.try_normalize(0.0) else {
        return false;
    };
    let at = |i: usize| points[face[i % n] as usize];
    let inwards = |i: usize| {
        let (u, v) = (at(i + 1) - at(i), at(i + 2) - at(i + 1));
        normal.dot(&u.cross(&v)) < -4.0 * tolerance * u.norm().max(v.norm())
    };
    n > 3 && (0..n).any(inwards)
}

/// Merges neighbours until no two are coplanar. Small regions are merged first, so that large ones
/// determine the planes.
fn unite_coplanar(triangles: &[HullTriangle], regions: &mut CoplanarRegions, tolerance: f64) {
    let mut edges: Vec<(u32, u32)> = Vec::with_capacity(triangles.len() * 3 / 2);
    for (t, triangle) in triangles.iter().enumerate() {
        let later = triangle.neighbors.iter().filter(|n| **n > t as u32);
        edges.extend(later.map(|n| (t as u32, *n)));
    }
    let mut coplanar: Vec<(f64, u32, u32)> = Vec::new();
    loop {
        coplanar.clear();
        edges.retain_mut(|(a, b)| {
            (*a, *b) = (regions.find(*a), regions.find(*b));
            *a != *b
        });
        for &(a, b) in &edges {
            if regions.depth(a, b) <= tolerance {
                let (small, _) = regions.by_size(a, b);
                coplanar.push((regions.get(small).weight, a, b));
            }
        }
        if coplanar.is_empty() {
            return;
        }
        coplanar.sort_by(|p, q| p.0.total_cmp(&q.0).then((p.1, p.2).cmp(&(q.1, q.2))));
        for &(_, a, b) in &coplanar {
            let (a, b) = (regions.find(a), regions.find(b));
            if a != b && regions.depth(a, b) <= tolerance {
                regions.unite(a, b);
            }
        }
    }
}

/// Returns the corners of every region in order; `None` for a region with fewer than three corners
/// or several outlines.
fn outlines(
    points: &[Vector3<f64>],
    triangles: &[HullTriangle],
    labels: &[u32],
    is_whole: &dyn Fn(u32) -> bool,
    tolerance: f64,
) -> Vec<(u32, Option<Vec<u32>>)> {
    const NONE: u32 = u32::MAX;
    // Edges between regions as (region, from, to).
    let mut edges: Vec<(u32, u32, u32)> = Vec::new();
    for (t, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            if labels[triangle.neighbors[k] as usize] != labels[t] {
                let (from, to) = (triangle.corners[k], triangle.corners[(k + 1) % 3]);
                edges.push((labels[t], from, to));
            }
        }
    }
    // Every edge has a twin, so the number of edges leaving a vertex is that of the regions there.
    let mut degree = vec![0u32; points.len()];
    let mut around = vec![[0u32; 2]; points.len()];
    for &(_, from, to) in &edges {
        let d = &mut degree[from as usize];
        around[from as usize][*d as usize % 2] = to;
        *d += 1;
    }
    // The common outline of two regions is straight, unless they are nearly coplanar.
    // Triangles of split regions keep their corners.
    let mut forced = vec![false; points.len()];
    for (triangle, label) in triangles.iter().zip(labels) {
        if !is_whole(*label) {
            triangle
                .corners
                .iter()
                .for_each(|v| forced[*v as usize] = true);
        }
    }
    let is_corner = |v: u32| {
        if forced[v as usize] {
            return true;
        }
        if degree[v as usize] != 2 {
            return degree[v as usize] > 2;
        }
        let [a, b] = around[v as usize].map(|i| points[i as usize]);
        let (chord, p) = (b - a, points[v as usize] - a);
        chord.cross(&p).norm() > 4.0 * tolerance * chord.norm()
    };
    edges.sort_unstable();
    let mut next = vec![NONE; points.len()];
    let mut faces = Vec::new();
    for region in edges.chunk_by(|a, b| a.0 == b.0) {
        for &(_, from, to) in region {
            next[from as usize] = to;
        }
        let mut face = Vec::new();
        let mut at = region[0].1;
        let mut steps = 0;
        while next[at as usize] != NONE {
            steps += 1;
            if is_corner(at) {
                face.push(at);
            }
            at = std::mem::replace(&mut next[at as usize], NONE);
        }
        let is_face = steps == region.len() && face.len() >= 3;
        // Clear any other outlines of the same region.
        region.iter().for_each(|e| next[e.1 as usize] = NONE);
        faces.push((region[0].0, is_face.then_some(face)));
    }
    faces
}
