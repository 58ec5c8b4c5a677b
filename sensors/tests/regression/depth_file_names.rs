//! Depth images for `x.png` went to `x.png.tiff` without a word. The name is Drake's (`ImageWriter`
//! appends the default extension if the given one does not fit), so it stays, and a warning
//! announces it.

use tarragon_framework::warnings::collect;
use tarragon_sensors::*;

/// Declares a port for a pattern and returns the warnings.
fn warnings_about<P: ImageFilePixel>(pattern: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let pattern = folder.path().join(pattern);
    let mut writer = ImageWriter::new();
    let (port, warnings) = collect(|| {
        writer.declare_image_input_port::<P>("eye", pattern.to_str().unwrap(), 0.1, 0.0)
    });
    port.unwrap();
    warnings
}

#[test]
fn depth_images_in_png_files_say_that_they_become_tiff_files() {
    let said = warnings_about::<Depth32F>("x_{count}.png");
    assert_eq!(said.len(), 1, "{said:?}");
    for part in [
        "port 'eye'",
        "Depth32F",
        "x_{count}.png.tiff'; use .tiff",
        "Depth16U",
    ] {
        assert!(said[0].contains(part), "{said:?}");
    }
}

#[test]
fn other_images_say_which_extension_fits() {
    // JPEG holds 8 bits.
    let said = warnings_about::<Label16I>("x.jpg");
    assert!(said[0].contains("x.jpg.png'; use .png"), "{said:?}");
    assert!(!said[0].contains("Depth16U"), "{said:?}");
}

/// A name without an extension asks for the default one, and other dots may be part of the name.
#[test]
fn fitting_and_absent_extensions_say_nothing() {
    assert_eq!(warnings_about::<Depth32F>("x.tiff"), [""; 0]);
    assert_eq!(warnings_about::<Depth32F>("x_{count}"), [""; 0]);
    assert_eq!(warnings_about::<Depth32F>("x_1.5"), [""; 0]);
    assert_eq!(warnings_about::<Depth16U>("x.png"), [""; 0]);
    assert_eq!(warnings_about::<Rgba8U>("x.jpg"), [""; 0]);
}
