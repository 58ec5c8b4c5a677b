//! Mesh files.

use super::{box_obj, json_of, run, said, text_of, write};
use serde_json::{Value, json};

#[test]
fn mesh_files_are_described() {
    let folder = tempfile::tempdir().unwrap();
    let close = |value: &Value, expected: f64| {
        let found = value.as_f64().unwrap();
        assert!(
            (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
            "{value} {expected}"
        );
    };
    let file = write(folder.path(), "box.obj", &box_obj(6));
    let mesh = &json_of(&run(&[&file, "--json"]))["mesh"];
    assert_eq!(
        (&mesh["num_vertices"], &mesh["num_faces"]),
        (&json!(8), &json!(12))
    );
    assert_eq!(mesh["bounds"], json!([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]));
    assert_eq!(
        (&mesh["closed"], &mesh["num_open_edges"]),
        (&json!(true), &json!(0))
    );
    close(&mesh["volume"], 6.0);
    close(&mesh["area"], 22.0);
    close(&mesh["com"][2], 1.5);
    // A solid box of 6000 kg: m (b^2 + c^2) / 12.
    for (moment, expected) in [(0, 6500.0), (1, 5000.0), (2, 2500.0)] {
        close(&mesh["I_cm_moments"][moment], expected);
    }
    let text = text_of(&run(&[&file]));
    for words in [
        "models: ",
        "8 vertices, 12 faces",
        "closed",
        "at 1000 kg/m^3",
    ] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }

    // The two triangles of the missing face leave four open edges.
    let file = write(folder.path(), "open.obj", &box_obj(5));
    let text = text_of(&run(&[&file]));
    assert!(text.contains("not closed: 4 open edges"), "{text}");
    assert!(text.contains("none: the surface is not closed"), "{text}");

    let stl = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
               vertex 0 1 0\nendloop\nendfacet\nendsolid s\n";
    let file = write(folder.path(), "one.STL", stl);
    let text = text_of(&run(&[&file]));
    assert!(text.contains("3 vertices, 1 face\n"), "{text}");
    assert!(text.contains("not closed: 3 open edges"), "{text}");
    let report = json_of(&run(&[&file, "--json"]));
    assert_eq!(
        (&report["ok"], &report["stage"]),
        (&json!(true), &json!("mesh"))
    );
    assert_eq!(report["mesh"]["volume"], Value::Null);

    // A flat OBJ file is no model, because it has no mass, but it is a mesh.
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let file = write(folder.path(), "flat.obj", flat);
    let text = text_of(&run(&[&file]));
    assert!(text.contains("not usable as a model: "), "{text}");

    // Two tetrahedra that share a face: all five corners are on the boundary.
    let vtk = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\n\
               POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n\
               CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\n";
    let file = write(folder.path(), "two.vtk", vtk);
    let text = text_of(&run(&[&file]));
    for words in [
        "5 vertices, 6 faces",
        "2 tetrahedra, 2 with all corners on the boundary",
        "closed",
    ] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
    // 1/6 and 1/3.
    close(&json_of(&run(&[&file, "--json"]))["mesh"]["volume"], 0.5);
    let broken = run(&[&write(folder.path(), "broken.stl", "solid")]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(said(&broken).contains("broken.stl"), "{}", said(&broken));
}
