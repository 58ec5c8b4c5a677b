use super::materials::MATERIAL;
use super::*;

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
            "x.dae:1:1: the root element must be <COLLADA>, got <a>",
        ),
        (
            "<COLLADA/>".into(),
            "the scene must have at least one triangle",
        ),
        (
            triangles(&format!("{V}<p>0 1</p>")),
            "<p>: number of corners must be a multiple of three, got 2",
        ),
        (
            triangles(&format!("{V}<p>0 1 4</p>")),
            ":12:61: <p>: index of a vertex must be below 4, got 4",
        ),
        (
            triangles(&format!("{V}{N}<p>0 1 2 0 0 0</p>")),
            "index of a normal must be below 1, got 1",
        ),
        (
            triangles(&format!("{V}{N}<p>0 0 1</p>")),
            "must not end within a corner of 2 indices",
        ),
        (
            triangles(&format!("{V}<p>0 -1 2</p>")),
            "<p> must have whole numbers from 0 on, got '-1'",
        ),
        (
            triangles("<p>0 1 2</p>"),
            "<triangles> must have an <input semantic=\"VERTEX\">",
        ),
        (
            triangles("<input semantic=\"VERTEX\" source=\"#p\"/><p>0</p>"),
            "got '#p', a <source>",
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
            "must have the attribute 'source'",
        ),
        (
            triangles(&format!("{}<p>0</p>", V.replace("\"0\"", "\"99\""))),
            "the offset must be at most 63, got 99",
        ),
        (
            document(&format!("<polylist>{V}<p>0 1 2</p></polylist>"), ""),
            "must have a <vcount>",
        ),
        (
            document(
                &format!("<polylist>{V}<vcount>4</vcount><p>0 1 2</p></polylist>"),
                "",
            ),
            "must be the sum of <vcount>, which is larger, got 3",
        ),
        (
            document(
                &format!("<polylist>{V}<vcount>3</vcount><p>0 1 2 3</p></polylist>"),
                "",
            ),
            "number of corners must be 3 by <vcount>, got 4",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("0 1 0</float", "0 inf 0</float"),
            "must have finite numbers, got 'inf'",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("count=\"4\"", "count=\"5\""),
            "5 elements of 3 numbers",
        ),
        (
            triangles(&format!("{V}<p>0 1 2</p>")).replace("stride=\"3\"", "stride=\"2\""),
            "got 3 and the stride 2",
        ),
        (
            square("<node><rotate>0 0 0 5</rotate></node>"),
            "the axis must have a direction, got (0.0, 0.0, 0.0)",
        ),
        (
            square("<node><translate>1 2</translate></node>"),
            "<translate> must have 3 numbers, got 2",
        ),
        (
            square("<node><scale>1 2 3 4</scale></node>"),
            "<scale> must have 3 numbers, got 4",
        ),
        (
            square("<node><scale>1 NaN 3</scale></node>"),
            "<scale> must have finite numbers, got 'NaN'",
        ),
        (
            square("<node><lookat>0 0 0 0 0 1 0 0 1</lookat></node>"),
            "the direction of up",
        ),
        (
            square("<node><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 1 1</matrix></node>"),
            "the last row must be [0, 0, 0, 1], got",
        ),
        (
            square("<node><skew>1 0 0 0 0 1 0</skew></node>"),
            "<skew> is not supported",
        ),
        (
            square("<node><instance_geometry url=\"#x\"/></node>"),
            "got '#x', which is not in this file",
        ),
        (
            square("<node id=\"a\"><instance_node url=\"#a\"/></node>"),
            "does one contain itself?",
        ),
        (
            square(&format!(
                "<node><scale>1e300 1 1</scale><scale>1e300 1 1</scale>{SHOW}</node>"
            )),
            "coordinates of vertices must be finite",
        ),
        (
            document("", "<asset><unit meter=\"0\"/></asset>"),
            "meter must be positive and finite, got '0'",
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
fn deeply_nested_documents_are_refused() {
    let deep = format!("{}{}", "<node>".repeat(5000), "</node>".repeat(5000));
    let triangle = format!("<triangles>{V}<p>0 1 2</p></triangles>");
    let found = error(&document(&triangle, &scene(&deep)));
    assert!(
        found.contains("nodes must be nested at most 500 deep"),
        "{found}"
    );
}

#[test]
fn large_polygons_are_triangulated_quickly() {
    // A spiral with few ears, with corners just below and far above the limit for ear cutting.
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

proptest! {
    /// Damaged documents give a valid mesh or an error.
    #[test]
    fn damaged_documents_give_a_valid_mesh_or_an_error(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
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
