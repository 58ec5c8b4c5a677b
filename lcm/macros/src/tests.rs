//! Tests of the messages for invalid definitions.

use crate::definition;

fn mistake(definitions: &str) -> String {
    let tokens = format!("root; {definitions}").parse().unwrap();
    match definition::parse(tokens) {
        Ok(file) => format!("{} structs, no mistake", file.structs.len()),
        Err(mistake) => mistake.what,
    }
}

#[test]
fn mistakes_are_reported() {
    for (definitions, expected) in [
        (
            "struct a_t { double x[2]; } struct b_t {}",
            "2 structs, no mistake",
        ),
        (
            "struct a_t { double x[n]; int32_t n; }",
            "struct a_t: the size `n` must be a member declared before the array",
        ),
        (
            "struct a_t { double n; double x[n]; }",
            "struct a_t: the size `n` must be a member of an integer type",
        ),
        (
            "struct a_t { int32_t n[2]; double x[n]; }",
            "struct a_t: the size `n` must be a member of an integer type",
        ),
        (
            "struct a_t { double x[0]; }",
            "struct a_t: a size must be a positive integer, got `0`",
        ),
        (
            "struct a_t { double x[2 3]; }",
            "struct a_t: a size must be one number or one member",
        ),
        (
            "struct a_t { double x[]; }",
            "struct a_t: expected a number or a member as size",
        ),
        (
            "struct a_t { double x; float x; }",
            "struct a_t: there are two members `x`",
        ),
        (
            "struct a_t { double x }",
            "struct a_t: expected a semicolon after `x`",
        ),
        (
            "struct a_t { double x double y; }",
            "struct a_t: expected a semicolon, found `double`",
        ),
        (
            "struct a_t { double; }",
            "struct a_t: expected the name of a member, found `;`",
        ),
        (
            "struct a_t { double x, ; }",
            "struct a_t: expected the name of a member, found `;`",
        ),
        (
            "struct a_t { 3 x; }",
            "struct a_t: expected a type, found `3`",
        ),
        (
            "struct a_t { const string S = 1; }",
            "struct a_t: constants must be integers, `float` or `double`",
        ),
        (
            "struct a_t { const int8_t A 1; }",
            "struct a_t: expected `=`, found `1`",
        ),
        (
            "struct a_t { const int8_t A = 1 }",
            "struct a_t: expected a semicolon after `1`",
        ),
        (
            "struct a_t",
            "expected the members of the struct in braces after `a_t`",
        ),
        (
            "struct { double x; }",
            "expected the name of the struct, found `{`",
        ),
        (
            "struct a_t [3]",
            "expected the members of the struct in braces, found `[`",
        ),
        ("package lab", "expected a semicolon after `lab`"),
        (
            "enum e { A }",
            "enums are not supported, as in current lcm-gen; use constants in a struct",
        ),
        (
            "union u_t { double x; }",
            "expected `struct` or `package`, found `union`",
        ),
        (
            "file lab",
            "expected the path of a file in quotes after `lab`",
        ),
        (
            "file 3",
            "expected the path of a file in quotes, with `/` between folders",
        ),
        (
            "file \"a.lcm\" \"b.lcm\"",
            "expected nothing after the path of a file; use the macro once per file",
        ),
    ] {
        assert_eq!(mistake(definitions), expected, "{definitions}");
    }
}

#[test]
fn mistakes_in_files_name_the_file() {
    assert_eq!(
        mistake("file \"../tests/definitions/lab.lcm\""),
        "5 structs, no mistake"
    );
    let lost = mistake("file \"lost.lcm\"");
    assert!(lost.contains("lost.lcm: "), "{lost}");
    assert!(
        lost.ends_with("; paths are relative to the Cargo.toml of the crate"),
        "{lost}"
    );
    let other = mistake("file \"Cargo.toml\"");
    assert!(
        other.contains("Cargo.toml: expected `struct` or `package`, found "),
        "{other}"
    );
}
