//! Peers that break the rules or fail: the server, its other pages and the simulation continue.

use crate::support::raw::{masked, open, upgrade};
use crate::support::{Page, field, is, server, wait_for};
use base64::Engine as _;
use nalgebra::Isometry3;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};
use tarragon_sensors::ImageRgba8U;
use tarragon_visualization::{Meshcat, MeshcatParams};

/// Returns everything received until the server closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset is also an end.
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

/// Checks that a server still serves.
fn check_alive(meshcat: &Meshcat) {
    let mut page = Page::connect(meshcat);
    page.replay();
    meshcat.set_property("/alive", "visible", true);
    page.until(|m| field(m, "path") == Some("/alive".into()));
}

/// Close codes of RFC 6455, section 7.4.1.
#[test]
fn broken_frames_end_the_connection_with_a_reason() {
    const PROTOCOL: u16 = 1002;
    const NOT_UTF8: u16 = 1007;
    const TOO_LARGE: u16 = 1009;
    let meshcat = server();
    let fragments = {
        let mut bytes = masked(0x02, &[0; 60_000]);
        bytes.extend(masked(0x00, &[0; 60_000]));
        bytes
    };
    let lying = [&[0x82, 0xff][..], &(1u64 << 40).to_be_bytes(), &[0; 4]].concat();
    let negative = [&[0x82, 0xff][..], &u64::MAX.to_be_bytes(), &[0; 4]].concat();
    let cases: [(&str, Vec<u8>, u16); 13] = [
        ("unmasked", vec![0x82, 1, 0], PROTOCOL),
        ("reserved bit 1", masked(0xc2, b"x"), PROTOCOL),
        ("reserved bit 3", masked(0x92, b"x"), PROTOCOL),
        ("reserved opcode", masked(0x83, b"x"), PROTOCOL),
        ("reserved control opcode", masked(0x8b, b"x"), PROTOCOL),
        ("a ping in fragments", masked(0x09, b"x"), PROTOCOL),
        ("a ping of 126 bytes", masked(0x89, &[0; 126]), PROTOCOL),
        (
            "a continuation without a start",
            masked(0x80, b"x"),
            PROTOCOL,
        ),
        ("invalid UTF-8", masked(0x81, &[0xff, 0xfe]), NOT_UTF8),
        ("a false length", lying, TOO_LARGE),
        ("the largest length", negative, TOO_LARGE),
        (
            "a large message",
            masked(0x82, &[0; (64 << 10) + 1]),
            TOO_LARGE,
        ),
        ("a large message in parts", fragments, TOO_LARGE),
    ];
    for (what, bytes, code) in cases {
        let mut stream = upgrade(&meshcat, "/").unwrap();
        stream.write_all(&bytes).unwrap();
        let _ = stream.shutdown(Shutdown::Write);
        let answer = rest(&mut stream);
        let close = [&[0x88, 2][..], &code.to_be_bytes()].concat();
        // If a large message is not read to its end, the system resets the connection, and the
        // reset may overtake the answer.
        let is_reset = bytes.len() > 16 << 10 && !answer.ends_with(&close);
        assert!(is_reset || answer.ends_with(&close), "{what}: {answer:?}");
    }
    wait_for("all left", || meshcat.num_active_connections() == 0);
    check_alive(&meshcat);
}

/// The limit of pages also holds for simultaneous handshakes.
#[test]
fn simultaneous_handshakes_respect_the_limit_of_pages() {
    let meshcat = Meshcat::new(MeshcatParams {
        port: Some(0),
        max_connections: 20,
        ..Default::default()
    })
    .unwrap();
    let request = crate::support::raw::request(&meshcat, "/");
    let mut pages: Vec<TcpStream> = (0..200).map(|_| open(&meshcat)).collect();
    for page in &mut pages {
        page.write_all(request.as_bytes()).unwrap();
    }
    let status = |page: &mut TcpStream| {
        let mut answer = [0; 12];
        page.read_exact(&mut answer).unwrap();
        String::from_utf8(answer[9..].to_vec()).unwrap()
    };
    let found: Vec<String> = pages.iter_mut().map(status).collect();
    let count = |status: &str| found.iter().filter(|s| *s == status).count();
    assert_eq!((count("101"), count("503")), (20, 180));
    // A page that disconnects makes room.
    drop(pages);
    wait_for("all left", || meshcat.num_active_connections() == 0);
    check_alive(&meshcat);
}

/// Wherever a connection is cut, nothing of it remains.
#[test]
fn connections_may_be_cut_anywhere() {
    let meshcat = server();
    let request = crate::support::raw::request(&meshcat, "/");
    let message = masked(0x82, &[7; 300]);
    for cut in 0..request.len() {
        let mut stream = open(&meshcat);
        stream.write_all(&request.as_bytes()[..cut]).unwrap();
    }
    for cut in (0..message.len()).step_by(7) {
        let mut stream = upgrade(&meshcat, "/?batch=1").unwrap();
        stream.write_all(&message[..cut]).unwrap();
    }
    wait_for("all left", || meshcat.num_active_connections() == 0);
    check_alive(&meshcat);
}

#[test]
fn malformed_http_is_rejected() {
    let meshcat = server();
    let status = |request: &[u8]| {
        let mut stream = open(&meshcat);
        // The server may have answered and closed before everything was written.
        let _ = stream.write_all(request);
        let answer = rest(&mut stream);
        String::from_utf8_lossy(&answer)
            .chars()
            .skip(9)
            .take(3)
            .collect::<String>()
    };
    let host = format!("Host: localhost:{}\r\n", meshcat.port());
    let get = |rest: &str| {
        format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n{rest}\r\n").into_bytes()
    };
    assert_eq!(status(&get("")), "200");
    assert_eq!(
        status(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        "400"
    );
    assert_eq!(status(b"\0\0\0\0\0\0\0\0\r\n\r\n"), "400");
    // Requests that are too large, in every way.
    let many: String = (0..200).map(|i| format!("x{i}: y\r\n")).collect();
    assert_eq!(status(&get(&many)), "431");
    assert_eq!(
        status(&get(&format!("x: {}\r\n", "y".repeat(1 << 20)))),
        "431"
    );
    let path = "a".repeat(1 << 20);
    assert!(matches!(
        status(format!("GET /{path} HTTP/1.1\r\n{host}\r\n").as_bytes()).as_str(),
        "414" | "431"
    ));
    // Two lengths, or a length and chunks, which proxies and servers may interpret differently.
    assert_eq!(
        status(&get("Content-Length: 5\r\nContent-Length: 6\r\n")),
        "400"
    );
    let both = status(&get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"));
    assert!(both == "400" || both == "200", "{both}");
    // The server does not wait for a body that never arrives.
    let start = Instant::now();
    let post = format!(
        "POST / HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: 99999999999\r\n\r\nabc"
    );
    assert_eq!(status(post.as_bytes()), "404");
    assert!(start.elapsed() < Duration::from_secs(5));
    // Handshakes with a missing part.
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    for (headers, code) in [
        ("", "426"),
        ("Sec-WebSocket-Version: 8\r\n", "426"),
        ("Sec-WebSocket-Version: 13\r\n", "400"),
        (
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n",
            "400",
        ),
    ] {
        let request = format!("GET / HTTP/1.1\r\n{host}{upgrade}{headers}\r\n");
        let mut stream = open(&meshcat);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer[9..], code.as_bytes(), "{headers}");
    }
    check_alive(&meshcat);
}

/// Clients that send a request byte by byte, or none, are disconnected.
#[test]
fn slow_requests_time_out() {
    let meshcat = server();
    let mut silent = open(&meshcat);
    let mut slow = open(&meshcat);
    let start = Instant::now();
    slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    let mut trickle = slow.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        while trickle.write_all(b"x").is_ok() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    for stream in [&mut silent, &mut slow] {
        stream
            .set_read_timeout(Some(Duration::from_secs(25)))
            .unwrap();
        rest(stream);
    }
    let took = start.elapsed();
    // 10 s are allowed; the rest is tolerance for a busy machine.
    assert!(
        took > Duration::from_secs(5) && took < Duration::from_secs(20),
        "{took:?}"
    );
    sender.join().unwrap();
}

/// While the static page of a large scene is built, other pages are served and the simulation
/// continues.
#[test]
fn a_large_download_delays_nobody() {
    let viewer = tempfile::tempdir().unwrap();
    let page = "<html><!--TARRAGON_STATIC--><!--TARRAGON_SCRIPT--></html>";
    for (name, content) in [
        ("page.html", page),
        ("viewer.js", "1"),
        ("viewer.js.gz", "compressed"),
        ("boot.js", "2"),
    ] {
        std::fs::write(viewer.path().join(name), content).unwrap();
    }
    let meshcat = Meshcat::new(MeshcatParams {
        port: Some(0),
        viewer_dir: Some(viewer.path().into()),
        ..Default::default()
    })
    .unwrap();
    meshcat.set_transform("x", &Isometry3::identity());
    let mut page = Page::connect(&meshcat);
    page.replay();
    for i in 0..3 {
        crate::support::raw::big_mesh(&meshcat, &format!("big{i}"), 12 << 20, i);
        page.until(is("set_object"));
    }
    let request = format!(
        "GET /download HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n",
        meshcat.port()
    );
    let (mut slowest_publish, mut slowest_page) = (Duration::ZERO, Duration::ZERO);
    let mut rounds = 0;
    let start = Instant::now();
    std::thread::scope(|scope| {
        let download = scope.spawn(|| {
            let mut stream = open(&meshcat);
            stream
                .set_read_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            rest(&mut stream)
        });
        while !download.is_finished() {
            rounds += 1;
            let start = Instant::now();
            meshcat.set_transform("x", &Isometry3::translation(f64::from(rounds), 0.0, 0.0));
            slowest_publish = slowest_publish.max(start.elapsed());
            page.until(is("set_transform"));
            slowest_page = slowest_page.max(start.elapsed());
        }
        let answer = download.join().unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200") && answer.len() > 1 << 20);
    });
    let took = start.elapsed();
    println!("{rounds} rounds in {took:?}, publish {slowest_publish:?}, page {slowest_page:?}");
    // Building the page takes more than a second. Nobody may notice much of it, even on a machine
    // so busy that it takes ten.
    assert!(rounds > 10, "{rounds}");
    assert!(
        slowest_publish < Duration::from_millis(300).max(took / 4),
        "{slowest_publish:?} of {took:?}"
    );
    assert!(
        slowest_page < Duration::from_millis(800).max(took / 3),
        "{slowest_page:?} of {took:?}"
    );
    // The end of the server does not wait either for a page that is being built.
    let mut stream = open(&meshcat);
    stream.write_all(request.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    drop(meshcat);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

/// The last handle may be dropped on any thread and at any time.
#[test]
fn a_server_may_end_while_pages_connect() {
    for round in 0..10 {
        let meshcat = server();
        let port = meshcat.port();
        let end = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !end.load(std::sync::atomic::Ordering::Relaxed) {
                        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
                            break;
                        };
                        let request = crate::support::raw::request_to(port, "/");
                        let _ = stream.write_all(request.as_bytes());
                        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
                        let _ = stream.read(&mut [0; 64]);
                    }
                });
            }
            let publisher = scope.spawn(move || {
                for i in 0..20 * round {
                    meshcat.set_transform("x", &Isometry3::translation(f64::from(i), 0.0, 0.0));
                    meshcat.flush();
                }
                let start = Instant::now();
                drop(meshcat);
                start.elapsed()
            });
            let took = publisher.join().unwrap();
            end.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(took < Duration::from_secs(3), "{took:?}");
        });
    }
}

/// A flush also covers the initial scene of a page.
#[test]
fn a_flush_waits_for_pages_that_connect() {
    let meshcat = server();
    for i in 0..3 {
        crate::support::raw::big_mesh(&meshcat, &format!("big{i}"), 12 << 20, i);
    }
    let mut page = Page::connect(&meshcat);
    wait_for("the page is counted", || {
        meshcat.num_active_connections() == 1
    });
    let other = meshcat.clone();
    let flush = std::thread::spawn(move || other.flush());
    std::thread::sleep(Duration::from_millis(300));
    // 36 MB are more than the system buffers for a connection.
    assert!(!flush.is_finished());
    page.replay();
    wait_for("the flush ends", || flush.is_finished());
}

/// Each picture request receives its own answer.
#[test]
fn several_callers_get_their_own_pictures() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    let second = Duration::from_secs(10);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (1..=4)
            .map(|width| {
                let meshcat = &meshcat;
                scope.spawn(move || (width, meshcat.capture_image(width, 2, second).unwrap()))
            })
            .collect();
        // All requests are sent before the first is answered.
        let widths: Vec<i32> = (0..4)
            .map(|_| {
                let request = page.until(is("capture_image")).pop().unwrap();
                field(&request, "xres").unwrap().as_i64().unwrap() as i32
            })
            .collect();
        for width in widths {
            let image = ImageRgba8U::new(width as usize, 2);
            let png = crate::support::raw::png(&image);
            let png = base64::engine::general_purpose::STANDARD.encode(png);
            let answer = format!("{{\"type\":\"img\",\"data\":\"data:image/png;base64,{png}\"}}");
            page.0.send(tungstenite::Message::text(answer)).unwrap();
        }
        for caller in callers {
            let (width, image) = caller.join().unwrap();
            assert_eq!(image.width(), width);
        }
    });
    // Requests to a page that disconnects end.
    let start = Instant::now();
    std::thread::scope(|scope| {
        let caller = scope.spawn(|| meshcat.capture_image(2, 2, Duration::from_secs(60)));
        page.until(is("capture_image"));
        drop(page);
        let error = caller.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("the page disconnected"), "{error}");
    });
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// A page that reads 1 KB/s is shown the current scene, not a long outdated one.
#[test]
fn a_slow_page_converges_to_the_newest_state() {
    let meshcat = server();
    let mut stream = upgrade(&meshcat, "/").unwrap();
    let publisher = {
        let meshcat = meshcat.clone();
        std::thread::spawn(move || {
            let start = Instant::now();
            let mut published = 0;
            for frame in 0.. {
                if start.elapsed() > Duration::from_secs(4) && published > 40 << 20 {
                    break;
                }
                for i in 0..20 {
                    let text = format!("{frame} {}", "x".repeat(10_000));
                    published += text.len();
                    meshcat.set_property(&format!("n{i}"), "text", text);
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            published
        })
    };
    let mut read = 0;
    while !publisher.is_finished() {
        let mut buffer = [0; 100];
        read += stream.read(&mut buffer).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    let published = publisher.join().unwrap();
    meshcat.set_property("end", "marker", "the very end");
    // Now the page reads fast.
    let marker = b"the very end";
    let mut tail = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while !tail.windows(marker.len()).any(|w| w == marker) {
        let keep = tail.len().saturating_sub(marker.len());
        tail.drain(..keep);
        let n = stream.read(&mut buffer).unwrap();
        assert!(n > 0, "disconnected");
        tail.extend_from_slice(&buffer[..n]);
        read += n;
    }
    println!("{published} bytes published, {read} bytes read");
    // The system buffers 0.5 MB for the server and 0.1 MB for the page (tcp_rmem); one batch of 0.2
    // MB is being sent, and another holds the current state. With its default settings, the system
    // buffered 4 MB.
    assert!(read < 3 << 20, "{read} of {published}");
    assert_eq!(meshcat.num_active_connections(), 1);
}

/// A slider value set by one page reaches another page that was stuck, after the older values.
#[test]
fn a_stuck_page_gets_the_last_value_of_a_slider() {
    let meshcat = server();
    meshcat.add_slider("s", 0.0, 1e6, 1.0, 0.0).unwrap();
    let mut stuck = Page::connect(&meshcat);
    stuck.replay();
    let mut mover = Page::connect_to(&meshcat, "/?batch=1");
    mover.replay();
    for i in 0..3 {
        crate::support::raw::big_mesh(&meshcat, "big", 10 << 20, i);
        meshcat.set_slider_value("s", f64::from(i + 1)).unwrap();
        mover.until(is("set_control_value"));
    }
    for value in 10..5000 {
        mover.send(&[
            ("type", "slider".into()),
            ("name", "s".into()),
            ("value", value.into()),
        ]);
    }
    wait_for("the slider moved", || {
        meshcat.slider_value("s").unwrap() == 4999.0
    });
    let other = meshcat.clone();
    let flush = std::thread::spawn(move || {
        other.flush();
        other.set_property("end", "visible", true);
    });
    // Now the page reads.
    let found = stuck.until(|m| field(m, "path") == Some("/drake/end".into()));
    flush.join().unwrap();
    let moves: Vec<_> = found
        .iter()
        .filter(|m| is("set_control_value")(m))
        .collect();
    assert_eq!(field(moves[moves.len() - 1], "value"), Some(4999.0.into()));
    assert!(moves.len() < 2000, "{}", moves.len());
}
