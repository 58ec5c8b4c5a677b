//! Triangle surface meshes.

use super::face_data::FaceData;
use crate::error::Result;
use crate::mesh::elements::SurfaceTriangle;
use crate::mesh::vertices;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// Surface mesh of triangles in a frame M (Drake's `TriangleSurfaceMesh`), generic over the scalar
/// of the coordinates (m). It need not be closed or even connected.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::TriangleSurfaceMesh;
/// let vertices = vec![Vector3::zeros(), Vector3::x() * 3.0, Vector3::y() * 4.0];
/// let mesh = TriangleSurfaceMesh::new([[0, 1, 2]], vertices)?;
/// assert_eq!((mesh.total_area(), mesh.face_normal(0)), (6.0, Vector3::z()));
/// assert_eq!(mesh.calc_barycentric(&Vector3::new(1.5, 2.0, 9.0), 0), Vector3::new(0.0, 0.5, 0.5));
/// assert!(TriangleSurfaceMesh::new([[0, 1, 3]], mesh.vertices().to_vec()).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TriangleSurfaceMesh<T: Scalar = f64> {
    vertices: Vec<Vector3<T>>,
    triangles: Vec<SurfaceTriangle>,
    faces: FaceData<T>,
}

/// Threshold, relative to the area, below which the sum of the area vectors is mere rounding, so
/// that the surface counts as closed.
const CLOSED: f64 = 1e-12;

impl<T: Scalar> TriangleSurfaceMesh<T> {
    /// Creates a mesh from triangles and the positions of their vertices (m).
    ///
    /// # Errors
    /// Returns an error if there are no triangles or if one has a vertex that does not exist.
    pub fn new(
        triangles: impl IntoIterator<Item = impl Into<SurfaceTriangle>>,
        vertices: Vec<Vector3<T>>,
    ) -> Result<Self> {
        let triangles: Vec<SurfaceTriangle> = triangles.into_iter().map(Into::into).collect();
        let indices = || triangles.iter().map(SurfaceTriangle::as_slice);
        vertices::check_indices("TriangleSurfaceMesh", "triangle", vertices.len(), indices())?;
        let faces = FaceData::new(indices(), &vertices);
        Ok(Self {
            vertices,
            triangles,
            faces,
        })
    }

    /// Creates a mesh whose triangles exist and have the given normals.
    pub(crate) fn with_normals(
        triangles: Vec<SurfaceTriangle>,
        vertices: Vec<Vector3<T>>,
        normals: Vec<Vector3<T>>,
    ) -> Self {
        let indices = triangles.iter().map(SurfaceTriangle::as_slice);
        Self {
            faces: FaceData::with_normals(indices, &vertices, normals),
            triangles,
            vertices,
        }
    }

    /// Returns the number of triangles.
    pub fn num_triangles(&self) -> usize {
        self.triangles.len()
    }
    /// Returns the triangles.
    pub fn triangles(&self) -> &[SurfaceTriangle] {
        &self.triangles
    }
    /// Returns triangle `e`.
    ///
    /// # Panics
    /// Panics if the mesh has no such triangle.
    pub fn element(&self, e: usize) -> SurfaceTriangle {
        self.triangles[e]
    }

    /// Returns the barycentric coordinates, in triangle `t`, of the projection onto its plane of
    /// the point Q, at `p_mq`. They sum to one; some are negative if the projection is outside the
    /// triangle. A triangle without area gets the coordinates of its centroid.
    ///
    /// # Panics
    /// Panics if the mesh has no such triangle.
    pub fn calc_barycentric(&self, p_mq: &Vector3<T>, t: usize) -> Vector3<T> {
        let [a, b, c] = self.corners(t);
        let (u, v, q) = (b - a, c - a, p_mq - a);
        let normal = u.cross(&v);
        let square = normal.norm_squared();
        if square.re() == 0.0 {
            return Vector3::from_element(T::from(1.0 / 3.0));
        }
        let b1 = q.cross(&v).dot(&normal) / square;
        let b2 = u.cross(&q).dot(&normal) / square;
        Vector3::new(T::from(1.0) - b1 - b2, b1, b2)
    }

    /// Returns the position `p_MQ` (m) of the point with the barycentric coordinates `b_q` on
    /// triangle `e`.
    ///
    /// # Panics
    /// Panics if the mesh has no such triangle.
    pub fn calc_cartesian_from_barycentric(&self, e: usize, b_q: &Vector3<T>) -> Vector3<T> {
        let [a, b, c] = self.corners(e);
        a * b_q[0] + b * b_q[1] + c * b_q[2]
    }

    /// Returns the gradient, in the plane of triangle `e`, of the linear function with these values
    /// at its vertices; `None` if the triangle has no area.
    ///
    /// # Panics
    /// Panics if the mesh has no such triangle.
    pub fn calc_gradient_of_linear_values(&self, values: &[T; 3], e: usize) -> Option<Vector3<T>> {
        let corners = self.corners(e);
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let square = normal.norm_squared();
        // The gradient of a coordinate is perpendicular to the opposite edge.
        let edge = |i: usize| corners[(i + 2) % 3] - corners[(i + 1) % 3];
        let sum = (1..3).fold(Vector3::from_element(T::from(0.0)), |sum, i| {
            sum + normal.cross(&edge(i)) * (values[i] - values[0])
        });
        (square.re() > 0.0).then(|| sum / square)
    }

    /// Reverses the winding of every triangle, which flips the normals.
    pub fn reverse_face_winding(&mut self) {
        for t in &mut self.triangles {
            let [a, b, c] = t.vertices();
            *t = SurfaceTriangle::new(a, c, b);
        }
        self.faces.normals.iter_mut().for_each(|n| *n = -*n);
    }

    /// Returns the reference point for summing volumes. For closed surfaces any point will do, and
    /// a nearby one loses the least precision. For open surfaces it is the origin, as in Drake.
    pub(crate) fn reference_point(&self) -> Vector3<T> {
        let zero = Vector3::from_element(T::from(0.0));
        // The area vectors of a closed surface sum to zero.
        let faces = self.faces.normals.iter().zip(&self.faces.areas);
        let open = faces.fold(zero, |sum, (n, a)| sum + n * *a);
        let open = open.map(|x| x.re()).norm();
        if open <= CLOSED * self.faces.total_area.re() {
            self.vertices[self.triangles[0].vertex(0)]
        } else {
            zero
        }
    }

    /// Returns the volume (m^3) that a closed surface encloses; negative if its normals point
    /// inwards. For an open surface, it is the volume between the surface and the origin of M.
    pub fn calc_enclosed_volume(&self) -> T {
        let origin = self.reference_point();
        let sixfold = (0..self.num_triangles()).map(|t| {
            let [a, b, c] = self.corners(t).map(|p| p - origin);
            a.dot(&b.cross(&c))
        });
        sixfold.fold(T::from(0.0), |sum, v| sum + v) / T::from(6.0)
    }

    pub(super) fn corners(&self, t: usize) -> [Vector3<T>; 3] {
        self.triangles[t]
            .vertices()
            .map(|v| self.vertices[v as usize])
    }
}

/// Implements the methods common to triangle and polygon meshes.
macro_rules! surface_mesh {
    ($name:ident, $elements:ident, $face:literal) => {
        impl<T: Scalar> $name<T> {
            /// Returns the number of faces.
            pub fn num_elements(&self) -> usize {
                self.$elements.len()
            }
            /// Returns the number of vertices.
            pub fn num_vertices(&self) -> usize {
                self.vertices.len()
            }
            /// Returns the positions of the vertices (m).
            pub fn vertices(&self) -> &[Vector3<T>] {
                &self.vertices
            }
            /// Returns the position of vertex `v` (m).
            ///
            /// # Panics
            /// Panics if the mesh has no vertex `v`.
            pub fn vertex(&self, v: usize) -> &Vector3<T> {
                &self.vertices[v]
            }
            #[doc = concat!("Returns the area (m^2) of ", $face, " `f`.")]
            ///
            /// # Panics
            /// Panics if the mesh has no face `f`.
            pub fn area(&self, f: usize) -> T {
                self.faces.areas[f]
            }
            /// Returns the sum of all areas (m^2).
            pub fn total_area(&self) -> T {
                self.faces.total_area
            }
            #[doc = concat!("Returns the unit normal of ", $face, " `f`, from whose tip the vertices are")]
            /// counter-clockwise; zero if there is no area.
            ///
            /// # Panics
            /// Panics if the mesh has no face `f`.
            pub fn face_normal(&self, f: usize) -> Vector3<T> {
                self.faces.normals[f]
            }
            #[doc = concat!("Returns the centroid (m) of ", $face, " `f`; the mean of its vertices if it has no area.")]
            ///
            /// # Panics
            /// Panics if the mesh has no face `f`.
            pub fn element_centroid(&self, f: usize) -> Vector3<T> {
                self.faces.centroids[f]
            }
            /// Returns the centroid of the surface (m): the mean of the faces' centroids, weighted
            /// by area. It need not be on the surface, and is zero if there is no area.
            pub fn centroid(&self) -> Vector3<T> {
                self.faces.centroid
            }
            /// Returns the centre and size (m) of the box around all vertices, aligned with the
            /// axes of M.
            pub fn calc_bounding_box(&self) -> (Vector3<T>, Vector3<T>) {
                vertices::bounding_box(&self.vertices)
            }
            /// Expresses the mesh in frame N, given the pose `x_nm` of its frame M in N.
            pub fn transform_vertices(&mut self, x_nm: &Isometry3<T>) {
                vertices::transform(&mut self.vertices, x_nm);
                self.faces.transform(x_nm);
            }
            /// Returns true if vertices and faces are identical, in the same order. As for
            /// scalars, derivatives are not compared. NaN is equal to nothing.
            pub fn equal(&self, other: &Self) -> bool {
                self.$elements == other.$elements && vertices::same(&self.vertices, &other.vertices)
            }
        }

        impl<T: Scalar> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.equal(other)
            }
        }
    };
}
pub(super) use surface_mesh;
surface_mesh!(TriangleSurfaceMesh, triangles, "triangle");

impl TriangleSurfaceMesh<f64> {
    /// Converts the mesh to another scalar, without derivatives.
    pub fn cast<U: Scalar>(&self) -> TriangleSurfaceMesh<U> {
        let vertices: Vec<_> = self.vertices.iter().map(|v| v.map(U::from)).collect();
        let indices = self.triangles.iter().map(SurfaceTriangle::as_slice);
        let faces = FaceData::new(indices, &vertices);
        TriangleSurfaceMesh {
            vertices,
            triangles: self.triangles.clone(),
            faces,
        }
    }
}
