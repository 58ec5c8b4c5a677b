use super::*;
use crate::mesh::source::{InMemoryMesh, MemoryFile};

/// A tetrahedron with outward winding and a point inside.
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n\
                   f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const VTK: &str = "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n\
                   0 0 0  1 0 0  0 1 0  0 0 1  .1 .1 .1\nCELLS 4 20\n\
                   4 0 1 2 4  4 0 3 1 4  4 0 2 3 4  4 1 3 2 4\nCELL_TYPES 4\n10 10 10 10\n";

fn memory(text: &str, extension: &str) -> MeshSource {
    InMemoryMesh::new(MemoryFile::new(text, extension, "corner")).into()
}

#[test]
fn surfaces_and_hulls_are_scaled_and_shared() {
    for (text, extension) in [(OBJ, ".obj"), (VTK, ".vtk")] {
        for scale in [
            Vector3::new(1.0, 2.0, 3.0),
            Vector3::new(-1.0, 2.0, 3.0),
            Vector3::new(-1.0, -2.0, -3.0),
        ] {
            let mesh = Mesh::with_scale(memory(text, extension), scale).unwrap();
            let (hull, surface) = (mesh.convex_hull().unwrap(), mesh.surface().unwrap());
            // Mirroring keeps the faces pointing outwards.
            assert!((surface.calc_enclosed_volume() - 1.0).abs() < 1e-15);
            assert!((hull.to_triangles().calc_enclosed_volume() - 1.0).abs() < 1e-15);
            assert_eq!((hull.num_vertices(), hull.num_faces()), (4, 4));
            assert_eq!(surface.num_triangles(), 4);
            assert!(Arc::ptr_eq(&hull, &mesh.clone().convex_hull().unwrap()));
            assert!(Arc::ptr_eq(&surface, &mesh.clone().surface().unwrap()));
            let convex = Convex::with_scale(memory(text, extension), scale).unwrap();
            assert_eq!(convex.convex_hull().unwrap(), hull);
        }
    }
    let volume = Mesh::with_scale(memory(VTK, ".vtk"), Vector3::new(-1.0, 2.0, 3.0));
    let volume = volume.unwrap().volume_mesh().unwrap();
    let all = (0..4).map(|e| volume.calc_tetrahedron_volume(e));
    assert!(all.clone().all(|v| v > 0.0));
    assert!((all.sum::<f64>() - 1.0).abs() < 1e-15);
}

#[test]
fn repeated_calls_report_the_same_failure() {
    let line = Mesh::new(memory("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", ".obj"));
    let missing = Mesh::new("no/such/file.obj");
    let unknown = Mesh::new("x.step");
    for _ in 0..2 {
        let e = line.convex_hull().unwrap_err().to_string();
        assert_eq!(
            e,
            "corner: vertices must span a plane, got points on a line"
        );
        let e = missing.convex_hull().unwrap_err().to_string();
        assert!(e.starts_with("no/such/file.obj in "), "{e}");
        let e = unknown.surface().unwrap_err().to_string();
        assert!(
            e.starts_with(
                "x.step: mesh files must end in .obj, .stl, .gltf, .glb, .dae or .vtk, got '.step'"
            ),
            "{e}"
        );
    }
    assert!(line.surface().is_ok());
    let e = line.volume_mesh().unwrap_err().to_string();
    assert!(e.contains("must end in .vtk, got "), "{e}");
    let bad = Mesh::new(memory("v 0 0 0\nf 1 2 3\n", ".obj"));
    let e = bad.surface().unwrap_err().to_string();
    assert!(
        e.starts_with("corner:2: the index of a vertex must be within the 1 defined so far, got 2"),
        "{e}"
    );
}

#[test]
fn equality_is_by_source_and_scale() {
    let a = Mesh::new("a.obj");
    assert_eq!(a, Mesh::new(std::path::PathBuf::from("a.obj")));
    assert_ne!(a, Mesh::new("b.obj"));
    assert_ne!(a, Mesh::with_scale("a.obj", Vector3::repeat(2.0)).unwrap());
    assert_eq!(
        Mesh::new(memory(OBJ, ".obj")),
        Mesh::new(memory(OBJ, ".OBJ"))
    );
    assert_ne!(
        Mesh::new(memory(OBJ, ".obj")),
        Mesh::new(memory(VTK, ".obj"))
    );
}

#[test]
fn uniform_scales_are_returned_and_invalid_ones_refused() {
    let mesh = Mesh::with_scale("a.obj", Vector3::repeat(-2.0)).unwrap();
    assert_eq!(mesh.scale().unwrap(), -2.0);
    let mesh = Mesh::with_scale("a.obj", Vector3::new(1.0, 2.0, 1.0)).unwrap();
    let e = mesh.scale().unwrap_err().to_string();
    assert!(
        e.contains("Mesh: scale of a.obj must be uniform, got [1.0, 2.0, 1.0]"),
        "{e}"
    );
    for bad in [0.0, 1e-9, f64::NAN, f64::INFINITY] {
        let e = Convex::with_scale("a.obj", Vector3::new(1.0, bad, 1.0)).unwrap_err();
        assert!(
            e.to_string()
                .starts_with("Convex: scale of a.obj must have three finite factors of magnitude at least 1e-8, got [1.0, "),
            "{e}"
        );
    }
}

#[test]
fn vertices_of_no_face_are_reported_if_they_enlarge_the_hull() {
    const CORNER: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    let warnings = |text: String| {
        let mesh = Mesh::new(crate::InMemoryMesh::new(crate::MemoryFile::new(
            text, ".obj", "corner",
        )));
        collect(|| mesh.warn_of_strays().unwrap()).1
    };
    assert_eq!(warnings(CORNER.into()), [""; 0]);
    let one = warnings(format!("# x\n{CORNER}v 9 9 9\n"));
    assert_eq!(one.len(), 1);
    let text = ":10: vertex 5 is part of no face, and enlarges the convex hull; remove it";
    assert!(one[0].ends_with(text), "{one:?}");
    let two = warnings(format!(
        "v -5 0 0\n{}v 9 9 9\n",
        CORNER.replace(
            "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
            "f 2 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n"
        )
    ));
    let text = ":1: 2 vertices are part of no face, and enlarge the convex hull (lines 1, 10); remove them";
    assert!(two.len() == 1 && two[0].ends_with(text), "{two:?}");
    // Inside the hull, or at a vertex of a face, they change nothing.
    assert_eq!(
        warnings(format!("{CORNER}v 0.1 0.1 0.1\nv 0 0 1\nv -0 1 0\n")),
        [""; 0]
    );
}
