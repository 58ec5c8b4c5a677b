//! Contact surfaces of deformable geometry as users meet them.

use crate::ids::GeometryId;
use crate::mesh::PolygonSurfaceMesh;
use nalgebra::Vector3;
use std::collections::BTreeMap;
use tarragon_framework::Scalar;

/// A point of a deformable geometry as the weighted sum of vertices of its mesh, so that its
/// velocity is the weighted sum of their velocities.
///
/// ```
/// use tarragon_geometry::VertexWeights;
/// let middle = VertexWeights::of_triangle([4, 7, 9], [0.25, 0.25, 0.5]);
/// assert_eq!((middle.vertices(), middle.weights()), (&[4, 7, 9][..], &[0.25, 0.25, 0.5][..]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexWeights<T = f64> {
    vertices: [u32; 4],
    weights: [T; 4],
    count: u8,
}

impl<T: Scalar> VertexWeights<T> {
    /// Creates a point on a triangle from its vertices and barycentric coordinates.
    pub fn of_triangle([a, b, c]: [u32; 3], [u, v, w]: [T; 3]) -> Self {
        Self {
            vertices: [a, b, c, 0],
            weights: [u, v, w, T::zero()],
            count: 3,
        }
    }
    /// Creates a point in a tetrahedron from its vertices and barycentric coordinates.
    pub fn of_tetrahedron(vertices: [u32; 4], weights: [T; 4]) -> Self {
        Self {
            vertices,
            weights,
            count: 4,
        }
    }
    /// Returns the vertices, as indices of the reference mesh: three or four.
    pub fn vertices(&self) -> &[u32] {
        &self.vertices[..usize::from(self.count)]
    }
    /// Returns the weights of the vertices, which sum to 1.
    pub fn weights(&self) -> &[T] {
        &self.weights[..usize::from(self.count)]
    }
}

/// Values at the centroids of the faces that depend on the kind of B.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SampledPartner<T: Scalar> {
    /// B is rigid, with its pressures (Pa) and their gradients in the world (Pa/m).
    Rigid(Vec<T>, Vec<Vector3<T>>),
    /// B is deformable, with the signed distances (m) and the points of B.
    Deformable(Vec<T>, Vec<VertexWeights<T>>),
}

/// The surface between a deformable geometry A and another geometry B that overlap, in the world.
///
/// If B is rigid, the surface is the part of the boundary of A that is inside of B, and the
/// pressure and its gradient are those of B's compliant hydroelastic mesh. If B is deformable, too,
/// it is where points of A and B were equally deep below their boundaries before they were
/// deformed. Faces are convex polygons with vertices of their own. Their normals point out of B
/// into A.
#[derive(Clone, Debug, PartialEq)]
pub struct DeformableContactSurface<T: Scalar = f64> {
    pub(super) ids: [GeometryId; 2],
    pub(super) mesh: PolygonSurfaceMesh<T>,
    pub(super) points_a: Vec<VertexWeights<T>>,
    pub(super) partner: SampledPartner<T>,
}

impl<T: Scalar> DeformableContactSurface<T> {
    /// Returns the id of A, which is deformable. If B is, too, A has the smaller id.
    pub fn id_a(&self) -> GeometryId {
        self.ids[0]
    }
    /// Returns the id of B.
    pub fn id_b(&self) -> GeometryId {
        self.ids[1]
    }
    /// Returns true if B is deformable.
    pub fn is_b_deformable(&self) -> bool {
        matches!(self.partner, SampledPartner::Deformable(..))
    }
    /// Returns the faces, in the world.
    pub fn mesh(&self) -> &PolygonSurfaceMesh<T> {
        &self.mesh
    }
    /// Returns the number of faces, at least 1.
    pub fn num_faces(&self) -> usize {
        self.mesh.num_faces()
    }
    /// Returns the area (m^2) of face `f`.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn area(&self, f: usize) -> T {
        self.mesh.area(f)
    }
    /// Returns the centroid (m) of face `f`.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn centroid(&self, f: usize) -> Vector3<T> {
        self.mesh.element_centroid(f)
    }
    /// Returns the unit normal of face `f`, out of B into A.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn normal(&self, f: usize) -> Vector3<T> {
        self.mesh.face_normal(f)
    }
    /// Returns the pressure (Pa) of a rigid B at the centroid of face `f`; `None` if B is
    /// deformable.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn pressure(&self, f: usize) -> Option<T> {
        match &self.partner {
            SampledPartner::Rigid(pressures, _) => Some(pressures[f]),
            SampledPartner::Deformable(..) => None,
        }
    }
    /// Returns the gradient of pressure (Pa/m) of a rigid B at face `f`, in the world; `None` if B
    /// is deformable.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn pressure_gradient(&self, f: usize) -> Option<Vector3<T>> {
        match &self.partner {
            SampledPartner::Rigid(_, gradients) => Some(gradients[f]),
            SampledPartner::Deformable(..) => None,
        }
    }
    /// Returns the signed distance (m) at the centroid of face `f`, the negative of the common
    /// depth; `None` if B is rigid.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn signed_distance(&self, f: usize) -> Option<T> {
        match &self.partner {
            SampledPartner::Rigid(..) => None,
            SampledPartner::Deformable(distances, _) => Some(distances[f]),
        }
    }
    /// Returns the centroid of face `f` as a point of A: on a triangle if B is rigid, and otherwise
    /// in a tetrahedron.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn point_of_a(&self, f: usize) -> &VertexWeights<T> {
        &self.points_a[f]
    }
    /// Returns the centroid of face `f` as a point of B, in a tetrahedron; `None` if B is rigid.
    ///
    /// # Panics
    /// Panics if there is no face `f`.
    pub fn point_of_b(&self, f: usize) -> Option<&VertexWeights<T>> {
        match &self.partner {
            SampledPartner::Rigid(..) => None,
            SampledPartner::Deformable(_, points) => Some(&points[f]),
        }
    }
}

/// All contact surfaces of the deformable geometries of a scene, and the vertices that take part in
/// them (Drake's `DeformableContact`).
#[derive(Clone, Debug, PartialEq)]
pub struct DeformableContact<T: Scalar = f64> {
    surfaces: Vec<DeformableContactSurface<T>>,
    vertices: BTreeMap<GeometryId, Vec<u32>>,
}

impl<T: Scalar> Default for DeformableContact<T> {
    fn default() -> Self {
        Self::new(vec![])
    }
}

impl<T: Scalar> DeformableContact<T> {
    pub(crate) fn new(surfaces: Vec<DeformableContactSurface<T>>) -> Self {
        let mut vertices: BTreeMap<GeometryId, Vec<u32>> = BTreeMap::new();
        for surface in &surfaces {
            let [a, b] = surface.ids;
            let of_a = surface.points_a.iter().flat_map(VertexWeights::vertices);
            vertices.entry(a).or_default().extend(of_a);
            if let SampledPartner::Deformable(_, points) = &surface.partner {
                let of_b = points.iter().flat_map(VertexWeights::vertices);
                vertices.entry(b).or_default().extend(of_b);
            }
        }
        for list in vertices.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        Self { surfaces, vertices }
    }

    /// Returns the contact surfaces, by (A, B): those with rigid partners and those between
    /// deformable geometries.
    pub fn surfaces(&self) -> &[DeformableContactSurface<T>] {
        &self.surfaces
    }
    /// Returns the deformable geometries in contact, by id.
    pub fn geometries(&self) -> impl Iterator<Item = GeometryId> + '_ {
        self.vertices.keys().copied()
    }
    /// Returns the vertices of a deformable geometry that take part in contact, sorted; none if it
    /// touches nothing.
    pub fn participating_vertices(&self, geometry: GeometryId) -> &[u32] {
        self.vertices.get(&geometry).map_or(&[], Vec::as_slice)
    }
}
