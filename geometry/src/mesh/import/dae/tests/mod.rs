use super::*;
use crate::mesh::source::{InMemoryMesh, MemoryFile};
use crate::mesh::{parse_obj, parse_stl};
use nalgebra::Matrix4;
use proptest::prelude::*;
use std::path::PathBuf;
use tarragon_framework::math;

mod hostile;
mod materials;

/// Sources of the corners of a unit square, a normal and texture coordinates.
const SOURCES: &str = r##"
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 1 1 0 0 1 0</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<source id="n"><float_array id="na" count="3">0 0 2</float_array>
<technique_common><accessor source="#na" count="1" stride="3"/></technique_common></source>
<source id="t"><float_array id="ta" count="6">0 0 0.5 <!-- and --> 0 1 1</float_array>
<technique_common><accessor source="#ta" count="3" stride="2"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
"##;

const V: &str = r##"<input semantic="VERTEX" source="#v" offset="0"/>"##;
const N: &str = r##"<input semantic="NORMAL" source="#n" offset="1"/>"##;
const T: &str = r##"<input semantic="TEXCOORD" source="#t" offset="2" set="0"/>"##;

/// Creates a document with one mesh `g` and other content.
fn document(primitives: &str, rest: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" \
         version=\"1.4.1\"><library_geometries><geometry id=\"g\"><mesh>{SOURCES}{primitives}</mesh>\
         </geometry></library_geometries>{rest}</COLLADA>"
    )
}

fn read(text: &str) -> Result<RenderMesh> {
    parse_dae(Path::new("/m/x.dae"), text.as_bytes())
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn obj(faces: &str) -> RenderMesh {
    let text =
        format!("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nvt 0.5 0\nvt 1 1\n{faces}");
    parse_obj(Path::new("x.obj"), text.as_bytes()).unwrap()
}

/// Creates a scene with these nodes.
fn scene(nodes: &str) -> String {
    format!(
        "<library_visual_scenes><visual_scene id=\"s\">{nodes}</visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url=\"#s\"/></scene>"
    )
}

const SHOW: &str = "<instance_geometry url=\"#g\"/>";

/// Reads a square in a node with these transformations.
fn placed(transforms: &str) -> Result<RenderMesh> {
    let square = format!("<polylist count=\"1\">{V}<vcount>4</vcount><p>0 1 2 3</p></polylist>");
    let scene = scene(&format!("<node>{transforms}{SHOW}</node>"));
    read(&document(&square, &scene))
}

#[test]
fn primitives_match_equivalent_obj_files() {
    for (primitive, faces) in [
        (
            format!("<triangles count=\"2\">{V}<p>0 1 2 0 2 3</p></triangles>"),
            "f 1 2 3\nf 1 3 4",
        ),
        (
            format!("<triangles>{V}{N}{T}<p>0 0 0 1 0 1 2 0 2</p></triangles>"),
            "f 1/1/1 2/2/1 3/3/1",
        ),
        (
            format!(
                "<polylist>{V}{N}<vcount>3 1 4</vcount><p>0 0 1 0 2 0 3 0 0 0 1 0 2 0 3 0</p></polylist>"
            ),
            "f 1//1 2//1 3//1\nf 1//1 2//1 3//1 4//1",
        ),
        (
            format!(
                "<polygons>{V}<p>0 1 2 3</p><p>0 1 2</p><ph><p>0 1 3</p><h>2</h></ph></polygons>"
            ),
            "f 1 2 3 4\nf 1 2 3\nf 1 2 4",
        ),
        (
            format!("<trifans>{V}<p>0 1 2 3</p><p>1 2 3</p></trifans>"),
            "f 1 2 3\nf 1 3 4\nf 2 3 4",
        ),
        (
            format!("<tristrips>{V}<p>0 1 3 2</p><p>0 0 1 2</p></tristrips>"),
            "f 1 2 4\nf 2 3 4\nf 1 3 2",
        ),
        // Inputs that share an offset.
        (
            format!(
                "<triangles>{V}<input semantic=\"TEXCOORD\" source=\"#t\" offset=\"0\"/><p>0 1 2</p></triangles>"
            ),
            "f 1/1 2/2 3/3",
        ),
    ] {
        let ours = read(&document(&primitive, "")).unwrap();
        let peer = obj(faces);
        assert_eq!(ours.triangles, peer.triangles, "{primitive}");
        assert_eq!(ours.positions, peer.positions);
        assert_eq!(ours.triangle_uvs, peer.triangle_uvs, "{primitive}");
        assert_eq!(ours.groups, peer.groups);
        let normals = |m: &RenderMesh| -> Vec<Vector3<f64>> {
            let corners = m.triangle_normals.iter().flatten();
            corners.map(|n| m.normals[*n as usize]).collect()
        };
        for (a, b) in normals(&ours).iter().zip(normals(&peer)) {
            assert!((a - b).norm() < 1e-15, "{primitive}");
        }
    }
}

#[test]
fn inputs_of_vertices_share_the_vertex_index() {
    let text = document(&format!("<triangles>{V}<p>0 1 2</p></triangles>"), "");
    let more = "<vertices id=\"v\"><input semantic=\"TEXCOORD\" source=\"#t\"/>";
    let mesh = read(&text.replace("<vertices id=\"v\">", more)).unwrap();
    assert_eq!(mesh.triangle_uvs, [[0, 1, 2]]);
    // The lowest set is used, wherever it is in the file.
    let first = "<input semantic=\"TEXCOORD\" source=\"#p\" offset=\"1\" set=\"3\"/>";
    let primitive = format!("<triangles>{V}{first}{T}<p>0 0 0 1 0 1 2 0 2</p></triangles>");
    assert_eq!(read(&document(&primitive, "")).unwrap().uvs[1], [0.5, 0.0]);
}

#[test]
fn accessors_may_skip_numbers() {
    let text = document(&format!("<triangles>{V}<p>0 1 0</p></triangles>"), "");
    let text = text.replace(
        r##"<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>"##,
        r##"<accessor source="#pa" count="2" stride="4" offset="2"><param type="float"/><param name="X"/>"##,
    );
    let mesh = read(&text).unwrap();
    // 0 0 [0 1 0 0] [1 1 0 0] 1 0, where the first of each four is skipped.
    let expected = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].map(Point3::from);
    assert_eq!(mesh.positions, expected);
}

/// Returns the origin and the x and y axes of a node, derived from its square.
fn frame(mesh: &RenderMesh) -> [Vector3<f64>; 3] {
    let p = &mesh.positions;
    [p[0].coords, p[1] - p[0], p[3] - p[0]]
}

#[test]
fn transformations_are_applied_in_order() {
    let near = |text: &str, expected: [[f64; 3]; 3]| {
        let found = frame(&placed(text).unwrap());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - Vector3::from(b)).norm() < 1e-14, "{text}: {found:?}");
        }
    };
    near("", [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]]);
    near(
        "<translate>1 2 3</translate><scale>2 3 4</scale>",
        [[1., 2., 3.], [2., 0., 0.], [0., 3., 0.]],
    );
    near(
        "<scale>2 3 4</scale><translate>1 2 3</translate>",
        [[2., 6., 12.], [2., 0., 0.], [0., 3., 0.]],
    );
    near(
        "<translate>1 0 0</translate><rotate>0 0 5 90</rotate>",
        [[1., 0., 0.], [0., 1., 0.], [-1., 0., 0.]],
    );
    near(
        "<matrix>0 -1 0 4 1 0 0 5 0 0 1 6 0 0 0 1</matrix>",
        [[4., 5., 6.], [0., 1., 0.], [-1., 0., 0.]],
    );
    // From (0, 0, 5) down to the origin with y up: a camera without rotation.
    near(
        "<lookat>0 0 5 0 0 0 0 2 0</lookat>",
        [[0., 0., 5.], [1., 0., 0.], [0., 1., 0.]],
    );
    // Along x with z up: the camera's -z is x, its y is z and its x is -y.
    near(
        "<lookat>0 0 0 3 0 0 0 0 1</lookat>",
        [[0., 0., 0.], [0., -1., 0.], [0., 0., 1.]],
    );
    near(
        "<rotate>0 0 0 0</rotate><matrix/>",
        [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]],
    );
}

#[test]
fn mirroring_nodes_keep_normals_pointing_outwards() {
    let mesh = placed("<scale>1 1 -2</scale>").unwrap();
    let plain = placed("").unwrap();
    assert_eq!(plain.normals[0], Vector3::z());
    assert_eq!(mesh.normals[0], -Vector3::z());
    let [a, b, c] = mesh.triangles[0].map(|i| mesh.positions[i as usize]);
    assert!((b - a).cross(&(c - a)).z < 0.0);
    // Normals from the file stay perpendicular to sheared surfaces.
    let square = format!("<triangles>{V}{N}<p>0 0 1 0 2 0</p></triangles>");
    let node = scene(&format!(
        "<node><matrix>1 0 0 0 0 1 0 0 1 0 1 0 0 0 0 1</matrix>{SHOW}</node>"
    ));
    let mesh = read(&document(&square, &node)).unwrap();
    let half = 0.5f64.sqrt();
    assert!((mesh.normals[0] - Vector3::new(-half, 0.0, half)).norm() < 1e-15);
}

#[test]
fn nodes_instances_and_units_are_applied() {
    let triangle = format!("<triangles>{V}<p>0 1 2</p></triangles>");
    let nodes = format!(
        "<node><translate>10 0 0</translate><node>{SHOW}</node>{SHOW}\
         <instance_node url=\"#lib\"/></node>"
    );
    let library = format!(
        "<library_nodes><node id=\"lib\"><translate>0 7 0</translate>{SHOW}</node></library_nodes>\
         <asset><unit name=\"inch\" meter=\"0.5\"/><up_axis>Y_UP</up_axis></asset>"
    );
    let mesh = read(&document(&triangle, &(scene(&nodes) + &library))).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [4, 5, 6], [8, 9, 10]]);
    let origins: Vec<_> = [0, 4, 8].map(|i| mesh.positions[i]).into();
    // The <up_axis> is ignored, as in RViz.
    let expected = [[5.0, 0.0, 0.0], [5.0, 0.0, 0.0], [5.0, 3.5, 0.0]];
    assert_eq!(origins, expected.map(Point3::from));

    let skin = "<library_controllers><controller id=\"c\"><skin source=\"#g\">\
                <bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 8 0 0 0 1</bind_shape_matrix></skin>\
                </controller></library_controllers>";
    let node = scene("<node><instance_controller url=\"#c\"/></node>");
    let mesh = read(&document(&triangle, &(node + skin))).unwrap();
    assert_eq!(mesh.positions[0].z, 8.0);
}

#[test]
fn hulls_and_masses_match_equivalent_obj_files() {
    // A cube of 2 m with shared corners, as polygons in millimetres.
    let corners = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1].map(|b| 2000 * b));
    let corners: Vec<[i32; 3]> = corners.collect();
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let numbers: String = corners.iter().flatten().map(|x| format!("{x} ")).collect();
    let polygons: String = faces
        .map(|f| format!("<p>{} {} {} {}</p>", f[0], f[1], f[2], f[3]))
        .concat();
    let text = document(
        &format!("<polygons>{V}{polygons}</polygons>"),
        "<asset><unit meter=\"0.001\"/></asset>",
    );
    let text = text
        .replace(
            "0 0 0 1 0 0 1 1 0 0 1 0</float_array>",
            &format!("{numbers}</float_array>"),
        )
        .replace("count=\"4\"", "count=\"8\"");
    let vertices: String = corners
        .iter()
        .map(|c| {
            let [x, y, z] = c.map(|x| x / 1000);
            format!("v {x} {y} {z}\n")
        })
        .collect();
    let lines = faces.map(|f| format!("f {} {} {} {}\n", f[0] + 1, f[1] + 1, f[2] + 1, f[3] + 1));
    let shape = |text: String, extension: &str| {
        let file = MemoryFile::new(text, extension, "cube");
        crate::Mesh::new(InMemoryMesh::new(file))
    };
    let dae = shape(text, ".dae");
    let obj = shape(vertices + &lines.concat(), ".obj");
    let hull = dae.convex_hull().unwrap();
    assert_eq!((hull.num_vertices(), hull.num_faces()), (8, 6));
    let mass = |mesh: &crate::Mesh| {
        let m = crate::calc_mass_properties(&mesh.clone().into(), 1000.0).unwrap();
        (m.mass(), m.center_of_mass())
    };
    let (ours, peer) = (mass(&dae), mass(&obj));
    assert!((ours.0 - 8000.0).abs() < 1e-9 && (peer.0 - ours.0).abs() < 1e-9);
    assert!((ours.1 - Vector3::repeat(1.0)).norm() < 1e-14);
}

/// Returns the files of the reference set with this extension.
fn reference(suffix: &str) -> Option<Vec<PathBuf>> {
    fn visit(folder: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, suffix, found);
            } else if path
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(suffix))
            {
                found.push(path);
            }
        }
    }
    let named = std::env::var_os("TARRAGON_REFERENCE").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/reference");
    let root = named.unwrap_or_else(beside).join("models");
    let mut found = vec![];
    visit(&root, suffix, &mut found);
    root.is_dir().then_some(found)
}

#[test]
fn reference_files_have_the_bounds_of_their_stl_files() {
    let Some(files) = reference("dae") else {
        println!("SKIPPED Collada files of the reference set: there is none");
        return;
    };
    let bounds = |mesh: &RenderMesh| {
        let p = mesh.positions.iter().map(|p| p.coords);
        let low = p.clone().fold(Vector3::repeat(f64::MAX), |a, b| a.inf(&b));
        (low, p.fold(Vector3::repeat(f64::MIN), |a, b| a.sup(&b)))
    };
    let mut compared = 0;
    for file in files {
        let mesh = crate::mesh::read(&file).unwrap();
        let stl = file.with_extension("stl");
        let Ok(bytes) = std::fs::read(&stl) else {
            continue;
        };
        let (low, high) = bounds(&mesh);
        let (stl_low, stl_high) = bounds(&parse_stl(&stl, &bytes).unwrap());
        // Exported separately from the same object, so not identical to the last digit.
        let tolerance = 1e-3 * (high - low).norm();
        assert!(
            (low - stl_low).norm() < tolerance,
            "{file:?}: {low} {stl_low}"
        );
        assert!(
            (high - stl_high).norm() < tolerance,
            "{file:?}: {high} {stl_high}"
        );
        compared += 1;
    }
    println!("{compared} Collada files were compared");
}

proptest! {
    #[test]
    fn chains_of_transformations_match_their_matrix(
        t in prop::array::uniform3(-5.0..5.0f64),
        s in prop::array::uniform3(0.1..3.0f64),
        axis in prop::array::uniform3(-1.0..1.0f64),
        degrees in -400.0..400.0f64,
    ) {
        prop_assume!(Vector3::from(axis).norm() > 0.1);
        let [x, y, z] = axis;
        let text = format!(
            "<translate>{} {} {}</translate><rotate>{x} {y} {z} {degrees}</rotate>\
             <scale>{} {} {}</scale>",
            t[0], t[1], t[2], s[0], s[1], s[2]
        );
        let rotation = math::rotation_exp(&(Vector3::from(axis).normalize() * degrees.to_radians()));
        let matrix = Matrix4::new_translation(&t.into())
            * rotation.to_homogeneous()
            * Matrix4::new_nonuniform_scaling(&s.into());
        let rows: String = matrix.transpose().iter().map(|x| format!("{x} ")).collect();
        let (chain, whole) = (placed(&text).unwrap(), placed(&format!("<matrix>{rows}</matrix>")).unwrap());
        for (a, b) in chain.positions.iter().zip(&whole.positions) {
            prop_assert!((a - b).norm() < 1e-13, "{a} {b}");
        }
    }
}
