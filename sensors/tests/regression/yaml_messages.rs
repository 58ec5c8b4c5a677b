//! Messages about the YAML of cameras.
//!
//! Source of the right answers: YAML 1.2, which Drake's reader follows. `clipping_far: inf` was an
//! "invalid floating point".

use tarragon_sensors::CameraConfig;

#[test]
fn cameras_name_the_key_the_value_and_the_cure() {
    for (text, expected) in [
        (
            "clipping_far: inf",
            "camera configuration:1:15: clipping_far: must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "clipping_far: +.Infinity",
            "got +.Infinity; YAML writes infinity as .inf",
        ),
        (
            "fps: 1_0",
            "1:6: fps: must be a number, got 1_0; write 10, because numbers in YAML have no",
        ),
        (
            "width: 1_000",
            "1:8: width: must be a whole number, got 1_000; write 1000, because",
        ),
        (
            "width: 1e3",
            "1:8: width: must be a whole number, got 1e3; write 1000",
        ),
        (
            "width: 640 px",
            "got 640 px; write 640 without what follows it",
        ),
        (
            "name: null",
            "1:7: name: must be text, got null; write a text (in quotes if it is the word null)",
        ),
        (
            "name: a\nname: b",
            "2:1: name: the key must be given once, got it again after line 1; remove one",
        ),
        (
            "name: a\n---\nname: b",
            "must be one YAML document, got a second one",
        ),
        (
            "rgb: yes please",
            "1:6: rgb: must be true or false, got yes please",
        ),
        (
            "background: {rgba: [0, 0, inf]}",
            "1:27: background.rgba[2]: must be a number, got inf; YAML writes infinity as .inf",
        ),
        ("X_PB: {translation: [0, 0, inf]}", "X_PB"),
        (
            "renderer_class: !RenderEngineVtkParams\n  lights:\n  - {intensity: inf}",
            "must be a number, got inf; YAML writes infinity as .inf",
        ),
        (
            "renderer_class: !RenderEngineVtkParams {exposure: 1_0}",
            "must be a number, got 1_0; write 10",
        ),
    ] {
        let error = CameraConfig::from_yaml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
        assert!(
            !error.contains("Option") && !error.contains('\n'),
            "{error}"
        );
    }
    let text = "left: {fps: 10}\nright:\n  fps: inf";
    let error = CameraConfig::map_from_yaml(text).unwrap_err().to_string();
    assert!(
        error.contains(":3:8: right.fps: must be a number, got inf; YAML writes infinity as .inf"),
        "{error}"
    );
}
