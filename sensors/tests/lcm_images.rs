//! Images in LCM messages: Drake's bytes, conversions, and invalid messages.

use std::fmt::Write;
use tarragon_framework::prelude::*;
use tarragon_lcm::LcmMessage;
use tarragon_lcm::refill_bytes;
use tarragon_lcm::types::{LcmtImage, LcmtImageArray};
use tarragon_sensors::*;

fn bytes(hex: &str) -> Vec<u8> {
    let hex = hex.trim().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.chunks(2).map(byte).collect()
}

const RAW: &str = include_str!("../../lcm/tests/captures/IMG_raw.hex");
const ZLIB: &str = include_str!("../../lcm/tests/captures/IMG_zlib.hex");

/// Returns the images from which Drake's messages were recorded.
fn recorded() -> (ImageRgba8U, ImageDepth32F, ImageLabel16I) {
    let depths = vec![0.5, 1.0, 2.0, 3.0, f32::INFINITY, 0.0];
    (
        Image::from_data(2, 3, (0..24).collect()).unwrap(),
        Image::from_data(2, 3, depths).unwrap(),
        Image::from_data(2, 3, (0..6).collect()).unwrap(),
    )
}

/// Returns the message that our system makes of these images.
fn made(do_compress: bool) -> LcmtImageArray {
    let mut b = DiagramBuilder::new();
    let system =
        ImageToLcmImageArrayT::with_color_depth_label("color", "depth", "label", do_compress);
    let system = b.add_f64("images", system.unwrap());
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_time(1.25);
    let (color, depth, label) = recorded();
    ctx.fix(system.color_image().unwrap(), color).unwrap();
    ctx.fix(system.depth_image().unwrap(), depth).unwrap();
    ctx.fix(system.label_image().unwrap(), label).unwrap();
    ctx.eval(system.image_array_t).unwrap().clone()
}

/// Returns the images that our system extracts, and the number of images that it drops.
fn taken(message: LcmtImageArray) -> (ImageRgba8U, ImageDepth32F, ImageLabel16I, u64) {
    let mut b = DiagramBuilder::new();
    let system = b.add_f64("images", LcmImageArrayToImages::new());
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(system.image_array_t, message).unwrap();
    let color = ctx.eval(system.color_image).unwrap().clone();
    let depth = ctx.eval(system.depth_image).unwrap().clone();
    let label = ctx.eval(system.label_image).unwrap().clone();
    (color, depth, label, system.system().dropped_images())
}

#[test]
fn messages_agree_with_drake() {
    assert_eq!(made(false).encode().unwrap(), bytes(RAW));
    // Compressed data may differ but decompress to the same images; everything else is equal.
    let (mut ours, mut drakes) = (made(true), LcmtImageArray::decode(&bytes(ZLIB)).unwrap());
    for message in [&mut ours, &mut drakes] {
        let (color, depth, label, dropped) = taken(message.clone());
        assert_eq!(((color, depth, label), dropped), (recorded(), 0));
        for image in &mut message.images {
            image.data.clear();
        }
    }
    assert_eq!(ours, drakes);
}

/// pydrake 1.51.1 cuts: it sends 1234567 and 1000 at the first two times.
#[test]
fn times_are_rounded() {
    let mut b = DiagramBuilder::new();
    let mut system = ImageToLcmImageArrayT::new(false);
    let port = system.declare_image_input_port::<Grey8U>("grey").unwrap();
    let other = system.declare_image_input_port::<Grey8U>("grey");
    let message = other.unwrap_err().to_string();
    assert!(
        message.contains("port 'grey': a port of this name"),
        "{message}"
    );
    let system = b.add_f64("images", system);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(system.image_port(port).unwrap(), ImageGrey8U::default())
        .unwrap();
    for (time, utime) in [(1.2345678, 1_234_568), (0.001001, 1001), (0.3, 300_000)] {
        ctx.set_time(time);
        let message = ctx.eval(system.image_array_t).unwrap();
        assert_eq!(
            (message.header.utime, message.images[0].header.utime),
            (utime, utime)
        );
        assert_eq!(
            (message.images[0].width, message.images[0].data.len()),
            (0, 0)
        );
    }
    let message = system.color_image().unwrap_err().to_string();
    assert!(message.contains("with_color_depth_label"), "{message}");
}

#[test]
fn unconnected_ports_are_errors() {
    let mut b = DiagramBuilder::new();
    let system = ImageToLcmImageArrayT::with_color_depth_label("c", "d", "l", false).unwrap();
    let system = b.add_f64("images", system);
    let ctx = b.build().unwrap().default_context();
    let message = ctx.eval(system.image_array_t).unwrap_err().to_string();
    assert!(
        message.contains("'c'") || message.contains("c"),
        "{message}"
    );
}

/// Returns a message of 3 x 2 pixels.
fn image(format: i8, channel: i8, row_stride: i32, data: &[u8]) -> LcmtImage {
    LcmtImage {
        width: 3,
        height: 2,
        row_stride,
        pixel_format: format,
        channel_type: channel,
        data: data.to_vec().into(),
        ..LcmtImage::default()
    }
}

fn array(images: &[LcmtImage]) -> LcmtImageArray {
    LcmtImageArray {
        images: images.to_vec(),
        ..Default::default()
    }
}

const U8: i8 = LcmtImage::CHANNEL_TYPE_UINT8;

#[test]
fn every_pixel_type_round_trips() {
    fn check<P: LcmImagePixel>(width: usize, height: usize, value: impl Fn(usize) -> P::Channel)
    where
        for<'a> ImageRef<'a>: From<&'a Image<P>>,
    {
        let n = width * height * P::CHANNELS;
        let image = Image::<P>::from_data(width, height, (0..n).map(value).collect()).unwrap();
        let mut message = LcmtImage::default();
        let mut received = Image::<P>::new(2, 2);
        for compress in [false, true] {
            encode_image(&image, compress, &mut message).unwrap();
            decode_image(&message, &mut received).unwrap();
            assert!(
                received == image,
                "{} {width} x {height} {compress}",
                P::NAME
            );
        }
    }
    for (w, h) in [
        (0, 0),
        (1, 1),
        (3, 2),
        (17, 5),
        (640, 3),
        (5, 1000),
        (257, 259),
    ] {
        let byte = |i: usize| (i * i / 7) as u8;
        check::<Rgba8U>(w, h, byte);
        check::<Bgra8U>(w, h, byte);
        check::<Rgb8U>(w, h, byte);
        check::<Bgr8U>(w, h, byte);
        check::<Grey8U>(w, h, byte);
        check::<Depth16U>(w, h, |i| (i * 97 / 3) as u16);
        check::<Depth32F>(w, h, |i| {
            if i % 5 == 0 {
                f32::INFINITY
            } else {
                i as f32 * 0.01
            }
        });
        check::<Label16I>(w, h, |i| (i / 40) as i16 - 3);
    }
}

#[test]
fn colors_in_any_channel_order_become_rgba() {
    let n: Vec<u8> = (0..24).collect();
    let rgba = |pixel: fn(u8) -> [u8; 4]| (0..6).flat_map(pixel).collect::<Vec<u8>>();
    for (format, pixel) in [
        (
            3,
            (|i| [4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3]) as fn(u8) -> [u8; 4],
        ),
        (4, |i| [4 * i + 2, 4 * i + 1, 4 * i, 4 * i + 3]),
        (1, |i| [3 * i, 3 * i + 1, 3 * i + 2, 255]),
        (2, |i| [3 * i + 2, 3 * i + 1, 3 * i, 255]),
        (0, |i| [i, i, i, 255]),
    ] {
        let bytes = 6 * [1, 3, 3, 4, 4][format as usize];
        let mut message = image(format, U8, 0, &n[..bytes]);
        let expected = rgba(pixel);
        let (found, ..) = taken(array(&[message.clone()]));
        assert_eq!(found.data(), expected, "{format}");
        message.compression_method = LcmtImage::COMPRESSION_METHOD_ZLIB;
        message.data = flate2_zlib(&n[..bytes]).into();
        let (found, ..) = taken(array(&[message]));
        assert_eq!(found.data(), expected, "{format}");
    }
}

fn flate2_zlib(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::best());
    std::io::Write::write_all(&mut out, data).unwrap();
    out.finish().unwrap()
}

/// pydrake 1.51.1 reads the little-endian case the same way; it ignores the byte order.
#[test]
fn depths_and_labels_of_any_type_are_converted() {
    let words = [0_u16, 1000, 2000, 3000, 65535, 1];
    let little: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let big: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
    for (bigendian, data) in [(false, &little), (true, &big)] {
        let with = |format, channel| LcmtImage {
            bigendian,
            ..image(format, channel, 6, data)
        };
        let (_, depth, ..) = taken(array(&[with(5, 3)]));
        assert_eq!(depth.data(), [0.0, 1.0, 2.0, 3.0, f32::INFINITY, 0.001]);
        for channel in [2, 3] {
            let (.., label, _) = taken(array(&[with(6, channel)]));
            assert_eq!(label.data(), [0, 1000, 2000, 3000, -1, 1]);
        }
    }
    let (.., label, _) = taken(array(&[image(6, 1, 3, &[0, 1, 2, 3, 4, 255])]));
    assert_eq!(label.data(), [0, 1, 2, 3, 4, 255]);
    let metres = [0.5_f32, f32::NAN, f32::INFINITY, 0.0, -1.0, 3.0];
    let big: Vec<u8> = metres.iter().flat_map(|m| m.to_be_bytes()).collect();
    let mut message = image(5, 6, 12, &big);
    message.bigendian = true;
    let (_, depth, ..) = taken(array(&[message]));
    let same = depth.data().iter().zip(metres);
    assert!(same.clone().count() == 6 && same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn rows_may_be_padded() {
    let rows: Vec<u8> = (0..32).collect();
    let expected: Vec<u8> = (0..12).chain(16..28).collect();
    for (data, compressed) in [
        (rows.clone(), 0),
        (rows[..28].to_vec(), 0),
        (rows[..].iter().copied().chain([9; 5]).collect(), 0),
        (flate2_zlib(&rows), 1),
        (flate2_zlib(&rows[..28]), 1),
    ] {
        let mut message = image(3, U8, 16, &data);
        message.compression_method = compressed;
        let (color, .., dropped) = taken(array(&[message]));
        assert_eq!((color.data(), dropped), (&expected[..], 0));
    }
    // Big-endian words may be padded as well.
    let mut message = image(5, 3, 8, &[0, 1, 0, 2, 0, 3, 9, 9, 0, 4, 0, 5, 0, 6]);
    message.bigendian = true;
    let mut depth = ImageDepth16U::default();
    decode_image::<Depth16U>(&message, &mut depth).unwrap();
    assert_eq!(depth.data(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_first_image_of_each_kind_is_used() {
    let color = |value: u8| image(3, U8, 12, &[value; 24]);
    let grey = image(0, U8, 3, &[7; 6]);
    let mask = image(7, U8, 3, &[7; 6]);
    let depth = |value: f32| image(5, 6, 12, &value.to_le_bytes().repeat(6));
    let message = array(&[
        mask.clone(),
        grey.clone(),
        color(1),
        depth(2.0),
        color(3),
        depth(4.0),
    ]);
    let (found, depth, label, dropped) = taken(message);
    assert_eq!((found.at(0, 0)[0], depth.at(0, 0)[0]), (1, 2.0));
    assert_eq!((label.width(), dropped), (0, 0), "there is no label image");
    // Brightness is used if there is no colour; masks have no port.
    let (found, .., dropped) = taken(array(&[mask, grey]));
    assert_eq!((found.at(2, 1), dropped), (&[7, 7, 7, 255][..], 0));
}

#[test]
fn messages_may_hold_image_files() {
    let io = ImageIo::new();
    let colors = ImageRgb8U::from_data(3, 2, (0..18).collect()).unwrap();
    let png = io.save_to_buffer(&colors, ImageFileFormat::Png).unwrap();
    let jpeg = io.save_to_buffer(&colors, ImageFileFormat::Jpeg).unwrap();
    let file = |format, channel, method, data: &[u8]| LcmtImage {
        compression_method: method,
        ..image(format, channel, 0, data)
    };
    let expected: Vec<u8> = (0..6)
        .flat_map(|i| [3 * i, 3 * i + 1, 3 * i + 2, 255])
        .collect();
    // The channel order of a file is in the file.
    for format in [1, 2, 3, 4] {
        let (found, .., dropped) = taken(array(&[file(format, U8, 3, &png)]));
        assert_eq!((found.data(), dropped), (&expected[..], 0));
        let (found, .., dropped) = taken(array(&[file(format, U8, 2, &jpeg)]));
        let worst = found
            .data()
            .iter()
            .zip(&expected)
            .map(|(a, b)| a.abs_diff(*b))
            .max();
        assert!(worst <= Some(6) && dropped == 0, "{worst:?}: JPEG is lossy");
    }
    let depth = ImageDepth16U::from_data(3, 2, vec![0, 1000, 2000, 3000, 65535, 1]).unwrap();
    let words = io.save_to_buffer(&depth, ImageFileFormat::Png).unwrap();
    let (_, found, ..) = taken(array(&[file(5, 3, 3, &words)]));
    assert_eq!(found.data(), [0.0, 1.0, 2.0, 3.0, f32::INFINITY, 0.001]);
    let (.., found, _) = taken(array(&[file(6, 2, 3, &words)]));
    assert_eq!(found.data(), [0, 1000, 2000, 3000, -1, 1]);

    for (message, expected) in [
        (file(3, U8, 2, &png), "must be JPEG, got PNG"),
        (file(3, U8, 3, &png[..30]), "cannot read the PNG image"),
        (
            file(5, 6, 3, &words),
            "says Depth of F32, but its PNG file has Depth16U",
        ),
        (
            file(5, 3, 3, &png),
            "says Depth of U16, but its PNG file has Rgb8U",
        ),
        (
            file(1, U8, 3, &words),
            "says Rgb of U8, but its PNG file has Depth16U",
        ),
        (
            LcmtImage {
                width: 4,
                ..file(3, U8, 3, &png)
            },
            "says 4 x 2 pixels, but its PNG file has 3 x 2",
        ),
    ] {
        let error = match message.pixel_format {
            5 => decode_image::<Depth32F>(&message, &mut Image::default()),
            _ => decode_image::<Rgba8U>(&message, &mut Image::default()),
        };
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let (color, depth, _, dropped) = taken(array(&[message]));
        assert_eq!((color.width(), depth.width(), dropped), (0, 0, 1));
    }
}

#[test]
fn invalid_images_are_dropped_and_counted() {
    let good = image(3, U8, 12, &[1; 24]);
    let packed = |n: usize| LcmtImage {
        data: flate2_zlib(&vec![1; n]).into(),
        compression_method: 1,
        ..good.clone()
    };
    let mut text = String::new();
    let mut cut_off = packed(24);
    cut_off.data.truncate(cut_off.data.len() - 1);
    let mut damaged = packed(24);
    let sound = damaged.data.clone();
    refill_bytes(&mut damaged.data, |data| {
        data.extend(sound);
        *data.last_mut().unwrap() ^= 1;
    });
    let name = "front\n".repeat(100);
    let header = LcmtHeaderOf(&name);
    for message in [
        LcmtImage {
            data: vec![1; 23].into(),
            ..good.clone()
        },
        LcmtImage {
            width: -3,
            ..good.clone()
        },
        LcmtImage {
            width: 0,
            ..good.clone()
        },
        LcmtImage {
            height: i32::MAX,
            ..good.clone()
        },
        LcmtImage {
            width: i32::MAX,
            height: i32::MAX,
            row_stride: 0,
            ..good.clone()
        },
        LcmtImage {
            row_stride: 11,
            ..good.clone()
        },
        LcmtImage {
            row_stride: -12,
            ..good.clone()
        },
        LcmtImage {
            row_stride: i32::MAX,
            ..good.clone()
        },
        LcmtImage {
            channel_type: 0,
            ..good.clone()
        },
        LcmtImage {
            channel_type: 3,
            ..good.clone()
        },
        LcmtImage {
            compression_method: -1,
            ..good.clone()
        },
        LcmtImage {
            compression_method: 1,
            ..good.clone()
        },
        packed(23),
        packed(25),
        packed(1 << 20),
        cut_off,
        damaged,
        LcmtImage {
            width: 20_000,
            height: 20_000,
            row_stride: 0,
            ..packed(1 << 22)
        },
        LcmtImage {
            width: 10_000,
            height: 2000,
            row_stride: 1 << 30,
            ..packed(24)
        },
        LcmtImage {
            width: 10_000,
            height: 10_000,
            row_stride: 0,
            ..packed(24)
        },
        LcmtImage {
            header: header.into(),
            width: -1,
            ..good.clone()
        },
    ] {
        let mut image = ImageRgba8U::new(5, 5);
        let error = decode_image::<Rgba8U>(&message, &mut image).unwrap_err();
        assert_eq!(image.size(), 0, "the image is empty after '{error}'");
        writeln!(text, "{error}").unwrap();
        let (color, .., dropped) = taken(array(&[message, good.clone()]));
        assert_eq!((color.size(), dropped), (0, 1), "{error}");
    }
    assert_eq!(text.lines().count(), 21, "each error is one line: {text}");
    assert!(text.lines().all(|line| line.len() < 220), "{text}");
    for expected in [
        "3 x 2 pixels are 24 bytes, but the message has 23",
        "both zero or both positive, got -3 x 2 pixels",
        "row_stride must be 0 or at least 12 bytes for 3 pixels, got 11",
        "channel_type must be unsigned 8 bits (1) with pixel_format 3 (Rgba), got 3",
        "compression_method must be none (0), zlib (1), JPEG (2) or PNG (3), got -1",
        "the zlib data are damaged: incorrect header check",
        "2 rows of 12 bytes are 24 bytes, but the zlib data hold 23",
        "the zlib data hold more than the 24 bytes",
        "the zlib data are damaged: incorrect data check",
        "the zlib data are damaged: they end too early",
        "bytes of memory, 536870912 are allowed",
        "bytes of zlib data cannot hold",
    ] {
        assert!(text.contains(expected), "'{expected}' is not in: {text}");
    }
}

/// A header with the given frame name.
struct LcmtHeaderOf<'a>(&'a str);
impl From<LcmtHeaderOf<'_>> for tarragon_lcm::types::LcmtHeader {
    fn from(of: LcmtHeaderOf<'_>) -> Self {
        Self {
            frame_name: of.0.into(),
            ..Self::default()
        }
    }
}
