//! Contact of volume meshes with tetrahedra whose corners are all on the boundary, so that their
//! pressure has no gradient.

use super::derivatives::dual_surface;
use super::solids::quietly;
use super::*;
use std::path::Path;
use tarragon_framework::warnings::collect;
use tarragon_geometry::mesh::{format_vtk, parse_vtk, refine_volume_mesh};
use tarragon_geometry::{HalfSpace, InMemoryMesh, MemoryFile, Mesh, make_hydroelastic_mesh};

/// Number of unit cubes in the bar.
const CUBES: u32 = 13;

/// Returns the text of a VTK file.
fn vtk(vertices: &[Vector3<f64>], tetrahedra: &[[u32; 4]]) -> String {
    let (n, m) = (vertices.len(), tetrahedra.len());
    let mut text = "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_string();
    text += &format!("POINTS {n} double\n");
    for p in vertices {
        text += &format!("{:?} {:?} {:?}\n", p.x, p.y, p.z);
    }
    text += &format!("CELLS {m} {}\n", 5 * m);
    for [a, b, c, d] in tetrahedra {
        text += &format!("4 {a} {b} {c} {d}\n");
    }
    text + &format!("CELL_TYPES {m}\n{}", "10\n".repeat(m))
}

/// Returns a bar of 13 unit cubes along x, from the origin. The one in the middle has twelve
/// tetrahedra around its centre. The others have six without an inner vertex.
fn bar() -> String {
    let corner = |i: u32, k: u32| 4 * i + k;
    let mut vertices: Vec<Vector3<f64>> = (0..=CUBES)
        .flat_map(|i| (0..4_u32).map(move |k| (i, k)))
        .map(|(i, k)| Vector3::new(f64::from(i), f64::from(k & 1), f64::from(k >> 1)))
        .collect();
    let centre = vertices.len() as u32;
    vertices.push(Vector3::new(f64::from(CUBES) / 2.0, 0.5, 0.5));
    let mut tetrahedra = vec![];
    for i in 0..CUBES {
        // Along the diagonal of the cube, in each order of the axes; 4 is the step along x.
        let steps = [
            [4, 1, 2],
            [1, 2, 4],
            [2, 4, 1],
            [4, 2, 1],
            [1, 4, 2],
            [2, 1, 4],
        ];
        let cube = steps.map(|[a, b, c]| {
            let from = corner(i, 0);
            let [p, q] = [from + a, from + a + b];
            match (a, b) {
                (4, 1) | (1, 2) | (2, 4) => [from, p, q, q + c],
                _ => [from, q, p, q + c],
            }
        });
        if 2 * i + 1 != CUBES {
            tetrahedra.extend(cube);
            continue;
        }
        // The faces of the cube: those that only one of its tetrahedra has.
        let faces = cube.map(|[a, b, c, d]| [[b, d, c], [a, c, d], [a, d, b], [a, b, c]]);
        let faces = faces.as_flattened();
        let sorted = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        for face in faces {
            if faces
                .iter()
                .filter(|f| sorted(**f) == sorted(*face))
                .count()
                == 1
            {
                let [a, b, c] = *face;
                tetrahedra.push([a, b, c, centre]);
            }
        }
    }
    vtk(&vertices, &tetrahedra)
}

fn soft(text: &str, margin: f64) -> Solid {
    let mesh = Mesh::new(InMemoryMesh::new(MemoryFile::new(text, ".vtk", "bar.vtk")));
    let mut solid = Solid::compliant(mesh, 1e6, 1.0);
    solid.properties = solid.properties.with_hydroelastic_margin(margin).unwrap();
    solid
}

/// Returns a rigid half space, and a rigid and a compliant block whose top is at z = 1.
fn supports() -> [Solid; 3] {
    let block = BoxShape::new(40.0, 10.0, 2.0).unwrap();
    [
        Solid::rigid(HalfSpace, 1.0),
        Solid::rigid(block, 1.0),
        Solid::compliant(block, 1e6, 1.0),
    ]
}

#[test]
fn tetrahedra_on_the_boundary_have_no_part_of_a_contact_surface() {
    for (k, support) in supports().iter().enumerate() {
        let top = if k == 0 { 0.0 } else { -1.0 };
        let poses = [at(-6.5, 0.0, -0.3), at(0.0, 0.0, top)];
        for (swapped, margin) in [(false, 0.0), (true, 0.0), (false, 0.01), (true, 0.01)] {
            let solids = [&soft(&bar(), margin), support];
            let mut scene = quietly(|| PairScene::new(solids, swapped).unwrap());
            // Pressure pushes the bar up, but with a margin it is negative near its sides.
            let least = -1.01e6 * margin / 0.5;
            for representation in [POLYGON, TRIANGLE] {
                let surface = scene.surface(poses, representation).unwrap().unwrap();
                let sums = Sums::of(Some(&surface));
                let case = format!("{k} {swapped} {margin} {sums:?}");
                // The whole bar has 13 m^2, the cube with a vertex inside 1 m^2. A margin moves the
                // sides of the cube outwards by 0.01 m.
                let area = if margin == 0.0 { 1.0 } else { 1.02 };
                match k {
                    0 | 1 => assert!((sums.area - area).abs() < 1e-12, "{case}"),
                    // The surface in a compliant block is not flat.
                    _ => assert!(sums.area > area && sums.area < 1.5, "{case}"),
                }
                for f in 0..surface.num_faces() {
                    assert!((surface.face_centroid(f).x).abs() < 0.5 + 1e-12, "{case}");
                    assert!(surface.face_pressure(f) > least, "{case}");
                    let gradients = [
                        surface.evaluate_grad_e_m_w(f),
                        surface.evaluate_grad_e_n_w(f),
                    ];
                    for gradient in gradients.into_iter().flatten() {
                        assert!(gradient.norm() > 1e5, "{case}");
                    }
                }
                let dual = quietly(|| dual_surface(&scene, poses, representation));
                assert_eq!(dual.num_faces(), surface.num_faces(), "{case}");
                let area = dual.total_area();
                assert!((area.re - sums.area).abs() < 1e-12, "{case}");
            }
        }
    }
}

/// Only the cube in the middle carries force: the pressure at the depth of 0.3 is 0.6e6 Pa above
/// the base of a frustum of 0.4 m x 0.4 m, and falls to 0 towards the sides.
#[test]
fn the_force_is_the_integral_of_the_pressure() {
    let floor = Solid::rigid(HalfSpace, 1.0);
    let mut scene = quietly(|| PairScene::new([&soft(&bar(), 0.0), &floor], false).unwrap());
    let surface = scene.surface([at(-6.5, 0.0, -0.3), at(0.0, 0.0, 0.0)], POLYGON);
    let force = Sums::of(surface.unwrap().as_ref()).force;
    // Volume below the graph of min(0.3, distance from the sides) times 1e6 Pa / 0.5 m.
    let volume = 0.3 / 3.0 * (1.0 + 0.4 + 0.16);
    let expected = Vector3::new(0.0, 0.0, 2e6 * volume);
    assert!((force - expected).norm() < 1e-6, "{force}");
}

#[test]
fn a_warning_names_the_mesh_and_how_many_tetrahedra_have_no_contact() {
    let register = |text: &str, margin: f64| {
        let mut graph = SceneGraph::new();
        let source = graph.register_source("test").unwrap();
        let solid = soft(text, margin);
        let instance = GeometryInstance::new(Isometry3::identity(), solid.shape, "bar").unwrap();
        let instance = instance.with_proximity(solid.properties);
        let (result, warnings) = collect(|| graph.register_anchored_geometry(source, instance));
        result.unwrap();
        warnings
    };
    for margin in [0.0, 0.01] {
        let warnings = register(&bar(), margin);
        assert_eq!(
            warnings,
            [
                "bar.vtk: tetrahedra must have a vertex inside the mesh for a gradient of \
                 pressure, got 72 of 84 with all vertices on its boundary, which are left out of \
                 contact; divide them with `tarragon convert MESH.vtk FIXED.vtk --refine`, or with \
                 `refine_volume_mesh` in code"
            ]
        );
        assert_eq!(register(&refined_bar(), margin), [""; 0]);
    }
}

/// Returns the bar with all tetrahedra divided that need it.
fn refined_bar() -> String {
    let given = parse_vtk(Path::new("bar.vtk"), bar().as_bytes()).unwrap();
    format_vtk(&refine_volume_mesh(&given))
}

#[test]
fn all_of_a_refined_mesh_has_contact() {
    for (k, support) in supports().iter().enumerate().take(2) {
        let top = if k == 0 { 0.0 } else { -1.0 };
        let mut scene = PairScene::new([&soft(&refined_bar(), 0.0), support], false).unwrap();
        let surface = scene.surface([at(-6.5, 0.0, -0.3), at(0.0, 0.0, top)], POLYGON);
        let surface = surface.unwrap().unwrap();
        assert!((surface.total_area() - 13.0).abs() < 1e-12);
        assert!((0..surface.num_faces()).all(|f| surface.face_pressure(f) > 0.0));
    }
}

#[test]
fn a_mesh_without_a_vertex_inside_is_refused_with_the_cure() {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    // A vertex of no tetrahedron is not inside.
    let with_stray = [corners.as_slice(), &[Vector3::repeat(0.1)]].concat();
    for vertices in [corners.as_slice(), &with_stray] {
        let solid = soft(&vtk(vertices, &[[0, 1, 2, 3]]), 0.0);
        let made = make_hydroelastic_mesh(&solid.shape, &solid.properties);
        assert_eq!(
            made.unwrap_err().to_string(),
            "bar.vtk: tetrahedra of a compliant volume mesh must have a vertex inside the mesh, got \
             only vertices on its boundary; divide them with `tarragon convert MESH.vtk FIXED.vtk \
             --refine`, or with `refine_volume_mesh` in code"
        );
    }
}
