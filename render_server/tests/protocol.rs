//! Requests, responses and errors of the protocol.

use crate::http::{Fields, Reply, exchange, read};
use crate::support::{Document, server};
use nalgebra::{Isometry3, Matrix4, Vector3};
use proptest::prelude::*;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use tarragon_framework::math::rpy;
use tarragon_geometry::render::*;
use tarragon_geometry::{BoxShape, GeometryId, PerceptionProperties, RenderLabel, Rgba};
use tarragon_render_server::{RenderServer, RenderServerParams};
use tarragon_sensors::ImageIo;

fn color(reply: &Reply) -> ImageRgba8U {
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(
        reply.head.contains("content-type: image/png"),
        "{}",
        reply.head
    );
    ImageIo::new().load_from_buffer_as(&reply.body).unwrap()
}
fn depth(reply: &Reply) -> ImageDepth32F {
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(
        reply.head.contains("content-type: image/tiff"),
        "{}",
        reply.head
    );
    ImageIo::new().load_from_buffer_as(&reply.body).unwrap()
}
/// Decodes labels as Drake's client does.
fn label(reply: &Reply) -> ImageLabel16I {
    let colors = color(reply);
    let decoded = colors.data().chunks_exact(4).map(|p| match p[..3] {
        [255, 255, 255] => RenderLabel::DONT_CARE.value(),
        [r, g, ..] => i16::from_le_bytes([r, g]),
        _ => unreachable!("a pixel has four channels"),
    });
    let (width, height) = (colors.width(), colors.height());
    ImageLabel16I::from_data(width, height, decoded.collect()).unwrap()
}

/// Drake 1.51.1's requests for a box of 0.2 x 0.3 x 0.4 m, answered with what the engine draws.
#[test]
fn recorded_requests_are_answered() {
    let server = server(RenderServerParams::default());
    let captures = [
        include_bytes!("captures/gltf_whole_request_box_color.http").to_vec(),
        include_bytes!("captures/gltf_whole_request_box_depth.http").to_vec(),
        include_bytes!("captures/gltf_whole_request_box_label.http").to_vec(),
    ];
    let [colors, depths, labels] = captures.map(|bytes| exchange(server.address(), &bytes));
    let (colors, depths, labels) = (color(&colors), depth(&depths), label(&labels));

    // The pose of the camera is that of the program that made the captures.
    let turn = rpy::<f64>;
    let x_wb = Isometry3::from_parts(Vector3::new(0.1, 0.2, -0.3).into(), turn(0.2, 0.1, 0.3));
    let x_bc = Isometry3::from_parts(
        Vector3::new(0.01, 0.02, 0.03).into(),
        turn(0.05, 0.06, 0.07),
    );
    let mut engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    let id = GeometryId::new();
    let properties = PerceptionProperties::phong(Rgba::new(0.1, 0.2, 0.3, 1.0).unwrap())
        .with_label(RenderLabel::new(300).unwrap());
    let shape = BoxShape::new(0.2, 0.3, 0.4).unwrap().into();
    engine.register_visual(id, &shape, &properties).unwrap();
    let poses = |_| Some(Isometry3::translation(0.0, 0.0, 2.0));
    let view = RenderView::new(x_wb * x_bc, &poses);
    let info = CameraInfo::new(64, 48, 50.0, 51.0, 31.0, 23.25).unwrap();
    let clipping = ClippingRange::new(0.05, 20.0).unwrap();
    let core = RenderCameraCore::new("r", info, clipping, Isometry3::identity());
    let camera = ColorRenderCamera::from_core(core.clone());
    let range = DepthRange::new(0.1, 10.0).unwrap();
    let depth_camera = DepthRenderCamera::from_core(core, range).unwrap();
    let (mut c, mut d, mut l) = (
        ImageRgba8U::new(64, 48),
        ImageDepth32F::new(64, 48),
        ImageLabel16I::new(64, 48),
    );
    engine.render_color(&view, &camera, &mut c).unwrap();
    engine.render_depth(&view, &depth_camera, &mut d).unwrap();
    engine.render_label(&view, &camera, &mut l).unwrap();
    assert_eq!(labels, l);
    assert!(l.data().contains(&300) && l.data().contains(&RenderLabel::EMPTY.value()));
    for (found, expected) in depths.data().iter().zip(d.data()) {
        // Sizes of the box are rounded to single precision on their way.
        assert!(
            found == expected || (found - expected).abs() < 1e-6,
            "{found} {expected}"
        );
    }
    for (found, expected) in colors.data().iter().zip(c.data()) {
        assert!(found.abs_diff(*expected) <= 1, "{found} {expected}");
    }
}

#[test]
fn bad_requests_are_told_how_to_mend_them() {
    let params = RenderServerParams {
        max_pixels: 10_000,
        max_triangles: 100,
        ..RenderServerParams::default()
    };
    let server = server(params);
    let scene = Document::cube().to_string();
    let good = Fields::new("depth", &scene);
    assert_eq!(good.post(server.address()).status, 200);
    let mut many = Document::cube();
    many.instances = 20;
    let cases = [
        (
            good.clone().without("focal_x"),
            400,
            "must have the field 'focal_x'",
        ),
        (
            good.clone().without("min_depth"),
            400,
            "must have the field 'min_depth'",
        ),
        (
            good.clone().without("scene"),
            400,
            "must have the field 'scene'",
        ),
        (
            good.clone().with("near", "x"),
            400,
            "near must be a finite number, got 'x'",
        ),
        (
            good.clone().with("far", "inf"),
            400,
            "far must be a finite number, got 'inf'",
        ),
        (good.clone().with("far", "0.01"), 400, "far"),
        (
            good.clone().with("width", "-1"),
            400,
            "width must be a positive number",
        ),
        (good.clone().with("width", "4000"), 413, "--max-pixels"),
        (
            good.clone().with("image_type", "normals"),
            400,
            "'color', 'depth' or 'label'",
        ),
        (
            good.clone().with("scene_sha256", "12"),
            400,
            "must be the SHA-256 of the scene",
        ),
        (Fields::new("color", "{"), 400, "must be valid JSON"),
        (Fields::new("color", "{}"), 400, "a node must have a camera"),
        (
            Fields::new("color", &many.to_string()),
            413,
            "--max-triangles",
        ),
        (
            good.clone().with("near", &"1".repeat(2000)),
            400,
            "'near' must be text of at most",
        ),
    ];
    for (fields, status, why) in cases {
        let reply = fields.post(server.address());
        assert_eq!(
            (reply.status, reply.text().contains(why)),
            (status, true),
            "{}",
            reply.text()
        );
        assert!(
            reply.head.contains("content-type: text/plain"),
            "{}",
            reply.head
        );
        assert!(reply.body.len() < 8192 && !reply.text().contains('\n'));
    }
    // Unknown names and any order are fine.
    let mut any_order = good.with("quality", "best");
    any_order.0.reverse();
    assert_eq!(any_order.post(server.address()).status, 200);
}

#[test]
fn other_requests_get_the_status_of_http() {
    let params = RenderServerParams {
        max_request_bytes: 100_000,
        ..RenderServerParams::default()
    };
    let server = server(params);
    let body = Fields::new("color", &Document::cube().to_string()).body();
    let ask = |head: &str, body: &[u8]| {
        let length = format!("Host: x\r\nContent-Length: {}\r\n\r\n", body.len());
        let head = format!("{head}{length}");
        exchange(server.address(), &[head.as_bytes(), body].concat())
    };
    let form = "Content-Type: multipart/form-data; boundary=B\r\n";
    let cases = [
        (
            ask("GET /render HTTP/1.1\r\n", b""),
            405,
            "must be POST, got GET",
        ),
        (
            ask("GET /other HTTP/1.1\r\n", b""),
            404,
            "must be /render, got '/other'",
        ),
        (
            ask("POST /render HTTP/1.1\r\n", &body),
            400,
            "must be multipart/form-data",
        ),
        (
            ask(&format!("POST /render HTTP/1.1\r\n{form}"), b"--B"),
            400,
            "multipart form",
        ),
        (
            ask(
                &format!("POST /render HTTP/1.1\r\n{form}Origin: http://a.b\r\n"),
                &body,
            ),
            403,
            "must not come from a web page, got the origin 'http://a.b'",
        ),
        (
            ask(&format!("POST /render HTTP/1.1\r\n{form}"), &[0; 200_000]),
            413,
            "--max-request-mib",
        ),
        (
            ask("GET / HTTP/1.1\r\n", b""),
            200,
            "tarragon render server",
        ),
        (
            ask(&format!("POST /render/ HTTP/1.1\r\n{form}"), &body),
            200,
            "",
        ),
    ];
    for (reply, status, why) in cases {
        let text = String::from_utf8_lossy(&reply.body);
        assert_eq!(reply.status, status, "{text}");
        assert!(text.contains(why), "{text}");
    }
    // Without a length: in chunks.
    let head =
        format!("POST /render HTTP/1.1\r\nHost: x\r\n{form}Transfer-Encoding: chunked\r\n\r\n");
    let mut chunked = head.clone().into_bytes();
    for part in body.chunks(1000) {
        chunked.extend(format!("{:x}\r\n", part.len()).bytes());
        chunked.extend(part);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    assert_eq!(exchange(server.address(), &chunked).status, 200);
    let mut endless = head.into_bytes();
    for _ in 0..30 {
        endless.extend(b"2000\r\n");
        endless.extend([b'x'; 0x2000]);
        endless.extend(b"\r\n");
    }
    let reply = exchange(server.address(), &endless);
    assert!([400, 413].contains(&reply.status), "{}", reply.status);
}

/// Requests of scenes that only moved do not read meshes or textures again; equal scenes are not
/// even parsed.
#[test]
fn meshes_are_kept_between_requests() {
    let server = server(RenderServerParams::default());
    let mut document = Document::cube();
    let post = |document: &Document| {
        let reply = Fields::new("color", &document.to_string()).post(server.address());
        (color(&reply), server.stats())
    };
    let (first, stats) = post(&document);
    assert_eq!(
        (stats.read_meshes, stats.known_meshes, stats.known_scenes),
        (1, 0, 0)
    );
    let (again, stats) = post(&document);
    assert_eq!(
        (stats.read_meshes, stats.known_meshes, stats.known_scenes),
        (1, 1, 1)
    );
    assert_eq!(first, again);
    document.x_wg = Isometry3::translation(0.1, 0.2, 2.5).to_homogeneous();
    let (moved, stats) = post(&document);
    assert_eq!(
        (stats.read_meshes, stats.known_meshes, stats.known_scenes),
        (1, 2, 1)
    );
    assert_ne!(first, moved);
    // A second copy is another mesh, and so is another colour.
    document.instances = 2;
    assert_eq!(post(&document).1.read_meshes, 2);
    document.color = [0.9, 0.1, 0.1, 1.0];
    assert_eq!(post(&document).1.read_meshes, 3);
}

#[test]
fn the_cache_is_bounded() {
    let params = RenderServerParams {
        cache_bytes: 100_000,
        ..RenderServerParams::default()
    };
    let server = server(params);
    let mut images = Vec::new();
    for round in 0..2 {
        for i in 0..30 {
            let mut document = Document::cube();
            document.size = 1.0 + f64::from(i) / 100.0;
            document.detail = 8;
            let reply = Fields::new("color", &document.to_string()).post(server.address());
            if round == 0 {
                images.push(color(&reply));
            } else {
                assert_eq!(images[i as usize], color(&reply));
            }
            assert!(server.stats().cache_bytes <= 100_000, "{}", server.stats());
        }
    }
    assert!(server.stats().read_meshes > 40, "{}", server.stats());
}

#[test]
fn many_clients_are_served_at_once() {
    let server = server(RenderServerParams::default());
    let address = server.address();
    let expected: Vec<Reply> = (0..4).map(|i| turned(i).post(address)).collect();
    let start = Arc::new(Barrier::new(16));
    let threads: Vec<_> = (0..16)
        .map(|t| {
            let (start, expected) = (start.clone(), expected.clone());
            std::thread::spawn(move || {
                start.wait();
                for i in 0..8 {
                    let i = (i + t) % 4;
                    assert_eq!(turned(i).post(address).body, expected[i].body);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(
        (server.stats().images(), server.stats().refused),
        (4 + 16 * 8, 0)
    );
}

/// Returns the request for a scene, different for each number.
fn turned(i: usize) -> Fields {
    let mut document = Document::cube();
    document.x_wg = Isometry3::translation(0.1 * i as f64, 0.0, 2.0).to_homogeneous();
    // Also a label.
    document.color = [0.2, 0.4, 0.0, 1.0];
    Fields::new(["color", "depth", "label"][i % 3], &document.to_string())
}

/// A request that has arrived when the server stops is answered with its image, one that arrives
/// meanwhile with an error, and clients that hang up or send nothing do no harm.
#[test]
fn requests_are_answered_while_the_server_stops() {
    let server = server(RenderServerParams::default());
    let address = server.address();
    let mut idle = TcpStream::connect(address).unwrap();
    let request = turned(0).request();
    let mut hangs_up = TcpStream::connect(address).unwrap();
    hangs_up.write_all(&request[..request.len() / 2]).unwrap();
    drop(hangs_up);
    let mut late = TcpStream::connect(address).unwrap();
    late.write_all(&request[..request.len() - 10]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let stopping = std::thread::spawn(move || server.stop());
    std::thread::sleep(Duration::from_millis(60));
    late.write_all(&request[request.len() - 10..]).unwrap();
    let reply = read(&mut late).unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    idle.write_all(b"").unwrap();
    let stats = stopping.join().unwrap();
    assert_eq!(stats.images(), 1);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn requests_after_the_stop_are_told_so() {
    let server = server(RenderServerParams::default());
    let address = server.address();
    let mut waits = TcpStream::connect(address).unwrap();
    let request = turned(1).request();
    waits.write_all(&request[..100]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let stopping = std::thread::spawn(move || server.stop());
    std::thread::sleep(Duration::from_millis(30));
    let reply = exchange(address, &turned(1).request());
    assert_eq!(
        (reply.status, &*reply.text()),
        (503, "the server is shutting down; start it again")
    );
    drop(waits);
    stopping.join().unwrap();
}

#[test]
fn ports_that_are_taken_and_bad_hosts_are_errors() {
    let first = server(RenderServerParams::default());
    let start = |params| {
        let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
        RenderServer::start(params, Box::new(engine))
            .unwrap_err()
            .to_string()
    };
    let taken = RenderServerParams {
        port: first.address().port(),
        ..RenderServerParams::default()
    };
    assert!(start(taken).contains("choose another port, or 0"));
    let host = RenderServerParams {
        host: "no.such.host.invalid".into(),
        ..RenderServerParams::default()
    };
    assert!(start(host).contains("host must be a name or address of this machine"));
    let zero = RenderServerParams {
        max_pixels: 0,
        ..RenderServerParams::default()
    };
    assert!(start(zero).contains("max_pixels must be positive, got 0"));
}

/// A node's scale, shear and mirror are part of the mesh: the picture is that of a mesh whose
/// vertices were transformed.
#[test]
fn stretched_nodes_look_like_stretched_meshes() {
    let server = server(RenderServerParams::default());
    let mut document = Document::cube();
    document.size = 0.4;
    let turn = rpy(0.3, 0.4, 0.5);
    let pose = Isometry3::from_parts(Vector3::new(0.0, 0.1, 2.0).into(), turn);
    let mirror = Matrix4::new_nonuniform_scaling(&Vector3::new(-2.0, 0.5, 1.0));
    document.x_wg = pose.to_homogeneous() * mirror;
    document.is_named = false;
    let stretched = Fields::new("depth", &document.to_string()).post(server.address());
    document.x_wg = pose.to_homogeneous();
    document.stretch = Vector3::new(2.0, 0.5, 1.0);
    let plain = Fields::new("depth", &document.to_string()).post(server.address());
    let (a, b) = (depth(&stretched), depth(&plain));
    assert!(a.data().iter().any(|z| z.is_finite()));
    let differ = |(a, b): &(&f32, &f32)| {
        let is_near = (*a - *b).abs() < 1e-6;
        a != b && !is_near
    };
    let off = a.data().iter().zip(b.data()).filter(differ);
    // Pixels whose centre is on an edge.
    assert!(off.count() < 5);
}

/// Whatever the bytes, the server answers, and draws afterwards.
#[test]
fn damaged_requests_are_refused() {
    let server = server(RenderServerParams::default());
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    };
    let damage = (0..4000usize, 0..4000usize, any::<u8>());
    let test = |(cut, at, byte): (usize, usize, u8)| {
        let mut body = turned(0).body();
        let end = body.len() - cut.min(body.len());
        let at = at % body.len();
        body[at] = byte;
        let head = format!(
            "POST /render HTTP/1.1\r\nHost: x\r\nContent-Length: {end}\r\n\
             Content-Type: multipart/form-data; boundary=B\r\n\r\n"
        );
        let request = [head.as_bytes(), &body[..end]].concat();
        let reply = exchange(server.address(), &request);
        prop_assert!([200, 400].contains(&reply.status), "{}", reply.status);
        prop_assert_eq!(turned(0).post(server.address()).status, 200);
        Ok(())
    };
    let mut runner = prop::test_runner::TestRunner::new(config);
    runner.run(&damage, test).unwrap();
}

#[test]
fn labels_survive_the_protocol() {
    let server = server(RenderServerParams::default());
    for value in [0i16, 1, 255, 256, 300, 32_763] {
        let mut document = Document::cube();
        let [low, high] = value.to_le_bytes();
        document.color = [f64::from(low) / 255.0, f64::from(high) / 255.0, 0.0, 1.0];
        let reply = Fields::new("label", &document.to_string()).post(server.address());
        let found: Vec<i16> = label(&reply).into_data();
        assert!(found.contains(&value) && found.contains(&RenderLabel::EMPTY.value()));
        assert!(
            found
                .iter()
                .all(|l| *l == value || *l == RenderLabel::EMPTY.value())
        );
    }
    let mut white = Document::cube();
    white.color = [1.0; 4];
    let reply = Fields::new("label", &white.to_string()).post(server.address());
    assert!(
        label(&reply)
            .data()
            .contains(&RenderLabel::DONT_CARE.value())
    );
    let mut too_large = Document::cube();
    too_large.color = [1.0, 0.5, 0.0, 1.0];
    let reply = Fields::new("label", &too_large.to_string()).post(server.address());
    assert_eq!(reply.status, 400);
    assert!(
        reply.text().contains("must be that of a label below 32764"),
        "{}",
        reply.text()
    );
}

/// A mesh below Drake's node is drawn as the shape that it stands for, the same triangles elsewhere
/// as they are, whichever the server has seen first.
#[test]
fn pictures_do_not_depend_on_earlier_requests() {
    let images = |named_first: bool| {
        let server = server(RenderServerParams::default());
        let mut drawn = [named_first, !named_first].map(|is_named| {
            let document = Document {
                is_named,
                ..Document::sphere()
            };
            let reply = Fields::new("depth", &document.to_string()).post(server.address());
            depth(&reply).into_data()
        });
        if !named_first {
            drawn.reverse();
        }
        drawn
    };
    let [exact, triangles] = images(true);
    assert!(exact != triangles, "a sphere is not its triangles");
    assert_eq!(images(false), [exact, triangles]);
}
