//! Parts from which deformable visuals are made.

use crate::render::appearance::MeshAppearance;

/// Meshes and materials from which a deformable visual is made again in each configuration.
#[derive(Debug)]
pub(crate) struct DeformableSource {
    pub(super) appearance: MeshAppearance,
    /// Numbers of positions and of normals of each mesh.
    pub(super) counts: Vec<[usize; 2]>,
}
