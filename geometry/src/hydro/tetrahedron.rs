//! Tetrahedra with their planes and their linear pressure.

use super::planes::{FourPlanes, Plane};
use crate::mesh::{VolumeMesh, VolumeMeshFieldLinear};
use nalgebra::Vector3;

/// In place of a tetrahedron, beyond the boundary of a mesh.
pub(super) const OUTSIDE: u32 = u32::MAX;

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
    pub(super) fn new(field: &VolumeMeshFieldLinear, e: usize) -> Option<Self> {
        let mesh: &VolumeMesh = field.mesh();
        let gradient = field.evaluate_gradient(e).ok()?;
        let mut vertices = mesh.element(e).vertices();
        if mesh.calc_tetrahedron_volume(e) < 0.0 {
            vertices.swap(2, 3);
        }
        let at = |v: u32| mesh.vertices()[v as usize];
        Self::of_vertices(vertices, at, gradient, field.values()[vertices[0] as usize])
    }

    /// Prepares a tetrahedron with vertices in positive order, given their positions, the gradient
    /// of the pressure and its value at the first vertex; returns `None` if it is degenerate.
    pub(super) fn of_vertices(
        vertices: [u32; 4],
        at: impl Fn(u32) -> Vector3<f64>,
        gradient: Vector3<f64>,
        value: f64,
    ) -> Option<Self> {
        let mut faces = [Plane {
            normal: Vector3::zeros(),
            offset: 0.0,
        }; 4];
        for (f, face) in faces.iter_mut().enumerate() {
            // Both tetrahedra at a face compute the same plane, from the sorted vertices.
            let corners = sorted_faces(vertices)[f];
            let [a, b, c] = corners.map(&at);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            let plane = Plane {
                normal,
                offset: normal.dot(&a),
            };
            let is_outward = normal.dot(&(at(vertices[f]) - a)) <= 0.0;
            *face = if is_outward { plane } else { plane.opposite() };
        }
        let values = faces.iter().flat_map(|f| f.normal.iter());
        if !values.chain(gradient.iter()).all(|x| x.is_finite()) {
            return None;
        }
        Some(Self {
            faces: FourPlanes::new(&faces),
            gradient,
            at_origin: value - gradient.dot(&at(vertices[0])),
            vertices,
        })
    }

    /// Returns the pressure at a point per modulus.
    #[inline]
    pub(super) fn pressure(&self, p: &Vector3<f64>) -> f64 {
        self.gradient.dot(p) + self.at_origin
    }

    #[inline]
    pub(super) fn corners(&self, field: &VolumeMeshFieldLinear) -> [Vector3<f64>; 4] {
        let vertices = field.mesh().vertices();
        let [a, b, c, d] = self.vertices;
        let at = |v: u32| vertices[v as usize];
        [at(a), at(b), at(c), at(d)]
    }
    /// Returns the pressures at the corners, per modulus.
    #[inline]
    pub(super) fn pressures(&self, field: &VolumeMeshFieldLinear) -> [f64; 4] {
        let values = field.values();
        let [a, b, c, d] = self.vertices;
        let at = |v: u32| values[v as usize];
        [at(a), at(b), at(c), at(d)]
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
