//! Entities, nesting, names and encodings.

use super::*;

#[test]
fn entities_are_refused() {
    let entities: String = (1..30)
        .map(|i| {
            format!(
                "<!ENTITY e{i} '&e{0};&e{0};&e{0};&e{0};&e{0};&e{0};&e{0};&e{0};'>",
                i - 1
            )
        })
        .collect();
    for format in XML {
        let bomb = format!(
            "<!DOCTYPE m [<!ENTITY e0 'ha'>{entities}]>{}",
            model(format, &body(format, "&e29;"))
        );
        load(&bomb, format).says(&[":1:", "malformed XML"]);
        let external = format!(
            "<!DOCTYPE m [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>{}",
            model(format, "&x;")
        );
        load(&external, format).says(&["malformed XML"]);
    }
    // YAML anchors can be expanded in the same way.
    let anchors: String = (1..30)
        .map(|i| {
            format!(
                "  - &e{i} [*e{0}, *e{0}, *e{0}, *e{0}, *e{0}, *e{0}]\n",
                i - 1
            )
        })
        .collect();
    let bomb = format!("directives:\n  - &e0 [{{add_model_instance: {{name: a}}}}]\n{anchors}");
    assert!(!load(&bomb, "dmd.yaml").is_ok());
}

#[test]
fn nesting_does_not_overflow_the_stack() {
    const DEPTH: usize = 100_000;
    for format in XML {
        for (open, close) in [
            ("<a>", "</a>"),
            ("<body>", "</body>"),
            ("<model name='m'>", "</model>"),
            ("<link name='m'>", "</link>"),
            ("<a>", ""),
        ] {
            load(
                &model(format, &(open.repeat(DEPTH) + &close.repeat(DEPTH))),
                format,
            );
        }
    }
    for (open, close) in [
        ("[", "]"),
        ("{a: ", "}"),
        ("- ", ""),
        ("? ", ""),
        ("&a ", ""),
        ("[", ""),
    ] {
        let text = format!(
            "directives: \n  {}{}",
            open.repeat(DEPTH),
            close.repeat(DEPTH)
        );
        assert!(!load(&text, "dmd.yaml").is_ok(), "{open}");
    }
}

#[test]
fn names_are_accepted_as_in_drake() {
    // (name, formats that refuse it)
    for (name, refused) in [
        // Drake also refuses an empty name in MJCF; here it counts as no name.
        ("", &["urdf", "sdf"][..]),
        ("a::b", &["sdf"]),
        ("::", &["sdf"]),
        ("a&#10;b", &[]),
        ("__a__", &["sdf"]),
        (" a ", &[]),
        ("a\u{7f}\u{202e}\u{1f916}", &[]),
    ] {
        for format in XML {
            let found = load(&model(format, &body(format, name)), format);
            assert_eq!(
                found.is_ok(),
                !refused.contains(&format),
                "{name:?} {format}: {}",
                found.error
            );
        }
    }
    let long = "a".repeat(1 << 20);
    for format in XML {
        let found = load(&model(format, &body(format, &long)), format);
        assert!(found.plant.body_by_name(&long).is_ok());
        // A duplicate name is an error.
        let twice = body(format, &long).repeat(2);
        assert!(!load(&model(format, &twice), format).is_ok());
    }
    for name in ["''", "'a::b'", "\"a\\nb\"", "'::'", long.as_str()] {
        let text = format!(
            "directives: [{{add_model_instance: {{name: {name}}}}}, {{add_weld: {{parent: {name}, child: {name}}}}}]"
        );
        assert!(!load(&text, "dmd.yaml").is_ok());
    }
}

#[test]
fn large_attributes_are_read() {
    let long = "x ".repeat(5 << 20);
    for format in XML {
        let with = |attribute: &str| match format {
            "xml" => format!("<body><geom size='1' {attribute}='{long}'/></body>"),
            _ => format!("<link name='a' {attribute}='{long}'/>"),
        };
        for attribute in ["name", "foo", "pos", "fromto", "size"] {
            load(&model(format, &with(attribute)), format);
        }
    }
    let zeros = "0 ".repeat(5 << 20);
    load(
        &model(
            "sdf",
            &format!("<link name='a'><pose>{zeros}</pose></link>"),
        ),
        "sdf",
    )
    .says(&["1:"]);
    let text = format!("directives: [{{add_model_instance: {{name: '{long}'}}}}]");
    load(&text, "dmd.yaml");
    let list = format!(
        "directives: [{{add_frame: {{name: f, X_PF: {{base_frame: world, translation: [{}]}}}}}}]",
        "0,".repeat(1 << 16)
    );
    assert!(!load(&list, "dmd.yaml").is_ok());
}

#[test]
fn files_without_content_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    for format in ["urdf", "sdf", "xml", "dmd.yaml"] {
        let path = dir.path().join(format!("m.{format}"));
        for bytes in [
            &b""[..],
            b"   \n",
            b"\xef\xbb\xbf",
            b"\0\0\0\0",
            b"\xff\xfe<\0r\0o\0b\0o\0t\0/\0>\0",
            b"\x80\x81\xfe\xff",
            b"<!-- -->",
            b"<?xml version='1.0'?>",
            b"<a/>",
            b"- 1",
            b"%PDF-1.4",
        ] {
            std::fs::write(&path, bytes).unwrap();
            let found = load_file(&path);
            assert!(!found.is_ok(), "{format} {bytes:?}");
            found.says(&[path.to_str().unwrap()]);
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_in_xml_and_refused_in_yaml() {
    let dir = tempfile::tempdir().unwrap();
    for format in XML {
        let mut bytes = model(format, &body(format, "?")).into_bytes();
        let at = bytes.iter().position(|b| *b == b'?').unwrap();
        bytes[at] = 0xff;
        let path = dir.path().join(format!("m.{format}"));
        std::fs::write(&path, bytes).unwrap();
        let found = load_file(&path);
        assert!(found.is_ok(), "{format}: {}", found.error);
        let first = &found.diagnostics[0];
        assert!(
            first.message.contains(&format!("byte {at} is not UTF-8")),
            "{}",
            first.message
        );
    }
    let path = dir.path().join("m.dmd.yaml");
    std::fs::write(&path, b"directives: [{add_model_instance: {name: \xff}}]").unwrap();
    load_file(&path).says(&["byte 41 is not UTF-8"]);
    let e = directives::ModelDirectives::load(&path).unwrap_err();
    assert!(e.to_string().contains("byte 41 is not UTF-8"), "{e}");
}
