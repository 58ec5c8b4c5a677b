//! Any text is a camera, which is written and read again as the same, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarragon_sensors::CameraConfig;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(camera) = CameraConfig::from_yaml(text) {
        // What is switched off may hold anything, NaN among it.
        if camera.is_enabled() {
            let text = camera.to_yaml().expect("it was valid");
            let again = CameraConfig::from_yaml(&text).expect("it was written here");
            assert_eq!(again.name, camera.name, "{text}");
            assert_eq!(again.x_pb, camera.x_pb, "{text}");
        }
    }
});
