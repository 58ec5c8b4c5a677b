//! Division of a surface among the six faces of a cube map.
//!
//! Source: "OpenGL Specification", version 4.6, section 8.13: the face is that of the coordinate
//! of greatest size, and the two others, divided by it, are the place in its image.

use super::outline::{Outline, Vertex};
use crate::mesh::{MaterialGroup, RenderMesh};
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::HashMap;

/// Normals of the planes between the faces of a cube map.
const BETWEEN: [[f64; 3]; 6] = [
    [1.0, 1.0, 0.0],
    [1.0, -1.0, 0.0],
    [0.0, 1.0, 1.0],
    [0.0, 1.0, -1.0],
    [1.0, 0.0, 1.0],
    [1.0, 0.0, -1.0],
];

/// Rounding of directions, relative to their size, with room for several cuts.
const ROUNDING: f64 = 1e-12;

/// A surface that is being divided.
pub(super) struct CubeFaces {
    outline: Outline,
    scale: Vector3<f64>,
    /// Pose of the shape in the frame of the cube.
    x_cs: Isometry3<f64>,
    /// New vertices by the two that they are between.
    between: HashMap<[u32; 2], u32>,
    /// Triangles of each face.
    faces: [Vec<[u32; 3]>; 6],
}

impl CubeFaces {
    /// Divides a surface by the directions of its points, which are their coordinates in the frame
    /// of the cube times `scale`.
    pub(super) fn new(mut outline: Outline, scale: Vector3<f64>, x_cs: Isometry3<f64>) -> Self {
        let triangles = std::mem::take(&mut outline.triangles);
        let mut divided = Self {
            outline,
            scale,
            x_cs,
            between: HashMap::new(),
            faces: Default::default(),
        };
        for triangle in triangles {
            divided.divide(triangle);
        }
        divided
    }

    fn direction(&self, vertex: u32) -> Vector3<f64> {
        let position = &self.outline.vertices[vertex as usize].position;
        let in_cube = self.x_cs * Point3::from(*position);
        in_cube.coords.component_mul(&self.scale)
    }

    fn divide(&mut self, triangle: [u32; 3]) {
        let mut pieces = vec![triangle.to_vec()];
        for normal in BETWEEN {
            let normal = Vector3::from(normal);
            let mut parts = Vec::with_capacity(pieces.len());
            for piece in pieces {
                if self.is_in_one_face(&piece) {
                    parts.push(piece)
                } else {
                    self.cut(piece, &normal, &mut parts)
                }
            }
            pieces = parts;
        }
        for piece in pieces {
            let center: Vector3<f64> = piece.iter().map(|v| self.direction(*v)).sum();
            let face = face_of(&center);
            let fan = piece.windows(2).skip(1);
            self.faces[face].extend(fan.map(|edge| [piece[0], edge[0], edge[1]]));
        }
    }

    fn is_in_one_face(&self, piece: &[u32]) -> bool {
        let directions: Vec<Vector3<f64>> = piece.iter().map(|v| self.direction(*v)).collect();
        (0..6).any(|face| {
            let sign = if face % 2 == 0 { 1.0 } else { -1.0 };
            directions
                .iter()
                .all(|d| sign * d[face / 2] >= d.amax() * (1.0 - ROUNDING))
        })
    }

    /// Cuts a convex polygon by a plane through the centre.
    fn cut(&mut self, piece: Vec<u32>, normal: &Vector3<f64>, parts: &mut Vec<Vec<u32>>) {
        let heights: Vec<f64> = piece
            .iter()
            .map(|v| self.direction(*v).dot(normal))
            .collect();
        let size = heights.iter().fold(0.0_f64, |most, h| most.max(h.abs()));
        // Vertices in the plane but for rounding stay as they are.
        let side = |h: f64| {
            if h.abs() <= ROUNDING * size {
                0.0
            } else {
                h.signum()
            }
        };
        let sides: Vec<f64> = heights.iter().map(|h| side(*h)).collect();
        if !(sides.contains(&1.0) && sides.contains(&-1.0)) {
            parts.push(piece);
            return;
        }
        let [mut above, mut below] = [vec![], vec![]];
        for i in 0..piece.len() {
            let j = (i + 1) % piece.len();
            if sides[i] >= 0.0 {
                above.push(piece[i]);
            }
            if sides[i] <= 0.0 {
                below.push(piece[i]);
            }
            if sides[i] * sides[j] < 0.0 {
                let part = heights[i] / (heights[i] - heights[j]);
                let new = self.vertex_between([piece[i], piece[j]], part);
                above.push(new);
                below.push(new);
            }
        }
        parts.extend([above, below]);
    }

    fn vertex_between(&mut self, [a, b]: [u32; 2], part: f64) -> u32 {
        let key = [a.min(b), a.max(b)];
        if let Some(known) = self.between.get(&key) {
            return *known;
        }
        let vertices = &mut self.outline.vertices;
        let (from, to) = (vertices[a as usize], vertices[b as usize]);
        let normal = from.normal.lerp(&to.normal, part);
        let new = vertices.len() as u32;
        vertices.push(Vertex {
            position: from.position.lerp(&to.position, part),
            normal: normal.try_normalize(0.0).unwrap_or(from.normal),
        });
        self.between.insert(key, new);
        new
    }

    /// Sets the triangles of a mesh, with one group per face that has any.
    pub(super) fn add_to(self, mesh: &mut RenderMesh) {
        let mut uvs: HashMap<(u32, usize), u32> = HashMap::new();
        for (face, triangles) in self.faces.iter().enumerate() {
            let start = mesh.triangles.len();
            for triangle in triangles {
                let uv = triangle.map(|v| {
                    *uvs.entry((v, face)).or_insert_with(|| {
                        mesh.uvs.push(place_in(face, &self.direction(v)));
                        mesh.uvs.len() as u32 - 1
                    })
                });
                mesh.triangles.push(*triangle);
                mesh.triangle_uvs.push(uv);
            }
            if start < mesh.triangles.len() {
                mesh.groups.push(MaterialGroup {
                    material: Some(face),
                    triangles: start..mesh.triangles.len(),
                });
            }
        }
        super::set_vertices(mesh, &self.outline);
    }
}

/// Returns the face in a direction: x, -x, y, -y, z, -z.
pub(crate) fn face_of(direction: &Vector3<f64>) -> usize {
    let axis = direction.iamax();
    2 * axis + usize::from(direction[axis] < 0.0)
}

/// Returns the place of a direction in the image of a face: u to the right, v up.
pub(crate) fn place_in(face: usize, d: &Vector3<f64>) -> [f64; 2] {
    let (right, down) = match face {
        0 => (-d.z, -d.y),
        1 => (d.z, -d.y),
        2 => (d.x, d.z),
        3 => (d.x, -d.z),
        4 => (d.x, -d.y),
        _ => (-d.x, -d.y),
    };
    // The centre of a shape has no direction; any place is right there.
    let size = d[face / 2].abs().max(f64::MIN_POSITIVE);
    [right, -down].map(|x| (0.5 + 0.5 * x / size).clamp(0.0, 1.0))
}
