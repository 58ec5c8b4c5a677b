//! Connections byte by byte, for requests that no proper client sends.

use nalgebra::Vector3;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tarragon_sensors::{ImageFileFormat, ImageIo, ImageRgba8U};
use tarragon_visualization::{Meshcat, SurfaceStyle};

pub(crate) fn open(meshcat: &Meshcat) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", meshcat.port())).unwrap();
    let limit = Some(Duration::from_secs(30));
    stream.set_read_timeout(limit).unwrap();
    stream.set_write_timeout(limit).unwrap();
    stream
}

/// Returns the opening handshake.
pub(crate) fn request(meshcat: &Meshcat, path: &str) -> String {
    request_to(meshcat.port(), path)
}
pub(crate) fn request_to(port: u16, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Version: 13\r\n\r\n"
    )
}

/// Returns a page after the handshake, or the status (0: closed) if it was refused.
pub(crate) fn upgrade(meshcat: &Meshcat, path: &str) -> Result<TcpStream, u16> {
    let mut stream = open(meshcat);
    let refused = |_| 0u16;
    let request = request(meshcat, path);
    stream.write_all(request.as_bytes()).map_err(refused)?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).map_err(refused)?;
        head.push(byte[0]);
    }
    match String::from_utf8(head).unwrap()[9..12].parse().unwrap() {
        101 => Ok(stream),
        status => Err(status),
    }
}

/// Returns a masked frame as clients send it, with the given first byte.
pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        n @ 0..=125 => bytes.push(0x80 | n as u8),
        n @ 126..=0xffff => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&(n as u16).to_be_bytes());
        }
        n => {
            bytes.push(0x80 | 127);
            bytes.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    let mask = [1, 2, 3, 4];
    bytes.extend_from_slice(&mask);
    let payload = payload.iter().zip(mask.iter().cycle());
    bytes.extend(payload.map(|(b, m)| b ^ m));
    bytes
}

/// Sets an object whose message has about `length` bytes and differs for every seed.
pub(crate) fn big_mesh(meshcat: &Meshcat, path: &str, length: usize, seed: u32) {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8)
    };
    // Each position is three numbers of 4 bytes.
    let vertices: Vec<Vector3<f64>> = (0..length / 12)
        .map(|_| Vector3::new(next(), next(), next()))
        .collect();
    meshcat
        .set_triangle_mesh(path, &vertices, &[[0, 1, 2]], &SurfaceStyle::default())
        .unwrap();
}

pub(crate) fn png(image: &ImageRgba8U) -> Vec<u8> {
    ImageIo::default()
        .save_to_buffer(image, ImageFileFormat::Png)
        .unwrap()
}
