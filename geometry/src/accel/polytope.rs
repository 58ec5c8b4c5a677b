//! A convex polytope with the adjacency that the narrow phase needs.

use nalgebra::Vector3;

/// Convex hull of points: vertices, faces with outward normals, and the graph of edges. Flat hulls
/// have two opposite faces; segments and points have no faces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polytope {
    vertices: Vec<Vector3<f64>>,
    faces: Vec<PolytopeFace>,
    /// Vertices of all faces, each counter-clockwise as seen from outside.
    loops: Vec<u32>,
    /// Neighbours of all vertices; those of vertex `i` are at
    /// `neighbor_starts[i]..neighbor_starts[i + 1]`.
    neighbors: Vec<u32>,
    neighbor_starts: Vec<u32>,
    /// Faces around all vertices; those of vertex `i` are at `face_starts[i]..face_starts[i + 1]`.
    corner_faces: Vec<u32>,
    face_starts: Vec<u32>,
    /// Mean of the vertices.
    center: Vector3<f64>,
    /// Length of the diagonal of the bounding box (m).
    extent: f64,
}

/// Face: outward unit normal, offset of its plane and range of its vertices in `loops`.
#[derive(Clone, Debug)]
struct PolytopeFace {
    normal: Vector3<f64>,
    offset: f64,
    start: u32,
    end: u32,
}

/// Number of vertices up to which the support function tests all of them. Beyond it, the function
/// climbs along edges.
const SCAN: usize = 24;

impl Polytope {
    /// Creates a polytope from the extreme points and the faces of their hull (counter-clockwise as
    /// seen from outside).
    pub(crate) fn new(vertices: Vec<Vector3<f64>>, faces: &[Vec<u32>]) -> Self {
        let mut this = Self::default();
        let mut edges = vec![];
        for face in faces {
            let start = this.loops.len() as u32;
            this.loops.extend(face);
            for (i, &v) in face.iter().enumerate() {
                let next = face[(i + 1) % face.len()];
                edges.extend([(v, next), (next, v)]);
            }
            let (normal, offset) = plane(&vertices, face);
            this.faces.push(PolytopeFace {
                normal,
                offset,
                start,
                end: this.loops.len() as u32,
            });
        }
        if faces.is_empty() && vertices.len() == 2 {
            edges = vec![(0, 1), (1, 0)];
        }
        let corners = faces.iter().zip(0..);
        let corners = corners.flat_map(|(face, i)| face.iter().map(move |v| (*v, i)));
        (this.neighbors, this.neighbor_starts) = by_vertex(vertices.len(), edges);
        (this.corner_faces, this.face_starts) = by_vertex(vertices.len(), corners.collect());
        let first = vertices.first().copied().unwrap_or_default();
        let (low, high) = vertices
            .iter()
            .fold((first, first), |(low, high), v| (low.inf(v), high.sup(v)));
        this.extent = (high - low).norm();
        this.center = vertices.iter().sum::<Vector3<f64>>() / vertices.len() as f64;
        this.vertices = vertices;
        this
    }

    pub(crate) fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }
    pub(crate) fn extent(&self) -> f64 {
        self.extent
    }
    pub(crate) fn num_faces(&self) -> usize {
        self.faces.len()
    }
    /// Returns the outward unit normal and the offset of a face.
    pub(crate) fn plane(&self, face: usize) -> (&Vector3<f64>, f64) {
        (&self.faces[face].normal, self.faces[face].offset)
    }
    /// Returns the vertices of a face, counter-clockwise as seen from outside.
    pub(crate) fn face(&self, face: usize) -> impl Iterator<Item = &Vector3<f64>> {
        let PolytopeFace { start, end, .. } = self.faces[face];
        let corners = &self.loops[start as usize..end as usize];
        corners.iter().map(|v| &self.vertices[*v as usize])
    }
    pub(crate) fn neighbors(&self, vertex: usize) -> &[u32] {
        let range =
            self.neighbor_starts[vertex] as usize..self.neighbor_starts[vertex + 1] as usize;
        &self.neighbors[range]
    }

    /// Returns the mean of the vertices.
    pub(crate) fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    /// Returns the vertex farthest along `d`.
    pub(crate) fn support(&self, d: &Vector3<f64>) -> usize {
        let mut best = 0;
        if self.vertices.len() > SCAN {
            // A sparse sample first keeps the climb short.
            let height = |i: &usize| self.vertices[*i].dot(d);
            for i in (0..self.vertices.len()).step_by(self.vertices.len() / 8) {
                if height(&i) > height(&best) {
                    best = i;
                }
            }
        }
        self.support_near(best, d)
    }

    /// Returns the vertex farthest along `d`. The search begins at `start`, which should be a
    /// vertex that is farthest along a similar direction.
    pub(crate) fn support_near(&self, start: usize, d: &Vector3<f64>) -> usize {
        let mut best = start;
        let mut height = self.vertices[best].dot(d);
        if self.vertices.len() <= SCAN {
            for (i, v) in self.vertices.iter().enumerate() {
                let h = v.dot(d);
                if h > height {
                    (best, height) = (i, h);
                }
            }
            return best;
        }
        loop {
            let from = best;
            for &i in self.neighbors(from) {
                let h = self.vertices[i as usize].dot(d);
                if h > height {
                    (best, height) = (i as usize, h);
                }
            }
            if best == from {
                return best;
            }
        }
    }

    /// Returns the outward normal of the face whose plane is nearest to a point inside or on the
    /// surface, or `None` if there are no faces.
    pub(crate) fn nearest_plane(&self, p: &Vector3<f64>) -> Option<Vector3<f64>> {
        let height = |f: &PolytopeFace| f.normal.dot(p) - f.offset;
        let nearest = self
            .faces
            .iter()
            .max_by(|f, g| height(f).total_cmp(&height(g)));
        nearest.map(|f| f.normal)
    }

    /// Returns the face around `vertex` whose normal is nearest to `n`, or `None` if there are no
    /// faces.
    pub(crate) fn face_toward(&self, vertex: usize, n: &Vector3<f64>) -> Option<usize> {
        let range = self.face_starts[vertex] as usize..self.face_starts[vertex + 1] as usize;
        let toward = |i: u32| self.faces[i as usize].normal.dot(n);
        let around = self.corner_faces[range].iter().copied();
        let best = around.max_by(|i, j| toward(*i).total_cmp(&toward(*j)));
        best.map(|i| i as usize)
    }
}

/// Groups distinct `(vertex, value)` pairs by vertex. Returns the values and the start of each
/// vertex's range.
fn by_vertex(count: usize, mut pairs: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    pairs.dedup();
    let starts = (0..=count).map(|v| pairs.partition_point(|p| (p.0 as usize) < v) as u32);
    let starts = starts.collect();
    (pairs.into_iter().map(|p| p.1).collect(), starts)
}

/// Computes a face's unit normal and offset by Newell's method, relative to the first corner to
/// avoid cancellation.
fn plane(vertices: &[Vector3<f64>], face: &[u32]) -> (Vector3<f64>, f64) {
    let corner = |i: usize| vertices[face[i % face.len()] as usize];
    let base = corner(0);
    let mut normal = Vector3::zeros();
    for i in 1..face.len() {
        normal += (corner(i) - base).cross(&(corner(i + 1) - base));
    }
    let normal = normal.try_normalize(0.0).unwrap_or_else(Vector3::z);
    // The plane must support every corner, so the outermost one determines the offset.
    let heights = face.iter().map(|i| normal.dot(&vertices[*i as usize]));
    (normal, heights.fold(f64::NEG_INFINITY, f64::max))
}
