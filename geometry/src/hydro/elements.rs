//! Meshes prepared for intersection: planes of tetrahedra, normals of triangles, and trees.

use super::adjacency::Adjacency;
use super::obb_tree::ObbTree;
use super::planes::{FourPlanes, Plane, rounding_at};
use crate::mesh::{TriangleSurfaceMesh, VolumeMesh, VolumeMeshFieldLinear};
use nalgebra::Vector3;
use std::sync::{Arc, OnceLock};

/// A tetrahedron with its pressure per modulus.
#[derive(Clone, Debug)]
pub(super) struct Tetrahedron {
    /// Faces with outward normals; face `f` is opposite to vertex `f`.
    pub(super) faces: FourPlanes,
    pub(super) gradient: Vector3<f64>,
    /// Value at the origin of the mesh's frame.
    pub(super) at_origin: f64,
    /// In positive order.
    pub(super) vertices: [u32; 4],
}

impl Tetrahedron {
    /// Prepares a tetrahedron; returns `None` if it is degenerate.
    fn new(field: &VolumeMeshFieldLinear, e: usize) -> Option<Self> {
        let mesh: &VolumeMesh = field.mesh();
        let gradient = field.evaluate_gradient(e).ok()?;
        let mut vertices = mesh.element(e).vertices();
        if mesh.calc_tetrahedron_volume(e) < 0.0 {
            vertices.swap(2, 3);
        }
        let at = |v: u32| mesh.vertices()[v as usize];
        let mut faces = [Plane {
            normal: Vector3::zeros(),
            offset: 0.0,
        }; 4];
        for (f, face) in faces.iter_mut().enumerate() {
            // Both tetrahedra at a face compute the same plane, from the sorted vertices.
            let corners = sorted_faces(vertices)[f];
            let [a, b, c] = corners.map(at);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            let plane = Plane {
                normal,
                offset: normal.dot(&a),
            };
            let is_outward = normal.dot(&(at(vertices[f]) - a)) <= 0.0;
            *face = match is_outward {
                true => plane,
                false => plane.opposite(),
            };
        }
        let values = faces.iter().flat_map(|f| f.normal.iter());
        if !values.chain(gradient.iter()).all(|x| x.is_finite()) {
            return None;
        }
        let first = vertices[0] as usize;
        Some(Self {
            faces: FourPlanes::new(&faces),
            gradient,
            at_origin: field.values()[first] - gradient.dot(&mesh.vertices()[first]),
            vertices,
        })
    }

    /// Returns the pressure at a point per modulus.
    #[inline]
    pub(super) fn pressure(&self, p: &Vector3<f64>) -> f64 {
        self.gradient.dot(p) + self.at_origin
    }
}

/// Returns the sorted vertices of the faces of a tetrahedron; face `f` is opposite to vertex `f`.
pub(super) fn sorted_faces(vertices: [u32; 4]) -> [[u32; 3]; 4] {
    [0, 1, 2, 3].map(|f| {
        let mut face = [1, 2, 3].map(|k| vertices[(f + k) % 4]);
        face.sort_unstable();
        face
    })
}

/// A compliant mesh in the frame of its geometry, whose pressure is per modulus.
pub(crate) struct CompliantMesh {
    pub(super) field: Arc<VolumeMeshFieldLinear>,
    pub(super) tetrahedra: Vec<Tetrahedron>,
    /// Tree over the tetrahedra.
    pub(super) tree: ObbTree,
    /// Largest absolute coordinate (m), the scale of rounding.
    pub(super) reach: f64,
    outside: OnceLock<f64>,
    adjacency: OnceLock<Option<Adjacency>>,
}

impl CompliantMesh {
    pub(super) fn new(field: Arc<VolumeMeshFieldLinear>) -> Self {
        let mesh = field.mesh();
        let tetrahedra: Vec<Tetrahedron> = (0..mesh.num_elements())
            .filter_map(|e| Tetrahedron::new(&field, e))
            .collect();
        let corners = |t: &Tetrahedron| t.vertices.map(|v| mesh.vertices()[v as usize]);
        let corners: Vec<[Vector3<f64>; 4]> = tetrahedra.iter().map(corners).collect();
        let reach = mesh.vertices().iter().fold(0.0_f64, |m, p| m.max(p.amax()));
        Self {
            tree: ObbTree::new(&corners, reach),
            tetrahedra,
            reach,
            field,
            outside: OnceLock::new(),
            adjacency: OnceLock::new(),
        }
    }
    /// Returns the adjacency, made for the first contact with another compliant mesh; `None` if
    /// surfaces cannot be followed in this mesh.
    pub(super) fn adjacency(&self) -> Option<&Adjacency> {
        let adjacency = self.adjacency.get_or_init(|| Adjacency::new(self));
        adjacency.as_ref()
    }
    /// Returns the greatest of a number per vertex that depends on the shape only.
    pub(super) fn greatest(&self, of: impl Fn(&Vector3<f64>) -> f64) -> f64 {
        let vertices = self.field.mesh().vertices();
        *self
            .outside
            .get_or_init(|| greatest(vertices, of, self.reach))
    }
    #[inline]
    pub(super) fn corners(&self, tetrahedron: &Tetrahedron) -> [Vector3<f64>; 4] {
        let vertices = self.field.mesh().vertices();
        let [a, b, c, d] = tetrahedron.vertices;
        let at = |v: u32| vertices[v as usize];
        [at(a), at(b), at(c), at(d)]
    }
    /// Returns the pressures at the corners of a tetrahedron, per modulus.
    #[inline]
    pub(super) fn pressures(&self, tetrahedron: &Tetrahedron) -> [f64; 4] {
        let values = self.field.values();
        let [a, b, c, d] = tetrahedron.vertices;
        let at = |v: u32| values[v as usize];
        [at(a), at(b), at(c), at(d)]
    }
}

/// Returns the greatest of a length (m) per vertex, or 0 if that is rounding.
fn greatest(vertices: &[Vector3<f64>], of: impl Fn(&Vector3<f64>) -> f64, reach: f64) -> f64 {
    let greatest = vertices.iter().map(of).fold(0.0, f64::max);
    if greatest > rounding_at(reach) {
        greatest
    } else {
        0.0
    }
}

/// A rigid mesh in the frame of its geometry.
pub(crate) struct RigidMesh {
    pub(super) surface: Arc<TriangleSurfaceMesh>,
    /// Tree over the triangles.
    pub(super) tree: ObbTree,
    /// Largest absolute coordinate (m).
    pub(super) reach: f64,
    outside: OnceLock<f64>,
}

impl RigidMesh {
    pub(super) fn new(surface: Arc<TriangleSurfaceMesh>) -> Self {
        let corners = |t: usize| {
            let vertices = surface.element(t).vertices();
            vertices.map(|v| surface.vertices()[v as usize])
        };
        let triangles: Vec<[Vector3<f64>; 3]> = (0..surface.num_triangles()).map(corners).collect();
        let vertices = surface.vertices().iter();
        let reach = vertices.fold(0.0_f64, |m, p| m.max(p.amax()));
        Self {
            tree: ObbTree::new(&triangles, reach),
            reach,
            surface,
            outside: OnceLock::new(),
        }
    }
    /// Returns the greatest of a number per vertex that depends on the shape only.
    pub(super) fn greatest(&self, of: impl Fn(&Vector3<f64>) -> f64) -> f64 {
        let vertices = self.surface.vertices();
        *self
            .outside
            .get_or_init(|| greatest(vertices, of, self.reach))
    }
    #[inline]
    pub(super) fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        let vertices = self.surface.element(triangle).vertices();
        vertices.map(|v| self.surface.vertices()[v as usize])
    }
}
