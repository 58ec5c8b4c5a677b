//! Requests byte by byte, compared with those of Drake 1.51.1.

use super::recorder::{Recorder, Request};
use super::{add, camera, color_with, depth_with, engine, everything, label_with, nothing};
use nalgebra::{Isometry3, Translation3};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use tarragon_framework::math::rpy;
use tarragon_geometry::render::RenderView;
use tarragon_geometry::{BoxShape, PerceptionProperties, RenderLabel, Rgba, Sphere};
use tarragon_sensors::*;

/// The scene that Drake sends for the box of `box_properties` in a colour image.
const BOX_COLOR: &str = include_str!("box_color.gltf");

/// Parts of a request of Drake, apart from the hash and the scene.
const COLOR_PARTS: [(&str, &str); 13] = [
    ("center_x", "31.000000"),
    ("center_y", "23.250000"),
    ("far", "20.000000"),
    ("focal_x", "50.000000"),
    ("focal_y", "51.000000"),
    ("fov_x", "1.138626"),
    ("fov_y", "0.879685"),
    ("height", "48"),
    ("image_type", "color"),
    ("near", "0.050000"),
    ("scene_sha256", "HASH"),
    ("submit", "Render"),
    ("width", "64"),
];

fn box_properties() -> PerceptionProperties {
    let color = Rgba::new(0.1, 0.2, 0.3, 0.5).unwrap();
    PerceptionProperties::phong(color).with_label(RenderLabel::new(300).unwrap())
}

/// View of the captures: the box 2 m above the world's origin.
fn captured_view() -> RenderView<'static> {
    let pose = |p: [f64; 3], [r, q, y]: [f64; 3]| {
        Isometry3::from_parts(Translation3::from(p), rpy(r, q, y))
    };
    let x_wb = pose([0.1, 0.2, -0.3], [0.2, 0.1, 0.3]);
    let x_bs = pose([0.01, 0.02, 0.03], [0.05, 0.06, 0.07]);
    RenderView::new(x_wb * x_bs, &|_| {
        Some(Isometry3::translation(0.0, 0.0, 2.0))
    })
}

fn hash(scene: &str) -> String {
    let digest = Sha256::digest(scene.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Value of a header.
fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    let found = request.head.lines().find_map(|l| l.strip_prefix(name));
    found.unwrap().trim()
}

#[test]
fn whole_request_has_the_bytes_of_drake() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    add(
        &mut engine,
        BoxShape::new(0.2, 0.3, 0.4).unwrap(),
        &box_properties(),
    );
    color_with(&engine, &captured_view()).unwrap();
    let request = server.last();

    // Boundary, hash, number and scene differ from request to request.
    let boundary = header(&request, "Content-Type: multipart/form-data; boundary=");
    assert!(
        boundary.starts_with(&"-".repeat(24)) && boundary.len() == 46,
        "{boundary}"
    );
    assert!(boundary[24..].chars().all(|c| c.is_ascii_alphanumeric()));
    let scene = request.scene();
    let file = request.parts().pop().unwrap().0;
    let number = file.split("filename=\"").nth(1).unwrap()[..19].to_owned();
    assert!(number.parse::<u64>().unwrap() > 0);

    let mut body = String::new();
    for (name, value) in COLOR_PARTS {
        let value = if value == "HASH" {
            &hash(&scene)
        } else {
            value
        };
        body += &format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
    }
    body += &format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"scene\"; \
         filename=\"{number}-color.gltf\"\r\nContent-Type: model/gltf+json\r\n\r\n{scene}\r\n\
         --{boundary}--\r\n"
    );
    let head = format!(
        "POST /render HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\nContent-Length: {}\r\n\
         Content-Type: multipart/form-data; boundary={boundary}\r\n",
        server.base_url().trim_start_matches("http://"),
        body.len()
    );
    assert_eq!(request.head, head);
    assert_eq!(String::from_utf8(request.body).unwrap(), body);
}

#[test]
fn scene_of_a_box_has_the_text_of_drake() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    add(
        &mut engine,
        BoxShape::new(0.2, 0.3, 0.4).unwrap(),
        &box_properties(),
    );
    color_with(&engine, &captured_view()).unwrap();

    // The pose of the camera is computed with other roundings, and VTK's field of view differs by
    // 2e-8 from that of the form.
    const CAMERA: &str = r#"{"camera":0,"matrix":["#;
    let split = |text: &str| {
        let (before, rest) = text.split_once(CAMERA).unwrap();
        let (matrix, after) = rest.split_once(']').unwrap();
        let numbers = matrix.split(',').map(|x| x.parse().unwrap());
        (
            before.to_owned(),
            numbers.collect::<Vec<f64>>(),
            after.to_owned(),
        )
    };
    let (before, matrix, after) = split(BOX_COLOR.trim_end());
    const FOV_Y: &str = "0.8796851846838044";
    let request = server.last();
    let ours = split(&request.scene());
    let generator = concat!(r#""generator":"tarragon "#, env!("CARGO_PKG_VERSION"), '"');
    let drake = before.replace(r#""generator":"VTK""#, generator);
    let fov_y = format!("{:?}", camera().core().intrinsics().fov_y());
    assert!((fov_y.parse::<f64>().unwrap() - FOV_Y.parse::<f64>().unwrap()).abs() < 1e-7);
    assert_eq!(ours.0, drake.replace(FOV_Y, &fov_y));
    assert_eq!(ours.2, after);
    assert_eq!(ours.1.len(), 16);
    for (a, b) in ours.1.iter().zip(&matrix) {
        assert!((a - b).abs() < 1e-15, "{a} {b}");
    }
}

#[test]
fn depth_and_label_requests_differ_as_in_drake() {
    let server = Recorder::of_images();
    let mut engine = engine(&server);
    add(
        &mut engine,
        BoxShape::new(0.2, 0.3, 0.4).unwrap(),
        &box_properties(),
    );
    for (kind, color) in [
        ("depth", "[1.0,1.0,1.0,1.0]"),
        ("label", "[0.17254901960784313,0.00392156862745098,0.0,1.0]"),
    ] {
        if kind == "depth" {
            depth_with(&engine, &captured_view()).unwrap();
        } else {
            label_with(&engine, &captured_view()).unwrap();
        }
        let request = server.last();
        let mut expected: Vec<(&str, String)> = COLOR_PARTS
            .map(|(name, value)| (name, value.to_owned()))
            .into();
        expected[8].1 = kind.into();
        expected[10].1 = hash(&request.scene());
        if kind == "depth" {
            expected.insert(9, ("max_depth", "10.000000".into()));
            expected.insert(10, ("min_depth", "0.100000".into()));
        }
        let parts = request.parts();
        let found = parts[..parts.len() - 1].iter().map(|(head, value)| {
            let name = head.strip_prefix("Content-Disposition: form-data; name=\"");
            let name = name.unwrap().strip_suffix('"').unwrap();
            (name, String::from_utf8(value.clone()).unwrap())
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        let drake = BOX_COLOR.replace("[0.1,0.2,0.3,0.5]", color);
        let materials = |text: &str| {
            let materials = text.split(r#""materials":"#).nth(1).unwrap();
            materials.split(r#","meshes""#).next().unwrap().to_owned()
        };
        assert_eq!(materials(&request.scene()), materials(&drake));
        assert!(parts.last().unwrap().0.contains(&format!("-{kind}.gltf\"")));
    }
}

#[test]
fn endpoints_are_joined_with_one_slash() {
    let server = Recorder::of_images();
    for (base, endpoint, line) in [
        ("", "render", "POST /render HTTP/1.1"),
        ("/", "/render", "POST /render HTTP/1.1"),
        ("/a/b/", "c?d=e", "POST /a/b/c?d=e HTTP/1.1"),
        ("", "", "POST / HTTP/1.1"),
        ("/a/", "", "POST /a/ HTTP/1.1"),
    ] {
        let params = RenderEngineGltfClientParams {
            base_url: server.base_url() + base,
            render_endpoint: endpoint.into(),
            ..Default::default()
        };
        let engine = RenderEngineGltfClient::new(params).unwrap();
        color_with(&engine, &nothing()).unwrap();
        assert_eq!(server.last().head.lines().next().unwrap(), line);
        assert!(engine.url().starts_with(&server.base_url()));
    }
}

#[test]
fn requests_of_many_threads_and_engines_are_separate() {
    let server = Recorder::of_images();
    let engines: Vec<_> = (1..5)
        .map(|i| {
            let mut engine = engine(&server);
            let radius = 0.1 * f64::from(i);
            add(
                &mut engine,
                Sphere::new(radius).unwrap(),
                &PerceptionProperties::new(),
            );
            engine
        })
        .collect();
    std::thread::scope(|threads| {
        for engine in &engines {
            for _ in 0..2 {
                threads.spawn(|| {
                    for _ in 0..3 {
                        let color = color_with(engine, &everything()).unwrap();
                        assert_eq!(color.at(3, 4), [10, 20, 30, 99]);
                        let depth = depth_with(engine, &everything()).unwrap();
                        assert_eq!(depth.at(3, 4), [1.25]);
                        let label = label_with(engine, &everything()).unwrap();
                        assert_eq!(label.at(3, 4), [7]);
                    }
                });
            }
        }
    });
    let requests = server.requests();
    assert_eq!(requests.len(), 4 * 2 * 3 * 3);
    let mut numbers = BTreeSet::new();
    for request in &requests {
        assert_eq!(request.field("scene_sha256"), hash(&request.scene()));
        let file = request.parts().pop().unwrap().0;
        numbers.insert(file.split("filename=\"").nth(1).unwrap()[..19].to_owned());
    }
    assert_eq!(
        numbers.len(),
        requests.len(),
        "every request has its own number"
    );
    // Each engine sends three scenes, one per kind, in which only materials differ.
    let scenes: BTreeSet<String> = requests.iter().map(Request::scene).collect();
    assert_eq!(scenes.len(), 4 * 3);
}
