//! Refinement of tetrahedral meshes for fields that vanish at the boundary.

use super::boundary::{are_on_faces, boundary_faces};
use super::elements::VolumeElement;
use super::volume::VolumeMesh;
use nalgebra::Vector3;
use tarragon_framework::Scalar;

/// Divides the tetrahedra, and the faces and edges inside, whose vertices are all on the boundary
/// (Drake's `RefineVolumeMesh`).
///
/// A linear field that is 0 at the boundary, such as hydroelastic pressure, is 0 all over such a
/// part. The result has a new vertex at the centroid of each, so that every tetrahedron has a
/// vertex inside and the boundary is the same. Edges are divided first, then the faces and then the
/// tetrahedra that still need it, as in Drake 1.51, because dividing an edge often makes the others
/// needless. Existing vertices keep their indices. A mesh without such parts is returned as it is.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_geometry::mesh::{VolumeMesh, refine_volume_mesh};
/// let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = VolumeMesh::new([[0, 1, 2, 3]], vertices)?;
/// let refined = refine_volume_mesh(&mesh);
/// assert_eq!((refined.num_vertices(), refined.num_elements()), (5, 4));
/// assert_eq!(*refined.vertex(4), Vector3::repeat(0.25));
/// assert_eq!(refine_volume_mesh(&refined), refined);
/// # Ok::<(), tarragon_geometry::Error>(())
/// ```
pub fn refine_volume_mesh<T: Scalar>(volume: &VolumeMesh<T>) -> VolumeMesh<T> {
    let faces = boundary_faces(volume.tetrahedra());
    let mut refinement = Refinement {
        vertices: volume.vertices().to_vec(),
        tetrahedra: volume.tetrahedra().iter().map(|t| t.vertices()).collect(),
        is_on_boundary: are_on_faces(&faces, volume.num_vertices()),
        boundary: faces.iter().map(|face| face.vertices).collect(),
    };
    refinement.divide::<2>();
    refinement.divide::<3>();
    refinement.divide::<4>();
    let tetrahedra = refinement.tetrahedra.into_iter();
    VolumeMesh::of_parts(
        tetrahedra.map(VolumeElement::from).collect(),
        refinement.vertices,
    )
}

/// A mesh that is being refined. Its boundary stays the same.
struct Refinement<T: Scalar> {
    vertices: Vec<Vector3<T>>,
    tetrahedra: Vec<[u32; 4]>,
    /// By vertex of the given mesh. New vertices are inside.
    is_on_boundary: Vec<bool>,
    /// Vertices of the faces on the boundary, in ascending order.
    boundary: Vec<[u32; 3]>,
}

impl<T: Scalar> Refinement<T> {
    /// Divides the simplices with `N` vertices that are inside although all their vertices are on
    /// the boundary: edges (2), faces (3) or tetrahedra (4).
    fn divide<const N: usize>(&mut self) {
        let chosen = self.simplices_inside::<N>();
        let first = self.vertices.len() as u32;
        for simplex in &chosen {
            let corners = simplex.map(|v| self.vertices[v as usize]);
            let sum = corners.iter().fold(Vector3::zeros(), |sum, p| sum + p);
            self.vertices.push(sum / T::from(N as f64));
        }
        let mut divided = Vec::with_capacity(self.tetrahedra.len());
        for t in &self.tetrahedra {
            let begin = divided.len();
            divided.push(*t);
            // Tetrahedra on both sides of a face divide its edges in the same order.
            let mut own: Vec<usize> = subsets::<N>(t)
                .filter_map(|simplex| chosen.binary_search(&simplex).ok())
                .collect();
            own.sort_unstable();
            for i in own {
                for k in begin..divided.len() {
                    let part: [u32; 4] = divided[k];
                    if !chosen[i].iter().all(|v| part.contains(v)) {
                        continue;
                    }
                    // The new vertex takes the place of each vertex of the simplex in turn.
                    let without = |v: u32| part.map(|w| if w == v { first + i as u32 } else { w });
                    divided[k] = without(chosen[i][0]);
                    divided.extend(chosen[i][1..].iter().map(|v| without(*v)));
                }
            }
        }
        self.tetrahedra = divided;
    }

    /// Returns the simplices inside whose vertices are all on the boundary, sorted, each with its
    /// vertices in ascending order.
    fn simplices_inside<const N: usize>(&self) -> Vec<[u32; N]> {
        let is_on_boundary = |v: &u32| self.is_on_boundary.get(*v as usize) == Some(&true);
        let all = self.tetrahedra.iter().flat_map(|t| subsets::<N>(t));
        let mut inside: Vec<[u32; N]> = all.filter(|s| s.iter().all(is_on_boundary)).collect();
        inside.sort_unstable();
        inside.dedup();
        let mut on_boundary: Vec<[u32; N]> =
            self.boundary.iter().flat_map(|f| subsets(f)).collect();
        on_boundary.sort_unstable();
        inside.retain(|simplex| on_boundary.binary_search(simplex).is_err());
        inside
    }
}

/// Returns the sets of `N` different vertices among some, each in ascending order.
fn subsets<const N: usize>(vertices: &[u32]) -> impl Iterator<Item = [u32; N]> {
    let masks = 0..1_u32 << vertices.len();
    let masks = masks.filter(|mask| mask.count_ones() as usize == N);
    let subsets = masks.map(|mask| {
        let mut indices = (0..vertices.len()).filter(|i| mask >> i & 1 == 1);
        let mut subset = [0; N].map(|_: u32| indices.next().map_or(0, |i| vertices[i]));
        subset.sort_unstable();
        subset
    });
    // Degenerate tetrahedra have a vertex twice.
    subsets.filter(|subset| subset.windows(2).all(|pair| pair[0] != pair[1]))
}

#[cfg(test)]
mod tests;
