//! Tetrahedra of one mesh in the frame of another.

use super::tet_tet::{PosedMeshes, PosedTetrahedron};
use super::tetrahedron::OUTSIDE;

/// Number of tetrahedra that are kept, as many as the fastest memory has room for.
const NUM_KEPT: usize = 64;

/// Tetrahedra of R, expressed in S. Each is kept until another one takes its place, because a
/// surface comes back to most of them.
pub(super) struct PosedTetrahedra {
    /// By place, the tetrahedron there; [`OUTSIDE`] if there is none.
    elements: [u32; NUM_KEPT],
    tetrahedra: Box<[PosedTetrahedron; NUM_KEPT]>,
}

impl Default for PosedTetrahedra {
    fn default() -> Self {
        Self {
            elements: [OUTSIDE; NUM_KEPT],
            tetrahedra: Box::new([PosedTetrahedron::default(); NUM_KEPT]),
        }
    }
}

impl PosedTetrahedra {
    pub(super) fn clear(&mut self) {
        self.elements = [OUTSIDE; NUM_KEPT];
    }

    /// Returns a tetrahedron of R; `meshes` are the same since the last [`Self::clear`].
    #[inline]
    pub(super) fn get(&mut self, meshes: &PosedMeshes<'_>, r: u32) -> &PosedTetrahedron {
        let place = r as usize % NUM_KEPT;
        if self.elements[place] != r {
            self.put(place, meshes, r);
        }
        &self.tetrahedra[place]
    }

    #[inline(never)]
    fn put(&mut self, place: usize, meshes: &PosedMeshes<'_>, r: u32) {
        self.elements[place] = r;
        self.tetrahedra[place] = meshes.posed(r);
    }
}
