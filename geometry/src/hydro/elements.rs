//! Meshes prepared for intersection: tetrahedra, triangles and trees over them.

use super::adjacency::Adjacency;
use super::clip::{ValuedPoint, valued};
use super::mesh::are_on_boundary;
use super::obb_tree::ObbTree;
use super::planes::rounding_at;
use super::slopes::SlopeBounds;
use super::tetrahedron::Tetrahedron;
use crate::accel::bvh::Box32;
use crate::mesh::{TriangleSurfaceMesh, VolumeMeshFieldLinear};
use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::{Arc, OnceLock};

/// A compliant mesh in the frame of its geometry, whose pressure is per modulus.
pub(crate) struct CompliantMesh {
    pub(super) field: Arc<VolumeMeshFieldLinear>,
    /// Tetrahedra that are not degenerate and have a corner inside the mesh.
    pub(super) tetrahedra: Vec<Tetrahedron>,
    /// Whether none was degenerate.
    is_complete: bool,
    /// Vertices with their pressures per modulus.
    vertices: Vec<ValuedPoint>,
    /// Tree over the tetrahedra.
    pub(super) tree: ObbTree,
    /// Largest absolute coordinate (m), the scale of rounding.
    pub(super) reach: f64,
    outside: OnceLock<f64>,
    adjacency: OnceLock<Option<Adjacency>>,
    slopes: OnceLock<SlopeBounds>,
}

impl CompliantMesh {
    pub(super) fn new(field: Arc<VolumeMeshFieldLinear>) -> Self {
        let mesh = field.mesh();
        let with_contact = (0..mesh.num_elements()).filter(|e| {
            let vertices = mesh.element(*e).vertices();
            !are_on_boundary(&vertices.map(|v| field.values()[v as usize]))
        });
        let prepared: Vec<Option<Tetrahedron>> =
            with_contact.map(|e| Tetrahedron::new(&field, e)).collect();
        let is_complete = prepared.iter().all(Option::is_some);
        let tetrahedra: Vec<Tetrahedron> = prepared.into_iter().flatten().collect();
        let corners = |t: &Tetrahedron| t.vertices.map(|v| mesh.vertices()[v as usize]);
        let corners: Vec<[Vector3<f64>; 4]> = tetrahedra.iter().map(corners).collect();
        let reach = mesh.vertices().iter().fold(0.0_f64, |m, p| m.max(p.amax()));
        Self {
            tree: ObbTree::new(&corners, reach),
            vertices: mesh
                .vertices()
                .iter()
                .zip(field.values())
                .map(|(p, value)| valued(p, *value))
                .collect(),
            tetrahedra,
            is_complete,
            reach,
            field,
            outside: OnceLock::new(),
            adjacency: OnceLock::new(),
            slopes: OnceLock::new(),
        }
    }
    /// Returns the box in the world around the mesh at a pose; `None` if it is empty.
    pub(crate) fn box_at(&self, x_ws: &Isometry3<f64>) -> Option<Box32> {
        let root = self.tree.root.as_ref()?;
        let half = root.axes.iter().map(|axis| (x_ws * axis).abs());
        let half: Vector3<f64> = half.sum();
        Some(Box32::around(
            &(x_ws * Point3::from(root.center)).coords,
            &half,
        ))
    }
    /// Returns the adjacency, made for the first contact with another compliant mesh; `None` if
    /// surfaces cannot be followed in this mesh.
    pub(super) fn adjacency(&self) -> Option<&Adjacency> {
        let adjacency = self.adjacency.get_or_init(|| {
            if self.is_complete {
                Adjacency::new(&self.field, &self.tetrahedra, self.reach)
            } else {
                None
            }
        });
        adjacency.as_ref()
    }
    /// Returns bounds on the pressures and their gradients, made for the first contact that needs
    /// them.
    pub(super) fn slopes(&self) -> &SlopeBounds {
        self.slopes
            .get_or_init(|| SlopeBounds::new(&self.tree, &self.tetrahedra, &self.field))
    }
    /// Returns the greatest of a number per vertex that depends on the shape only.
    pub(super) fn greatest(&self, of: impl Fn(&Vector3<f64>) -> f64) -> f64 {
        let vertices = self.field.mesh().vertices();
        *self
            .outside
            .get_or_init(|| greatest(vertices, of, self.reach))
    }
    /// Returns the corners of a tetrahedron with their pressures per modulus.
    #[inline(always)]
    pub(super) fn corners(&self, tetrahedron: &Tetrahedron) -> [ValuedPoint; 4] {
        let [a, b, c, d] = tetrahedron.vertices;
        let at = |v: u32| self.vertices[v as usize];
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
