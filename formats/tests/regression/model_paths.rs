//! Files and formats named as another function of the parser takes them.

use crate::support::loaded::load_with;

fn message(text: &str, format: &str) -> String {
    let model = load_with(|p| p.add_models_from_string(text, format));
    model.result.unwrap_err().to_string()
}

/// `add_models` takes paths, `add_models_from_url` URLs.
#[test]
fn url_given_as_a_path_names_the_function_for_urls() {
    for url in [
        "package://robot/arm.urdf",
        "model://arm",
        "file:///nowhere/arm.urdf",
    ] {
        let model = load_with(|p| p.add_models(url));
        let e = model.result.unwrap_err().to_string();
        let expected = format!("{url}: the file must be given by its path, got a URL; ");
        assert!(e.starts_with(&expected), "{e}");
        assert!(e.contains("`Parser::add_models_from_url`"), "{e}");
    }
}

#[test]
fn format_given_with_its_dot_is_named_without() {
    let e = message("<robot name='r'/>", ".urdf");
    let expected = "the format must be a suffix without its dot, got '.urdf'; write 'urdf'";
    assert_eq!(e, format!("model text: {expected}"));
    let e = message("<robot name='r'/>", "Urdfx");
    assert!(
        e.contains("the suffix must be") && e.ends_with("got '.urdfx'"),
        "{e}"
    );
}

/// Nothing reads the web but a package with a checksum (`PackageMap::add_remote`).
#[test]
fn url_of_the_web_names_remote_packages() {
    for url in ["https://example.org/arm.urdf", "http://example.org/arm.sdf"] {
        let by_path = load_with(|p| p.add_models(url)).result;
        let by_url = load_with(|p| p.add_models_from_url(url)).result;
        for e in [by_path, by_url] {
            let e = e.unwrap_err().to_string();
            let cure = "add its package with `PackageMap::add_remote`, and use a package:// URL";
            assert!(e.contains(url) && e.contains(cure), "{e}");
        }
    }
    let e = load_with(|p| p.add_models_from_url("ftp://example.org/arm.urdf")).result;
    assert!(!e.unwrap_err().to_string().contains("add_remote"));
}

/// The error used to be "malformed XML: unknown token".
#[test]
fn path_given_as_a_text_names_the_function_for_paths() {
    for (path, format) in [
        ("robot.urdf", "urdf"),
        ("/home/me/my robots/arm.SDF\n", "sdf"),
        ("scene.dmd.yaml", "dmd.yaml"),
        ("package://robot/arm.xml", "xml"),
    ] {
        let e = message(path, format);
        let line = path.trim_end();
        let expected = format!(
            "model text: it must be the content of a model, got the path '{line}'; use \
             `Parser::add_models`"
        );
        assert_eq!(e, expected);
    }
    // Other texts are read.
    for text in ["", "hello", "<robot name='arm.urdf'/>"] {
        assert!(!message(text, "sdf").contains("got the path"));
    }
}
