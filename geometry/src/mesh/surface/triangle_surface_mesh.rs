//! Surfaces of triangles.

use super::face_data::FaceData;
use crate::error::Result;
use crate::mesh::elements::SurfaceTriangle;
use crate::mesh::vertices;
use nalgebra::{Isometry3, Vector3};
use tarragon_framework::Scalar;

/// A union of triangles in a frame M (Drake's `TriangleSurfaceMesh`); it need not be closed, nor
/// even connected. Generic over the scalar of the coordinates (m).
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

/// Area vectors of a closed surface sum up to rounding, relative to its area.
const CLOSED: f64 = 1e-12;

impl<T: Scalar> TriangleSurfaceMesh<T> {
    /// From triangles and the positions of their vertices (m).
    ///
    /// # Errors
    /// If there are no triangles or one has a vertex that does not exist.
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

    /// How many triangles there are.
    pub fn num_triangles(&self) -> usize {
        self.triangles.len()
    }
    /// The triangles.
    pub fn triangles(&self) -> &[SurfaceTriangle] {
        &self.triangles
    }
    /// Triangle `e`.
    ///
    /// # Panics
    /// If there is no such triangle, as slices do.
    pub fn element(&self, e: usize) -> SurfaceTriangle {
        self.triangles[e]
    }

    /// The coordinates, relative to triangle `t`, of the point of its plane that is next to Q, at
    /// `p_mq`. They sum up to one; some are negative outside of the triangle. A triangle without
    /// area gets the weights of its centroid.
    ///
    /// # Panics
    /// If there is no such triangle, as slices do.
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

    /// The position `p_MQ` (m) of the point with the barycentric coordinates `b_q` on triangle `e`.
    ///
    /// # Panics
    /// If there is no such triangle, as slices do.
    pub fn calc_cartesian_from_barycentric(&self, e: usize, b_q: &Vector3<T>) -> Vector3<T> {
        let [a, b, c] = self.corners(e);
        a * b_q[0] + b * b_q[1] + c * b_q[2]
    }

    /// The gradient, in the plane of triangle `e`, of the linear function with these values at its
    /// vertices; `None` if the triangle has no area.
    ///
    /// # Panics
    /// If there is no such triangle, as slices do.
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

    /// Turns every triangle over, so that the normals point to the other side.
    pub fn reverse_face_winding(&mut self) {
        for t in &mut self.triangles {
            let [a, b, c] = t.vertices();
            *t = SurfaceTriangle::new(a, c, b);
        }
        self.faces.normals.iter_mut().for_each(|n| *n = -*n);
    }

    /// The point from which volumes are summed up. For closed surfaces any point will do but one
    /// nearby loses the fewest digits; where the surface is open, the result is that for the
    /// origin, as in Drake.
    pub(crate) fn reference_point(&self) -> Vector3<T> {
        let zero = Vector3::from_element(T::from(0.0));
        // The area vectors of a closed surface sum up to nothing.
        let faces = self.faces.normals.iter().zip(&self.faces.areas);
        let open = faces.fold(zero, |sum, (n, a)| sum + n * *a);
        let open = open.map(|x| x.re()).norm();
        if open <= CLOSED * self.faces.total_area.re() {
            self.vertices[self.triangles[0].vertex(0)]
        } else {
            zero
        }
    }

    /// The volume (m^3) that the surface encloses, if it is closed; negative if its normals point
    /// inwards. Of an open surface, the volume between it and the origin of M.
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

/// What triangle and polygon meshes both have.
macro_rules! surface_mesh {
    ($name:ident, $elements:ident, $face:literal) => {
        impl<T: Scalar> $name<T> {
            /// How many faces there are.
            pub fn num_elements(&self) -> usize {
                self.$elements.len()
            }
            /// How many vertices there are.
            pub fn num_vertices(&self) -> usize {
                self.vertices.len()
            }
            /// The positions of the vertices (m).
            pub fn vertices(&self) -> &[Vector3<T>] {
                &self.vertices
            }
            /// The position of vertex `v` (m).
            ///
            /// # Panics
            /// If there is no such vertex, as slices do.
            pub fn vertex(&self, v: usize) -> &Vector3<T> {
                &self.vertices[v]
            }
            #[doc = concat!("The area (m^2) of ", $face, " `f`.")]
            ///
            /// # Panics
            /// If there is no such face, as slices do.
            pub fn area(&self, f: usize) -> T {
                self.faces.areas[f]
            }
            /// The sum of all areas (m^2).
            pub fn total_area(&self) -> T {
                self.faces.total_area
            }
            #[doc = concat!("The unit normal of ", $face, " `f`: its vertices turn counter-clockwise seen")]
            /// from where it points. Zero if there is no area.
            ///
            /// # Panics
            /// If there is no such face, as slices do.
            pub fn face_normal(&self, f: usize) -> Vector3<T> {
                self.faces.normals[f]
            }
            #[doc = concat!("The centroid (m) of ", $face, " `f`; the mean of its vertices if it has no area.")]
            ///
            /// # Panics
            /// If there is no such face, as slices do.
            pub fn element_centroid(&self, f: usize) -> Vector3<T> {
                self.faces.centroids[f]
            }
            /// The centroid of the surface (m), which need not be on it: the centroids of the
            /// faces, weighted by area. Zero if there is no area at all.
            pub fn centroid(&self) -> Vector3<T> {
                self.faces.centroid
            }
            /// Centre and size (m) of the box along the axes of M around all vertices.
            pub fn calc_bounding_box(&self) -> (Vector3<T>, Vector3<T>) {
                vertices::bounding_box(&self.vertices)
            }
            /// Expresses the mesh in frame N, given the pose `x_nm` of its frame M in N.
            pub fn transform_vertices(&mut self, x_nm: &Isometry3<T>) {
                vertices::transform(&mut self.vertices, x_nm);
                self.faces.transform(x_nm);
            }
            /// Whether vertices and faces are the same, in the same order, to the last bit and
            /// derivative. NaN is equal to nothing.
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
    /// The same mesh in another scalar, without derivatives.
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
