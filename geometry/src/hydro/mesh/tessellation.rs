//! A volume mesh under construction.

use crate::error::{Error, Result};
use crate::mesh::VolumeMesh;
use nalgebra::Vector3;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A volume mesh with the pressure of each vertex, per modulus.
pub(in crate::hydro) struct Tessellation {
    pub(in crate::hydro) volume: Arc<VolumeMesh>,
    pub(in crate::hydro) pressures: Vec<f64>,
}

/// Maximum number of steps of Newton's method, which converges quadratically.
const MOST_NEWTON_STEPS: usize = 50;

/// Vertices and tetrahedra that are added one after the other.
#[derive(Default)]
pub(in crate::hydro) struct TessellationBuilder {
    vertices: Vec<Vector3<f64>>,
    pressures: Vec<f64>,
    tetrahedra: Vec<[u32; 4]>,
}

impl TessellationBuilder {
    /// Adds a vertex on the boundary, where there is no pressure.
    pub(super) fn add_outside(&mut self, p: Vector3<f64>) -> u32 {
        self.vertices.push(p);
        self.pressures.push(0.0);
        self.vertices.len() as u32 - 1
    }

    /// Adds a vertex where the shape is deepest.
    pub(super) fn add_inside(&mut self, p: Vector3<f64>) -> u32 {
        self.vertices.push(p);
        self.pressures.push(1.0);
        self.vertices.len() as u32 - 1
    }

    /// Adds `n` vertices around a circle about z on the boundary, the first at y = 0.
    pub(super) fn add_circle(&mut self, n: usize, radius: f64, z: f64) -> Vec<u32> {
        let points = circle(n, radius, z).map(|p| self.add_outside(p));
        points.collect()
    }

    pub(super) fn vertex_mut(&mut self, v: u32) -> &mut Vector3<f64> {
        &mut self.vertices[v as usize]
    }

    /// Adds a tetrahedron, whatever the order of its vertices.
    pub(super) fn add(&mut self, vertices: [u32; 4]) {
        let [a, b, c, d] = vertices;
        let [p, q, r, s] = vertices.map(|v| self.vertices[v as usize]);
        let is_positive = (q - p).cross(&(r - p)).dot(&(s - p)) >= 0.0;
        self.tetrahedra.push(if is_positive {
            [a, b, c, d]
        } else {
            [b, a, c, d]
        });
    }

    /// Adds the three tetrahedra of a prism between two triangles, around the edge from the first
    /// vertex of the one to the last of the other.
    pub(super) fn add_prism(&mut self, [a0, a1, a2]: [u32; 3], [b0, b1, b2]: [u32; 3]) {
        for [from, to] in [[b0, b1], [b1, a1], [a1, a2]] {
            self.add([from, to, a0, b2]);
        }
    }

    /// Adds the two tetrahedra of a pyramid, whose base is cut from its first to its third vertex.
    pub(super) fn add_pyramid(&mut self, [a, b, c, d]: [u32; 4], apex: u32) {
        self.add([a, b, c, apex]);
        self.add([a, c, d, apex]);
    }

    /// Scales the mesh about the segment from `-half_length` to `half_length` (m) along z, which
    /// stays, until its volume is `volume` (m^3). Vertices move away from the nearest point of the
    /// segment: a capsule stays one, and a part between the ends of the segment grows radially.
    pub(in crate::hydro) fn scale_to_volume(&mut self, half_length: f64, volume: f64) {
        let scaled = |p: &Vector3<f64>, scale: f64| {
            let centre = Vector3::new(0.0, 0.0, p.z.clamp(-half_length, half_length));
            centre + (p - centre) * scale
        };
        let volume_at = |scale: f64| {
            let parts = self.tetrahedra.iter().map(|vertices| {
                let [p, q, r, s] = vertices.map(|v| scaled(&self.vertices[v as usize], scale));
                (q - p).cross(&(r - p)).dot(&(s - p))
            });
            parts.sum::<f64>() / 6.0
        };
        // The part between the ends grows with the square, the parts beyond with the cube.
        let (once, twice) = (volume_at(1.0), volume_at(2.0));
        let cubic = 0.25 * twice - once;
        let square = once - cubic;
        // Newton's method; the volume is convex and increasing in the scale.
        let mut scale: f64 = 1.0;
        for _ in 0..MOST_NEWTON_STEPS {
            let excess = (square + cubic * scale) * scale * scale - volume;
            let step = excess / ((2.0 * square + 3.0 * cubic * scale) * scale);
            scale -= step;
            if step.abs() <= f64::EPSILON * scale {
                break;
            }
        }
        // Without a volume that numbers can hold, the mesh stays as it is.
        if scale.is_finite() && scale > 0.0 {
            for vertex in &mut self.vertices {
                *vertex = scaled(vertex, scale);
            }
        }
    }

    pub(in crate::hydro) fn finish(self) -> Result<Tessellation> {
        Ok(Tessellation {
            volume: Arc::new(VolumeMesh::new(self.tetrahedra, self.vertices)?),
            pressures: self.pressures,
        })
    }
}

/// Returns `n` points around a circle about z, the first at y = 0.
pub(super) fn circle(n: usize, radius: f64, z: f64) -> impl Iterator<Item = Vector3<f64>> {
    let step = TAU / n as f64;
    (0..n).map(move |i| {
        let (sin, cos) = (step * i as f64).sin_cos();
        Vector3::new(radius * cos, radius * sin, z)
    })
}

/// Maximum number of tetrahedra. A finer mesh would take hundreds of megabytes.
const MOST_TETRAHEDRA: f64 = (1 << 20) as f64;

/// Checks a number of tetrahedra, which may be infinite.
pub(super) fn check_count(tetrahedra: f64, hint: f64) -> Result<()> {
    if tetrahedra <= MOST_TETRAHEDRA {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the resolution hint must give at most {MOST_TETRAHEDRA} tetrahedra, got {tetrahedra:?} from \
         {hint:?} m; choose a larger hint"
    )))
}
