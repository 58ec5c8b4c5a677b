//! Failures of the server and of the connection.

use super::recorder::{Answer, Recorder, good_image, http};
use super::{color_with, engine, everything, nothing};
use nalgebra::Isometry3;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tarragon_geometry::render::RenderView;
use tarragon_geometry::{PerceptionProperties, Sphere};
use tarragon_sensors::*;

/// Error of an engine against a server that always answers the same.
fn error_of(answer: impl Fn() -> Answer + Send + Sync + 'static) -> String {
    let server = Recorder::new(move |_| answer());
    let error = color_with(&engine(&server), &nothing()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network, "{error}");
    let url = format!(" | URL: {}/render | ", server.base_url());
    let text = error.to_string();
    assert!(text.contains(&url), "{text}");
    assert_eq!(server.requests().len(), 1, "nothing is repeated by default");
    text
}

fn error_of_bytes(reply: &[u8]) -> String {
    let reply = reply.to_vec();
    error_of(move || Answer::Bytes(reply.clone()))
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn messages_of_the_server_are_shown_unless_they_are_long() {
    let error = error_of_bytes(&http("400 Bad Request", b"no scene for you\n"));
    assert!(
        error.ends_with(" | HTTP Code: 400 | Server Message: no scene for you"),
        "{error}"
    );
    let error = error_of_bytes(&http("500 Internal Server Error", b""));
    assert!(
        error.ends_with(" | HTTP Code: 500 | Server Message: None."),
        "{error}"
    );
    let error = error_of_bytes(&http("500 Internal Server Error", &[b'x'; 8192]));
    assert!(
        error.ends_with(" | HTTP Code: 500 | Server Message: None."),
        "{error}"
    );
    let error = error_of_bytes(&http("500 Internal Server Error", &[b'x'; 8191]));
    assert!(error.ends_with("xxx"), "{error}");
    let json = br#"{"error": true, "message": "no", "code": 404}"#;
    has(
        &error_of_bytes(&http("404 Not Found", json)),
        &["404", r#""message": "no""#],
    );
}

#[test]
fn redirects_are_not_followed() {
    for code in [
        "301 Moved",
        "302 Found",
        "303 See Other",
        "307 Temporary",
        "308 Permanent",
    ] {
        let reply = format!(
            "HTTP/1.1 {code}\r\nLocation: http://127.0.0.1:9/x\r\nContent-Length: 0\r\n\r\n"
        );
        let error = error_of_bytes(reply.as_bytes());
        has(
            &error,
            &[
                "Redirects are not followed",
                &format!("HTTP Code: {}", &code[..3]),
            ],
        );
    }
}

#[test]
fn replies_without_an_image_are_errors() {
    let missing = "the server was supposed to respond with a file but did not";
    has(
        &error_of_bytes(&http("200 OK", b"")),
        &[missing, "HTTP Code: 200"],
    );
    let error = error_of_bytes(b"HTTP/1.1 204 No Content\r\n\r\n");
    has(&error, &[missing, "HTTP Code: 204"]);
    let error = error_of_bytes(b"HTTP/1.0 200 OK\r\n\r\n");
    has(&error, &[missing, "HTTP Code: 200"]);
}

#[test]
fn large_replies_are_not_read() {
    // 1 MiB and 16 bytes per pixel are allowed.
    let most = (1 << 20) + 16 * 64 * 48;
    let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n";
    let limit = format!("the reply must have at most {most} bytes");
    has(&error_of_bytes(announced), &[&limit, "HTTP Code: 200"]);
    let endless = [b"HTTP/1.0 200 OK\r\n\r\n".to_vec(), vec![7; most + 1]].concat();
    has(&error_of_bytes(&endless), &[&limit, "HTTP Code: 200"]);
}

#[test]
fn connections_that_fail_are_explained() {
    let error = error_of(|| Answer::Drop);
    has(
        &error,
        &[
            "Server returned nothing (no headers, no data)",
            "HTTP Code: 0",
        ],
    );
    let half = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\nabc";
    let error = error_of_bytes(half);
    has(
        &error,
        &["ended before the reply was complete", "HTTP Code: 200"],
    );
    let error = error_of_bytes(b"nonsense\r\n\r\n");
    has(&error, &["not valid HTTP", "HTTP Code: 0"]);

    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let params = RenderEngineGltfClientParams {
        base_url: format!("http://{free}"),
        ..Default::default()
    };
    let error = color_with(&RenderEngineGltfClient::new(params).unwrap(), &nothing()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    has(
        &error.to_string(),
        &["Could not connect to server; start", "HTTP Code: 0"],
    );
    assert!(error.cause().is_some());
}

#[test]
fn servers_that_do_not_answer_time_out() {
    let server = Recorder::new(|_| Answer::Silence);
    let timeout = Duration::from_millis(200);
    let engine = engine(&server).with_timeout(timeout).unwrap();
    let start = Instant::now();
    let error = color_with(&engine, &nothing()).unwrap_err().to_string();
    assert!(start.elapsed() >= timeout && start.elapsed() < Duration::from_secs(20));
    has(&error, &["Timeout was reached (200ms)", "HTTP Code: 0"]);
    // The time of the whole reply counts.
    let server =
        Recorder::new(|_| Answer::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".into()));
    let engine = super::engine(&server).with_timeout(timeout).unwrap();
    let error = color_with(&engine, &nothing()).unwrap_err().to_string();
    has(&error, &["Timeout was reached (200ms)", "HTTP Code: 200"]);
    assert!(engine.with_timeout(Duration::ZERO).is_err());
    // Even the longest time is no overflow.
    let server = Recorder::of_images();
    let patient = super::engine(&server).with_timeout(Duration::MAX).unwrap();
    color_with(&patient, &nothing()).unwrap();
}

#[test]
fn failures_are_repeated_on_request() {
    let count = AtomicU32::new(0);
    let server = Recorder::new(move |request| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Answer::Drop,
        1 => Answer::Bytes(http("503 Service Unavailable", b"busy")),
        2 => Answer::Bytes(http("200 OK", &good_image(request))),
        _ => Answer::Bytes(http("400 Bad Request", b"wrong")),
    });
    let patient = engine(&server).with_retries(2);
    color_with(&patient, &nothing()).unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].body, requests[2].body, "the same request");
    // The client's own mistakes are not repeated.
    color_with(&patient, &nothing()).unwrap_err();
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn images_and_poses_are_checked_before_the_server_is_asked() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    let id = super::add(
        &mut engine,
        Sphere::new(0.1).unwrap(),
        &PerceptionProperties::new(),
    );
    let camera = super::camera();
    let mut small = ImageDepth32F::new(3, 4);
    use tarragon_geometry::render::RenderEngine;
    let error = engine
        .render_depth(&everything(), &camera, &mut small)
        .unwrap_err();
    has(
        &error.to_string(),
        &["must have the size 64 x 48", "got 3 x 4"],
    );
    let lost = |_| Some(Isometry3::translation(f64::NAN, 0.0, 0.0));
    let view = RenderView::new(Isometry3::identity(), &lost);
    let error = color_with(&engine, &view).unwrap_err().to_string();
    has(
        &error,
        &[&format!("X_WG of geometry {id} must be finite"), "NaN"],
    );
    let far = Isometry3::translation(0.0, f64::INFINITY, 0.0);
    let error = color_with(&engine, &RenderView::new(far, &|_| None))
        .unwrap_err()
        .to_string();
    has(&error, &["X_WC of the camera must be finite"]);
    assert!(server.requests().is_empty());
}
