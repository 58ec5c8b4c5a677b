//! Parses arbitrary text as a camera configuration. A valid one survives writing and reading.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarragon_sensors::CameraConfig;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(camera) = CameraConfig::from_yaml(text) {
        // A camera that is switched off is not checked, and may even have NaN.
        if camera.is_enabled() {
            let text = camera.to_yaml().expect("a valid camera can be written");
            let again = CameraConfig::from_yaml(&text).expect("written YAML can be read");
            assert_eq!(again.name, camera.name, "{text}");
            assert_eq!(again.x_pb, camera.x_pb, "{text}");
        }
    }
});
