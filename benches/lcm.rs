//! Benches of images and poses over LCM, the counterpart of `engines/drake/i_lcm.py`.

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(missing_docs, reason = "criterion_group! makes undocumented functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::Isometry3;
use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tarragon::geometry::{FramePoseVector, GeometryFrame, Sphere};
use tarragon::lcm::types::{LcmtImageArray, LcmtViewerDraw};
use tarragon::lcm::{Lcm, LcmMessage, LcmPublisherSystem, LcmSubscriberSystem, Subscriber};
use tarragon::prelude::*;
use tarragon::sensors::{ImageRgba8U, ImageToLcmImageArrayT, LcmImageArrayToImages, Rgba8U};
use tarragon::visualization::DrakeVisualizer;

const SIZE: (usize, usize) = (640, 480);
const PIXELS: usize = SIZE.0 * SIZE.1;
/// Number of moving spheres.
const LINKS: usize = 1000;

/// Kinds of images: name, whether the data is compressed, whether there is noise.
const KINDS: [(&str, bool, bool); 3] = [
    ("", false, true),
    ("_zlib", true, true),
    ("_zlib.smooth", true, false),
];

/// A sky, a shaded ball and a tiled floor, with or without one bit of noise in every channel; the
/// script has the same image.
fn picture(noisy: bool) -> ImageRgba8U {
    let (width, height) = SIZE;
    let mut image = ImageRgba8U::new(width, height);
    for (y, row) in image.rows_mut().enumerate() {
        for (x, pixel) in row.chunks_exact_mut(4).enumerate() {
            let (dx, dy) = (x as i64 - 320, y as i64 - 240);
            let square = dx * dx + dy * dy;
            let (r, g, b) = if square < 150 * 150 {
                let light = 220 - square / 150;
                (light, light / 2, light / 3)
            } else if y > 300 {
                let tile = if (x / 40 + y / 40) % 2 == 0 { 180 } else { 120 };
                let tile = tile - (y as i64 - 300) / 4;
                (tile, tile, tile)
            } else {
                (y as i64 / 2, 60 + y as i64 / 3, 200 - x as i64 / 16)
            };
            for (k, (channel, value)) in pixel.iter_mut().zip([r, g, b]).enumerate() {
                let noise = ((y * width + x) * 3 + k) as u32;
                let noise = noise.wrapping_mul(2_654_435_761);
                let noise = (noise ^ (noise >> 15)).wrapping_mul(2_246_822_519) >> 31;
                *channel = (value + i64::from(noise) * i64::from(noisy)) as u8;
            }
            pixel[3] = 255;
        }
    }
    image
}

/// Buses for the messages of one round of measurements.
fn buses() -> [(&'static str, Lcm); 2] {
    let port = 20_000 + std::process::id() % 20_000;
    let udpm = format!("udpm://239.255.76.67:{port}?ttl=0");
    [
        ("", Lcm::with_url("memq://").unwrap()),
        (".udpm", Lcm::with_url(&udpm).unwrap()),
    ]
}

/// Times `work` after `prepare`, which is not timed.
fn measure(c: &mut Criterion, name: &str, mut prepare: impl FnMut(u64), mut work: impl FnMut(u64)) {
    let mut k = 0;
    c.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let mut total = Duration::ZERO;
            for _ in 0..times {
                k += 1;
                prepare(k);
                let start = Instant::now();
                work(k);
                total += start.elapsed();
            }
            total
        });
    });
}

/// A diagram with one input port for images, and the message that it publishes.
fn publishing(
    lcm: &Lcm,
    do_compress: bool,
) -> (
    Context<f64>,
    InputPort<ImageRgba8U>,
    OutputPort<LcmtImageArray>,
) {
    let mut images = ImageToLcmImageArrayT::new(do_compress);
    let port = images.declare_image_input_port::<Rgba8U>("color").unwrap();
    let mut b = DiagramBuilder::new();
    let images = b.add_f64("images", images);
    let publisher = LcmPublisherSystem::new("IMAGE", lcm.clone(), 1.0, 0.0).unwrap();
    let publisher = b.add_f64("publisher", publisher);
    b.connect(images.image_array_t, publisher.lcm_message);
    let ctx = b.build().unwrap().default_context();
    let input = images.image_port(port).unwrap();
    (ctx, input, images.image_array_t)
}

/// The encoded message with an image.
fn encoded(image: &ImageRgba8U, do_compress: bool) -> Vec<u8> {
    let (mut ctx, input, output) = publishing(&Lcm::with_url("memq://").unwrap(), do_compress);
    ctx.fix(input, image.clone()).unwrap();
    ctx.eval(output).unwrap().encode().unwrap()
}

/// A diagram that outputs the image of the latest message.
fn receiving(lcm: &Lcm) -> (Diagram<f64>, OutputPort<ImageRgba8U>) {
    let mut b = DiagramBuilder::new();
    let subscriber = LcmSubscriberSystem::<LcmtImageArray>::new("IMAGE", lcm).unwrap();
    let subscriber = b.add_f64("subscriber", subscriber);
    let images = b.add_f64("images", LcmImageArrayToImages::new());
    b.connect(subscriber.lcm_message, images.image_array_t);
    (b.build().unwrap(), images.color_image)
}

/// Sets a new image at the input port, then forces a publish.
fn encode_publish(c: &mut Criterion) {
    for (bus, lcm) in buses() {
        for (packed, do_compress, noisy) in KINDS {
            let image = picture(noisy);
            let bytes = encoded(&image, do_compress).len();
            eprintln!("image_rgba{packed}: {bytes} bytes");
            let (ctx, input, _) = publishing(&lcm, do_compress);
            // A subscriber, on transports where it makes a difference.
            let heard = bus
                .is_empty()
                .then(|| Subscriber::<LcmtImageArray>::new(&lcm, "IMAGE").unwrap());
            let ctx = RefCell::new(ctx);
            let name = format!("I1.lcm_encode_publish.image_rgba{packed}{bus}/{PIXELS}");
            let prepare = |_| {
                lcm.handle_subscriptions(Duration::ZERO).unwrap();
                ctx.borrow_mut().fix(input, image.clone()).unwrap();
            };
            let publish = |_| drop(ctx.borrow().force_publish().unwrap());
            measure(c, &name, prepare, publish);
            drop(heard);
        }
    }
}

/// Sets new poses at the input port, then forces a publish of the visualizer, which computes the
/// poses in the world.
fn encode_publish_draw(c: &mut Criterion) {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("source").unwrap();
    let mut frames = vec![];
    for i in 0..LINKS {
        let frame = GeometryFrame::new(format!("frame_{i}"));
        let frame = scene.register_frame(source, frame).unwrap();
        let (pose, shape) = (Isometry3::identity(), Sphere::new(0.1).unwrap());
        let sphere = GeometryInstance::new(pose, shape, &format!("sphere_{i}"))
            .unwrap()
            .with_illustration(IllustrationProperties::new());
        scene.register_geometry(source, frame, sphere).unwrap();
        frames.push(frame);
    }
    let poses = |k: u64| -> FramePoseVector<f64> {
        let pose = |(i, frame): (usize, &_)| {
            let at = Isometry3::translation(0.5 * i as f64, 0.01 * k as f64, 0.25);
            (*frame, at)
        };
        frames.iter().enumerate().map(pose).collect()
    };
    let poses: Vec<_> = (0..8).map(poses).collect();
    let lcm = Lcm::with_url("memq://").unwrap();
    let heard = lcm.subscribe_bytes("DRAKE_VIEWER_DRAW", |_| {}).unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let (query, bus) = (scene.query, Some(lcm.clone()));
    DrakeVisualizer::add_to_builder(&mut b, query, bus, Default::default()).unwrap();
    let ctx = RefCell::new(b.build().unwrap().default_context());
    let input = scene.source_pose_port(source).unwrap();
    let prepare = |k: u64| {
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        let poses = poses[k as usize % 8].clone();
        ctx.borrow_mut().fix(input, poses).unwrap();
    };
    let publish = |_| drop(ctx.borrow().force_publish().unwrap());
    let name = format!("I1.lcm_encode_publish.draw/{LINKS}");
    measure(c, &name, prepare, publish);
    drop(heard);
    let heard = Subscriber::<LcmtViewerDraw>::new(&lcm, "DRAKE_VIEWER_DRAW").unwrap();
    for k in [3, 4] {
        prepare(k);
        publish(k);
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        let at = heard.message().unwrap().position;
        assert_eq!(
            (at.len(), at[999]),
            (LINKS, [499.5, (0.01 * k as f64) as f32, 0.25])
        );
    }
}

/// Handles a message, copies it into the context, and evaluates the colour image.
fn decode(c: &mut Criterion) {
    for (packed, do_compress, noisy) in KINDS {
        let image = picture(noisy);
        let bytes = encoded(&image, do_compress);
        decode_image(c, &format!("image_rgba{packed}"), &bytes, &image);
    }
    // Drake's own bytes, if the script has left them.
    let Some(path) = std::env::var_os("TARRAGON_BENCH_DRAKE_IMAGE") else {
        eprintln!("SKIPPED: TARRAGON_BENCH_DRAKE_IMAGE does not name the script's message");
        return;
    };
    let bytes = std::fs::read(path).unwrap();
    decode_image(c, "image_rgba_zlib_of_drake", &bytes, &picture(true));
}

fn decode_image(c: &mut Criterion, what: &str, bytes: &[u8], expected: &ImageRgba8U) {
    let lcm = Lcm::with_url("memq://").unwrap();
    let (diagram, color_image) = receiving(&lcm);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.initialize().unwrap();
    let prepare = |_| lcm.publish_bytes("IMAGE", bytes, None).unwrap();
    let handle = |k: u64| {
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        sim.advance_to(k as f64 * 0.001).unwrap();
        let image = sim.context().eval(color_image).unwrap();
        assert_eq!(black_box(image).at(7, 7), expected.at(7, 7));
    };
    measure(
        c,
        &format!("I2.lcm_decode.{what}/{PIXELS}"),
        prepare,
        handle,
    );
}

/// From a new image at the input port of one diagram to the image at the output port of another.
fn both_ways(c: &mut Criterion) {
    for (packed, do_compress, noisy) in KINDS {
        let image = picture(noisy);
        let lcm = Lcm::with_url("memq://").unwrap();
        let (ctx, input, _) = publishing(&lcm, do_compress);
        let (diagram, color_image) = receiving(&lcm);
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.initialize().unwrap();
        let ctx = RefCell::new(ctx);
        let prepare = |_| ctx.borrow_mut().fix(input, image.clone()).unwrap();
        let send_and_take = |k: u64| {
            ctx.borrow().force_publish().unwrap();
            lcm.handle_subscriptions(Duration::ZERO).unwrap();
            sim.advance_to(k as f64 * 0.001).unwrap();
            let found = sim.context().eval(color_image).unwrap();
            assert_eq!(black_box(found).at(7, 7), image.at(7, 7));
        };
        let name = format!("I3.lcm_both_ways.image_rgba{packed}/{PIXELS}");
        measure(c, &name, prepare, send_and_take);
    }
}

/// Handles a message with the poses of a thousand links, and copies it into the context.
fn decode_draw(c: &mut Criterion) {
    let n = LINKS;
    let message = LcmtViewerDraw {
        timestamp: 1,
        link_name: (0..n).map(|i| format!("source::frame_{i}")).collect(),
        robot_num: vec![0; n],
        position: (0..n).map(|i| [i as f32, 0.5, 0.25]).collect(),
        quaternion: vec![[1.0, 0.0, 0.0, 0.0]; n],
    };
    let bytes = message.encode().unwrap();
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut b = DiagramBuilder::new();
    let subscriber = LcmSubscriberSystem::<LcmtViewerDraw>::new("DRAW", &lcm).unwrap();
    let subscriber = b.add_f64("subscriber", subscriber);
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.initialize().unwrap();
    let prepare = |_| lcm.publish_bytes("DRAW", &bytes, None).unwrap();
    let handle = |k: u64| {
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        sim.advance_to(k as f64 * 0.001).unwrap();
        let draw = sim.context().eval(subscriber.lcm_message).unwrap();
        assert_eq!(black_box(draw).position.len(), n);
    };
    measure(c, &format!("I2.lcm_decode.draw/{n}"), prepare, handle);
}

criterion_group!(
    benches,
    encode_publish,
    encode_publish_draw,
    decode,
    both_ways,
    decode_draw
);
criterion_main!(benches);
