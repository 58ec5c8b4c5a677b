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
