//! Grids of cubes that are cut into tetrahedra, for tests.

/// A box of unit cubes, each cut into six tetrahedra along its diagonal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubeGrid {
    /// Numbers of cubes along the axes.
    pub(crate) cubes: [usize; 3],
}

/// Orders in which the three edges of a path along the diagonal of a cube follow the axes; the
/// last three paths need two vertices swapped.
const PATHS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
    [1, 0, 2],
    [2, 1, 0],
];

/// Returns all triples of indices below some counts; the last one changes first.
fn triples(n: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..n[0]).flat_map(move |i| (0..n[1]).flat_map(move |j| (0..n[2]).map(move |k| [i, j, k])))
}

impl CubeGrid {
    /// Returns the vertices, in the order of their numbers.
    pub(crate) fn vertices(self) -> impl Iterator<Item = [usize; 3]> {
        triples(self.cubes.map(|n| n + 1))
    }

    /// Returns the tetrahedra of the cubes that are present.
    pub(crate) fn tetrahedra(self, is_present: impl Fn(&[usize; 3]) -> bool) -> Vec<[u32; 4]> {
        let [_, ny, nz] = self.cubes;
        let at = |p: [usize; 3]| ((p[0] * (ny + 1) + p[1]) * (nz + 1) + p[2]) as u32;
        let tetrahedron = |cube: [usize; 3], path: usize| {
            let mut corner = cube;
            let mut vertices = [at(corner); 4];
            for (v, axis) in vertices[1..].iter_mut().zip(PATHS[path]) {
                corner[axis] += 1;
                *v = at(corner);
            }
            if path >= 3 {
                vertices.swap(2, 3);
            }
            vertices
        };
        let present = triples(self.cubes).filter(is_present);
        present
            .flat_map(|cube| (0..6).map(move |path| tetrahedron(cube, path)))
            .collect()
    }
}
