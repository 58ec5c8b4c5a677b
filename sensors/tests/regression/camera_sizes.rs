//! Sizes of images that no memory holds.
//!
//! Source of the limit: `render --width` and the render engines take at most 16384 pixels per side.
//! A camera of 3000000000 x 3000000000 pixels was valid and ended the program in the first image.

use tarragon_sensors::CameraConfig;

#[test]
fn huge_cameras_are_refused_with_their_place() {
    for (text, expected) in [
        (
            "name: a\nwidth: 3000000000\nheight: 3000000000",
            "camera configuration:2:8: width: must be at most 16384 pixels, got 3000000000; make",
        ),
        (
            "width: 100000000000\nheight: 24",
            "1:8: width: must be at most 16384 pixels, got 100000000000",
        ),
        (
            "{width: 8, height: 16385}",
            "1:20: height: must be at most 16384 pixels, got 16385",
        ),
    ] {
        let error = CameraConfig::from_yaml(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let text = "left: {name: left, width: 60000}";
    let error = CameraConfig::map_from_yaml(text).unwrap_err().to_string();
    assert!(
        error.contains(":1:27: left.width: must be at most 16384 pixels, got 60000"),
        "{error}"
    );
    assert!(CameraConfig::from_yaml("{width: 16384, height: 16384}").is_ok());

    let config = CameraConfig {
        name: "a".into(),
        width: 60_000,
        height: usize::MAX,
        ..CameraConfig::default()
    };
    let error = config.validate().unwrap_err().to_string();
    let both = "camera 'a': width must be at most 16384 pixels, got 60000; make the image smaller; \
                height must be at most 16384 pixels, got 18446744073709551615; make";
    assert!(error.contains(both), "{error}");
}
