//! Boundaries of tetrahedral meshes.

use super::elements::VolumeElement;
use std::collections::HashMap;

/// Face of one tetrahedron only.
#[derive(Clone, Copy)]
pub(crate) struct BoundaryFace {
    pub(crate) tetrahedron: usize,
    /// Vertex of the tetrahedron, from 0 to 3, that is not on the face.
    pub(crate) opposite: usize,
    /// Vertices of the face, in ascending order.
    pub(crate) vertices: [u32; 3],
}

/// Returns the faces on the boundary in the order of the tetrahedra.
pub(crate) fn boundary_faces(tetrahedra: &[VolumeElement]) -> Vec<BoundaryFace> {
    let all = || {
        tetrahedra.iter().enumerate().flat_map(|(tetrahedron, t)| {
            let [a, b, c, d] = t.vertices();
            let faces = [[b, c, d], [a, c, d], [a, b, d], [a, b, c]];
            faces
                .into_iter()
                .enumerate()
                .map(move |(opposite, mut vertices)| {
                    vertices.sort_unstable();
                    BoundaryFace {
                        tetrahedron,
                        opposite,
                        vertices,
                    }
                })
        })
    };
    let mut count: HashMap<[u32; 3], u32> = HashMap::new();
    for face in all() {
        *count.entry(face.vertices).or_default() += 1;
    }
    all().filter(|face| count[&face.vertices] == 1).collect()
}

/// Returns whether each of the vertices belongs to one of the faces.
pub(crate) fn are_on_faces(faces: &[BoundaryFace], num_vertices: usize) -> Vec<bool> {
    let mut are_on_faces = vec![false; num_vertices];
    for v in faces.iter().flat_map(|face| face.vertices) {
        are_on_faces[v as usize] = true;
    }
    are_on_faces
}
