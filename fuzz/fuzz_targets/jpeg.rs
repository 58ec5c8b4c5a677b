//! Any bytes are a JPEG image of the size that its metadata say, or an error.
#![no_main]

#[path = "support/image.rs"]
mod image;

use libfuzzer_sys::fuzz_target;
use tarragon_sensors::ImageFileFormat;

fuzz_target!(|bytes: &[u8]| image::check(bytes, ImageFileFormat::Jpeg));
