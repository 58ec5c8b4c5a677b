//! Metadata of image files.

use crate::image_files::{FORMATS, images, message};
use std::fs;
use tarragon_sensors::*;

#[test]
fn metadata_describe_the_image() {
    let io = ImageIo::new();
    for image in images() {
        let image = image.as_ref();
        for format in FORMATS.into_iter().filter(|f| f.can_hold(image.scalar())) {
            let file = io.save_to_buffer(image, format).unwrap();
            assert_eq!(ImageFileFormat::of_content(&file), Some(format));
            let found = io.load_metadata_from_buffer(&file).unwrap();
            assert_eq!((found.format, found.depth), (format, 1));
            assert_eq!((found.width, found.height), (40, 30));
            let channels = match format {
                ImageFileFormat::Jpeg => image.channels().min(3),
                _ => image.channels(),
            };
            assert_eq!(
                found.channels,
                channels,
                "{} as {format}",
                image.pixel_type()
            );
            let scalar = match (format, image.scalar()) {
                (_, PixelScalar::I16) => PixelScalar::U16,
                (_, scalar) => scalar,
            };
            assert_eq!(found.scalar, scalar);
        }
    }
}

/// Returns a PNG file that is only a header, with a colour type (2: RGB, 4: grey with opacity) and
/// a bit depth.
fn png_header(color_type: u8, bit_depth: u8) -> Vec<u8> {
    let mut ihdr = vec![0, 0, 0, 4, 0, 0, 0, 3, bit_depth, color_type, 0, 0, 0];
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", std::mem::take(&mut ihdr)), (b"IDAT", vec![0])] {
        file.extend((data.len() as u32).to_be_bytes());
        file.extend(name);
        file.extend(&data);
        let mut crc = !0_u32;
        for byte in name.iter().chain(&data) {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
            }
        }
        file.extend((!crc).to_be_bytes());
    }
    file
}

/// Drake 1.51.1 returns the same metadata.
#[test]
fn unsupported_pixels_have_metadata() {
    let io = ImageIo::new();
    for (file, channels, scalar) in [
        (png_header(2, 16), 3, PixelScalar::U16),
        (png_header(6, 16), 4, PixelScalar::U16),
        (png_header(4, 8), 2, PixelScalar::U8),
    ] {
        let found = io.load_metadata_from_buffer(&file).unwrap();
        assert_eq!((found.width, found.height, found.depth), (4, 3, 1));
        assert_eq!((found.channels, found.scalar), (channels, scalar));
        assert!(io.load_from_buffer(&file).is_err());
    }
}

#[test]
fn unsupported_content_has_no_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let io = ImageIo::new();
    let image = ImageRgb8U::with_value(3, 2, 5);
    let mut damaged = io.save_to_buffer(&image, ImageFileFormat::Png).unwrap();
    damaged.truncate(20);
    for content in [&b""[..], b"GIF89a and more", b"\xff\xd8\xff", &damaged] {
        assert_eq!(io.load_metadata_from_buffer(content), None);
        fs::write(&path, content).unwrap();
        assert_eq!(io.load_metadata(&path).unwrap(), None);
    }
    io.save(&image, &path).unwrap();
    let other = io.with_format(ImageFileFormat::Jpeg);
    assert_eq!(other.load_metadata(&path).unwrap(), None);
    // A file that cannot be read is an error.
    assert!(message(io.load_metadata(folder.path())).contains("got a directory"));
    assert!(io.load_metadata(folder.path().join("no.png")).is_err());
}
