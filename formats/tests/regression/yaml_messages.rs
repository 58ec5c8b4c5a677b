//! Messages about YAML, in every file that the crate reads.
//!
//! Source of the right answers: YAML 1.2 (infinity is `.inf`, numbers have no underscores, keys are
//! unique), which Drake's reader follows. The messages advised Rust programmers, such as "use
//! Option<String>".

use tarragon_documents::RemoteParams;
use tarragon_formats::Parser;
use tarragon_formats::directives::ModelDirectives;
use tarragon_multibody::{MultibodyPlantBuilder, MultibodyPlantConfig};

#[test]
fn plant_configurations_name_the_key_the_value_and_the_cure() {
    for (text, expected) in [
        (
            "time_step: 1e-3\npenetration_allowance: inf",
            "plant configuration:2:24: error: penetration_allowance: must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "time_step: 1_0",
            "1:12: error: time_step: must be a number, got 1_0; write 10, because",
        ),
        (
            "contact_model: null",
            "1:16: error: contact_model: must be text, got null; write a text",
        ),
        (
            "contact_model:",
            "error: contact_model: must be text, got nothing; write a text",
        ),
        (
            "time_step: 1\ncontact_model: point\ntime_step: 2",
            "3:1: error: time_step: the key must be given once, got it again after line 1; remove one",
        ),
        (
            "time_step: 1\n---\ntime_step: 2",
            "must be one YAML document, got a second one; remove",
        ),
        (
            "use_sampled_output_ports: maybe",
            "must be true or false, got maybe",
        ),
        (
            "time_step: [1]",
            "time_step: must be a single value, got a list",
        ),
        (
            "timestep: 1",
            "1:1: error: unknown field `timestep`, expected one of `time_step`",
        ),
    ] {
        let error = MultibodyPlantConfig::from_yaml(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{text}\n{error}");
        assert!(!error.contains("Option"), "{error}");
    }
}

#[test]
fn directives_and_packages_name_the_path_of_keys() {
    for (text, expected) in [
        (
            "directives:\n- add_model: {name: a, file: null}",
            "2:30: directives[0].add_model.file: must be text, got null; write a text",
        ),
        (
            "directives:\n- add_model_instance: {name: a}\n- add_model_instance: {name: a, name: b}",
            "3:33: directives[1].add_model_instance.name: the key must be given once, got it again after line 3",
        ),
        (
            "directives:\n- add_frame: {name: a, X_PF: {translation: [0, 1_000, inf]}}",
            "directives[0].add_frame.X_PF",
        ),
        (
            "directives: {}",
            "1:13: directives: must be a list, got a map",
        ),
        (
            "directives: []\n---\ndirectives: []",
            "must be one YAML document",
        ),
        ("", "must be a YAML document, got nothing"),
    ] {
        let error = ModelDirectives::from_yaml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
        let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
        let mut parser = Parser::new(&mut plant);
        let same = parser
            .add_models_from_string(text, "dmd.yaml")
            .unwrap_err()
            .to_string()
            .replace(": error: ", ": ");
        assert!(same.contains(expected), "{text}\n{same}");
    }
    let error = RemoteParams::from_yaml("urls: [http://x/a.zip]\nsha256: ~").unwrap_err();
    let expected = "parameters of a remote package:2:9: sha256: must be text, got ~; write a text";
    assert!(error.to_string().contains(expected), "{error}");
}

/// As text, a name may look like a number.
#[test]
fn names_may_look_like_numbers_with_underscores() {
    let text = "directives:\n- add_model_instance: {name: 1_000}";
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    Parser::new(&mut plant)
        .add_models_from_string(text, "dmd.yaml")
        .unwrap();
    assert!(plant.model_instance_by_name("1_000").is_ok());
}
