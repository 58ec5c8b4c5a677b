use super::*;
use crate::mesh::{Material, Texture, TextureImage, Wrap, parse_obj, parse_stl};
use crate::shapes::{InMemoryMesh, MemoryFile, MeshSource};
use nalgebra::Matrix4;
use proptest::prelude::*;
use std::path::PathBuf;
use tarragon_framework::math;

/// Corners of a unit square, a normal and texture coordinates as sources.
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

/// A document with one mesh `g` and anything else.
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

/// A scene with these nodes, and more of a library.
fn scene(nodes: &str) -> String {
    format!(
        "<library_visual_scenes><visual_scene id=\"s\">{nodes}</visual_scene></library_visual_scenes>\
         <scene><instance_visual_scene url=\"#s\"/></scene>"
    )
}

const SHOW: &str = "<instance_geometry url=\"#g\"/>";

/// A square below these transformations.
fn placed(transforms: &str) -> Result<RenderMesh> {
    let square = format!("<polylist count=\"1\">{V}<vcount>4</vcount><p>0 1 2 3</p></polylist>");
    let scene = scene(&format!("<node>{transforms}{SHOW}</node>"));
    read(&document(&square, &scene))
}

#[test]
fn primitives_are_those_of_equal_obj_files() {
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
        // Normals of vertices, and inputs at one offset.
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
fn inputs_of_vertices_have_their_indices() {
    let text = document(&format!("<triangles>{V}<p>0 1 2</p></triangles>"), "");
    let more = "<vertices id=\"v\"><input semantic=\"TEXCOORD\" source=\"#t\"/>";
    let mesh = read(&text.replace("<vertices id=\"v\">", more)).unwrap();
    assert_eq!(mesh.triangle_uvs, [[0, 1, 2]]);
    // The lowest set counts, wherever it stands.
    let first = "<input semantic=\"TEXCOORD\" source=\"#p\" offset=\"1\" set=\"3\"/>";
    let primitive = format!("<triangles>{V}{first}{T}<p>0 0 0 1 0 1 2 0 2</p></triangles>");
    assert_eq!(read(&document(&primitive, "")).unwrap().uvs[1], [0.5, 0.0]);
}

#[test]
fn accessors_may_pass_over_numbers() {
    let text = document(&format!("<triangles>{V}<p>0 1 0</p></triangles>"), "");
    let text = text.replace(
        r##"<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>"##,
        r##"<accessor source="#pa" count="2" stride="4" offset="2"><param type="float"/><param name="X"/>"##,
    );
    let mesh = read(&text).unwrap();
    // 0 0 [0 1 0 0] [1 1 0 0] 1 0, of which the first of four is passed over.
    let expected = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]].map(Point3::from);
    assert_eq!(mesh.positions, expected);
}

/// The frame of a node, told by where it has a square.
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
    // From (0, 0, 5) down to the origin with y up: a camera that is not turned.
    near(
        "<lookat>0 0 5 0 0 0 0 2 0</lookat>",
        [[0., 0., 5.], [1., 0., 0.], [0., 1., 0.]],
    );
    // Along x with z up: its -z is x, its y is z, its x is -y.
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
fn mirrors_keep_the_outside_outside() {
    let mesh = placed("<scale>1 1 -2</scale>").unwrap();
    let plain = placed("").unwrap();
    assert_eq!(plain.normals[0], Vector3::z());
    assert_eq!(mesh.normals[0], -Vector3::z());
    let [a, b, c] = mesh.triangles[0].map(|i| mesh.positions[i as usize]);
    assert!((b - a).cross(&(c - a)).z < 0.0);
    // Written normals follow, perpendicular to slanted surfaces.
    let square = format!("<triangles>{V}{N}<p>0 0 1 0 2 0</p></triangles>");
    let node = scene(&format!(
        "<node><matrix>1 0 0 0 0 1 0 0 1 0 1 0 0 0 0 1</matrix>{SHOW}</node>"
    ));
    let mesh = read(&document(&square, &node)).unwrap();
    let half = 0.5f64.sqrt();
    assert!((mesh.normals[0] - Vector3::new(-half, 0.0, half)).norm() < 1e-15);
}

#[test]
fn nodes_instances_and_units() {
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
    // The axis that is said to be up changes nothing, as in RViz.
    let expected = [[5.0, 0.0, 0.0], [5.0, 0.0, 0.0], [5.0, 3.5, 0.0]];
    assert_eq!(origins, expected.map(Point3::from));

    let skin = "<library_controllers><controller id=\"c\"><skin source=\"#g\">\
                <bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 8 0 0 0 1</bind_shape_matrix></skin>\
                </controller></library_controllers>";
    let node = scene("<node><instance_controller url=\"#c\"/></node>");
    let mesh = read(&document(&triangle, &(node + skin))).unwrap();
    assert_eq!(mesh.positions[0].z, 8.0);
}

const MATERIAL: &str = r##"
<library_materials><material id="m" name="paint"><instance_effect url="#e"/></material></library_materials>
<library_images><image id="i"><init_from>dir/my%20wood.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="surf"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="samp"><sampler2D><source>surf</source><wrap_s>MIRROR</wrap_s><wrap_t>CLAMP</wrap_t></sampler2D></newparam>
<technique sid="common"><phong>SHADING</phong></technique></profile_COMMON></effect></library_effects>"##;

/// The material of a triangle.
fn material(shading: &str) -> Material {
    let triangle = format!("<triangles material=\"sym\">{V}<p>0 1 2</p></triangles>");
    let node = scene(
        "<node><instance_geometry url=\"#g\"><bind_material><technique_common>\
         <instance_material symbol=\"sym\" target=\"#m\"/></technique_common></bind_material>\
         </instance_geometry></node>",
    );
    let text = document(&triangle, &(node + &MATERIAL.replace("SHADING", shading)));
    let mesh = read(&text).unwrap();
    assert_eq!(mesh.groups[0].material, Some(0));
    assert_eq!(mesh.materials.len(), 1);
    mesh.materials[0].clone()
}

#[test]
fn materials_have_colours_and_textures() {
    let paint = material("<diffuse><color>0.5 0.25 2 0.1</color></diffuse>");
    assert_eq!(paint.name, "paint");
    // The opacity of a diffuse colour means nothing.
    assert_eq!(paint.diffuse.unwrap().rgba(), [0.5, 0.25, 1.0, 1.0]);
    let by_sampler = material("<diffuse><texture texture=\"samp\" texcoord=\"UV\"/></diffuse>");
    let texture = Texture {
        image: TextureImage::File("/m/dir/my wood.png".into()),
        wrap: [Wrap::MirroredRepeat, Wrap::ClampToEdge],
    };
    assert_eq!(by_sampler.diffuse_map, Some(texture));
    assert_eq!(by_sampler.diffuse, None);
    let by_image = material("<diffuse><texture texture=\"i\"/></diffuse>");
    assert_eq!(
        by_image.diffuse_map,
        Some(Texture::file("/m/dir/my wood.png"))
    );
    let missing = material("<diffuse><texture texture=\"x\"/></diffuse>");
    assert_eq!(missing.diffuse_map, None);
    assert_eq!(
        material("<diffuse><color>1 nan 1 1</color></diffuse>").diffuse,
        None
    );
}

#[test]
fn transparency_means_what_the_specification_says() {
    let opacity = |shading: &str| material(shading).diffuse.map_or(1.0, |d| d.rgba()[3]);
    let float = |f: f64| format!("<transparency><float>{f}</float></transparency>");
    let color = |mode: &str, c: &str| {
        format!("<transparent opaque=\"{mode}\"><color>{c}</color></transparent>")
    };
    assert_eq!(opacity(""), 1.0);
    assert_eq!(opacity(&float(0.25)), 0.25);
    assert_eq!(opacity(&(color("A_ONE", "0 0 0 0.5") + &float(0.5))), 0.25);
    assert_eq!(opacity(&color("A_ZERO", "0 0 0 0.25")), 0.75);
    let gray = |mode: &str| opacity(&(color(mode, "0.5 0.5 0.5 1") + &float(0.5)));
    assert!((gray("RGB_ZERO") - 0.75).abs() < 1e-15);
    assert!((gray("RGB_ONE") - 0.25).abs() < 1e-15);
    // Exporters that confuse the ends.
    assert_eq!(opacity(&float(0.0)), 1.0);
    assert_eq!(opacity(&(color("RGB_ZERO", "1 1 1 1") + &float(1.0))), 1.0);
    let textured = "<transparent><texture texture=\"i\"/></transparent>";
    assert_eq!(opacity(&(textured.to_owned() + &float(0.5))), 1.0);
}

#[test]
fn materials_that_are_missing_are_left_out() {
    let triangle = format!("<triangles material=\"sym\">{V}<p>0 1 2</p></triangles>");
    let mesh = read(&document(&triangle, "")).unwrap();
    assert_eq!((mesh.groups[0].material, mesh.materials.len()), (None, 0));
    let by_id = triangle.replace("sym", "m");
    let mesh = read(&document(&by_id, MATERIAL)).unwrap();
    assert_eq!(mesh.materials[0].name, "paint");
}

#[test]
fn textures_come_from_memory_too() {
    let triangle = format!("<triangles material=\"m\">{V}<p>0 1 2</p></triangles>");
    let shading = "<diffuse><texture texture=\"i\"/></diffuse>";
    let text = document(&triangle, &MATERIAL.replace("SHADING", shading));
    let wood = MemoryFile::new("wood", ".png", "wood");
    let mut mesh = InMemoryMesh::new(MemoryFile::new(text, ".DAE", "m"));
    let files = &mut mesh.supporting_files;
    files.insert("dir/my%20wood.png".into(), wood.into());
    let mesh = crate::mesh::read_source(&MeshSource::from(mesh)).unwrap();
    let texture = mesh.materials[0].diffuse_map.clone().unwrap();
    assert_eq!(texture.image, TextureImage::Content((*b"wood").into()));
}

#[test]
fn errors_name_line_and_column() {
    let triangles = |inner: &str| document(&format!("\n<triangles>{inner}</triangles>"), "");
    let square = |node: &str| {
        document(
            &format!("<triangles>{V}<p>0 1 2</p></triangles>"),
            &scene(node),
        )
    };
    for (text, expected) in [
        (String::new(), "x.dae:1:1: malformed XML"),
        (
            "<a/>".into(),
            "x.dae:1:1: the root element is <a>, <COLLADA> is expected",
        ),
        ("<COLLADA/>".into(), "the scene has no triangles"),
        (
            triangles(&format!("{V}<p>0 1</p>")),
            "<p> has 2 corners, a multiple of three",
        ),
        (
            triangles(&format!("{V}<p>0 1 4</p>")),
            ":12:61: <p> has the index 4 of a vertex, but there are 4",
        ),
        (
            triangles(&format!("{V}{N}<p>0 1 2 0 0 0</p>")),
            "the index 1 of a normal, but there are 1",
        ),
        (
            triangles(&format!("{V}{N}<p>0 0 1</p>")),
            "ends within a corner of 2 indices",
        ),
        (
            triangles(&format!("{V}<p>0 -1 2</p>")),
            "<p> has '-1', a whole number from 0 on",
        ),
        (
            triangles("<p>0 1 2</p>"),
            "<triangles> has no <input semantic=\"VERTEX\">",
        ),
        (
            triangles("<input semantic=\"VERTEX\" source=\"#p\"/><p>0</p>"),
            "source is '#p', a <source>",
        ),
        (
            triangles("<input semantic=\"VERTEX\" source=\"#q\"/><p>0</p>"),
            "which is not in this file",
        ),
        (
            triangles("<input semantic=\"VERTEX\" source=\"b.dae#v\"/><p>0</p>"),
            "'b.dae#v'",
        ),
        (
            triangles("<input semantic=\"VERTEX\"/><p>0</p>"),
            "has no attribute 'source'",
        ),
        (
            triangles(&format!("{}<p>0</p>", V.replace("\"0\"", "\"99\""))),
            "the offset is 99",
        ),
        (
            document(&format!("<polylist>{V}<p>0 1 2</p></polylist>"), ""),
            "has no <vcount>",
        ),
        (
            document(
                &format!("<polylist>{V}<vcount>4</vcount><p>0 1 2</p></polylist>"),
                "",
            ),
            "more are expected",
        ),
        (
            document(
                &format!("<polylist>{V}<vcount>3</vcount><p>0 1 2 3</p></polylist>"),
                "",
            ),
            "4 corners, 3 are",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("0 1 0</float", "0 inf 0</float"),
            "has 'inf', a finite",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("count=\"4\"", "count=\"5\""),
            "5 elements of 3 numbers",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("stride=\"3\"", "stride=\"2\""),
            "3 named parameters and the stride 2",
        ),
        (
            square("<node><rotate>0 0 0 5</rotate></node>"),
            "the axis is (0, 0, 0)",
        ),
        (
            square("<node><translate>1 2</translate></node>"),
            "<translate> has 2 numbers, 3 are expected",
        ),
        (
            square("<node><scale>1 2 3 4</scale></node>"),
            "<scale> has 4 numbers, 3 are expected",
        ),
        (
            square("<node><scale>1 NaN 3</scale></node>"),
            "<scale> has 'NaN', a finite number",
        ),
        (
            square("<node><lookat>0 0 0 0 0 1 0 0 1</lookat></node>"),
            "the direction of up",
        ),
        (
            square("<node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1</matrix></node>"),
            "the last row",
        ),
        (
            square("<node><skew>1 0 0 0 0 1 0</skew></node>"),
            "<skew> is not supported",
        ),
        (
            square("<node><instance_geometry url=\"#x\"/></node>"),
            "url is '#x'",
        ),
        (
            square("<node id=\"a\"><instance_node url=\"#a\"/></node>"),
            "does one contain itself?",
        ),
        (
            square(&format!(
                "<node><scale>1e300 1 1</scale><scale>1e300 1 1</scale>{SHOW}</node>"
            )),
            "finite numbers are expected",
        ),
        (
            document("", "<asset><unit meter=\"0\"/></asset>"),
            "meter is '0', a positive finite",
        ),
    ] {
        let found = error(&text);
        assert!(found.starts_with("/m/x.dae:"), "{found}");
        assert!(found.contains(expected), "'{expected}' in: {found}\n{text}");
    }
}

#[test]
fn instances_that_multiply_are_refused() {
    let mut nodes = format!("<node id=\"n0\">{SHOW}{SHOW}</node>");
    for i in 1..40 {
        let below = format!("<instance_node url=\"#n{}\"/>", i - 1);
        nodes += &format!("<node id=\"n{i}\">{below}{below}</node>");
    }
    let scene = scene("<node><instance_node url=\"#n39\"/></node>");
    let library = format!("<library_nodes>{nodes}</library_nodes>");
    let triangle = format!("<triangles>{V}<p>0 1 2</p></triangles>");
    let found = error(&document(&triangle, &(scene + &library)));
    assert!(found.contains("nodes and instances"), "{found}");
}

#[test]
fn entities_are_refused() {
    let text = "<!DOCTYPE x [<!ENTITY a 'b'>]><COLLADA>&a;</COLLADA>";
    assert!(error(text).contains("malformed XML"), "{}", error(text));
}

#[test]
fn deep_documents_end() {
    let deep = format!("{}{}", "<node>".repeat(5000), "</node>".repeat(5000));
    let triangle = format!("<triangles>{V}<p>0 1 2</p></triangles>");
    let found = error(&document(&triangle, &scene(&deep)));
    assert!(
        found.contains("nodes are within nodes 500 times"),
        "{found}"
    );
}

#[test]
fn large_polygons_do_not_take_for_ever() {
    // A spiral that has few ears, with too many corners for cutting and with just enough.
    for n in [4000u32, 30_000] {
        let turn = |i: u32| {
            let at = f64::from(if i < n / 2 { i } else { n - 1 - i });
            let radius = 1.0 + at + if i < n / 2 { 0.0 } else { 0.4 };
            let (sin, cos) = (at * 0.1).sin_cos();
            format!("{} {} 0 ", radius * cos, radius * sin)
        };
        let points: String = (0..n).map(turn).collect();
        let list: String = (0..n).map(|i| format!("{i} ")).collect();
        let text = document(&format!("<polygons>{V}<p>{list}</p></polygons>"), "");
        let text = text
            .replace(
                "0 0 0 1 0 0 1 1 0 0 1 0</float_array>",
                &format!("{points}</float_array>"),
            )
            .replace("count=\"4\"", &format!("count=\"{n}\""));
        let start = std::time::Instant::now();
        assert_eq!(read(&text).unwrap().triangles.len(), n as usize - 2);
        assert!(start.elapsed() < std::time::Duration::from_secs(20));
    }
}

#[test]
fn hulls_and_masses_are_those_of_equal_obj_files() {
    // A cube of 2 m, 24 faces' corners shared, as polygons in millimetres.
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

/// Files of the reference set with this suffix.
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
fn files_of_the_reference_set_are_where_their_stl_files_are() {
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
        // Made from the same object at another time, so not to the last digit.
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
    fn chains_of_transformations_are_their_matrix(
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

    /// Damaged documents are read or refused.
    #[test]
    fn damaged_documents_do_no_harm(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let primitive = format!("<polylist material=\"m\">{V}{N}{T}<vcount>4</vcount><p>0 0 0 1 0 1 2 0 2 3 0 0</p></polylist>");
        let mut text = document(&primitive, &(scene(&format!("<node>{SHOW}</node>")) + MATERIAL)).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if cut {
            text.truncate(at);
        }
        if let Ok(mesh) = parse_dae(Path::new("x.dae"), &text) {
            let n = mesh.positions.len() as u32;
            prop_assert!(mesh.triangles.iter().flatten().all(|i| *i < n));
            prop_assert!(mesh.normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-9));
        }
    }
}
