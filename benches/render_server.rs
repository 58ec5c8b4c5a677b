//! Benches of the render server: requests over loopback for a robot of 100,000 triangles in 25
//! links at 640 x 480, whose links move from one request to the next.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use base64::Engine;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use tarragon::geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon::render_server::{RenderServer, RenderServerParams};

/// Links of the robot, and squares along each side of a link's surface: two triangles each.
const LINKS: usize = 25;
const SQUARES: usize = 45;
/// Clients that post at once.
const CLIENTS: u64 = 2;

/// A bumpy sheet that is closed to a ball, with vertices as Drake's client writes them.
fn link() -> (String, usize, usize) {
    let n = SQUARES;
    let mut bytes = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let [u, v] = [i, j].map(|k| k as f32 / n as f32);
            let (theta, phi) = (std::f32::consts::TAU * u, std::f32::consts::PI * v);
            let r = 0.1 + 0.004 * (9.0 * theta).sin() * (11.0 * phi).sin();
            let p = [phi.sin() * theta.cos(), phi.sin() * theta.sin(), phi.cos()];
            bytes.extend(p.map(|x| (r * x).to_le_bytes()).as_flattened());
        }
    }
    let split = bytes.len();
    for i in 0..n {
        for j in 0..n {
            let a = (i * (n + 1) + j) as u32;
            let [b, c, d] = [a + 1, a + n as u32 + 1, a + n as u32 + 2];
            let corners = [a, b, d, a, d, c].map(u32::to_le_bytes);
            bytes.extend(corners.as_flattened());
        }
    }
    let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
    (text, split, bytes.len())
}

/// The request for a scene, in which the links are turned by an angle (rad).
struct Robot {
    data: String,
    split: usize,
    bytes: usize,
}

impl Robot {
    fn request(&self, angle: f64, image_type: &str) -> Vec<u8> {
        let (s, c) = angle.sin_cos();
        let node = |i: usize| {
            let [x, y] = [i % 5, i / 5].map(|k| 0.25 * k as f64 - 0.5);
            json!({"name": format!("mesh{i}"), "mesh": i, "matrix":
                [c, s, 0.0, 0.0, -s, c, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, 1.2, 1.0]})
        };
        let mut nodes: Vec<_> = (0..LINKS).map(node).collect();
        nodes.push(json!({"name": "Camera Node", "camera": 0, "matrix":
            [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0]}));
        nodes.push(json!({"name": "Renderer Node", "children": (0..=LINKS).collect::<Vec<_>>()}));
        let vertices = (SQUARES + 1) * (SQUARES + 1);
        let each = |make: &dyn Fn(usize) -> Vec<serde_json::Value>| {
            (0..LINKS).flat_map(make).collect::<Vec<_>>()
        };
        let uri = format!("data:application/octet-stream;base64,{}", self.data);
        let scene = json!({
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [LINKS + 1]}],
            "cameras": [{"type": "perspective", "perspective": {"yfov": 0.9, "znear": 0.05}}],
            "nodes": nodes,
            "meshes": each(&|i| vec![json!({"primitives": [{"mode": 4, "material": i,
                "attributes": {"POSITION": 2 * i}, "indices": 2 * i + 1}]})]),
            "materials": each(&|i| vec![json!({"pbrMetallicRoughness": {"metallicFactor": 0.0,
                "roughnessFactor": 1.0,
                "baseColorFactor": [i as f64 / LINKS as f64, 0.4, 0.3, 1.0]}})]),
            "accessors": each(&|i| vec![
                json!({"bufferView": 2 * i, "componentType": 5126, "count": vertices,
                    "type": "VEC3"}),
                json!({"bufferView": 2 * i + 1, "componentType": 5125,
                    "count": 6 * SQUARES * SQUARES, "type": "SCALAR"})]),
            "bufferViews": each(&|i| vec![
                json!({"buffer": i, "byteLength": self.split}),
                json!({"buffer": i, "byteOffset": self.split,
                    "byteLength": self.bytes - self.split})]),
            "buffers": each(&|_| vec![json!({"byteLength": self.bytes, "uri": uri})]),
        });
        let scene = scene.to_string();
        let hash: String = Sha256::digest(&scene)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let mut body = String::new();
        for (name, value) in [
            ("center_x", "319.5"),
            ("center_y", "239.5"),
            ("focal_x", "500"),
            ("focal_y", "500"),
            ("near", "0.05"),
            ("far", "20"),
            ("min_depth", "0.1"),
            ("max_depth", "10"),
            ("width", "640"),
            ("height", "480"),
            ("image_type", image_type),
            ("scene_sha256", &hash),
            ("scene", &scene),
        ] {
            body += &format!(
                "--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
        }
        body += "--B--\r\n";
        let head = format!(
            "POST /render HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\
             Content-Type: multipart/form-data; boundary=B\r\n\r\n",
            body.len()
        );
        (head + &body).into_bytes()
    }
}

/// Posts a request and checks that an image comes back.
fn post(address: SocketAddr, request: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    assert!(reply.starts_with(b"HTTP/1.1 200"));
}

fn requests(c: &mut Criterion) {
    let (data, split, bytes) = link();
    let robot = Robot { data, split, bytes };
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let params = RenderServerParams {
        port: 0,
        ..RenderServerParams::default()
    };
    let server = RenderServer::start(params, Box::new(engine)).unwrap();
    let address = server.address();
    let mut group = c.benchmark_group("render_server");
    for image_type in ["color", "depth", "label"] {
        // More poses than scenes that the server knows by their hash.
        let angle = |i: u64| 0.01 * (i % 300) as f64;
        let all: Vec<_> = (0..300)
            .map(|i| robot.request(angle(i), image_type))
            .collect();
        let next = AtomicU64::new(0);
        group.throughput(Throughput::Elements(1));
        group.bench_function(
            format!("{image_type}.robot_100k.two_clients/640x480"),
            |b| {
                b.iter_custom(|n| {
                    let start = std::time::Instant::now();
                    std::thread::scope(|scope| {
                        for k in 0..CLIENTS {
                            let share = n / CLIENTS + u64::from(k < n % CLIENTS);
                            let (next, all) = (&next, &all);
                            scope.spawn(move || {
                                for _ in 0..share {
                                    let i = next.fetch_add(1, Ordering::Relaxed);
                                    post(address, &all[(i % 300) as usize]);
                                }
                            });
                        }
                    });
                    start.elapsed()
                });
            },
        );
    }
    group.finish();
    assert_eq!(server.stats().refused, 0);
}

criterion_group!(benches, requests);
criterion_main!(benches);
