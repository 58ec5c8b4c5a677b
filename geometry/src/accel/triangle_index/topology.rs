//! Connectivity of a triangle surface, and the normals of its edges and vertices.
//!
//! The sign of the distance follows from the angle-weighted normals of J. A. Baerentzen and H.
//! Aanaes, "Signed distance computation using the angle weighted pseudonormal", IEEE Trans. Vis.
//! Comput. Graph. 11(3), 2005. The surface must be a manifold around the nearest point.

use super::triangle::Triangle;
use nalgebra::Vector3;
use tarragon_framework::DisjointSets;

/// Outward unit normal of an edge or a vertex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pseudonormal {
    pub(crate) normal: Vector3<f64>,
    /// Whether the normal distinguishes inside from outside. It does not where more than two faces
    /// meet at an edge, where faces meet only at a vertex, where faces lie back to back, or where a
    /// face without area was left out.
    pub(crate) certain: bool,
}

/// Connectivity of triangles.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Per triangle, indices into `vertex_normals`, one per corner.
    vertices: Vec<[u32; 3]>,
    /// Per triangle, indices into `edge_normals`; edge `i` is from corner `i` to corner `i + 1`.
    edges: Vec<[u32; 3]>,
    vertex_normals: Vec<Pseudonormal>,
    edge_normals: Vec<Pseudonormal>,
    /// Whether every edge is traversed equally often in both directions, so that the surface bounds
    /// a volume.
    pub(crate) is_closed: bool,
}

/// Directed edge of a triangle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DirectedEdge {
    low: u32,
    high: u32,
    forward: bool,
    /// Index of the triangle; `None` if it has no area.
    triangle: Option<u32>,
    corner: u8,
}

impl DirectedEdge {
    fn new(from: u32, to: u32, triangle: Option<u32>, corner: u8) -> Self {
        Self {
            low: from.min(to),
            high: from.max(to),
            forward: from < to,
            triangle,
            corner,
        }
    }
}

impl Topology {
    /// Computes the connectivity of triangles with an area, in any order, and of triangles without
    /// one, given by their corners.
    pub(crate) fn new(triangles: &[Triangle], flat: &[[Vector3<f64>; 3]]) -> Self {
        let corners = triangles
            .iter()
            .map(|t| t.corners)
            .chain(flat.iter().copied());
        let (ids, count) = merged(&corners.flatten().collect::<Vec<_>>());
        let ids: Vec<[u32; 3]> = ids.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
        let mut sides = Vec::with_capacity(3 * ids.len());
        for (i, t) in ids.iter().enumerate() {
            let triangle = (i < triangles.len()).then_some(i as u32);
            for k in 0..3 {
                let (from, to) = (t[k], t[(k + 1) % 3]);
                if from != to {
                    sides.push(DirectedEdge::new(from, to, triangle, k as u8));
                }
            }
        }
        sides.sort_unstable();
        let mut this = Self {
            vertices: ids[..triangles.len()].to_vec(),
            edges: vec![[0; 3]; triangles.len()],
            vertex_normals: Vec::new(),
            edge_normals: Vec::new(),
            is_closed: true,
        };
        // Per vertex, whether all of its edges are certain.
        let mut certain = vec![true; count];
        // Corners of triangles that are connected around a vertex by shared edges.
        let mut fans = DisjointSets::new(3 * triangles.len());
        for edge in sides.chunk_by(|s, t| (s.low, s.high) == (t.low, t.high)) {
            let forward = edge.iter().filter(|s| s.forward).count();
            this.is_closed &= 2 * forward == edge.len();
            let faces = edge.iter().filter_map(|s| s.triangle);
            let sum = faces.fold(Vector3::zeros(), |n: Vector3<f64>, t| {
                n + triangles[t as usize].normal
            });
            let normal = sum.try_normalize(1e-6);
            let is_manifold = matches!(edge, [s, t] if s.triangle.is_some()
                && t.triangle.is_some() && s.forward != t.forward);
            let is_boundary = matches!(edge, [s] if s.triangle.is_some());
            let edge_certain = (is_manifold || is_boundary) && normal.is_some();
            if let ([s, t], true) = (edge, is_manifold) {
                // Join the corners of both triangles at each end of the edge.
                let at = |s: &DirectedEdge, k: u8| {
                    3 * s.triangle.unwrap_or(0) as usize + usize::from((s.corner + k) % 3)
                };
                fans.unite(at(s, 0), at(t, 1));
                fans.unite(at(s, 1), at(t, 0));
            }
            let first = edge.iter().find_map(|s| s.triangle);
            let fallback = first.map_or_else(Vector3::z, |t| triangles[t as usize].normal);
            for s in edge {
                if let Some(t) = s.triangle {
                    this.edges[t as usize][s.corner as usize] = this.edge_normals.len() as u32;
                }
                certain[s.low as usize] &= edge_certain;
                certain[s.high as usize] &= edge_certain;
            }
            this.edge_normals.push(Pseudonormal {
                normal: normal.unwrap_or(fallback),
                certain: edge_certain,
            });
        }
        this.add_vertex_normals(triangles, certain, &fans);
        this
    }

    /// Returns the normal of a corner of a triangle.
    pub(crate) fn vertex_normal(&self, triangle: usize, corner: usize) -> Pseudonormal {
        self.vertex_normals[self.vertices[triangle][corner] as usize]
    }

    /// Returns the normal of the edge of a triangle that starts at a corner.
    pub(crate) fn edge_normal(&self, triangle: usize, corner: usize) -> Pseudonormal {
        self.edge_normals[self.edges[triangle][corner] as usize]
    }

    fn add_vertex_normals(
        &mut self,
        triangles: &[Triangle],
        certain: Vec<bool>,
        fans: &DisjointSets,
    ) {
        let mut sums = vec![Vector3::zeros(); certain.len()];
        let mut fallback = vec![Vector3::z(); certain.len()];
        let mut fan: Vec<Option<usize>> = vec![None; certain.len()];
        let mut certain = certain;
        for (i, (t, ids)) in triangles.iter().zip(&self.vertices).enumerate() {
            for (k, v) in ids.iter().enumerate() {
                let v = *v as usize;
                let e = t.corners[(k + 1) % 3] - t.corners[k];
                let f = t.corners[(k + 2) % 3] - t.corners[k];
                sums[v] += t.normal * e.cross(&f).norm().atan2(e.dot(&f));
                fallback[v] = t.normal;
                let root = fans.find(3 * i + k);
                certain[v] &= *fan[v].get_or_insert(root) == root;
            }
        }
        let all = sums.iter().zip(fallback).zip(certain);
        self.vertex_normals = all
            .map(|((sum, fallback), certain)| {
                let normal = sum.try_normalize(1e-6);
                Pseudonormal {
                    normal: normal.unwrap_or(fallback),
                    certain: certain && normal.is_some(),
                }
            })
            .collect();
    }
}

/// Assigns equal identifiers to equal positions. Returns them and their number.
fn merged(points: &[Vector3<f64>]) -> (Vec<u32>, usize) {
    // Adding zero makes -0 and +0 equal.
    let key = |i: u32| -> [u64; 3] { points[i as usize].map(|x| (x + 0.0).to_bits()).into() };
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|i| key(*i));
    let mut ids = vec![0; points.len()];
    let mut count = 0;
    for group in order.chunk_by(|i, j| key(*i) == key(*j)) {
        for i in group {
            ids[*i as usize] = count as u32;
        }
        count += 1;
    }
    (ids, count)
}
