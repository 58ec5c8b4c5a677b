//! A client that posts forms, byte by byte if necessary.

use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Response of the server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

/// Fields of a form, in order.
#[derive(Clone)]
pub(crate) struct Fields(pub(crate) Vec<(String, Vec<u8>)>);

impl Fields {
    /// Returns the form of an image of 64 by 48 pixels.
    pub(crate) fn new(image_type: &str, scene: &str) -> Self {
        let hash: String = Sha256::digest(scene)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let mut fields = Self(Vec::new());
        for (name, value) in [
            ("center_x", "31.000000"),
            ("center_y", "23.250000"),
            ("far", "20.000000"),
            ("focal_x", "50.000000"),
            ("focal_y", "51.000000"),
            ("fov_x", "1.138626"),
            ("fov_y", "0.879685"),
            ("height", "48"),
            ("image_type", image_type),
            ("max_depth", "10.000000"),
            ("min_depth", "0.100000"),
            ("near", "0.050000"),
            ("scene_sha256", &hash),
            ("submit", "Render"),
            ("width", "64"),
            ("scene", scene),
        ] {
            fields.0.push((name.into(), value.into()));
        }
        fields
    }
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.0.push((name.into(), value.into()));
        self
    }
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.0.retain(|(other, _)| other != name);
        self
    }
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (name, value) in &self.0 {
            body.extend(b"--B\r\nContent-Disposition: form-data; name=\"");
            body.extend(name.as_bytes());
            body.extend(b"\"");
            if name == "scene" {
                body.extend(b"; filename=\"1-color.gltf\"\r\nContent-Type: model/gltf+json");
            }
            body.extend(b"\r\n\r\n");
            body.extend(value);
            body.extend(b"\r\n");
        }
        body.extend(b"--B--\r\n");
        body
    }
    pub(crate) fn request(&self) -> Vec<u8> {
        let body = self.body();
        let head = format!(
            "POST /render HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nContent-Length: {}\r\n\
             Content-Type: multipart/form-data; boundary=B\r\n\r\n",
            body.len()
        );
        [head.into_bytes(), body].concat()
    }
    pub(crate) fn post(&self, address: SocketAddr) -> Reply {
        exchange(address, &self.request())
    }
}

/// Sends the bytes of a request and reads the response.
pub(crate) fn exchange(address: SocketAddr, request: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(request);
    read(&mut stream).unwrap()
}

/// Reads a response; `None` if the connection ends before.
pub(crate) fn read(stream: &mut TcpStream) -> Option<Reply> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 1 << 16];
    loop {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head.to_ascii_lowercase();
            let length = length.split("content-length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                let body = bytes[end + 4..end + 4 + length].to_vec();
                return Some(Reply { status, head, body });
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend(&chunk[..n]),
        }
    }
}
