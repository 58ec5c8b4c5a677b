//! Parses arbitrary bytes as a PNG file. An image has the size that its metadata give.
#![no_main]

#[path = "support/image.rs"]
mod image;

use libfuzzer_sys::fuzz_target;
use tarragon_sensors::ImageFileFormat;

fuzz_target!(|bytes: &[u8]| image::check(bytes, ImageFileFormat::Png));
