//! Piecewise linear fields on meshes.

use super::vertices;
use super::{PolygonSurfaceMesh, TriangleSurfaceMesh, VolumeMesh};
use crate::error::{Error, Result};
use nalgebra::{Isometry3, SVector, Vector3};
use std::fmt::Debug;
use std::sync::Arc;
use tarragon_framework::Scalar;

/// Mesh on which fields are defined. Only the three mesh types of this module implement it.
pub trait FieldMesh<T: Scalar>: Clone + Debug + PartialEq + sealed::Sealed {
    /// Name of an element, for messages.
    #[doc(hidden)]
    const ELEMENT: &'static str;
    /// Returns the number of vertices.
    #[doc(hidden)]
    fn count_vertices(&self) -> usize;
    /// Returns the number of elements.
    #[doc(hidden)]
    fn count_elements(&self) -> usize;
    /// Returns the first vertex of an element: its index within the mesh and its position.
    #[doc(hidden)]
    fn first_vertex(&self, e: usize) -> (usize, Vector3<T>);
    /// Returns the gradient on element `e` of the field with these values at all vertices; `None`
    /// if the element is degenerate.
    #[doc(hidden)]
    fn gradient(&self, values: &[T], e: usize) -> Option<Vector3<T>>;
    /// Expresses the mesh in frame N, given the pose of its frame M in N.
    #[doc(hidden)]
    fn transform(&mut self, x_nm: &Isometry3<T>);
}

/// Mesh whose elements have `N` barycentric coordinates: triangles or tetrahedra.
pub trait BarycentricMesh<T: Scalar, const N: usize>: FieldMesh<T> {
    /// Returns the vertex indices of an element.
    #[doc(hidden)]
    fn element_vertices(&self, e: usize) -> [u32; N];
}

mod sealed {
    pub trait Sealed {}
    impl<T: tarragon_framework::Scalar> Sealed for super::TriangleSurfaceMesh<T> {}
    impl<T: tarragon_framework::Scalar> Sealed for super::PolygonSurfaceMesh<T> {}
    impl<T: tarragon_framework::Scalar> Sealed for super::VolumeMesh<T> {}
}

macro_rules! field_mesh {
    ($name:ident, $element:literal, |$mesh:ident, $values:ident, $e:ident| $gather:expr) => {
        impl<T: Scalar> FieldMesh<T> for $name<T> {
            const ELEMENT: &'static str = $element;
            fn count_vertices(&self) -> usize {
                self.num_vertices()
            }
            fn count_elements(&self) -> usize {
                self.num_elements()
            }
            fn first_vertex(&self, e: usize) -> (usize, Vector3<T>) {
                let v = self.element(e).vertex(0);
                (v, *self.vertex(v))
            }
            fn gradient(&self, $values: &[T], $e: usize) -> Option<Vector3<T>> {
                let $mesh = self;
                self.calc_gradient_of_linear_values(&$gather, $e)
            }
            fn transform(&mut self, x_nm: &Isometry3<T>) {
                self.transform_vertices(x_nm);
            }
        }
    };
}
field_mesh!(TriangleSurfaceMesh, "triangle", |mesh, values, e| mesh
    .element(e)
    .vertices()
    .map(|v| values[v as usize]));
field_mesh!(VolumeMesh, "tetrahedron", |mesh, values, e| mesh
    .element(e)
    .vertices()
    .map(|v| values[v as usize]));
field_mesh!(PolygonSurfaceMesh, "face", |mesh, values, e| {
    let face = mesh.element(e).vertices();
    face.iter().map(|v| values[*v as usize]).collect::<Vec<T>>()
});

macro_rules! barycentric_mesh {
    ($name:ident, $n:literal) => {
        impl<T: Scalar> BarycentricMesh<T, $n> for $name<T> {
            fn element_vertices(&self, e: usize) -> [u32; $n] {
                self.element(e).vertices()
            }
        }
    };
}
barycentric_mesh!(TriangleSurfaceMesh, 3);
barycentric_mesh!(VolumeMesh, 4);

/// Continuous scalar field on a mesh that is linear on every element (Drake's `MeshFieldLinear`),
/// with one value per vertex and one gradient per element. Positions and gradients are expressed in
/// the frame M of the mesh.
///
/// ```
/// use nalgebra::{Vector3, Vector4};
/// use std::sync::Arc;
/// use tarragon_geometry::mesh::{MeshFieldLinear, VolumeMesh};
/// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = Arc::new(VolumeMesh::new([[0, 1, 2, 3]], vertices)?);
/// let pressure = MeshFieldLinear::new(vec![10.0, 11.0, 12.0, 13.0], mesh)?;
/// assert_eq!(pressure.evaluate_gradient(0)?, Vector3::new(1.0, 2.0, 3.0));
/// assert_eq!(pressure.evaluate(0, &Vector4::repeat(0.25)), 11.5);
/// assert_eq!(pressure.evaluate_cartesian(0, &Vector3::repeat(0.25))?, 11.5);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeshFieldLinear<T: Scalar, M> {
    mesh: Arc<M>,
    values: Vec<T>,
    /// Gradient per element; `None` if the element is degenerate.
    gradients: Vec<Option<Vector3<T>>>,
}

/// Linear field on triangles.
///
/// ```
/// use nalgebra::Vector3;
/// use std::sync::Arc;
/// use tarragon_geometry::mesh::{TriangleSurfaceMesh, TriangleSurfaceMeshFieldLinear};
/// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
/// let mesh = Arc::new(TriangleSurfaceMesh::new([[0, 1, 2]], vertices)?);
/// let field = TriangleSurfaceMeshFieldLinear::new(vec![0.0, 1.0, 2.0], mesh)?;
/// // A point above the triangle has the value of its projection.
/// assert_eq!(field.evaluate_cartesian(0, &Vector3::new(0.5, 0.25, 7.0))?, 1.0);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub type TriangleSurfaceMeshFieldLinear<T = f64> = MeshFieldLinear<T, TriangleSurfaceMesh<T>>;
/// Linear field on polygons.
///
/// ```
/// use nalgebra::Vector3;
/// use std::sync::Arc;
/// use tarragon_geometry::mesh::{PolygonSurfaceMesh, PolygonSurfaceMeshFieldLinear};
/// let corners = [[0., 0.], [2., 0.], [2., 1.], [0., 1.]].map(|[x, y]| Vector3::new(x, y, 0.0));
/// let mesh = Arc::new(PolygonSurfaceMesh::new(vec![4, 0, 1, 2, 3], corners.to_vec())?);
/// let field = PolygonSurfaceMeshFieldLinear::new(vec![0.0, 2.0, 5.0, 3.0], mesh)?;
/// assert_eq!(field.evaluate_gradient(0)?, Vector3::new(1.0, 3.0, 0.0));
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub type PolygonSurfaceMeshFieldLinear<T = f64> = MeshFieldLinear<T, PolygonSurfaceMesh<T>>;
/// Linear field on tetrahedra; see [`MeshFieldLinear`] for an example.
pub type VolumeMeshFieldLinear<T = f64> = MeshFieldLinear<T, VolumeMesh<T>>;

impl<T: Scalar, M: FieldMesh<T>> MeshFieldLinear<T, M> {
    /// Creates the field with the given values at the vertices of the mesh.
    ///
    /// # Errors
    /// Returns an error if the number of values differs from the number of vertices.
    pub fn new(values: Vec<T>, mesh: Arc<M>) -> Result<Self> {
        check_count("values", values.len(), "vertices", mesh.count_vertices())?;
        let gradients = (0..mesh.count_elements()).map(|e| mesh.gradient(&values, e));
        Ok(Self {
            gradients: gradients.collect(),
            mesh,
            values,
        })
    }

    /// Creates the field with the given values at the vertices and the given gradients on the
    /// elements. The gradients are not checked; use this if the gradients of degenerate elements
    /// are known.
    ///
    /// # Errors
    /// Returns an error if the number of values differs from the number of vertices, or the number
    /// of gradients from the number of elements.
    pub fn with_gradients(
        values: Vec<T>,
        gradients: Vec<Vector3<T>>,
        mesh: Arc<M>,
    ) -> Result<Self> {
        check_count("values", values.len(), "vertices", mesh.count_vertices())?;
        let (n, elements) = (gradients.len(), mesh.count_elements());
        check_count("gradients", n, "elements", elements)?;
        Ok(Self {
            gradients: gradients.into_iter().map(Some).collect(),
            mesh,
            values,
        })
    }

    /// Creates a field from as many values and gradients as the mesh has vertices and elements.
    pub(crate) fn of_parts(
        values: Vec<T>,
        gradients: Vec<Option<Vector3<T>>>,
        mesh: Arc<M>,
    ) -> Self {
        Self {
            values,
            gradients,
            mesh,
        }
    }

    /// Returns the mesh.
    pub fn mesh(&self) -> &Arc<M> {
        &self.mesh
    }
    /// Returns the values at the vertices.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Returns the value at vertex `v`.
    ///
    /// # Panics
    /// Panics if the mesh has no vertex `v`.
    pub fn evaluate_at_vertex(&self, v: usize) -> T {
        self.values[v]
    }

    /// Returns the gradient on element `e`, expressed in M; on surfaces it is parallel to the
    /// element.
    ///
    /// # Errors
    /// Returns an error if the element is degenerate: it has no area or volume, hence no gradient.
    ///
    /// # Panics
    /// Panics if the mesh has no element `e`.
    pub fn evaluate_gradient(&self, e: usize) -> Result<Vector3<T>> {
        self.gradients[e].ok_or_else(|| {
            Error::invalid(format!(
                "the field has no gradient on {} {e}, which is degenerate; check is_degenerate() first",
                M::ELEMENT
            ))
        })
    }
    /// Returns true if element `e` is degenerate and has no gradient.
    ///
    /// # Panics
    /// Panics if the mesh has no element `e`.
    pub fn is_degenerate(&self, e: usize) -> bool {
        self.gradients[e].is_none()
    }

    /// Returns the value at the point Q, at `p_mq`, of the linear function of element `e`. On
    /// surfaces this is the value at the projection of Q onto the element's plane. Q may be outside
    /// the element.
    ///
    /// # Errors
    /// Returns an error if the element is degenerate.
    ///
    /// # Panics
    /// Panics if the mesh has no element `e`.
    pub fn evaluate_cartesian(&self, e: usize, p_mq: &Vector3<T>) -> Result<T> {
        let gradient = self.evaluate_gradient(e)?;
        let (v, p_mv) = self.mesh.first_vertex(e);
        // Relative to a vertex, not the origin, because elements may be small and far away.
        Ok(self.values[v] + gradient.dot(&(p_mq - p_mv)))
    }

    /// Expresses the field and its mesh in frame N, given the pose `x_nm` of the mesh's frame M in
    /// N. Other owners of the mesh are unaffected.
    pub fn transform(&mut self, x_nm: &Isometry3<T>) {
        Arc::make_mut(&mut self.mesh).transform(x_nm);
        for gradient in self.gradients.iter_mut().flatten() {
            *gradient = x_nm.rotation * *gradient;
        }
    }

    /// Returns true if meshes, values and gradients are identical. As for scalars, derivatives are
    /// not compared. NaN is equal to nothing.
    pub fn equal(&self, other: &Self) -> bool {
        let known = |f: &Self| f.gradients.iter().flatten().copied().collect::<Vec<_>>();
        let degenerate = |f: &Self| f.gradients.iter().map(Option::is_none).collect::<Vec<_>>();
        self.values == other.values
            && degenerate(self) == degenerate(other)
            && vertices::same(&known(self), &known(other))
            && *self.mesh == *other.mesh
    }
}

impl<T: Scalar, M> MeshFieldLinear<T, M> {
    /// Returns the value at the point of element `e` with the barycentric coordinates `b`. Polygon
    /// meshes have no barycentric coordinates and hence not this method.
    ///
    /// # Panics
    /// Panics if the mesh has no element `e`.
    pub fn evaluate<const N: usize>(&self, e: usize, b: &SVector<T, N>) -> T
    where
        M: BarycentricMesh<T, N>,
    {
        let vertices = self.mesh.element_vertices(e);
        let weighted = vertices.iter().zip(b.iter());
        weighted.fold(T::from(0.0), |sum, (v, b)| {
            sum + self.values[*v as usize] * *b
        })
    }
}

impl<T: Scalar, M: FieldMesh<T>> PartialEq for MeshFieldLinear<T, M> {
    fn eq(&self, other: &Self) -> bool {
        self.equal(other)
    }
}

fn check_count(what: &str, found: usize, per: &str, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "MeshFieldLinear: number of {what} must equal the number of {per}, {expected}, got {found}"
    )))
}
