//! Bounds on size, depth and work.

use super::*;

#[test]
fn endless_and_huge_expansions_are_errors() {
    let double = "<xacro:macro name='m' params='n **b'><xacro:m n='1'><c><xacro:insert_block \
                  name='b'/><xacro:insert_block name='b'/></c></xacro:m></xacro:macro>\
                  <xacro:m n='1'><c><x/></c></xacro:m>";
    let laughs: String = (1..40)
        .map(|i| {
            format!(
                "<xacro:property name='p{i}' value='${{p{0}}}${{p{0}}}'/>",
                i - 1
            )
        })
        .collect();
    let laughs = format!("<xacro:property name='p0' value='ha'/>{laughs}<x v='${{p39}}'/>");
    let chain: String = (0..3000)
        .map(|i| format!("<xacro:property name='p{i}' value='${{p{}}}'/>", i + 1))
        .collect();
    let chain = chain + "<x v='${p0}'/>";
    let deep = "<a>".repeat(3000) + &"</a>".repeat(3000);
    let parameters: String = (0..1000).map(|i| format!("p{i}:=1 ")).collect();
    let calls =
        format!("<xacro:macro name='m' params='{parameters}'/>") + &"<xacro:m/>".repeat(3000);
    for (body, message) in [
        (
            "<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>",
            "nested deeper than",
        ),
        (double, "must make at most"),
        (&laughs, "a text must have at most"),
        (&chain, "must be at most 200 in a row"),
        (&deep, "nested deeper than"),
        (&calls, "must take at most"),
        (
            "<x v='${&apos;a&apos; * 10 ** 9}'/>",
            "a text must have at most",
        ),
        (
            "<x v='${[i for i in range(10 ** 5) for j in range(10 ** 5)]}'/>",
            "at most",
        ),
    ] {
        let error = expanded(body).map(|e| e.text.len()).unwrap_err();
        assert!(error.message.contains(message), "{error}");
        assert!(error.line > 0, "{error}");
    }
}

#[test]
fn large_documents_take_linear_time() {
    // These sizes would take many minutes in quadratic time.
    let start = std::time::Instant::now();
    let elements = "<a>".repeat(200) + &"</a>".repeat(200);
    let text = elements.repeat(3000);
    assert!(expanded(&text).is_ok());
    let warnings = "<x v='${xacro.warning(1)}'/>\n".repeat(200_000);
    assert_eq!(expanded(&warnings).unwrap().diagnostics.len(), 200_000);
    assert!(
        start.elapsed().as_secs_f64() < 60.0,
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn deep_expressions_of_many_properties_fit_the_stack() {
    let deep = |inner: &str| "[".repeat(95) + inner + &"]".repeat(95);
    let chain: String = (0..199)
        .map(|i| {
            format!(
                "<xacro:property name='p{i}' value='${{{}}}'/>",
                deep(&format!("p{}", i + 1))
            )
        })
        .collect();
    let error = expanded(&(chain + "<x v='${p0}'/>"))
        .map(|e| e.text)
        .unwrap_err();
    assert!(error.message.contains("nested"), "{error}");
}

#[test]
fn yaml_that_grows_by_aliases_and_merges_is_an_error() {
    let grow = |step: fn(usize) -> String| -> String { (1..40).map(step).collect() };
    let lists =
        "a0: &a0 [1, 2]\n".to_string() + &grow(|i| format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1));
    let merged = "a0: &a0 {x: 1}\n".to_string()
        + &grow(|i| format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1))
        + "b: {<<: *a39}";
    let wide = "a: &a {".to_string()
        + &(0..1000)
            .map(|i| format!("k{i}: {i}, "))
            .collect::<String>()
        + "}\nb:\n"
        + &"  - {<<: *a}\n".repeat(200);
    for text in [&lists, &merged, &wide] {
        let file = [("f.yaml", &**text)];
        let error = expanded_beside(&file, "<x v='${len(load_yaml(&apos;f.yaml&apos;))}'/>");
        let error = error.map(|e| e.text).unwrap_err();
        assert!(error.message.contains("at most 100000 values"), "{error}");
    }
}

#[test]
fn a_yaml_file_that_loads_itself_is_an_error() {
    let file = [("self.yaml", "a: !degrees load_yaml('self.yaml').a")];
    let error = expanded_beside(&file, "<x v='${load_yaml(&apos;self.yaml&apos;)}'/>");
    let error = error.map(|e| e.text).unwrap_err();
    let wanted = "files are nested deeper than 64, and this one includes itself";
    assert!(error.message.contains(wanted), "{error}");
}

#[test]
fn included_files_count_as_work() {
    let part = |i: usize| {
        let next = format!("<xacro:include filename='{}.xacro'/>", i + 1);
        let last = if i < 19 {
            next.repeat(2)
        } else {
            String::new()
        };
        format!("{HEAD}<!--{}-->{last}</r>", "a".repeat(1_000_000))
    };
    let parts: Vec<(String, String)> = (0..20).map(|i| (format!("{i}.xacro"), part(i))).collect();
    let files: Vec<(&str, &str)> = parts.iter().map(|(n, t)| (&**n, &**t)).collect();
    let error = expanded_beside(&files, "<xacro:include filename='0.xacro'/>");
    let error = error.map(|e| e.text.len()).unwrap_err();
    let wanted = "all expressions and included files together must take at most";
    assert!(error.message.contains(wanted), "{error}");
}

#[test]
fn commands_in_arguments_are_replaced_in_one_pass() {
    let text = "$(dirname)".repeat(20_000);
    let body = format!("<xacro:arg name='a' default='${{&apos;{text}&apos;}}'/><x v='$(arg a)'/>");
    // The first pass replaces the argument alone, and the second one no directories.
    let found = expanded(&body.replace("$(dirname)", "$$(dirname)"));
    let found = found.map(|e| e.text.len());
    assert!(found.is_ok_and(|length| length > 200_000));
    let finds = "$(find p)".repeat(20_000);
    let folder = tempfile::tempdir().unwrap();
    let mut packages = PackageMap::make_empty();
    packages.add("p", folder.path()).unwrap();
    let arguments = BTreeMap::from([("a".to_string(), finds)]);
    let text = format!("{HEAD}<x v='$(arg a)'/></r>");
    let mut report = XacroReport::default();
    let path = Path::new("f.xacro");
    let found = expand_bytes(path, text.as_bytes(), &arguments, &packages, &mut report);
    let found = found.map(|e| e.text).unwrap();
    assert_eq!(
        found.matches(&*folder.path().display().to_string()).count(),
        20_000
    );
}
