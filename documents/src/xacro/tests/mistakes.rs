//! Mistakes: places and reasons of errors, and what is reported besides.

use super::*;

#[test]
fn errors_in_yaml_files_have_a_reason_and_one_place() {
    let load = "<x v='${load_yaml(&apos;f.yaml&apos;)}'/>";
    for (text, message) in [
        (
            "a: !degrees xacro.arg('x')",
            "f.yaml:1: !degrees xacro.arg('x'): $(arg x): there is no",
        ),
        ("a: [1\nb: 2", "f.yaml:2:"),
        (
            "a: {b: !meters [1]}",
            "f.yaml:1: a list or a dictionary must have no tag",
        ),
    ] {
        let error = expanded_beside(&[("f.yaml", text)], load);
        let error = error.map(|e| e.text).unwrap_err();
        assert!(error.message.contains(message), "{error}");
        assert!(!error.message.contains(" line "), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.yaml"), b"a: \xff").unwrap();
    let error = expanded_at(&folder.path().join("main.xacro"), load);
    let error = error.map(|(e, _)| e.text).unwrap_err();
    assert!(
        error.message.contains("must be UTF-8, byte 3 is not"),
        "{error}"
    );
}

#[test]
fn functions_have_named_arguments_and_no_others() {
    let found = expanded_beside(
        &[("f.yaml", "a: 1")],
        "<x v='${load_yaml(filename=&apos;f.yaml&apos;).a} \
         ${xacro.tokenize(s=&apos;a b&apos;, sep=&apos; &apos;)}'/>\
         ${xacro.message(1, color=&apos;red&apos;, print_location=True)}",
    );
    let found = found.unwrap();
    assert!(
        found.text.contains("<x v=\"1 ['a', 'b']\"/>"),
        "{}",
        found.text
    );
    assert_eq!(found.messages.len(), 2, "{:?}", found.messages);
    for (call, message) in [
        ("load_yaml(file=1)", "load_yaml() has no argument 'file'"),
        ("xacro.arg()", "arg() must have 1 argument, got 0"),
        (
            "xacro.message(colour=1)",
            "message() has no argument 'colour'",
        ),
        ("xacro.tokenize(1)", "tokenize() must have a text"),
        ("xacro.dotify(1)", "dotify() must have a dict, got an int"),
    ] {
        let error = expanded(&format!("<x v='${{{call}}}'/>")).map(|e| e.text);
        let error = error.unwrap_err();
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn places_count_characters_behind_wide_spaces() {
    fails(
        "<x v='${\u{3000}\u{3000}q}'/>",
        (1, 58),
        "name 'q' is not defined",
    );
}

#[test]
fn failed_expansions_report_what_was_read_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let part = format!(
        "{HEAD}${{xacro.message(1)}}${{xacro.warning(2)}}\
                        <xacro:include filename='missing.xacro'/></r>"
    );
    std::fs::write(folder.path().join("part.xacro"), part).unwrap();
    let main = folder.path().join("main.xacro");
    let text = format!("{HEAD}<xacro:include filename='part.xacro'/></r>");
    std::fs::write(&main, text).unwrap();
    let mut report = XacroReport::default();
    let packages = PackageMap::make_empty();
    let expanded = expand_reporting(&main, &BTreeMap::new(), &packages, &mut report);
    assert!(expanded.unwrap_err().to_string().contains("cannot be read"));
    let names: Vec<_> = report.files.iter().filter_map(|f| f.file_name()).collect();
    assert_eq!(names, ["main.xacro", "part.xacro", "missing.xacro"]);
    assert_eq!(
        (&*report.messages, report.diagnostics.len()),
        (&["1".to_string()][..], 1)
    );
}

#[test]
fn control_characters_are_errors() {
    for (body, column) in [
        ("<x v='${&apos;\\x01&apos;}'/>", 54),
        ("<x>${&apos;\\x01&apos;}</x>", 51),
    ] {
        fails(
            body,
            (1, column),
            "a text must have no control characters, got '\\u{1}'",
        );
    }
    fails(
        "<xacro:element xacro:name='µ'/>",
        (1, 75),
        "the name must be a valid XML name, got 'µ'",
    );
}

/// PyPI's xacro 2.1.1 refuses these too, with "Undefined substitution argument" and "name is not
/// defined".
#[test]
fn a_definition_that_comes_later_is_named_with_its_line() {
    for (body, message) in [
        (
            "<x v='$(arg a)'/>\n<xacro:arg name='a' default='1'/>",
            "$(arg a): <xacro:arg name=\"a\"> comes later, in line 2; move it up, before its first use",
        ),
        (
            "<x v='${xacro.arg(&apos;a&apos;)}'/>\n\n<xacro:arg name='a' default='1'/>",
            "<xacro:arg name=\"a\"> comes later, in line 3; move it up",
        ),
        (
            "<x v='$(eval a)'/>\n<xacro:arg name='a' default='1'/>",
            "name 'a' is not defined; <xacro:arg name=\"a\"> comes later, in line 2; move it up",
        ),
        (
            "<x v='${p}'/>\n<y>\n<xacro:property name='p' value='1'/></y>",
            "name 'p' is not defined; <xacro:property name=\"p\"> comes later, in line 3; move it up",
        ),
        (
            "<xacro:m/>\n<xacro:macro name='m'><y/></xacro:macro>",
            "<xacro:m>: <xacro:macro name=\"m\"> comes later, in line 2; move it up",
        ),
        // Neither the parameter of a macro nor a part that is left out helps.
        (
            "<x v='${p}'/>\n<xacro:macro name='m'><xacro:property name='p' value='1'/></xacro:macro>",
            "name 'p' is not defined; there are no properties",
        ),
        (
            "<xacro:if value='0'><xacro:arg name='a' default='1'/></xacro:if><x v='$(arg a)'/>",
            "there is no argument named 'a', and no other argument; declare it by",
        ),
    ] {
        let error = expanded(body).map(|e| e.text).unwrap_err();
        assert!(error.message.contains(message), "{error}");
    }
    let text = "<x v='$(arg a)'/><xacro:include filename='late.xacro'/>\n\
                <xacro:arg name='a' default='1'/>";
    let late = format!("{HEAD}</r>");
    let error = expanded_beside(&[("late.xacro", &late)], text).map(|e| e.text);
    let error = error.unwrap_err();
    assert!(
        error.message.contains("comes later, in line 2; move"),
        "{error}"
    );
}
