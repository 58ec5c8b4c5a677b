//! Points that move with the tetrahedra of a mesh.

use super::reference::boxes;
use crate::accel::bvh::{Box32, Bvh};
use crate::error::{Error, Result};
use crate::mesh::{VolumeElement, VolumeMesh};
use nalgebra::{Vector3, Vector4};
use tarragon_framework::Scalar;

/// Relative distance outside of a mesh, of its size, at which a point still counts as inside.
const ROUNDING: f64 = 1e-6;

/// Points that move with the tetrahedra of a volume mesh that hold them, as the vertices of a
/// surface embedded in deformable geometry do.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::EmbeddedPoints;
/// use tarragon_geometry::mesh::VolumeMesh;
/// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = VolumeMesh::new([[0, 1, 2, 3]], vertices)?;
/// let points = EmbeddedPoints::new(&mesh, &[Vector3::new(0.25, 0.25, 0.25)])?;
/// // The last vertex is lifted.
/// let moved = points.positions(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0])?;
/// assert_eq!(moved, [Vector3::new(0.25, 0.25, 0.75)]);
/// assert!(EmbeddedPoints::new(&mesh, &[Vector3::repeat(1.0)]).is_err());
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EmbeddedPoints {
    points: Vec<EmbeddedPoint>,
    num_vertices: usize,
}

impl EmbeddedPoints {
    /// Finds the tetrahedra of a mesh that hold some points (m).
    ///
    /// # Errors
    /// Returns an error that names the first point that is farther outside the mesh than 1e-6 of
    /// its size.
    pub fn new(mesh: &VolumeMesh, points: &[Vector3<f64>]) -> Result<Self> {
        let tetrahedra = mesh.tetrahedra().iter().map(VolumeElement::vertices);
        let tree = Bvh::new(&boxes(mesh.vertices(), tetrahedra));
        Self::in_tree(mesh, &tree, points)
    }

    /// Does the same with the tree of the tetrahedra.
    pub(super) fn in_tree(mesh: &VolumeMesh, tree: &Bvh, points: &[Vector3<f64>]) -> Result<Self> {
        Ok(Self {
            points: embed(mesh, tree, points)?,
            num_vertices: mesh.num_vertices(),
        })
    }

    /// Returns the number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }
    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Returns where the points are in a configuration: the coordinates of all vertices of the mesh
    /// (m).
    ///
    /// # Errors
    /// Returns an error if the configuration has another number of coordinates than the mesh.
    pub fn positions<T: Scalar>(&self, configuration: impl AsRef<[T]>) -> Result<Vec<Vector3<T>>> {
        let configuration = configuration.as_ref();
        if configuration.len() != 3 * self.num_vertices {
            return Err(Error::invalid(format!(
                "EmbeddedPoints: the configuration must have {} coordinates, three for each vertex \
                 of the mesh, got {}",
                3 * self.num_vertices,
                configuration.len()
            )));
        }
        Ok(self.moved(configuration))
    }

    /// Does the same for a configuration of the right size.
    pub(super) fn moved<T: Scalar>(&self, configuration: &[T]) -> Vec<Vector3<T>> {
        self.points
            .iter()
            .map(|p| p.position(configuration))
            .collect()
    }
}

/// A point as the weighted sum of the vertices of a tetrahedron.
#[derive(Clone, Copy, Debug)]
struct EmbeddedPoint {
    vertices: [u32; 4],
    weights: [f64; 4],
}

impl EmbeddedPoint {
    fn position<T: Scalar>(&self, configuration: &[T]) -> Vector3<T> {
        let parts = self.vertices.iter().zip(&self.weights);
        parts.fold(Vector3::zeros(), |sum, (v, weight)| {
            sum + vertex(configuration, *v) * T::from(*weight)
        })
    }
}

/// Returns a vertex of a configuration.
#[inline]
pub(super) fn vertex<T: Scalar>(configuration: &[T], v: u32) -> Vector3<T> {
    let first = 3 * v as usize;
    Vector3::new(
        configuration[first],
        configuration[first + 1],
        configuration[first + 2],
    )
}

/// Expresses points by the tetrahedra that hold them. A point that is outside by rounding belongs
/// to the tetrahedron that it is least above.
fn embed(mesh: &VolumeMesh, tree: &Bvh, points: &[Vector3<f64>]) -> Result<Vec<EmbeddedPoint>> {
    let size = mesh.calc_bounding_box().1.norm();
    let margin = ROUNDING * size;
    let embedded = points.iter().enumerate().map(|(i, p)| {
        let mut best: Option<(f64, u32, Vector4<f64>)> = None;
        let around = Box32::around(p, &Vector3::repeat(margin));
        tree.for_each_near(&around, 0.0, |e| {
            let weights = mesh.calc_barycentric(p, e as usize);
            // Equal for all tetrahedra at a face: the first one decides.
            let outside = outside(mesh, e as usize, &weights);
            let is_better = |(least, first, _): &(f64, u32, _)| (outside, e) < (*least, *first);
            if best.as_ref().is_none_or(is_better) {
                best = Some((outside, e, weights));
            }
        });
        match best {
            Some((outside, e, weights)) if outside <= margin => Ok(EmbeddedPoint {
                vertices: mesh.element(e as usize).vertices(),
                weights: weights.into(),
            }),
            _ => Err(Error::invalid(format!(
                "point {i} must be inside the undeformed mesh, got {:?} m, which is outside; let the \
                 mesh enclose all points",
                p.as_slice()
            ))),
        }
    });
    embedded.collect()
}

/// Returns how far a point with some barycentric coordinates is above a face of its tetrahedron
/// (m); at most 0 inside.
fn outside(mesh: &VolumeMesh, e: usize, weights: &Vector4<f64>) -> f64 {
    let corners = mesh.element(e).vertices().map(|v| *mesh.vertex(v as usize));
    let height = |k: usize| {
        let [a, b, c] = [1, 2, 3].map(|i| corners[(k + i) % 4]);
        let normal = (b - a).cross(&(c - a));
        let length = normal.norm();
        if length > 0.0 {
            normal.dot(&(corners[k] - a)).abs() / length
        } else {
            0.0
        }
    };
    (0..4).fold(0.0, |worst: f64, k| worst.max(-weights[k] * height(k)))
}
