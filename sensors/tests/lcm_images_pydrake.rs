//! Exchange of images and point clouds with pydrake in both directions.
//!
//! `TARRAGON_PYDRAKE` names a Python interpreter that can import pydrake 1.51; without it these
//! tests print that they are skipped, and pass.

#![allow(clippy::print_stderr, reason = "skipped tests are reported")]

use nalgebra::Vector3;
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tarragon_framework::prelude::*;
use tarragon_lcm::types::{LcmtImageArray, LcmtPointCloud};
use tarragon_lcm::{Lcm, LcmMessage, LcmPublisherSystem, Subscriber};
use tarragon_sensors::*;

/// A Python program that answers each line with a line; see `lcm_peer.py`.
struct Drake {
    process: Child,
    answers: BufReader<ChildStdout>,
}

/// Reports a skipped test. It avoids the printing macros, whose output is captured for tests that
/// pass.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

impl Drake {
    fn start() -> Option<Self> {
        let Some(python) = std::env::var_os("TARRAGON_PYDRAKE") else {
            skip("no pydrake (set TARRAGON_PYDRAKE to a Python interpreter that has it)");
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lcm_peer.py");
        let mut process = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Some(Self { process, answers })
    }
    fn tell(&mut self, command: &str) {
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{command}").unwrap();
        input.flush().unwrap();
    }
    fn answer(&mut self) -> String {
        let mut line = String::new();
        assert!(
            self.answers.read_line(&mut line).unwrap() > 0,
            "Drake's process has ended"
        );
        line.trim().into()
    }
    fn ask(&mut self, command: &str) -> String {
        self.tell(command);
        self.answer()
    }
}

impl Drop for Drake {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(byte).collect()
}

/// Returns the images that `make` of the Python program also makes.
fn test_images(width: usize, height: usize) -> (ImageRgba8U, ImageDepth32F, ImageLabel16I) {
    let n = width * height;
    let color = (0..4 * n).map(|i| (i * i / 7) as u8).collect();
    let depth = (0..n).map(|i| (i % 97) as f32 / 8.0).collect();
    let label = (0..n).map(|i| (i / 5 % 1000) as i16).collect();
    (
        Image::from_data(width, height, color).unwrap(),
        Image::from_data(width, height, depth).unwrap(),
        Image::from_data(width, height, label).unwrap(),
    )
}

/// Returns the text that the Python program prints for images received in a message.
///
/// From raw data, Drake 1.51.1 copies only as many bytes as there are channels, even if a channel
/// has several bytes, and even from its own messages; the rest of such an image is zero.
fn shown(
    (color, depth, label): &(ImageRgba8U, ImageDepth32F, ImageLabel16I),
    compressed: bool,
) -> String {
    let mut depths: Vec<u8> = depth.data().iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut labels: Vec<u8> = label.data().iter().flat_map(|x| x.to_le_bytes()).collect();
    if !compressed {
        depths[depth.size()..].fill(0);
        labels[label.size()..].fill(0);
    }
    let size = format!("{} {}", color.width(), color.height());
    [color.data(), &depths, &labels]
        .map(|data| format!("{size} {}", hex(data)))
        .join(", ")
}

/// Returns the context of a diagram that publishes the images, and the port of the message.
fn sender(
    lcm: &Lcm,
    images: &(ImageRgba8U, ImageDepth32F, ImageLabel16I),
    do_compress: bool,
) -> (Context<f64>, OutputPort<LcmtImageArray>) {
    let mut b = DiagramBuilder::new();
    let system =
        ImageToLcmImageArrayT::with_color_depth_label("color", "depth", "label", do_compress);
    let system = b.add_f64("images", system.unwrap());
    let publisher = LcmPublisherSystem::new("TEST", lcm.clone(), 1.0, 0.0).unwrap();
    let publisher = b.add_f64("publisher", publisher);
    b.connect(system.image_array_t, publisher.lcm_message);
    let mut ctx = b.build().unwrap().default_context();
    ctx.set_time(1.25);
    ctx.fix(system.color_image().unwrap(), images.0.clone())
        .unwrap();
    ctx.fix(system.depth_image().unwrap(), images.1.clone())
        .unwrap();
    ctx.fix(system.label_image().unwrap(), images.2.clone())
        .unwrap();
    (ctx, system.image_array_t)
}

fn received(message: &[u8]) -> (ImageRgba8U, ImageDepth32F, ImageLabel16I) {
    let mut b = DiagramBuilder::new();
    let system = b.add_f64("images", LcmImageArrayToImages::new());
    let mut ctx = b.build().unwrap().default_context();
    let message = LcmtImageArray::decode(message).unwrap();
    ctx.fix(system.image_array_t, message).unwrap();
    let images = (
        ctx.eval(system.color_image).unwrap().clone(),
        ctx.eval(system.depth_image).unwrap().clone(),
        ctx.eval(system.label_image).unwrap().clone(),
    );
    assert_eq!(system.system().dropped_images(), 0);
    images
}

const SIZES: [(usize, usize); 6] = [(0, 0), (1, 1), (3, 2), (17, 5), (5, 333), (641, 479)];

#[test]
fn images_agree_with_drake_in_both_directions() {
    let Some(mut drake) = Drake::start() else {
        return;
    };
    let lcm = Lcm::with_url("memq://null").unwrap();
    for (width, height) in SIZES {
        let images = test_images(width, height);
        for compress in [false, true] {
            let (ctx, port) = sender(&lcm, &images, compress);
            let ours = ctx.eval(port).unwrap().encode().unwrap();
            let found = drake.ask(&format!("images {}", hex(&ours)));
            let expected = shown(&images, compress);
            assert!(
                found == expected.trim(),
                "{width} x {height} {compress}: Drake must see {expected:.300}, got {found:.300}"
            );

            let drakes = bytes(&drake.ask(&format!("make {compress} {width} {height}")));
            assert!(
                received(&drakes) == images,
                "{width} x {height} {compress}: we decode other images"
            );
            if !compress {
                assert!(drakes == ours, "{width} x {height}: bytes differ");
            }
        }
    }
}

#[test]
fn point_clouds_agree_with_drake_in_both_directions() {
    let Some(mut drake) = Drake::start() else {
        return;
    };
    for (names, fields) in [
        ("xyz", BaseField::XYZS),
        ("rgb", BaseField::RGBS),
        ("xyz,rgb", BaseField::XYZS | BaseField::RGBS),
        ("xyz,normal", BaseField::XYZS | BaseField::NORMALS),
        (
            "xyz,rgb,normal",
            BaseField::XYZS | BaseField::RGBS | BaseField::NORMALS,
        ),
    ] {
        for size in [0, 1, 4, 1000] {
            let mut cloud = PointCloud::new(size, fields);
            let vector =
                |i: usize, scale: f32| Vector3::from([0, 1, 2].map(|k| (3 * i + k) as f32 * scale));
            for (i, xyz) in cloud.xyzs_mut().iter_mut().enumerate() {
                *xyz = vector(i, 0.25) + Vector3::repeat(0.5);
                match i % 7 {
                    3 => xyz.x = f32::NAN,
                    4 => xyz.y = f32::INFINITY,
                    _ => {}
                }
            }
            for (i, normal) in cloud.normals_mut().iter_mut().enumerate() {
                *normal = vector(i, -0.125);
            }
            for (i, rgb) in cloud.rgbs_mut().iter_mut().enumerate() {
                *rgb = [0, 1, 2].map(|k| (3 * i + k) as u8);
            }
            let mut ours = LcmtPointCloud {
                utime: 2_500_000,
                ..Default::default()
            };
            encode_point_cloud(&cloud, "frame", &mut ours);
            let ours = ours.encode().unwrap();
            let drakes = drake.ask(&format!("make_cloud {names} {size}"));
            assert_eq!(hex(&ours), drakes, "{names} {size}");
            // Python's types decode the message and encode it to the same bytes.
            let found = drake.ask(&format!("cloud {drakes}"));
            assert!(found.ends_with(&drakes), "{found}");

            let mut back = PointCloud::default();
            decode_point_cloud(&LcmtPointCloud::decode(&bytes(&drakes)).unwrap(), &mut back)
                .unwrap();
            let expected = if cloud.has_xyzs() {
                cloud.finite_points().unwrap()
            } else {
                cloud
            };
            assert_eq!(back, expected);
        }
    }
}

/// Returns the URL of a bus that only this test uses.
fn private_url(offset: u32) -> String {
    let port = 20_000 + (std::process::id() * 2 + offset) % 20_000;
    // The large buffer allows for delays on a loaded machine. If the system grants less, the images
    // still fit.
    format!("udpm://239.255.76.67:{port}?ttl=0&recv_buf_size=2000000")
}

#[test]
fn images_are_exchanged_over_the_network() {
    // liblcm needs this route, and checks it by the same call; connecting sends nothing.
    let route = UdpSocket::bind("0.0.0.0:0").and_then(|s| s.connect("239.255.76.67:7667"));
    if let Err(error) = route {
        skip(&format!(
            "no route for multicast, which Drake needs: {error}"
        ));
        return;
    }
    let Some(mut drake) = Drake::start() else {
        return;
    };
    // From us to Drake. Each image needs several datagrams, but not more than Drake's socket buffer
    // holds in case its thread is late.
    for (k, compress, width, height) in [(0, false, 100, 80), (1, true, 200, 150)] {
        let images = test_images(width, height);
        let url = private_url(k);
        let lcm = Lcm::with_url(&url).unwrap();
        drake.tell(&format!("hear {url} TEST"));
        assert_eq!(drake.answer(), "listening");
        let (ctx, _) = sender(&lcm, &images, compress);
        let answer = std::thread::scope(|scope| {
            let answer = scope.spawn(|| drake.answer());
            while !answer.is_finished() {
                ctx.force_publish().unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
            answer.join().unwrap()
        });
        assert!(
            answer == shown(&images, compress),
            "Drake sees {}",
            &answer[..answer.len().min(80)]
        );

        // From Drake to us.
        let heard = Subscriber::<LcmtImageArray>::new(&lcm, "BACK").unwrap();
        let message = drake.ask(&format!("make {compress} {width} {height}"));
        let end = Instant::now() + Duration::from_secs(60);
        while heard.count() == 0 && Instant::now() < end {
            assert_eq!(
                drake.ask(&format!("publish {url} BACK {message}")),
                "published"
            );
            lcm.handle_subscriptions(Duration::from_millis(300))
                .unwrap();
        }
        let message = heard.message().expect("a message from Drake");
        assert!(received(&message.encode().unwrap()) == images);
    }
}
