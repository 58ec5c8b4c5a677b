//! Surface meshes of convex polygons.

use super::face_data::FaceData;
use super::triangle_surface_mesh::{TriangleSurfaceMesh, surface_mesh};
use crate::error::{Error, Result};
use crate::mesh::elements::SurfacePolygon;
use crate::mesh::hull::ConvexHull;
use crate::mesh::vertices;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Surface mesh of planar convex polygons in a frame M (Drake's `PolygonSurfaceMesh`), generic over
/// the scalar of the coordinates (m).
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::PolygonSurfaceMesh;
/// let corners = [[0., 0.], [2., 0.], [2., 1.], [0., 1.]].map(|[x, y]| Vector3::new(x, y, 0.0));
/// let mesh = PolygonSurfaceMesh::new(vec![4, 0, 1, 2, 3], corners.to_vec())?;
/// assert_eq!((mesh.num_faces(), mesh.area(0)), (1, 2.0));
/// assert_eq!(mesh.centroid(), Vector3::new(1.0, 0.5, 0.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolygonSurfaceMesh<T: Scalar = f64> {
    vertices: Vec<Vector3<T>>,
    /// Per face, the number of its vertices, then their indices.
    face_data: Vec<u32>,
    /// Start of each face in `face_data`.
    starts: Vec<u32>,
    faces: FaceData<T>,
}

impl<T: Scalar> PolygonSurfaceMesh<T> {
    /// Creates a mesh from faces and the positions of their vertices (m). For each face in turn,
    /// `face_data` holds the number of its vertices and then their indices, counter-clockwise as
    /// seen from the side that the normal points to. Faces must be planar and convex; this is not
    /// checked.
    ///
    /// # Errors
    /// Returns an error if there are no faces, a face has fewer than three vertices or one that
    /// does not exist, or `face_data` ends within a face.
    pub fn new(face_data: Vec<u32>, vertices: Vec<Vector3<T>>) -> Result<Self> {
        let mut starts = Vec::new();
        let mut at = 0;
        while let Some(&n) = face_data.get(at) {
            let rest = face_data.len() - at - 1;
            if n < 3 || n as usize > rest {
                return Err(Error::invalid(format!(
                    "PolygonSurfaceMesh: face {} must have at least 3 vertices and at most the {rest} \
                    numbers that follow in its face data, got {n}",
                    starts.len()
                )));
            }
            starts.push(at as u32);
            at += 1 + n as usize;
        }
        let indices = || starts.iter().map(|s| polygon(&face_data, *s));
        vertices::check_indices("PolygonSurfaceMesh", "face", vertices.len(), indices())?;
        let faces = FaceData::new(indices(), &vertices);
        Ok(Self {
            faces,
            vertices,
            face_data,
            starts,
        })
    }

    /// Creates a mesh whose faces are as [`PolygonSurfaceMesh::new`] checks, and have the given
    /// normals.
    pub(crate) fn with_normals(
        face_data: Vec<u32>,
        vertices: Vec<Vector3<T>>,
        normals: Vec<Vector3<T>>,
    ) -> Self {
        let mut starts = Vec::with_capacity(normals.len());
        let mut at = 0;
        while let Some(n) = face_data.get(at) {
            starts.push(at as u32);
            at += 1 + *n as usize;
        }
        let indices = starts.iter().map(|s| polygon(&face_data, *s));
        let faces = FaceData::with_normals(indices, &vertices, normals);
        Self {
            faces,
            vertices,
            face_data,
            starts,
        }
    }

    /// Creates a mesh from faces, with the start of each in their data, their normals and the rest
    /// of what belongs to them.
    pub(crate) fn of_parts(
        [face_data, starts]: [Vec<u32>; 2],
        vertices: Vec<Vector3<T>>,
        normals: Vec<Vector3<T>>,
        faces: FaceData<T>,
    ) -> Self {
        Self {
            vertices,
            face_data,
            starts,
            faces: FaceData { normals, ..faces },
        }
    }

    /// Returns the number of faces.
    pub fn num_faces(&self) -> usize {
        self.starts.len()
    }
    /// Returns the faces in the format of [`PolygonSurfaceMesh::new`].
    pub fn face_data(&self) -> &[u32] {
        &self.face_data
    }
    /// Returns face `e`.
    ///
    /// # Panics
    /// Panics if the mesh has no face `e`.
    pub fn element(&self, e: usize) -> SurfacePolygon<'_> {
        SurfacePolygon(polygon(&self.face_data, self.starts[e]))
    }

    /// Returns the gradient, in the plane of face `e`, of the linear function with these values at
    /// its vertices; `None` if the face has no area or if the number of values is not that of the
    /// vertices.
    ///
    /// # Panics
    /// Panics if the mesh has no face `e`.
    pub fn calc_gradient_of_linear_values(&self, values: &[T], e: usize) -> Option<Vector3<T>> {
        let face = self.element(e);
        let n = face.num_vertices();
        let (area, normal) = (self.area(e), self.face_normal(e));
        if area.re() <= 0.0 || values.len() != n {
            return None;
        }
        // Gauss's theorem: the integral of the gradient is that of the value times the outward
        // normal along the outline.
        let at = |i: usize| self.vertices[face.vertex(i % n)];
        let flux = |i: usize| {
            let mean = (values[i] + values[(i + 1) % n]) * T::from(0.5) - values[0];
            (at(i + 1) - at(i)).cross(&normal) * mean
        };
        let zero = Vector3::from_element(T::from(0.0));
        Some((0..n).fold(zero, |sum, i| sum + flux(i)) / area)
    }

    /// Splits every face into a fan of triangles around its first vertex.
    pub fn to_triangles(&self) -> TriangleSurfaceMesh<T> {
        let faces = self.starts.iter().map(|s| polygon(&self.face_data, *s));
        let fans = faces.flat_map(|f| f[1..].windows(2).map(move |w| [f[0], w[0], w[1]]));
        TriangleSurfaceMesh::new(fans, self.vertices.clone())
            .expect("faces have at least three vertices that exist")
    }

    /// Reverses the winding of every face, which flips the normals.
    pub fn reverse_face_winding(&mut self) {
        for &s in &self.starts {
            let n = self.face_data[s as usize] as usize;
            self.face_data[s as usize + 2..][..n - 1].reverse();
        }
        self.faces.normals.iter_mut().for_each(|n| *n = -*n);
    }
}
surface_mesh!(PolygonSurfaceMesh, starts, "face");

/// Returns the vertices of the face that begins at `start`.
#[inline]
fn polygon(face_data: &[u32], start: u32) -> &[u32] {
    let start = start as usize;
    &face_data[start + 1..][..face_data[start] as usize]
}

impl PolygonSurfaceMesh<f64> {
    /// Creates the surface of a convex hull.
    ///
    /// # Errors
    /// Returns an error if the hull has no faces because all points are on a line.
    pub fn from_hull(hull: ConvexHull) -> Result<Self> {
        let with_count = |f: &Vec<u32>| std::iter::once(f.len() as u32).chain(f.clone());
        if hull.faces.is_empty() {
            return Err(Error::invalid(
                "vertices must span a plane, got points on a line",
            ));
        }
        Self::new(
            hull.faces.iter().flat_map(with_count).collect(),
            hull.vertices,
        )
    }

    /// Converts the mesh to another scalar, without derivatives.
    pub fn cast<U: Scalar>(&self) -> PolygonSurfaceMesh<U> {
        let vertices: Vec<_> = self.vertices.iter().map(|v| v.map(U::from)).collect();
        let indices = self.starts.iter().map(|s| polygon(&self.face_data, *s));
        PolygonSurfaceMesh {
            faces: FaceData::new(indices, &vertices),
            vertices,
            face_data: self.face_data.clone(),
            starts: self.starts.clone(),
        }
    }
}
