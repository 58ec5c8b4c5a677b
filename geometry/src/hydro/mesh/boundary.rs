//! Faces on the boundary of a volume mesh.

use crate::mesh::VolumeMesh;
use std::collections::HashMap;

/// Face of one tetrahedron only.
#[derive(Clone, Copy)]
pub(super) struct BoundaryFace {
    pub(super) tetrahedron: usize,
    /// Vertex of the tetrahedron, from 0 to 3, that is not on the face.
    pub(super) opposite: usize,
    /// Vertices of the face, in ascending order.
    pub(super) vertices: [u32; 3],
}

/// Returns the faces on the boundary in the order of the tetrahedra.
pub(super) fn boundary_faces(volume: &VolumeMesh) -> Vec<BoundaryFace> {
    let all = || {
        (0..volume.num_elements()).flat_map(|tetrahedron| {
            let [a, b, c, d] = volume.element(tetrahedron).vertices();
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
