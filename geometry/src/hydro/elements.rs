//! Meshes prepared for intersection: planes of tetrahedra, normals of triangles, and trees.

use crate::accel::bvh::{Box32, Bvh};
use crate::mesh::{TriangleSurfaceMesh, VolumeMesh, VolumeMeshFieldLinear};
use nalgebra::{Isometry3, Vector3};
use std::collections::HashMap;
use std::sync::Arc;

/// A plane: its unit normal and its offset along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub(super) normal: Vector3<f64>,
    pub(super) offset: f64,
}

impl Plane {
    /// Returns the signed distance of a point (m). That of the opposite plane is the exact
    /// negative.
    #[inline]
    pub(super) fn height(&self, p: &Vector3<f64>) -> f64 {
        self.normal.dot(p) - self.offset
    }
    fn opposite(&self) -> Self {
        Self {
            normal: -self.normal,
            offset: -self.offset,
        }
    }
}

/// A tetrahedron with its pressure per modulus.
#[derive(Clone, Debug)]
pub(super) struct Tetrahedron {
    /// Faces with outward normals; face `f` is opposite to vertex `f`.
    pub(super) faces: [Plane; 4],
    pub(super) gradient: Vector3<f64>,
    /// Value at the origin of the mesh's frame.
    pub(super) at_origin: f64,
    /// In positive order.
    pub(super) vertices: [u32; 4],
    /// Bit `f` tells whether a polygon within face `f` belongs to this tetrahedron and not to its
    /// neighbour there, if it has one.
    owned: u8,
}

impl Tetrahedron {
    /// Prepares a tetrahedron; returns `None` if it is degenerate.
    fn new(
        field: &VolumeMeshFieldLinear,
        e: usize,
        is_boundary: impl Fn([u32; 3]) -> bool,
    ) -> Option<Self> {
        let mesh: &VolumeMesh = field.mesh();
        let gradient = field.evaluate_gradient(e).ok()?;
        let mut vertices = mesh.element(e).vertices();
        if mesh.calc_tetrahedron_volume(e) < 0.0 {
            vertices.swap(2, 3);
        }
        let at = |v: u32| mesh.vertices()[v as usize];
        let mut owned = 0;
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
            owned |= u8::from(is_outward || is_boundary(corners)) << f;
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
            faces,
            gradient,
            at_origin: field.values()[first] - gradient.dot(&mesh.vertices()[first]),
            vertices,
            owned,
        })
    }

    #[inline]
    pub(super) fn owns(&self, face: usize) -> bool {
        self.owned >> face & 1 == 1
    }
    /// Returns the pressure at a point per modulus.
    #[inline]
    pub(super) fn pressure(&self, p: &Vector3<f64>) -> f64 {
        self.gradient.dot(p) + self.at_origin
    }
}

/// Returns the sorted vertices of the faces of a tetrahedron; face `f` is opposite to vertex `f`.
fn sorted_faces(vertices: [u32; 4]) -> [[u32; 3]; 4] {
    [0, 1, 2, 3].map(|f| {
        let mut face = [1, 2, 3].map(|k| vertices[(f + k) % 4]);
        face.sort_unstable();
        face
    })
}

/// Returns the box around some points.
pub(super) fn box_around(points: &[Vector3<f64>]) -> Box32 {
    let first = points[0];
    let (low, high) = points[1..]
        .iter()
        .fold((first, first), |(low, high), p| (low.inf(p), high.sup(p)));
    Box32::around(&((low + high) / 2.0), &((high - low) / 2.0))
}

/// Cosine of the largest angle, 5/8 π, between the normal of a face and the gradient of pressure,
/// as in Drake. Thus the back of a thin rigid shape does not count.
const LEAST_COSINE: f64 = -0.382_683_432_365_089_8;

/// Returns true if a unit normal points along a gradient, or not too far from it.
#[inline]
pub(super) fn is_along(normal: &Vector3<f64>, gradient: &Vector3<f64>) -> bool {
    let along = normal.dot(gradient);
    along >= 0.0 || along > LEAST_COSINE * gradient.norm()
}

/// Rounding (m) of coordinates up to some size, after a few operations.
pub(super) fn rounding_at(reach: f64) -> f64 {
    8.0 * f64::EPSILON * reach
}

/// Returns the box of a tree at `X_AB`, where the tree is in B.
pub(super) fn posed(b: &Box32, x_ab: &Isometry3<f64>) -> Box32 {
    let half = |i: usize| (f64::from(b.upper[i]) - f64::from(b.lower[i])) / 2.0;
    let middle = |i: usize| (f64::from(b.upper[i]) + f64::from(b.lower[i])) / 2.0;
    let r = x_ab.rotation.to_rotation_matrix().into_inner();
    let center = r * Vector3::from_fn(|i, _| middle(i)) + x_ab.translation.vector;
    Box32::around(&center, &(r.abs() * Vector3::from_fn(|i, _| half(i))))
}

/// A compliant mesh in the frame of its geometry, whose pressure is per modulus.
pub(crate) struct CompliantMesh {
    pub(super) field: Arc<VolumeMeshFieldLinear>,
    pub(super) tetrahedra: Vec<Tetrahedron>,
    /// Tree over the tetrahedra.
    pub(super) tree: Bvh,
    /// Largest absolute coordinate (m), the scale of rounding.
    pub(super) reach: f64,
}

impl CompliantMesh {
    pub(super) fn new(field: Arc<VolumeMeshFieldLinear>) -> Self {
        let mesh = field.mesh();
        // By sorted vertices: the number of tetrahedra at a face.
        let mut counts: HashMap<[u32; 3], u32> = HashMap::new();
        for tetrahedron in mesh.tetrahedra() {
            for face in sorted_faces(tetrahedron.vertices()) {
                *counts.entry(face).or_default() += 1;
            }
        }
        let is_boundary = |face: [u32; 3]| counts[&face] == 1;
        let tetrahedra: Vec<Tetrahedron> = (0..mesh.num_elements())
            .filter_map(|e| Tetrahedron::new(&field, e, is_boundary))
            .collect();
        let boxes = tetrahedra.iter().map(|tetrahedron| {
            let corners = tetrahedron.vertices.map(|v| mesh.vertices()[v as usize]);
            box_around(&corners)
        });
        let boxes: Vec<Box32> = boxes.collect();
        let reach = mesh.vertices().iter().fold(0.0_f64, |m, p| m.max(p.amax()));
        Self {
            tree: Bvh::new(&boxes),
            tetrahedra,
            reach,
            field,
        }
    }
    #[inline]
    pub(super) fn corners(&self, tetrahedron: &Tetrahedron) -> [Vector3<f64>; 4] {
        let vertices = self.field.mesh().vertices();
        tetrahedron.vertices.map(|v| vertices[v as usize])
    }
    /// Returns the pressures at the corners of a tetrahedron, per modulus.
    #[inline]
    pub(super) fn pressures(&self, tetrahedron: &Tetrahedron) -> [f64; 4] {
        let values = self.field.values();
        tetrahedron.vertices.map(|v| values[v as usize])
    }
}

/// A rigid mesh in the frame of its geometry.
pub(crate) struct RigidMesh {
    pub(super) surface: Arc<TriangleSurfaceMesh>,
    /// Tree over the triangles.
    pub(super) tree: Bvh,
    /// Largest absolute coordinate (m).
    pub(super) reach: f64,
}

impl RigidMesh {
    pub(super) fn new(surface: Arc<TriangleSurfaceMesh>) -> Self {
        let corners = |t: usize| {
            let vertices = surface.element(t).vertices();
            vertices.map(|v| surface.vertices()[v as usize])
        };
        let boxes = (0..surface.num_triangles()).map(|t| box_around(&corners(t)));
        let boxes: Vec<Box32> = boxes.collect();
        let vertices = surface.vertices().iter();
        Self {
            tree: Bvh::new(&boxes),
            reach: vertices.fold(0.0_f64, |m, p| m.max(p.amax())),
            surface,
        }
    }
    #[inline]
    pub(super) fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        let vertices = self.surface.element(triangle).vertices();
        vertices.map(|v| self.surface.vertices()[v as usize])
    }
}
