//! The server from the point of view of pages.

use crate::support::{Page, field, get, http, is, outline, server, wait_for};
use nalgebra::{Isometry3, Vector3};
use std::time::{Duration, Instant};
use tarragon_geometry::{BoxShape, Rgba, Sphere};
use tarragon_visualization::{
    Meshcat, MeshcatAnimation, MeshcatParams, OrthographicCamera, PerspectiveCamera, PropertyTuple,
};

fn red() -> Rgba {
    Rgba::new(1.0, 0.0, 0.0, 1.0).unwrap()
}

/// Drake's order: the tree by paths, with properties, object and transform of each node, then the
/// rest.
#[test]
fn new_pages_receive_the_whole_scene() {
    let meshcat = server();
    let ball = Sphere::new(0.1).unwrap().into();
    meshcat.set_transform("b/ball", &Isometry3::identity());
    meshcat.set_object("b/ball", &ball, red()).unwrap();
    meshcat.set_property("b/ball", "visible", true);
    meshcat.set_object("b-2", &ball, red()).unwrap();
    meshcat.set_property("/Background", "visible", false);
    meshcat.set_property("/Background", "top_color", [0.0, 0.0, 1.0]);
    meshcat.add_slider("q", 0.0, 1.0, 0.1, 0.5).unwrap();
    meshcat.add_button("go", "KeyG").unwrap();
    meshcat.add_slider("a", 0.0, 1.0, 0.1, 0.5).unwrap();
    meshcat
        .set_camera_target(&Vector3::new(1.0, 2.0, 3.0))
        .unwrap();
    meshcat.set_animation(&MeshcatAnimation::new(10.0).unwrap());
    let mut page = Page::connect(&meshcat);
    let replay = page.replay();
    assert_eq!(
        outline(&replay),
        [
            "set_property /Background visible",
            "set_property /Background/<object> top_color",
            "set_property /drake/b/ball visible",
            "set_object /drake/b/ball",
            "set_transform /drake/b/ball",
            "set_object /drake/b-2",
            "set_animation",
            "set_control q",
            "set_control go",
            "set_control a",
            "set_target",
            "show_realtime_rate",
        ]
    );
    let target = field(&replay[10], "value").unwrap();
    assert_eq!(
        target,
        rmpv::Value::Array(vec![1.0.into(), 3.0.into(), (-2.0).into()])
    );
}

/// Values that are set while a page is connected arrive in the order in which they were set.
#[test]
fn changes_arrive_in_order() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    wait_for("the page is counted", || {
        meshcat.num_active_connections() == 1
    });
    let ball = Sphere::new(0.1).unwrap().into();
    meshcat.set_object("x", &ball, red()).unwrap();
    meshcat.set_property("x/<object>", "material.opacity", 0.5);
    meshcat.set_transform("x", &Isometry3::translation(1.0, 2.0, 3.0));
    meshcat.delete("x");
    meshcat.set_object("x", &ball, red()).unwrap();
    meshcat.set_realtime_rate(1.25);
    meshcat.add_button("b", "").unwrap();
    meshcat.delete_button("b", true).unwrap();
    meshcat.set_property("/Grid", "visible", false);
    meshcat.flush();
    let found = page.until(|m| is("set_property")(m) && field(m, "path") == Some("/Grid".into()));
    let found = outline(&found);
    // The first object and some other values may have been replaced before anything was sent; the
    // rest keeps its order.
    let end = [
        "delete /drake/x",
        "set_object /drake/x",
        "realtime_rate",
        "delete_control b",
        "set_property /Grid visible",
    ];
    let kept: Vec<&String> = found
        .iter()
        .filter(|l| !l.starts_with("set_control"))
        .collect();
    assert_eq!(kept[kept.len() - end.len()..], end);
}

/// A page receives only the difference between two states that it sees.
#[test]
fn a_slow_page_receives_only_the_latest_values() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    for i in 0..20_000 {
        meshcat.set_transform("x", &Isometry3::translation(f64::from(i), 0.0, 0.0));
    }
    meshcat.set_property("x", "visible", true);
    meshcat.flush();
    let found = page.until(is("set_property"));
    let x = |m: &rmpv::Value| field(m, "matrix").unwrap()[12].as_f64().unwrap();
    let xs: Vec<f64> = found[..found.len() - 1].iter().map(x).collect();
    assert!(xs.is_sorted_by(|a, b| a < b), "{xs:?}");
    assert_eq!(xs.last(), Some(&19_999.0));
    assert!(
        xs.len() < 10_000,
        "{} of 20000 transforms were sent",
        xs.len()
    );
}

#[test]
fn batched_pages_receive_numbered_transforms() {
    let meshcat = server();
    for i in 0..3 {
        meshcat.set_transform(&format!("n{i}"), &Isometry3::identity());
    }
    let mut page = Page::connect_to(&meshcat, "/?batch=1");
    let replay = page.replay();
    assert_eq!(
        outline(&replay),
        ["set_paths", "set_transforms", "show_realtime_rate"]
    );
    let text = |v: &rmpv::Value, key: &str| field(v, key).unwrap();
    let paths = text(&replay[0], "paths");
    assert_eq!(
        paths,
        rmpv::Value::Array(vec![
            "/drake/n0".into(),
            "/drake/n1".into(),
            "/drake/n2".into()
        ])
    );
    let first = text(&replay[0], "first").as_u64().unwrap();
    assert_eq!(first, 0);
    let ids = |m: &rmpv::Value| -> Vec<u32> {
        let ids = text(m, "ids");
        let (ids, _) = ids.as_slice().unwrap().as_chunks::<4>();
        ids.iter().map(|c| u32::from_le_bytes(*c)).collect()
    };
    assert_eq!(ids(&replay[1]), [0, 1, 2]);
    // A path that reuses the number of a deleted one is named before the number is used.
    meshcat.delete("n1");
    meshcat.set_transform("m", &Isometry3::translation(0.0, 0.0, 7.0));
    meshcat.flush();
    let found = page.until(is("set_transforms"));
    assert_eq!(
        outline(&found),
        ["delete /drake/n1", "set_paths", "set_transforms"]
    );
    assert_eq!(
        text(&found[1], "paths"),
        rmpv::Value::Array(vec!["/drake/m".into()])
    );
    assert_eq!(text(&found[1], "first").as_u64(), Some(1));
    assert_eq!(ids(&found[2]), [1]);
    let poses = text(&found[2], "poses");
    let (poses, _) = poses.as_slice().unwrap().as_chunks::<8>();
    let poses: Vec<f64> = poses.iter().map(|c| f64::from_le_bytes(*c)).collect();
    assert_eq!(poses, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 7.0]);
}

/// The messages that Drake sends for the same calls, byte by byte (recorded).
#[test]
fn camera_messages_equal_drakes() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    meshcat.set_camera(PerspectiveCamera::default()).unwrap();
    meshcat.flush();
    assert_eq!(
        outline(&[page.next(), page.next()]),
        ["set_target", "set_object /Cameras/default/rotated"]
    );
    let camera = OrthographicCamera {
        top: 2.0,
        bottom: -2.0,
        near: -500.0,
        far: 500.0,
        ..Default::default()
    };
    meshcat.set_camera(camera).unwrap();
    meshcat.flush();
    let bytes = page.next_bytes();
    assert_eq!(bytes.len(), 186);
    meshcat.set_default_2d_render_mode();
    meshcat.flush();
    let found = page.until(|m| field(m, "path") == Some("/Axes".into()));
    assert_eq!(
        outline(&found),
        [
            "set_object /Cameras/default/rotated",
            "set_transform /Cameras/default",
            "set_property /Cameras/default/rotated/<object> position",
            "set_property /Background visible",
            "set_property /Grid visible",
            "set_property /Axes visible",
        ]
    );
    let wrong = |p: Vector3<f64>| meshcat.set_camera_pose(&p, &Vector3::zeros()).is_err();
    assert!(wrong(Vector3::zeros()) && wrong(Vector3::new(f64::NAN, 0.0, 0.0)));
}

#[test]
fn http_answers_follow_the_protocol() {
    let meshcat = server();
    for path in ["/", "/index.html", "/meshcat.html", "/?controls=off"] {
        let (head, body) = get(&meshcat, path);
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head}");
        assert!(
            head.contains("content-type: text/html; charset=utf-8"),
            "{head}"
        );
        assert!(head.contains("cache-control: no-cache"), "{head}");
        assert!(String::from_utf8(body).unwrap().contains("<html"), "{path}");
    }
    assert!(get(&meshcat, "/favicon.ico").0.starts_with("HTTP/1.1 200"));
    for path in ["/meshcat.js", "/nothing", "/../../etc/passwd", "/cas-v1"] {
        assert!(get(&meshcat, path).0.starts_with("HTTP/1.1 404"), "{path}");
    }
    for method in ["POST", "HEAD", "PUT"] {
        let host = meshcat.port();
        let request =
            format!("{method} / HTTP/1.1\r\nHost: localhost:{host}\r\nConnection: close\r\n\r\n");
        assert!(
            http(&meshcat, &request).0.starts_with("HTTP/1.1 404"),
            "{method}"
        );
    }
    // Assets exist for as long as they are referenced.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), b"abc").unwrap();
    meshcat.set_environment_map(file.path()).unwrap();
    let key = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let (head, body) = get(&meshcat, &format!("/cas-v1/{key}"));
    assert_eq!(body, b"abc");
    assert!(
        head.contains("cache-control: public, max-age=604800, immutable"),
        "{head}"
    );
    assert!(get(&meshcat, "/cas-v1/123").0.starts_with("HTTP/1.1 400"));
    meshcat.set_environment_map("").unwrap();
    assert!(
        get(&meshcat, &format!("/cas-v1/{key}"))
            .0
            .starts_with("HTTP/1.1 404")
    );
    let error = meshcat.set_environment_map("no/such/file.png").unwrap_err();
    assert!(error.to_string().contains("no/such/file.png"), "{error}");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let meshcat = server();
    let request = |host: &str, origin: &str| {
        let key = "dGhlIHNhbXBsZSBub25jZQ==";
        let request = format!(
            "GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{origin}\r\n"
        );
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", meshcat.port())).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer.to_vec()).unwrap()
    };
    let own = format!("localhost:{}", meshcat.port());
    assert_eq!(request(&own, ""), "HTTP/1.1 101");
    assert_eq!(
        request(&own, &format!("Origin: http://{own}\r\n")),
        "HTTP/1.1 101"
    );
    assert_eq!(
        request(&own, "Origin: https://evil.example\r\n"),
        "HTTP/1.1 403"
    );
    assert_eq!(request(&own, "Origin: null\r\n"), "HTTP/1.1 403");
    assert_eq!(request("evil.example", ""), "HTTP/1.1 403");
}

#[test]
fn ports_are_chosen_as_documented() {
    let first = server();
    let port = Some(first.port());
    let taken = Meshcat::new(MeshcatParams {
        port,
        ..Default::default()
    });
    let error = taken.unwrap_err().to_string();
    assert!(
        error.contains(&format!("at port {}", first.port()))
            && error.contains("to 0 for any free port"),
        "{error}"
    );
    let default = Meshcat::new(MeshcatParams::default()).unwrap();
    assert!((7000..=7999).contains(&default.port()));
    assert_eq!(
        default.web_url(),
        format!("http://localhost:{}", default.port())
    );
    assert_eq!(
        default.ws_url(),
        format!("ws://localhost:{}", default.port())
    );
    // A server that ends releases its port.
    let params = MeshcatParams {
        port,
        web_url_pattern: "https://lab.example/{port}".into(),
        initial_properties: vec![PropertyTuple::new("/Grid", "visible", false)],
        show_stats_plot: false,
        ..Default::default()
    };
    drop(first);
    let again = Meshcat::new(params).unwrap();
    assert_eq!(
        again.web_url(),
        format!("https://lab.example/{}", again.port())
    );
    let replay = Page::connect(&again).replay();
    assert_eq!(
        outline(&replay),
        ["set_property /Grid visible", "show_realtime_rate"]
    );
    assert_eq!(field(&replay[1], "show"), Some(false.into()));
}

/// A page that reads nothing delays neither the simulation nor other pages, and needs a bounded
/// amount of memory.
#[test]
fn a_page_that_does_not_read_is_not_waited_for() {
    let meshcat = server();
    let mut dead = Page::connect(&meshcat);
    dead.replay();
    let mut good = Page::connect(&meshcat);
    good.replay();
    let names: Vec<String> = (0..1000).map(|i| format!("n{i}")).collect();
    let start = Instant::now();
    let mut slowest = Duration::ZERO;
    for frame in 0..200 {
        let now = Instant::now();
        for name in &names {
            meshcat.set_transform(name, &Isometry3::translation(f64::from(frame), 0.0, 0.0));
        }
        slowest = slowest.max(now.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    meshcat.set_property("end", "visible", true);
    let found = good.until(is("set_property"));
    assert!(found.len() > 2000, "{}", found.len());
    // 1000 transforms take about 0.2 ms; a blocked socket would take forever.
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(meshcat.num_active_connections(), 2);
}

#[test]
fn a_server_ends_with_its_last_handle() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    let other = meshcat.clone();
    let thread = std::thread::spawn(move || other.set_property("/Grid", "visible", false));
    thread.join().unwrap();
    page.until(is("set_property"));
    let start = Instant::now();
    drop(meshcat);
    assert!(start.elapsed() < Duration::from_secs(2));
    // The page receives a close frame.
    assert!(matches!(
        page.0.read(),
        Ok(tungstenite::Message::Close(_)) | Err(_)
    ));
}

/// Threads that share a server disturb neither each other nor the page.
#[test]
fn many_threads_share_a_server() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    let box_ = BoxShape::new(1.0, 1.0, 1.0).unwrap().into();
    std::thread::scope(|scope| {
        for t in 0..4 {
            let (meshcat, box_) = (meshcat.clone(), &box_);
            scope.spawn(move || {
                for i in 0..200 {
                    let path = format!("t{t}/n{}", i % 10);
                    meshcat.set_object(&path, box_, red()).unwrap();
                    meshcat.set_transform(&path, &Isometry3::translation(f64::from(i), 0.0, 0.0));
                    if i % 50 == 49 {
                        meshcat.delete(&format!("t{t}"));
                    }
                }
                meshcat
                    .set_object(&format!("t{t}/last"), box_, red())
                    .unwrap();
            });
        }
    });
    meshcat.set_property("end", "visible", true);
    // The page ends up with the scene: applying its messages gives what a new page receives.
    let mut tree = std::collections::BTreeSet::new();
    for message in page.until(is("set_property")) {
        let path = field(&message, "path")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        if is("delete")(&message) {
            tree.retain(|p: &String| !(p == &path || p.starts_with(&format!("{path}/"))));
        } else {
            tree.insert(path);
        }
    }
    let replay = Page::connect(&meshcat).replay();
    let now: std::collections::BTreeSet<String> = replay
        .iter()
        .filter_map(|m| Some(field(m, "path")?.as_str()?.to_owned()))
        .collect();
    assert_eq!(tree, now);
    assert_eq!(now.len(), 5, "{now:?}");
}

#[test]
fn another_viewer_can_be_served() {
    let folder = tempfile::tempdir().unwrap();
    let params = || MeshcatParams {
        port: Some(0),
        viewer_dir: Some(folder.path().into()),
        ..Default::default()
    };
    let error = Meshcat::new(params()).unwrap_err().to_string();
    assert!(
        error.contains(&folder.path().display().to_string())
            && error.contains("must contain page.html, meshcat.html or index.html"),
        "{error}"
    );
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("index.html", "<html>mine</html>");
    write("mine.js", "let x;");
    write("secret.key", "1234");
    std::fs::create_dir(folder.path().join("sub.js")).unwrap();
    let meshcat = Meshcat::new(params()).unwrap();
    assert_eq!(get(&meshcat, "/").1, b"<html>mine</html>");
    let (head, body) = get(&meshcat, "/mine.js");
    assert!(head.contains("content-type: text/javascript"), "{head}");
    assert_eq!(body, b"let x;");
    for path in [
        "/secret.key",
        "/sub.js",
        "/../mine.js",
        "/.%2e/mine.js",
        "/no.js",
    ] {
        assert!(get(&meshcat, path).0.starts_with("HTTP/1.1 404"), "{path}");
    }
    // A changed file is served at once; placeholders are filled in.
    write(
        "page.html",
        "<html><!--TARRAGON_STATIC--><!--TARRAGON_SCRIPT--></html>",
    );
    write("viewer.js", "run()");
    assert_eq!(get(&meshcat, "/").1, b"<html><script>run()</script></html>");
}
