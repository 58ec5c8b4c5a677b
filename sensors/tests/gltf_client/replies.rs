//! Replies of every kind.

use super::recorder::{Answer, Recorder, http, png, tiff};
use super::{HEIGHT, WIDTH, color_with, depth_with, engine, label_with, nothing};
use tarragon_sensors::*;

const PIXELS: usize = WIDTH * HEIGHT;

/// A server that always sends these bytes.
fn sending(reply: Vec<u8>) -> Recorder {
    Recorder::new(move |_| Answer::Bytes(reply.clone()))
}

fn color_of(file: &[u8]) -> Result<ImageRgba8U> {
    let server = sending(http("200 OK", file));
    color_with(&engine(&server), &nothing())
}

fn depth_of(file: &[u8]) -> Result<ImageDepth32F> {
    let server = sending(http("200 OK", file));
    depth_with(&engine(&server), &nothing())
}

fn label_of(file: &[u8]) -> Result<ImageLabel16I> {
    let server = sending(http("200 OK", file));
    label_with(&engine(&server), &nothing())
}

fn rgb(color: [u8; 3]) -> ImageRgb8U {
    ImageRgb8U::from_data(WIDTH, HEIGHT, color.repeat(PIXELS)).unwrap()
}

/// A chunk of a PNG file.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in kind.iter().chain(data) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    let length = (data.len() as u32).to_be_bytes();
    [&length[..], kind, data, &(!crc).to_be_bytes()].concat()
}

/// A PNG file of any form, with rows that are all the same and uncompressed.
fn raw_png(bits: u8, color_type: u8, palette: &[u8], row: &[u8]) -> Vec<u8> {
    let rows: Vec<u8> = [&[0], row].concat().repeat(HEIGHT);
    let mut adler = (1u32, 0u32);
    let mut zlib = vec![0x78, 1];
    for (i, block) in rows.chunks(65535).enumerate() {
        zlib.push(u8::from((i + 1) * 65535 >= rows.len()));
        zlib.extend((block.len() as u16).to_le_bytes());
        zlib.extend((!(block.len() as u16)).to_le_bytes());
        zlib.extend(block);
    }
    for byte in &rows {
        adler.0 = (adler.0 + u32::from(*byte)) % 65521;
        adler.1 = (adler.1 + adler.0) % 65521;
    }
    zlib.extend((adler.1 << 16 | adler.0).to_be_bytes());
    let size = [WIDTH as u32, HEIGHT as u32].map(u32::to_be_bytes).concat();
    let header = [&size[..], &[bits, color_type, 0, 0, 0]].concat();
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    file.extend(chunk(b"IHDR", &header));
    if !palette.is_empty() {
        file.extend(chunk(b"PLTE", palette));
    }
    file.extend(chunk(b"IDAT", &zlib));
    file.extend(chunk(b"IEND", &[]));
    file
}

#[test]
fn colors_keep_their_opacity_or_are_opaque() {
    let rgba = ImageRgba8U::from_data(WIDTH, HEIGHT, [10, 20, 30, 99].repeat(PIXELS)).unwrap();
    assert_eq!(color_of(&png(&rgba)).unwrap(), rgba);
    let opaque = color_of(&png(&rgb([1, 2, 3]))).unwrap();
    assert!(
        opaque
            .data()
            .as_chunks()
            .0
            .iter()
            .all(|p| *p == [1, 2, 3, 255])
    );
    let palette = raw_png(8, 3, &[0, 0, 0, 10, 20, 30], &[1; WIDTH]);
    let color = color_of(&palette).unwrap();
    assert!(
        color
            .data()
            .as_chunks()
            .0
            .iter()
            .all(|p| *p == [10, 20, 30, 255])
    );
}

#[test]
fn depths_are_metres_or_millimetres() {
    let mut metres = ImageDepth32F::with_value(WIDTH, HEIGHT, 1.5);
    let special = [0.0, f32::INFINITY, 0.05, 11.0, f32::NAN, -1.0];
    metres.data_mut()[..6].copy_from_slice(&special);
    let read = depth_of(&tiff(&metres)).unwrap();
    let bits = |image: &ImageDepth32F| image.data().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&read), bits(&metres), "the depth range is not applied");

    let mut mm = ImageDepth16U::with_value(WIDTH, HEIGHT, 1500);
    mm.data_mut()[..4].copy_from_slice(&[0, 65535, 50, 11000]);
    for file in [png(&mm), tiff(&mm)] {
        let read = depth_of(&file).unwrap();
        assert_eq!(read.data()[..5], [0.0, f32::INFINITY, 0.05, 11.0, 1.5]);
    }
}

#[test]
fn labels_are_red_and_green() {
    let mut colors = rgb([255, 255, 255]);
    colors.data_mut()[..9].copy_from_slice(&[254, 127, 0, 0, 0, 0, 44, 1, 9]);
    let labels = label_of(&png(&colors)).unwrap();
    assert_eq!(labels.data()[..4], [32766, 0, 300, 32764]);
    let rgba = ImageRgba8U::from_data(WIDTH, HEIGHT, [7, 1, 0, 0].repeat(PIXELS)).unwrap();
    assert_eq!(label_of(&png(&rgba)).unwrap().at(5, 6), [263]);
    let palette = raw_png(8, 3, &[0, 0, 0, 2, 1, 0], &[1; WIDTH]);
    assert_eq!(label_of(&palette).unwrap().at(5, 6), [258]);
    let error = label_of(&png(&rgb([255, 128, 0]))).unwrap_err().to_string();
    assert!(
        error.contains("got (255, 128, 0); the server must neither light"),
        "{error}"
    );
}

#[test]
fn images_of_the_wrong_kind_are_refused() {
    let refused = |result: Result<()>, what: &str| {
        let error = result.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Parse, "{text}");
        assert!(text.contains(what), "{what}: {text}");
        assert!(text.contains("/render with HTTP code 200: "), "{text}");
    };
    let grey = raw_png(8, 0, &[], &[7; WIDTH]);
    let grey_and_opacity = raw_png(8, 4, &[], &[7; 2 * WIDTH]);
    let grey16 = raw_png(16, 0, &[], &[7; 2 * WIDTH]);
    let rgb16 = raw_png(16, 2, &[], &[7; 6 * WIDTH]);
    let jpeg = ImageIo::new()
        .save_to_buffer(&rgb([1, 2, 3]), ImageFileFormat::Jpeg)
        .unwrap();
    let colors = "must be an 8-bit RGB, RGBA or palette PNG, got";
    for file in [
        &grey,
        &grey_and_opacity,
        &grey16,
        &rgb16,
        &tiff(&rgb([1, 2, 3])),
    ] {
        refused(color_of(file).map(drop), colors);
        refused(label_of(file).map(drop), colors);
    }
    let depths = "must be a TIFF of 32-bit floats (m), or a PNG or TIFF of 16-bit grey (mm), got";
    for file in [&grey, &grey_and_opacity, &rgb16, &png(&rgb([1, 2, 3]))] {
        refused(depth_of(file).map(drop), depths);
    }
    let image = "image type that is supported, i.e., PNG or TIFF, got";
    for file in [&jpeg, &b"hello".to_vec()] {
        refused(color_of(file).map(drop), image);
        refused(depth_of(file).map(drop), image);
        refused(label_of(file).map(drop), image);
    }
    // Right headers, but the end is missing.
    let whole = png(&rgb([1, 2, 3]));
    refused(color_of(&whole[..whole.len() - 20]).map(drop), "");
}

#[test]
fn images_of_another_size_are_refused() {
    let wide = png(&ImageRgba8U::new(WIDTH + 1, HEIGHT));
    let error = color_of(&wide).unwrap_err().to_string();
    let expected = "the color image must have the size 64 x 48 of its camera, got 65 x 48";
    assert!(error.contains(expected), "{error}");
    let huge = tiff(&ImageDepth32F::new(WIDTH, HEIGHT + 2));
    let error = depth_of(&huge).unwrap_err().to_string();
    assert!(
        error.contains("64 x 48 of its camera, got 64 x 50"),
        "{error}"
    );
}

#[test]
fn every_form_of_http_reply_is_read() {
    let file = png(&rgb([1, 2, 3]));
    let chunked = [
        format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
            file.len()
        )
        .into_bytes(),
        file.clone(),
        b"\r\n0\r\n\r\n".to_vec(),
    ]
    .concat();
    let until_close = [
        b"HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n".to_vec(),
        file.clone(),
    ]
    .concat();
    let text = [
        format!(
            "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
            file.len()
        )
        .into_bytes(),
        file,
    ]
    .concat();
    for reply in [chunked, until_close, text] {
        let server = sending(reply);
        let color = color_with(&engine(&server), &nothing()).unwrap();
        assert_eq!(color.at(0, 0), [1, 2, 3, 255]);
    }
}
