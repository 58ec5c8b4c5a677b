//! Meshes and height fields of MJCF files that MuJoCo makes something of.

use super::load_mjcf;
use crate::support::loaded::load_with;

/// MuJoCo 3.3.7 makes the convex hull of a file without faces: these five corners have half a
/// cubic metre, which is 500 kg.
#[test]
fn obj_file_of_vertices_is_their_convex_hull() {
    let folder = tempfile::tempdir().unwrap();
    let obj = "v 0 0 0\nv 1 0 0\n v 0 1 0\nv 0 0 1\nv 1 1 1\n# no faces\n";
    let robot = folder.path().join("robot.xml");
    let text = "<mujoco model='m'><asset><mesh name='points' file='points.obj'/></asset><worldbody>
      <body><freejoint/><geom type='mesh' mesh='points'/></body></worldbody></mujoco>";
    std::fs::write(folder.path().join("points.obj"), obj).unwrap();
    std::fs::write(&robot, text).unwrap();
    let model = load_with(|p| p.add_models(&robot));
    model.says_nothing();
    let mass = model.plant.calc_total_mass();
    assert!((mass - 500.0).abs() < 1e-9, "{mass}");

    for (obj, expected) in [
        ("v 0 0 0\nv 1 0 zero\n", "line 2: a vertex must have three"),
        ("v 0 0 0\nv 1 0 0\n", "the vertices have no hull"),
    ] {
        std::fs::write(folder.path().join("points.obj"), obj).unwrap();
        let error = load_with(|p| p.add_models(&robot)).result.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// MuJoCo 3.3.7 loads such a field, and nothing collides with it.
#[test]
fn height_field_of_one_row_is_left_out() {
    let model = load_mjcf(
        "<mujoco model='m'><asset><hfield name='row' nrow='1' ncol='4' size='1 1 1 .1'/></asset>
         <worldbody><geom type='hfield' hfield='row'/><body><freejoint/><geom size='.1'/></body>
         </worldbody></mujoco>",
    );
    let said: Vec<&str> = model.diagnostics.iter().map(|d| &*d.message).collect();
    assert!(
        said[0].contains("'row' is left out: it must have at least 2 x 2"),
        "{said:?}"
    );
    // The ball as it is drawn, and as it collides.
    assert_eq!(model.scene.model_inspector().num_geometries(), 2);
}

/// A header that announces three of four triangles: MuJoCo 3.3.7 refuses the file, too. Three were
/// read without a word.
#[test]
fn stl_header_that_omits_triangles_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.stl");
    let corners = [
        [0.0_f32, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ];
    let mut bytes = vec![0; 80];
    bytes.extend(3_u32.to_le_bytes());
    for triangle in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
        bytes.extend([0; 12]);
        for corner in triangle {
            bytes.extend(corners[corner].iter().flat_map(|x: &f32| x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    std::fs::write(&file, &bytes).unwrap();
    let text = format!(
        "<mujoco model='m'><asset><mesh name='a' file='{}'/></asset><worldbody><body>\
         <geom type='mesh' mesh='a'/></body></worldbody></mujoco>",
        file.display()
    );
    let model = load_with(|parser| parser.add_models_from_string(&text, "xml"));
    let error = model.result.unwrap_err().to_string();
    let expected = "a.stl: the header must announce all triangles of the file, which has 4 \
                    triangles, got 3; export it again";
    assert!(error.contains(expected), "{error}");
}
