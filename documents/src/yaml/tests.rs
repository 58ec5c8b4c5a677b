use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Camera {
    name: String,
    far: f64,
    width: u64,
    port: u16,
    show: bool,
    offset: Option<i32>,
    rgb: Vec<f64>,
    kind: Kind,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Wide,
    Narrow,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the errors matter")]
struct Scene {
    cameras: BTreeMap<String, Camera>,
    #[serde(default)]
    steps: Vec<Camera>,
}

fn error(text: &str) -> String {
    let error = read_yaml::<Scene>(text).unwrap_err();
    format!("{}:{}: {}", error.line, error.column, error.message)
}

#[test]
fn messages_have_place_path_value_condition_and_cure() {
    for (yaml, expected) in [
        (
            "far: inf",
            "2:13: cameras.left.far: must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "far: -Infinity",
            "2:13: cameras.left.far: must be a number, got -Infinity; YAML writes -infinity as -.inf",
        ),
        (
            "far: nan",
            "2:13: cameras.left.far: must be a number, got nan; YAML writes NaN as .nan",
        ),
        (
            "far: 2 m",
            "2:13: cameras.left.far: must be a number, got 2 m; write 2 without what follows it, if that is \
             its unit",
        ),
        (
            "far: wide",
            "2:13: cameras.left.far: must be a number, got wide; write digits",
        ),
        (
            "far:",
            "cameras.left.far: must be a number, got nothing; write the number, or leave out the key",
        ),
        (
            "far: 1e999",
            "2:13: cameras.left.far: must be a number, got 1e999; its exponent is too large for a number \
             of 64 bits",
        ),
        (
            "far: [1]",
            "2:13: cameras.left.far: must be a single value, got a list",
        ),
        (
            "far: 1_000",
            "2:13: cameras.left.far: must be a number, got 1_000; write 1000, because numbers in YAML have \
             no underscores",
        ),
        (
            "width: 1_000",
            "2:15: cameras.left.width: must be a whole number of at least 0, got 1_000; write 1000, because \
             numbers in YAML have no underscores",
        ),
        (
            "width: 1e3",
            "2:15: cameras.left.width: must be a whole number of at least 0, got 1e3; write 1000",
        ),
        (
            "width: 2.5",
            "2:15: cameras.left.width: must be a whole number of at least 0, got 2.5",
        ),
        (
            "width: -3",
            "2:15: cameras.left.width: must be a whole number of at least 0, got -3",
        ),
        (
            "port: 70000",
            "2:14: cameras.left.port: must be a whole number from 0 to 65535, got 70000",
        ),
        (
            "show: maybe",
            "2:14: cameras.left.show: must be true or false, got maybe",
        ),
        (
            "name: null",
            "2:14: cameras.left.name: must be text, got null; write a text (in quotes if it is the word \
             null), or leave out the key",
        ),
        ("name: ~", "2:14: cameras.left.name: must be text, got ~; "),
        ("name:", "cameras.left.name: must be text, got nothing; "),
        (
            "name: {a: 1}",
            "2:14: cameras.left.name: must be a single value, got a map",
        ),
        ("rgb: 3", "2:13: cameras.left.rgb: must be a list, got 3"),
        (
            "rgb: [1, x]",
            "2:17: cameras.left.rgb[1]: must be a number, got x; write digits",
        ),
        (
            "hight: 4",
            "2:8: unknown field `hight` in cameras.left, expected one of `name`, `far`, ",
        ),
        (
            "kind: wiede",
            "2:14: unknown variant `wiede` in cameras.left.kind, expected one of `wide`, `narrow`; \
             did you mean `wide`?",
        ),
        (
            "kind: tele",
            "2:14: unknown variant `tele` in cameras.left.kind, expected one of `wide`, `narrow`",
        ),
        (
            "name: a,\n       name: b",
            "3:8: cameras.left.name: the key must be given once, got it again after line 2; remove one of them",
        ),
    ] {
        let found = error(&format!("cameras: {{left:\n      {{{yaml}}}}}"));
        assert!(found.contains(expected), "{yaml}\n{found}\n{expected}");
    }
}

#[test]
fn mistakes_of_whole_texts_are_explained() {
    for (text, expected) in [
        (
            "cameras: {}\n---\ncameras: {}",
            "must be one YAML document, got a second one; remove it",
        ),
        ("", "must be a YAML document, got nothing"),
        (
            "steps: []",
            "1:1: missing field `cameras`; add the key 'cameras'",
        ),
        (
            "cameras: {}\nsteps:\n- {far: x}",
            "3:9: steps[0].far: must be a number, got x",
        ),
        (
            "cameras: {}\nsteps: [{}, {far: x}]",
            "2:19: steps[1].far: must be a number",
        ),
        (
            "cameras: 3",
            "1:10: cameras: must be a map of keys and values, got 3",
        ),
        (
            "steps:\n- width: 1,000",
            "got 1,000; write 1000, without commas",
        ),
        ("steps:\n- far: 0x10", "got 0x10; write 16"),
        (
            "steps:\n- name: @a",
            "put a text that begins with this character in quotes",
        ),
        (
            "steps:\n- far: 1,5",
            "steps[0].far: must be a number, got 1,5; write 1.5, with a point",
        ),
        ("- 1", "1:1: must be a map of keys and values, got a list"),
        ("cameras:\n\tleft: {}", "indent with spaces, not with tabs"),
        ("cameras: {left: {far: 1}", "close every bracket and brace"),
        ("cameras: {left: {name: \"a}}", "close the quotes"),
        (
            "cameras: {left: {far: *away}}",
            "the alias must name an anchor above it, got *away",
        ),
        (
            "cameras: {'a.b': {far: x}}",
            "cameras.'a.b'.far: must be a number",
        ),
        (
            "cameras: {left: {far: x}, left: {}}",
            "1:27: cameras.left: the key must be given once",
        ),
        (
            "cameras: {left: {name: 'a'}, left: {}}",
            "1:30: cameras.left: the key must be given once",
        ),
    ] {
        let found = error(text);
        assert!(found.contains(expected), "{text}\n{found}");
        assert!(
            !found.contains('\n') && !found.contains("Option"),
            "{found}"
        );
    }
}

#[test]
fn values_are_found_by_their_path() {
    let text = "cameras:\n  left: {fps: 3}\nsteps: [1, {a.b: 2}]";
    for (path, place) in [
        ("cameras.left.fps", Some((2, 15))),
        ("steps[1].'a.b'", Some((3, 18))),
        ("steps[0]", Some((3, 9))),
        ("cameras.right", None),
    ] {
        assert_eq!(place_of(text, path), place, "{path}");
    }
}

/// Drake and YAML 1.2 have no underscores in numbers; YAML 1.1 has.
#[test]
fn underscores_make_texts_and_no_numbers() {
    let read = |text: &str| read_yaml::<BTreeMap<String, String>>(text).unwrap();
    assert_eq!(read("a: 1_000\nb: 0x1_f")["a"], "1_000");
    assert_eq!(read("1_0: 1_000")["1_0"], "1_000");
    for number in ["1_000", "0x1_f", "-1_0", "1_0.5", "1_0e3", "0b1_0"] {
        assert!(read_yaml::<Vec<f64>>(&format!("[{number}]")).is_err());
        assert!(read_yaml::<Vec<i64>>(&format!("[{number}]")).is_err());
        assert!(read_yaml::<Vec<u16>>(&format!("- {number}")).is_err());
    }
}

#[test]
fn errors_pass_through_programs() {
    fn program() -> Result<(), Box<dyn std::error::Error>> {
        read_yaml::<Vec<f64>>("- 1\n- two")?;
        Ok(())
    }
    let error = program().unwrap_err().to_string();
    assert!(error.starts_with("2:3: "), "{error}");
    assert!(error.contains("must be a number, got two"), "{error}");
    let unplaced = YamlError {
        line: 0,
        column: 0,
        message: "nothing".into(),
    };
    assert_eq!(unplaced.to_string(), "nothing");
}

#[test]
fn aliases_and_merge_keys_stand_for_values_of_their_anchors() {
    let read = |text: &str| read_yaml::<BTreeMap<String, BTreeMap<String, f64>>>(text);
    let text =
        "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: *a, y: 5}\nd: {<<: [*a, *b]}\ne: *b";
    let all = read(text).unwrap();
    let of = |name: &str| {
        let map = all[name].iter();
        map.map(|(key, x)| format!("{key}{x}")).collect::<String>()
    };
    assert_eq!(["c", "d", "e"].map(of), ["x1y5", "x1y2z4", "y3z4"]);
    // A mistake is where it must be mended: at the anchor.
    let error = read("a: &a {x: one}\nb: *a").unwrap_err();
    assert_eq!((error.line, error.column), (1, 11));
    let error = read("a: {<<: 3}").unwrap_err();
    assert!(
        error.message.starts_with("a.'<<': must be a map"),
        "{error}"
    );
}

#[test]
fn scalars_and_variants_have_the_types_of_yaml() {
    #[derive(Debug, Deserialize, PartialEq)]
    enum Shape {
        Empty,
        Ball(f64),
        Box { size: [u8; 3] },
    }
    let read = |text: &str| read_yaml::<Vec<Shape>>(text);
    let (ball, size) = (Shape::Ball(0.5), [1, 2, 3]);
    assert_eq!(
        read("[Empty, {Ball: 0.5}, !Ball 0.5, {Box: {size: [1, 2, 3]}}]"),
        Ok(vec![
            Shape::Empty,
            Shape::Ball(0.5),
            ball,
            Shape::Box { size }
        ])
    );
    for (text, expected) in [
        ("- Ball", "Ball must be a map with the key 'Ball'"),
        (
            "- {Ball: 1, Empty: }",
            "[0]: must be a map with one key, got a map",
        ),
        (
            "- [Empty]",
            "[0]: must be a name, or a map with one key, got a list",
        ),
        ("- !Cone 1", "the tag is not known here, got !Cone"),
        (
            "- {Box: {size: [1, 2]}}",
            "must be a list of 3 elements, got 2 elements",
        ),
        (
            "- {Box: {size: [1, 2, 3, 4]}}",
            "must be a list of 3 elements, got 4 elements",
        ),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.message.contains(expected), "{text}: {error}");
    }
    let whole: Vec<i64> = read_yaml("[0x1F, 0o17, 0b11, -0x10, +7, -9223372036854775808]").unwrap();
    assert_eq!(whole, [31, 15, 3, -16, 7, i64::MIN]);
    let real: Vec<f64> = read_yaml("[1, -.inf, .Inf, 1e-3, 5., .5]").unwrap();
    assert_eq!(
        real,
        [1.0, f64::NEG_INFINITY, f64::INFINITY, 1e-3, 5.0, 0.5]
    );
    let any: serde_json::Value =
        read_yaml("[1, 1.5, true, 'true', !!str 1, x, ~, {a: []}]").unwrap();
    let expected = serde_json::json!([1, 1.5, true, "true", "1", "x", null, {"a": []}]);
    assert_eq!(any, expected);
    let options: [Option<u8>; 3] =
        read_yaml("[1, null, ]").map_or([None; 3], |[a, b]: [_; 2]| [a, b, a]);
    assert_eq!(options, [Some(1), None, Some(1)]);
}

#[test]
fn texts_that_stand_for_too_much_are_errors() {
    // Ten aliases to ten aliases and so on: 10^9 values.
    let mut text = "a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n".to_owned();
    for i in 1..9 {
        let last = format!("*a{}", i - 1);
        text += &format!("a{i}: &a{i} [{}]\n", vec![last; 10].join(", "));
    }
    let error = read_yaml::<serde_json::Value>(&text).unwrap_err();
    assert!(error.message.contains("at most 10000000 values"), "{error}");
    let error = read_yaml::<serde_json::Value>("a: &a [*a]").unwrap_err();
    assert!(
        error.message.contains("a list or map that it is in"),
        "{error}"
    );
    for open in ["[", "{a: "] {
        let error = read_yaml::<serde_json::Value>(&open.repeat(5000)).unwrap_err();
        assert!(error.message.contains("at most 200 deep"), "{error}");
    }
}
