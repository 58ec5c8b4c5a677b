//! Tetrahedral meshes.

use super::boundary::boundary_faces;
use super::elements::VolumeElement;
use super::surface::TriangleSurfaceMesh;
use super::vertices;
use crate::error::{Error, Result};
use nalgebra::{Isometry3, Vector3, Vector4};
use tarragon_framework::{Scalar, math};

/// Tetrahedral mesh in a frame M (Drake's `VolumeMesh`), generic over the scalar of the coordinates
/// (m).
///
/// ```
/// use nalgebra::{Vector3, Vector4};
/// use tarragon_geometry::mesh::{VolumeMesh, convert_volume_to_surface_mesh};
/// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = VolumeMesh::new([[0, 1, 2, 3]], vertices)?;
/// assert_eq!(mesh.calc_volume(), 1.0 / 6.0);
/// let b = mesh.calc_barycentric(&Vector3::new(0.5, 0.0, 0.5), 0);
/// assert_eq!(b, Vector4::new(0.0, 0.5, 0.0, 0.5));
/// assert_eq!(mesh.inward_normal(0, 3), Vector3::z());
/// assert_eq!(convert_volume_to_surface_mesh(&mesh)?.num_triangles(), 4);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VolumeMesh<T: Scalar = f64> {
    vertices: Vec<Vector3<T>>,
    elements: Vec<VolumeElement>,
}

/// Faces of a tetrahedron, counter-clockwise as seen from outside; face f is opposite to vertex f.
const OUTWARD: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl<T: Scalar> VolumeMesh<T> {
    /// Creates a mesh from tetrahedra and the positions of their vertices (m). See
    /// [`VolumeElement`] for the order of the vertices, which is not checked.
    ///
    /// # Errors
    /// Returns an error if there are no tetrahedra or if one has a vertex that does not exist.
    pub fn new(
        elements: impl IntoIterator<Item = impl Into<VolumeElement>>,
        vertices: Vec<Vector3<T>>,
    ) -> Result<Self> {
        let elements: Vec<VolumeElement> = elements.into_iter().map(Into::into).collect();
        let indices = elements.iter().map(VolumeElement::as_slice);
        vertices::check_indices("VolumeMesh", "tetrahedron", vertices.len(), indices)?;
        Ok(Self { vertices, elements })
    }

    /// Creates a mesh from tetrahedra whose vertices exist, of which there is at least one.
    pub(super) fn of_parts(elements: Vec<VolumeElement>, vertices: Vec<Vector3<T>>) -> Self {
        Self { vertices, elements }
    }

    /// Returns the number of tetrahedra.
    pub fn num_elements(&self) -> usize {
        self.elements.len()
    }
    /// Returns the number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.vertices.len()
    }
    /// Returns the tetrahedra.
    pub fn tetrahedra(&self) -> &[VolumeElement] {
        &self.elements
    }
    /// Returns tetrahedron `e`.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`.
    pub fn element(&self, e: usize) -> VolumeElement {
        self.elements[e]
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

    /// Returns the unit normal, pointing into the tetrahedron, of the face opposite to vertex `f`
    /// of tetrahedron `e`; zero if the face has no area.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e` or `f` is above 3.
    pub fn inward_normal(&self, e: usize, f: usize) -> Vector3<T> {
        let corners = self.corners(e);
        let [a, b, c] = OUTWARD[f].map(|i| corners[i]);
        let outward = (b - a).cross(&(c - a));
        let length = math::safe_norm(&outward);
        if length.re() > 0.0 {
            -outward / length
        } else {
            outward
        }
    }

    /// Returns the vector `p_AB_M` (m) from vertex `a` to vertex `b` of tetrahedron `e`. Both are
    /// indices within the tetrahedron.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`, or `a` or `b` is above 3.
    pub fn edge_vector(&self, e: usize, a: usize, b: usize) -> Vector3<T> {
        let element = self.elements[e];
        self.vertices[element.vertex(b)] - self.vertices[element.vertex(a)]
    }

    /// Returns the volume (m^3) of tetrahedron `e`; negative if its vertices are in the wrong
    /// order.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`.
    pub fn calc_tetrahedron_volume(&self, e: usize) -> T {
        let [a, b, c, d] = self.corners(e);
        (b - a).cross(&(c - a)).dot(&(d - a)) / T::from(6.0)
    }

    /// Returns the sum of all volumes (m^3).
    pub fn calc_volume(&self) -> T {
        let all = (0..self.num_elements()).map(|e| self.calc_tetrahedron_volume(e));
        all.fold(T::from(0.0), |sum, v| sum + v)
    }

    /// Returns the barycentric coordinates of the point Q, at `p_mq`, in tetrahedron `e`. They sum
    /// to one; some are negative if Q is outside the tetrahedron. A tetrahedron without volume gets
    /// the coordinates of its centroid.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`.
    pub fn calc_barycentric(&self, p_mq: &Vector3<T>, e: usize) -> Vector4<T> {
        let [a, b, c, d] = self.corners(e);
        let (u, v, w, q) = (b - a, c - a, d - a, p_mq - a);
        let volume = u.cross(&v).dot(&w);
        if volume.re() == 0.0 {
            return Vector4::from_element(T::from(0.25));
        }
        let b1 = q.cross(&v).dot(&w) / volume;
        let b2 = u.cross(&q).dot(&w) / volume;
        let b3 = u.cross(&v).dot(&q) / volume;
        Vector4::new(T::from(1.0) - b1 - b2 - b3, b1, b2, b3)
    }

    /// Returns the position `p_MQ` (m) of the point with the barycentric coordinates `b_q` in
    /// tetrahedron `e`.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`.
    pub fn calc_cartesian_from_barycentric(&self, e: usize, b_q: &Vector4<T>) -> Vector3<T> {
        let [a, b, c, d] = self.corners(e);
        a * b_q[0] + b * b_q[1] + c * b_q[2] + d * b_q[3]
    }

    /// Returns the gradient of the linear function with these values at the vertices of tetrahedron
    /// `e`; `None` if the tetrahedron has no volume.
    ///
    /// # Panics
    /// Panics if the mesh has no tetrahedron `e`.
    pub fn calc_gradient_of_linear_values(&self, values: &[T; 4], e: usize) -> Option<Vector3<T>> {
        let [a, b, c, d] = self.corners(e);
        let (u, v, w) = (b - a, c - a, d - a);
        let volume = u.cross(&v).dot(&w);
        let difference = |i: usize| values[i] - values[0];
        let sum =
            v.cross(&w) * difference(1) + w.cross(&u) * difference(2) + u.cross(&v) * difference(3);
        (volume.re() != 0.0).then(|| sum / volume)
    }

    /// Returns the centre and size (m) of the box around all vertices, aligned with the axes of M.
    pub fn calc_bounding_box(&self) -> (Vector3<T>, Vector3<T>) {
        vertices::bounding_box(&self.vertices)
    }
    /// Expresses the mesh in frame N, given the pose `x_nm` of its frame M in N.
    pub fn transform_vertices(&mut self, x_nm: &Isometry3<T>) {
        vertices::transform(&mut self.vertices, x_nm);
    }
    /// Returns true if the tetrahedra are the same, in the same order, and no vertex is farther
    /// than `vertex_tolerance` (m) from its counterpart. If the tolerance is zero, coordinates must
    /// be identical. As for scalars, derivatives are not compared. NaN is equal to nothing.
    pub fn equal(&self, other: &Self, vertex_tolerance: f64) -> bool {
        let near =
            |(a, b): (&Vector3<T>, &Vector3<T>)| (a - b).map(|x| x.re()).norm() <= vertex_tolerance;
        let exact = vertex_tolerance == 0.0;
        self.elements == other.elements
            && self.vertices.len() == other.vertices.len()
            && if exact {
                vertices::same(&self.vertices, &other.vertices)
            } else {
                self.vertices.iter().zip(&other.vertices).all(near)
            }
    }

    pub(super) fn corners(&self, e: usize) -> [Vector3<T>; 4] {
        self.elements[e]
            .vertices()
            .map(|v| self.vertices[v as usize])
    }
}

impl<T: Scalar> PartialEq for VolumeMesh<T> {
    fn eq(&self, other: &Self) -> bool {
        self.equal(other, 0.0)
    }
}

impl VolumeMesh<f64> {
    /// Converts the mesh to another scalar, without derivatives.
    pub fn cast<U: Scalar>(&self) -> VolumeMesh<U> {
        VolumeMesh {
            vertices: self.vertices.iter().map(|v| v.map(U::from)).collect(),
            elements: self.elements.clone(),
        }
    }
}

/// Returns the boundary of a volume: the faces that belong to only one tetrahedron,
/// counter-clockwise as seen from outside, and their vertices, both in the order of the volume
/// mesh. Adjacent tetrahedra must share vertices, not duplicate them; otherwise the faces between
/// them are part of the result.
///
/// # Errors
/// Returns an error if no face is on the boundary, because every tetrahedron is duplicated.
pub fn convert_volume_to_surface_mesh<T: Scalar>(
    volume: &VolumeMesh<T>,
) -> Result<TriangleSurfaceMesh<T>> {
    let faces = boundary_faces(&volume.elements);
    let outward = faces.iter().map(|face| {
        let v = volume.elements[face.tetrahedron].vertices();
        let [a, b, c] = OUTWARD[face.opposite].map(|i| v[i]);
        if volume.calc_tetrahedron_volume(face.tetrahedron).re() < 0.0 {
            [a, c, b]
        } else {
            [a, b, c]
        }
    });
    let mut boundary: Vec<[u32; 3]> = outward.collect();
    if boundary.is_empty() {
        return Err(Error::invalid(
            "the volume mesh must have a boundary, got every face in several tetrahedra; remove \
            duplicate tetrahedra",
        ));
    }
    let mut used: Vec<u32> = boundary.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    for v in boundary.as_flattened_mut() {
        *v = used.partition_point(|u| u < v) as u32;
    }
    let vertices = used.iter().map(|v| volume.vertices[*v as usize]).collect();
    TriangleSurfaceMesh::new(boundary, vertices)
}
