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

proptest! {
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
