//! Single features of xacro, on text.

use super::*;

mod bounds;
mod mistakes;

const HEAD: &str = "<r xmlns:xacro=\"http://www.ros.org/wiki/xacro\">";

fn expanded(body: &str) -> std::result::Result<XacroExpansion, Diagnostic> {
    expanded_at(Path::new("f.xacro"), body).map(|(expansion, _)| expansion)
}

fn expanded_at(
    path: &Path,
    body: &str,
) -> std::result::Result<(XacroExpansion, TextOrigins), Diagnostic> {
    let text = format!("{HEAD}{body}</r>");
    let (arguments, packages) = (BTreeMap::new(), PackageMap::make_empty());
    let mut report = XacroReport::default();
    let expanded = expand_bytes(path, text.as_bytes(), &arguments, &packages, &mut report)?;
    let expansion = XacroExpansion {
        text: expanded.text,
        files: report.files,
        diagnostics: report.diagnostics,
        messages: report.messages,
    };
    Ok((expansion, expanded.origins))
}

/// Checks the expansion, without its first line and without indentation.
#[track_caller]
fn becomes(body: &str, lines: &[&str]) {
    let text = expanded(body).unwrap_or_else(|e| panic!("{e}")).text;
    let found: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
    let root: Vec<&str> = std::iter::once("<r>")
        .chain(lines.iter().copied())
        .chain(["</r>"])
        .collect();
    assert_eq!(found, root, "{body}");
}

#[track_caller]
fn fails(body: &str, place: (u32, u32), message: &str) {
    let error = expanded(body).map(|e| e.text).expect_err(body);
    assert!(error.message.contains(message), "{body}: {error}");
    assert_eq!((error.line, error.column), place, "{body}: {error}");
}

#[test]
fn properties_are_evaluated_when_used() {
    becomes(
        "<xacro:property name='a' value='${b + 1}'/><xacro:property name='b' value='2'/>\
         <x v='${a}'/><xacro:property name='b' value='9'/><x v='${a}'/>",
        &["<x v=\"3\"/>", "<x v=\"3\"/>"],
    );
    becomes(
        "<xacro:property name='a' value='1_0'/><xacro:property name='b' value=' 5 '/>\
         <x v='${a}${b}${b * 2}'/>",
        &["<x v=\"1_0510\"/>"],
    );
}

#[test]
fn a_single_expression_keeps_its_type() {
    becomes(
        "<xacro:property name='a' value='${[1, 2.0]}'/><x v='${a[1]} ${len(a)}' w='${None}'/>",
        &["<x v=\"2.0 2\" w=\"None\"/>"],
    );
    becomes("<x v='$${a} $ $$$(b)'/>", &["<x v=\"${a} $ $$(b)\"/>"]);
}

#[test]
fn macros_have_defaults_and_blocks() {
    becomes(
        "<xacro:macro name='m' params='a b:=${1 + 1} *c **d'><m a='${a}' b='${b}'/>\
         <xacro:insert_block name='d'/><xacro:insert_block name='c'/></xacro:macro>\
         <xacro:m a='x'><one/><all><two/></all></xacro:m>",
        &["<m a=\"x\" b=\"2\"/>", "<two/>", "<one/>"],
    );
}

#[test]
fn warnings_have_places() {
    let found = expanded("\n  <xacro:property name='pi' value='3'/>\n<x v='${xacro.warning(1)}'/>");
    let said: Vec<String> = found
        .unwrap()
        .diagnostics
        .iter()
        .map(|d| d.to_string())
        .collect();
    let hides = "f.xacro:2:25: warning: 'pi' hides the pi of Python; choose another name";
    assert_eq!(said, [hides, "f.xacro:3:9: warning: 1"]);
}

#[test]
fn mistakes_name_place_cause_and_cure() {
    fails(
        "\n<a v='x ${1 + lenght}'/>",
        (2, 15),
        "${1 + lenght}: name 'lenght' is not defined",
    );
    fails(
        "<a v='${abs(1)}'/>",
        (1, 56),
        "name 'abs' is not defined; write python.abs",
    );
    fails(
        "<xacro:nope/>",
        (1, 48),
        "<xacro:nope>: there is no macro named 'nope'",
    );
    fails(
        "<a v='${1'/>",
        (1, 54),
        "'$' must start ${...}, $(...) or $$",
    );
    fails(
        "<xacro:if value='maybe'/>",
        (1, 65),
        "must be true, false or a whole number",
    );
    fails("<a>\n  é ${x}\n</a>", (2, 7), "name 'x' is not defined");
    fails(
        "<xacro:property name='a' value='${b}'/><xacro:property name='b' value='${a}'/>${a}",
        (1, 121),
        "property 'a' must not depend on itself, got a -> b -> a",
    );
    fails(
        "<a v='$(arg n)'/>",
        (1, 56),
        "declare it by <xacro:arg name=\"n\"",
    );
}

#[test]
fn errors_in_macros_list_the_calls() {
    fails(
        "\n<xacro:macro name='in' params='q'><a v='${w}'/></xacro:macro>\n\
         <xacro:macro name='out'><xacro:in q='1'/></xacro:macro>\n  <xacro:out/>",
        (2, 43),
        "(in macro 'in', called at f.xacro:3:25, in macro 'out', called at f.xacro:4:3)",
    );
}

#[test]
fn origins_are_those_of_the_source() {
    let body = "\n<xacro:macro name='m'>\n  <link name='a'/>\n</xacro:macro>\n<xacro:m/>";
    let (found, origins) = expanded_at(Path::new("f.xacro"), body).unwrap();
    let at = found.text.find("<link").unwrap();
    assert_eq!(origins.at(at), Some(("f.xacro", 3, 3)));
    let at = found.text.find("name=").unwrap();
    assert_eq!(origins.at(at), Some(("f.xacro", 3, 9)));
}

/// Expands a document that lies in a folder with other files.
fn expanded_beside(
    files: &[(&str, &str)],
    body: &str,
) -> std::result::Result<XacroExpansion, Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    expanded_at(&folder.path().join("main.xacro"), body).map(|(expansion, _)| expansion)
}

#[test]
fn yaml_has_units_tags_and_merges_of_pyyaml() {
    let text = "\
        a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], w: 0}\nd: {<<: *a, <<: *b}\n\
        e: !degrees 90 * 2\nf: !!int '0x1F'\ng: !!float 1:30";
    let found = expanded_beside(
        &[("f.yaml", text)],
        "\
        <xacro:property name='y' value='${load_yaml(&apos;f.yaml&apos;)}'/>\
        <x c='${y.c}' d='${y.d}' e='${y.e}' f='${y.f}' g='${y.g}'/>",
    );
    let found = found.unwrap().text;
    for part in [
        "c=\"{'x': 1, 'y': 2, 'z': 4, 'w': 0}\"",
        "d=\"{'x': 1, 'y': 2, 'z': 4}\"",
        "e=\"3.141592653589793\"",
        "f=\"31\"",
        "g=\"90.0\"",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    for (text, message) in [
        ("!degrees p", "a number with a unit must not use properties"),
        (
            "{<<: [[{a: 1}]]}",
            "'<<' must have a dictionary or a list of them, got a list",
        ),
        (
            "!!set {a}",
            "a list or a dictionary must have no tag, got '!!set'",
        ),
        ("!!binary aGk=", "a tag must be one of !radians"),
        ("a: =", "'=' must be a key or in quotes"),
    ] {
        let body = "<xacro:property name='p' value='1'/><x v='${load_yaml(&apos;f.yaml&apos;)}'/>";
        let error = expanded_beside(&[("f.yaml", text)], body);
        let error = error.map(|e| e.text).unwrap_err();
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn messages_of_the_file_are_kept() {
    let body = "<xacro:macro name='m'><x v='${xacro.message(1, &apos;a&apos;)}\
                ${xacro.print_location()}'/></xacro:macro><xacro:m/>";
    let found = expanded(body).unwrap();
    assert_eq!(found.diagnostics, []);
    let place = "at f.xacro:1:76 (in macro 'm', called at f.xacro:1:152)";
    assert_eq!(found.messages, ["1 a", place]);
}

#[test]
fn addresses_of_prefixes_are_written_once() {
    becomes(
        "<a xmlns:b='u?a&amp;b' xmlns='v&lt;'><b:c/></a>",
        &[
            "<a xmlns=\"v&lt;\" xmlns:b=\"u?a&amp;b\">",
            "<b:c/>",
            "</a>",
        ],
    );
}

#[test]
fn an_optional_include_leaves_no_trace_of_an_error() {
    let missing = "<x xmlns:xacro='http://www.ros.org/wiki/xacro'>\
                   <xacro:macro name='n'><xacro:include filename='missing.xacro'/></xacro:macro>\
                   <xacro:n/></x>";
    let body = "<xacro:include filename='a.xacro' optional='true'/>\n<y v='${z}'/>";
    let error = expanded_beside(&[("a.xacro", missing)], body);
    let error = error.map(|e| e.text).unwrap_err();
    assert!(error.message.contains("name 'z' is not defined"), "{error}");
    assert!(!error.message.contains("in macro"), "{error}");
}

#[test]
fn tokens_are_separated_by_a_set_of_characters() {
    becomes(
        "<x v='${xacro.tokenize(&apos;a1b-c&apos;, &apos;0-9-&apos;)}' \
         w='${xacro.tokenize(&apos;a1b&apos;, &apos;^a-z&apos;)}'/>",
        &["<x v=\"['a', 'b', 'c']\" w=\"['a', 'b']\"/>"],
    );
}

#[test]
fn parameters_are_forwarded_from_global_names() {
    becomes(
        "<xacro:macro name='m' params='e:=^|5 pi:=^ q:=^|6'><x v='${e} ${pi} ${q}'/></xacro:macro>\
         <xacro:m/>",
        &["<x v=\"2.718281828459045 3.141592653589793 6\"/>"],
    );
}

#[test]
fn sections_next_to_texts_are_kept() {
    becomes(
        "<o>${1}&amp;<![CDATA[${2}]]>&#65;<![CDATA[<b>]]></o>",
        &[
            "<o>",
            "1&amp;",
            "<![CDATA[${2}]]>    A",
            "<![CDATA[<b>]]>  </o>",
        ],
    );
    becomes("<o><![CDATA[${2}]]></o>", &["<o><![CDATA[${2}]]></o>"]);
    fails(
        "<o><![CDATA[a]]>\n ${q}</o>",
        (2, 4),
        "name 'q' is not defined",
    );
}

#[test]
fn comments_are_evaluated_behind_a_text_that_becomes_blank() {
    let comment = |text| format!("<!-- xacro:eval-comments -->{text}<!-- ${{1 + 1}} -->");
    becomes(&comment("${xacro.message(1)}"), &["<!-- 2 -->"]);
    becomes(&comment("${1}"), &["1", "<!-- ${1 + 1} -->"]);
}

#[test]
fn conditions_and_arguments_are_read_as_by_python() {
    let digits = "9".repeat(60);
    becomes(
        &format!("<xacro:if value='{digits}'><x/></xacro:if>"),
        &["<x/>"],
    );
    for (argument, value) in [
        ("1_000", "1000"),
        ("1_0.5", "10.5"),
        ("&apos;5&apos;", "'5'"),
        ("TRUE", "True"),
        ("nan", "nan"),
        ("1e3", "1e3"),
    ] {
        let body = format!("<xacro:arg name='n' default=\"{argument}\"/><x v='$(eval n)'/>");
        becomes(&body, &[&format!("<x v=\"{value}\"/>")]);
    }
    fails(
        &format!("<xacro:arg name='n' default='{digits}'/><x v='$(eval n)'/>"),
        (1, 153),
        "a whole number must have at most 127 bits",
    );
}
