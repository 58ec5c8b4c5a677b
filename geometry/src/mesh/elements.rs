//! Elements of meshes as vertex indices, without positions.

/// Defines an element type: a newtype of vertex indices.
macro_rules! element {
    ($(#[$doc:meta])* $name:ident, $n:literal, ($($v:ident),*)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u32; $n]);

        impl $name {
            /// Creates an element from indices of a mesh's vertices.
            pub fn new($($v: u32),*) -> Self {
                Self([$($v),*])
            }
            /// Returns the number of vertices of an element.
            pub fn num_vertices(&self) -> usize {
                $n
            }
            /// Returns the index within the mesh of vertex `i` of the element.
            ///
            /// # Panics
            /// Panics if the element has no vertex `i`.
            pub fn vertex(&self, i: usize) -> usize {
                self.0[i] as usize
            }
            /// Returns the indices of all vertices.
            pub fn vertices(&self) -> [u32; $n] {
                self.0
            }
            pub(super) fn as_slice(&self) -> &[u32] {
                &self.0
            }
        }
        impl From<[u32; $n]> for $name {
            fn from(vertices: [u32; $n]) -> Self {
                Self(vertices)
            }
        }
    };
}

element!(
    /// Face of a triangle mesh (Drake's `SurfaceTriangle`).
    ///
    /// ```
    /// use tarragon_geometry::mesh::SurfaceTriangle;
    /// let t = SurfaceTriangle::new(4, 7, 2);
    /// assert_eq!((t.num_vertices(), t.vertex(1)), (3, 7));
    /// assert_eq!(t, SurfaceTriangle::from([4, 7, 2]));
    /// ```
    SurfaceTriangle,
    3,
    (v0, v1, v2)
);
element!(
    /// Tetrahedron of a volume mesh (Drake's `VolumeElement`). By convention the first three
    /// vertices are counter-clockwise as seen from the fourth, so that the right-handed normal of
    /// their triangle points inwards. Nothing enforces this.
    ///
    /// ```
    /// use tarragon_geometry::mesh::VolumeElement;
    /// let t = VolumeElement::new(0, 1, 2, 5);
    /// assert_eq!((t.num_vertices(), t.vertex(3)), (4, 5));
    /// ```
    VolumeElement,
    4,
    (v0, v1, v2, v3)
);

/// Face of a polygon mesh (Drake's `SurfacePolygon`): a view of the mesh's data.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::PolygonSurfaceMesh;
/// let corners = [[0., 0.], [1., 0.], [1., 1.], [0., 1.]].map(|[x, y]| Vector3::new(x, y, 0.0));
/// let mesh = PolygonSurfaceMesh::new(vec![4, 3, 2, 1, 0], corners.to_vec())?;
/// let face = mesh.element(0);
/// assert_eq!((face.num_vertices(), face.vertex(0)), (4, 3));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SurfacePolygon<'a>(pub(super) &'a [u32]);

impl<'a> SurfacePolygon<'a> {
    /// Returns the number of vertices of the face.
    pub fn num_vertices(&self) -> usize {
        self.0.len()
    }
    /// Returns the index within the mesh of vertex `i` of the face.
    ///
    /// # Panics
    /// Panics if the face has no vertex `i`.
    pub fn vertex(&self, i: usize) -> usize {
        self.0[i] as usize
    }
    /// Returns the indices of all vertices.
    pub fn vertices(&self) -> &'a [u32] {
        self.0
    }
}
