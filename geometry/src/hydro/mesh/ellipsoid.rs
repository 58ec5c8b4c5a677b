//! Spheres and ellipsoids: a polyhedron around the centre.

use super::tessellation::TessellationBuilder;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::FRAC_PI_2;

/// Maximum number of subdivisions of an octahedron.
const MOST_SUBDIVISIONS: f64 = 8.0;

/// Returns an octahedron whose faces are divided into four until the edges at its corners, on a
/// sphere with the largest semi-axis, are no longer than the hint (m).
pub(in crate::hydro) fn ellipsoid(semi_axes: &Vector3<f64>, hint: f64) -> TessellationBuilder {
    let half_chord = hint / (2.0 * semi_axes.max());
    // The edges of a chain from corner to corner span equal angles.
    let divisions = if half_chord < 1.0 {
        FRAC_PI_2 / (2.0 * half_chord.asin())
    } else {
        1.0
    };
    let subdivisions = divisions.log2().ceil().clamp(0.0, MOST_SUBDIVISIONS) as u32;
    let mut sphere = UnitSphere::default();
    let corners = [1.0, -1.0].map(|sign| {
        [0, 1, 2].map(|axis: usize| sphere.mesh.add_outside(sign * Vector3::ith(axis, 1.0)))
    });
    let mut faces = vec![];
    for octant in 0..8 {
        let corner = [0, 1, 2].map(|axis| corners[octant >> axis & 1][axis]);
        sphere.divide(corner, subdivisions, &mut faces);
    }
    let UnitSphere { mut mesh, vertices } = sphere;
    for v in 0..vertices.len() as u32 + 6 {
        mesh.vertex_mut(v).component_mul_assign(semi_axes);
    }
    let centre = mesh.add_inside(Vector3::zeros());
    for [a, b, c] in faces {
        mesh.add([a, b, c, centre]);
    }
    mesh
}

/// The unit sphere.
#[derive(Default)]
struct UnitSphere {
    mesh: TessellationBuilder,
    /// Vertices in the middle of edges, by the ends of the edge.
    vertices: HashMap<[u32; 2], u32>,
}

impl UnitSphere {
    fn middle(&mut self, a: u32, b: u32) -> u32 {
        let ends = [a.min(b), a.max(b)];
        if let Some(known) = self.vertices.get(&ends) {
            return *known;
        }
        let [p, q] = ends.map(|v| *self.mesh.vertex_mut(v));
        let middle = self.mesh.add_outside((p + q).normalize());
        self.vertices.insert(ends, middle);
        middle
    }

    /// Finds the triangles into which one is divided.
    fn divide(&mut self, [a, b, c]: [u32; 3], times: u32, faces: &mut Vec<[u32; 3]>) {
        if times == 0 {
            faces.push([a, b, c]);
            return;
        }
        let (ab, bc, ca) = (self.middle(a, b), self.middle(b, c), self.middle(c, a));
        for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
            self.divide(part, times - 1, faces);
        }
    }
}
