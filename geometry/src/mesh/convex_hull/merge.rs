//! Triangles of one plane to faces.

use super::quickhull::Triangle;
use nalgebra::Vector3;

/// Triangles that are taken together.
#[derive(Clone)]
struct Region {
    /// Another region that this one is part of, or itself.
    parent: u32,
    /// Sum of twice the area times the normal.
    normal: Vector3<f64>,
    /// Sum of the centroids, weighted by the length of the normal.
    moment: Vector3<f64>,
    weight: f64,
}

impl Region {
    fn center(&self) -> Vector3<f64> {
        self.moment / self.weight
    }
}

struct Regions(Vec<Region>);

impl Regions {
    fn new(points: &[Vector3<f64>], triangles: &[Triangle]) -> Self {
        let region = |(i, t): (usize, &Triangle)| {
            let [a, b, c] = t.corners.map(|v| points[v as usize]);
            let normal = (b - a).cross(&(c - a));
            // A triangle whose area vanishes in rounding still has a centre.
            let weight = normal.norm().max(f64::MIN_POSITIVE);
            Region {
                parent: i as u32,
                normal,
                moment: (a + b + c) * (weight / 3.0),
                weight,
            }
        };
        Self(triangles.iter().enumerate().map(region).collect())
    }
    fn find(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize].parent != i {
            let parent = self.0[i as usize].parent;
            self.0[i as usize].parent = self.0[parent as usize].parent;
            i = parent;
        }
        i
    }
    fn unite(&mut self, a: u32, b: u32) {
        let (small, large) = self.by_size(a, b);
        let Region {
            normal,
            moment,
            weight,
            ..
        } = self.0[small as usize];
        self.0[small as usize].parent = large;
        let large = &mut self.0[large as usize];
        large.normal += normal;
        large.moment += moment;
        large.weight += weight;
    }
    fn by_size(&self, a: u32, b: u32) -> (u32, u32) {
        let key = |i: u32| (self.0[i as usize].weight, i);
        if key(a) < key(b) { (a, b) } else { (b, a) }
    }
    /// How far the centre of the smaller of two regions is below the plane of the larger: less than
    /// rounding if they are coplanar. The plane of a small region is not worth much.
    fn depth(&self, a: u32, b: u32) -> f64 {
        let (small, large) = self.by_size(a, b);
        let (small, large) = (&self.0[small as usize], &self.0[large as usize]);
        let Some(normal) = large.normal.try_normalize(0.0) else {
            return 0.0;
        };
        normal.dot(&(large.center() - small.center()))
    }
}

/// The faces of a closed convex surface: triangles that are coplanar within `rounding` are one face, and
/// only points where three faces meet are corners.
pub(super) fn faces(
    points: &[Vector3<f64>],
    triangles: &[Triangle],
    rounding: f64,
) -> Vec<Vec<u32>> {
    let mut regions = Regions::new(points, triangles);
    unite_coplanar(triangles, &mut regions, 2.0 * rounding);
    loop {
        let labels: Vec<u32> = (0..triangles.len() as u32)
            .map(|t| regions.find(t))
            .collect();
        match outlines(points.len(), triangles, &labels) {
            Ok(faces) => return faces,
            // Thinner than rounding, or not simply connected: part of a neighbour.
            Err(region) => {
                let around = triangles.iter().zip(&labels).filter(|(_, l)| **l == region);
                let beyond = around.flat_map(|(t, _)| t.neighbors.map(|n| labels[n as usize]));
                let others = beyond.filter(|l| *l != region);
                let nearest = others.min_by(|&a, &b| {
                    let depth = |l: u32| regions.depth(region, l).abs();
                    depth(a).total_cmp(&depth(b))
                });
                match nearest {
                    Some(other) => regions.unite(region, other),
                    None => return triangles.iter().map(|t| t.corners.to_vec()).collect(),
                }
            }
        }
    }
}

/// Unites neighbours until none is coplanar with another; small ones first, so that planes are those of
/// the large ones.
fn unite_coplanar(triangles: &[Triangle], regions: &mut Regions, tolerance: f64) {
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
                coplanar.push((regions.0[small as usize].weight, a, b));
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

/// The corners of every region in order, or a region that has fewer than three or more than one outline.
fn outlines(count: usize, triangles: &[Triangle], labels: &[u32]) -> Result<Vec<Vec<u32>>, u32> {
    const NONE: u32 = u32::MAX;
    // The edges between regions as (region, from, to).
    let mut edges: Vec<(u32, u32, u32)> = Vec::new();
    for (t, triangle) in triangles.iter().enumerate() {
        for k in 0..3 {
            if labels[triangle.neighbors[k] as usize] != labels[t] {
                let (from, to) = (triangle.corners[k], triangle.corners[(k + 1) % 3]);
                edges.push((labels[t], from, to));
            }
        }
    }
    // Every edge has a twin, so that as many edges leave a vertex as regions meet there.
    let mut degree = vec![0u32; count];
    for &(_, from, _) in &edges {
        degree[from as usize] += 1;
    }
    edges.sort_unstable();
    let mut next = vec![NONE; count];
    let mut faces = Vec::new();
    for region in edges.chunk_by(|a, b| a.0 == b.0) {
        let label = region[0].0;
        for &(_, from, to) in region {
            next[from as usize] = to;
        }
        let mut face = Vec::new();
        let mut at = region[0].1;
        let mut steps = 0;
        while next[at as usize] != NONE {
            steps += 1;
            if degree[at as usize] > 2 {
                face.push(at);
            }
            at = std::mem::replace(&mut next[at as usize], NONE);
        }
        if steps != region.len() || face.len() < 3 {
            return Err(label);
        }
        faces.push(face);
    }
    if faces.len() < 4 {
        Err(labels[0])
    } else {
        Ok(faces)
    }
}
