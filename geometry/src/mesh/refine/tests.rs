use super::*;
use crate::mesh::convert_volume_to_surface_mesh;
use crate::mesh::cube_grid::CubeGrid;
use proptest::prelude::*;

/// Returns the numbers of edges and faces inside and of tetrahedra whose vertices are all on the
/// boundary.
fn flat_parts(volume: &VolumeMesh) -> [usize; 3] {
    let faces = boundary_faces(volume.tetrahedra());
    let mesh = Refinement {
        vertices: volume.vertices().to_vec(),
        tetrahedra: volume.tetrahedra().iter().map(|t| t.vertices()).collect(),
        is_on_boundary: are_on_faces(&faces, volume.num_vertices()),
        boundary: faces.iter().map(|face| face.vertices).collect(),
    };
    [
        mesh.simplices_inside::<2>().len(),
        mesh.simplices_inside::<3>().len(),
        mesh.simplices_inside::<4>().len(),
    ]
}

/// Refines a mesh, checks that the result has the same boundary and volume and nothing more to
/// divide, and returns it.
fn refined(volume: &VolumeMesh) -> VolumeMesh {
    let refined = refine_volume_mesh(volume);
    assert_eq!(flat_parts(&refined), [0; 3]);
    assert_eq!(refine_volume_mesh(&refined), refined);
    let n = volume.num_vertices();
    assert_eq!(&refined.vertices()[..n], volume.vertices());
    let [before, after] = [volume, &refined].map(|v| convert_volume_to_surface_mesh(v).unwrap());
    let corners = |mesh: &crate::mesh::TriangleSurfaceMesh| {
        let bits = |v: u32| mesh.vertex(v as usize).map(f64::to_bits);
        let triangles = mesh.triangles().iter().map(|t| t.vertices().map(bits));
        let mut sorted: Vec<_> = triangles
            .map(|mut t| {
                // From the smallest vertex on, in the same order.
                let first = (0..3).min_by_key(|i| <[u64; 3]>::from(t[*i]));
                t.rotate_left(first.unwrap_or(0));
                t.map(<[u64; 3]>::from)
            })
            .collect();
        sorted.sort_unstable();
        sorted
    };
    assert_eq!(corners(&before), corners(&after));
    let (old, new) = (volume.calc_volume(), refined.calc_volume());
    assert!((new - old).abs() <= 1e-12 * old, "{old} {new}");
    let least = |v: &VolumeMesh| {
        let all = (0..v.num_elements()).map(|e| v.calc_tetrahedron_volume(e));
        all.fold(f64::INFINITY, f64::min)
    };
    assert!(least(&refined) > 0.0 || least(volume) <= 0.0);
    refined
}

/// Returns a box of cubes, each cut into six tetrahedra along its diagonal.
fn grid(cubes: [usize; 3]) -> VolumeMesh {
    let grid = CubeGrid { cubes };
    let vertices = grid.vertices().map(|p| Vector3::from(p.map(|i| i as f64)));
    VolumeMesh::new(grid.tetrahedra(|_| true), vertices.collect()).unwrap()
}

/// A cube of five tetrahedra, of which the one in the middle has all its faces inside. Drake
/// 1.51.1's `RefineVolumeMesh` gives the same result.
#[test]
fn faces_inside_are_divided_at_their_centroids() {
    let corners = (0..8).map(|i| Vector3::new(i & 1, i >> 1 & 1, i >> 2).map(f64::from));
    let tetrahedra = [
        [0, 5, 3, 6],
        [0, 1, 3, 5],
        [0, 3, 2, 6],
        [0, 5, 6, 4],
        [3, 6, 5, 7],
    ];
    let cube = VolumeMesh::new(tetrahedra, corners.collect()).unwrap();
    assert_eq!(flat_parts(&cube), [0, 4, 5]);
    let refined = refined(&cube);
    assert_eq!((refined.num_vertices(), refined.num_elements()), (12, 21));
    let centroids = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0], [2.0; 3]];
    for (p, expected) in refined.vertices()[8..].iter().zip(centroids) {
        assert!((p - Vector3::from(expected) / 3.0).norm() < 1e-15, "{p}");
    }
}

/// Drake 1.51.1's `RefineVolumeMesh` gives these numbers of vertices and tetrahedra.
#[test]
fn grids_are_refined_as_by_drake() {
    for (cubes, vertices, tetrahedra) in GRIDS {
        let refined = refined(&grid(cubes));
        assert_eq!(
            (refined.num_vertices(), refined.num_elements()),
            (vertices, tetrahedra),
            "{cubes:?}"
        );
    }
}

const GRIDS: [([usize; 3], usize, usize); 5] = [
    ([1, 1, 1], 9, 12),
    ([2, 2, 2], 39, 108),
    ([3, 1, 1], 21, 44),
    ([3, 2, 4], 84, 264),
    ([4, 4, 4], 161, 564),
];

proptest! {
    /// Whatever the tetrahedra are, also where they overlap or have no volume, the result has the
    /// same volume and, if no vertex is twice in a tetrahedron, nothing more to divide.
    #[test]
    fn every_mesh_is_refined_in_one_pass(
        tetrahedra in prop::collection::vec(prop::array::uniform4(0..8_u32), 1..12),
        vertices in prop::array::uniform8(prop::array::uniform3(-1.0..1.0_f64)),
    ) {
        let vertices: Vec<Vector3<f64>> = vertices.map(Vector3::from).to_vec();
        let is_plain = tetrahedra.iter().all(|t| (1..4).all(|i| !t[..i].contains(&t[i])));
        let volume = VolumeMesh::new(tetrahedra, vertices).unwrap();
        let refined = refine_volume_mesh(&volume);
        prop_assert!((refined.calc_volume() - volume.calc_volume()).abs() < 1e-12);
        if is_plain {
            prop_assert_eq!(flat_parts(&refined), [0; 3]);
        }
    }
}
