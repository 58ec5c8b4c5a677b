//! Meshes and height fields of MJCF files that MuJoCo makes something of.

use super::load_mjcf;
use crate::support::loaded::load_with;
use tarragon_formats::ModelWriter;
use tarragon_geometry::{SceneGraph, Shape};

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

/// Two tetrahedra of 1/6 cubic metre: as two objects, two groups, with a bare `g` between them, and
/// with a second object that has the first one's faces.
const OBJECTS: [(&str, &str, f64); 4] = [
    ("o a", "o b", 1.0),
    ("g a", "g b", 1.0),
    ("o a", "g", 2.0),
    ("o a\no empty", "usemtl b", 2.0),
];

fn tetrahedra(first: &str, second: &str) -> String {
    let faces = |k: usize| {
        let [a, b, c, d] = [1, 2, 3, 4].map(|i| i + 4 * k);
        format!("f {a} {c} {b}\nf {a} {b} {d}\nf {b} {c} {d}\nf {c} {a} {d}\n")
    };
    let vertices = |z: f64| format!("v 0 0 {z}\nv 1 0 {z}\nv 0 1 {z}\nv 0 0 {}\n", z + 1.0);
    let (a, b) = (vertices(0.0), vertices(1.0));
    format!("{a}{b}{first}\n{}{second}\n{}", faces(0), faces(1))
}

fn write_tetrahedra(folder: &std::path::Path, first: &str, second: &str) -> std::path::PathBuf {
    let robot = folder.join("robot.xml");
    let text = "<mujoco model='m'><asset><mesh name='a' file='a.obj' inertia='exact'/></asset>
      <worldbody><body><freejoint/><geom type='mesh' mesh='a'/></body></worldbody></mujoco>";
    std::fs::write(folder.join("a.obj"), tetrahedra(first, second)).unwrap();
    std::fs::write(&robot, text).unwrap();
    robot
}

/// Of an OBJ file, MuJoCo 3.3.7 reads the faces of the first object or group that has some: one
/// tetrahedron has a mass of 1000/6 kg, both have twice as much. URDF has no such rule.
#[test]
fn only_the_first_object_of_an_obj_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (first, second, count) in OBJECTS {
        let robot = write_tetrahedra(folder.path(), first, second);
        let model = load_with(|p| p.add_models(&robot));
        let mass = model.plant.calc_total_mass();
        let expected = 1000.0 / 6.0 * count;
        assert!((mass - expected).abs() < 1e-9, "{first} {second}: {mass}");
        let said: Vec<&str> = model.diagnostics.iter().map(|d| &*d.message).collect();
        let warning = "MuJoCo reads only the faces of the first object, 'a'; 4 faces of other \
                       objects are left out; join the objects, or save each in a file of its own";
        let is_said = said.iter().any(|message| message.ends_with(warning));
        assert_eq!(is_said, count == 1.0, "{said:?}");

        let urdf = folder.path().join("robot.urdf");
        let mesh = "<geometry><mesh filename='a.obj'/></geometry>";
        let text = format!(
            "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial>
             <collision>{mesh}</collision></link></robot>"
        );
        std::fs::write(&urdf, text).unwrap();
        let model = load_with(|p| p.add_models(&urdf));
        let surfaces = mesh_sizes(&model.scene);
        assert_eq!(surfaces, [8], "{first} {second}");
    }
}

/// Writers keep what was read: a mesh without the other objects becomes a file of its own, and a
/// file of several objects that all count becomes one object for MuJoCo.
#[test]
fn written_models_keep_the_objects_that_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let robot = write_tetrahedra(folder.path(), "o a", "o b");
    let urdf = folder.path().join("robot.urdf");
    let mesh = "<geometry><mesh filename='a.obj'/></geometry>";
    let text = format!(
        "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial>
         <visual>{mesh}</visual><collision>{mesh}</collision></link></robot>"
    );
    std::fs::write(&urdf, text).unwrap();
    for (file, faces) in [(&robot, 4), (&urdf, 8)] {
        for suffix in ["urdf", "sdf", "xml"] {
            let model = load_with(|p| p.add_models(file)).ok();
            let out = folder.path().join(format!("written.{suffix}"));
            let writer = ModelWriter::with_scene_graph(&model.plant, &model.scene);
            writer.save(&out).unwrap();
            let again = load_with(|p| p.add_models(&out));
            let sizes = mesh_sizes(&again.scene);
            assert!(
                !sizes.is_empty() && sizes.iter().all(|n| *n == faces),
                "{sizes:?}"
            );
        }
    }
}

/// Returns the numbers of triangles of all meshes in contact or drawn.
fn mesh_sizes(scene: &SceneGraph) -> Vec<usize> {
    let inspector = scene.model_inspector();
    let shapes = inspector
        .geometry_ids()
        .map(|id| inspector.shape(id).unwrap());
    let meshes = shapes.filter_map(|shape| match shape {
        Shape::Mesh(mesh) => Some(mesh.surface().unwrap().num_triangles()),
        _ => None,
    });
    meshes.collect()
}
