//! Whatever is set and deleted, and whenever pages connect, read and disconnect: each page ends up
//! with the scene that a new page receives.

use crate::support::{Page, field, server, wait_for};
use nalgebra::{Isometry3, Matrix4, Vector3};
use proptest::prelude::*;
use rmpv::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tarragon_geometry::{BoxShape, Rgba, Sphere};
use tarragon_visualization::Meshcat;

#[derive(Debug, Default, PartialEq)]
struct Node {
    object: Option<Value>,
    /// The matrix, or the seven numbers of a pose.
    transform: Option<Value>,
    properties: BTreeMap<String, Value>,
}

/// The scene that a page shows, by the rules of the protocol.
#[derive(Debug, Default, PartialEq)]
struct Model {
    nodes: BTreeMap<String, Node>,
    /// The message that added each control, with its current value.
    controls: BTreeMap<String, (Value, Option<Value>)>,
    target: Option<Value>,
}

/// A model, and the numbers assigned to paths.
#[derive(Debug, Default)]
struct Reader {
    model: Model,
    paths: HashMap<u32, String>,
}

impl Reader {
    /// Applies a message. Fails for messages that the page must not be sent.
    fn apply(&mut self, message: &Value) {
        let get = |key: &str| field(message, key).unwrap_or_else(|| panic!("no {key}: {message}"));
        let text = |key: &str| get(key).as_str().unwrap().to_owned();
        let model = &mut self.model;
        match text("type").as_str() {
            "set_object" => {
                let mut object = get("object");
                forget_uuids(&mut object);
                model.nodes.entry(text("path")).or_default().object = Some(object);
            }
            "set_transform" => {
                let node = model.nodes.entry(text("path")).or_default();
                node.transform = Some(get("matrix"));
            }
            "set_property" => {
                let node = model.nodes.entry(text("path")).or_default();
                node.properties.insert(text("property"), get("value"));
            }
            "delete" => {
                let (path, below) = (text("path"), format!("{}/", text("path")));
                model
                    .nodes
                    .retain(|p, _| *p != path && !p.starts_with(&below));
            }
            "set_paths" => {
                let first = get("first").as_u64().unwrap() as u32;
                for (i, path) in get("paths").as_array().unwrap().iter().enumerate() {
                    let path = path.as_str().unwrap().to_owned();
                    self.paths.insert(first + i as u32, path);
                }
            }
            "set_transforms" => {
                let (ids, poses) = (get("ids"), get("poses"));
                let (ids, _) = ids.as_slice().unwrap().as_chunks::<4>();
                let (poses, _) = poses.as_slice().unwrap().as_chunks::<56>();
                assert_eq!(ids.len(), poses.len());
                for (id, pose) in ids.iter().zip(poses) {
                    let path = &self.paths[&u32::from_le_bytes(*id)];
                    let node = model.nodes.entry(path.clone()).or_default();
                    node.transform = Some(Value::Binary(pose.to_vec()));
                }
            }
            "set_control" => {
                let mut control = message.clone();
                let value = field(message, "value");
                if let Value::Map(fields) = &mut control {
                    fields.retain(|(k, _)| k.as_str() != Some("value"));
                }
                model.controls.insert(text("name"), (control, value));
            }
            "set_control_value" => {
                if let Some((_, value)) = model.controls.get_mut(&text("name")) {
                    *value = Some(get("value"));
                }
            }
            "delete_control" => {
                model.controls.remove(&text("name"));
            }
            "set_target" => model.target = Some(get("value")),
            "realtime_rate" | "show_realtime_rate" => {}
            other => panic!("{other}"),
        }
    }
}

/// Removes the identifiers of objects, which differ each time.
fn forget_uuids(value: &mut Value) {
    match value {
        Value::Map(fields) => {
            fields.retain(|(k, _)| k.as_str() != Some("uuid"));
            fields.iter_mut().for_each(|(_, v)| forget_uuids(v));
        }
        Value::Array(values) => values.iter_mut().for_each(forget_uuids),
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Object(usize, f64),
    Pose(usize, f64),
    /// Many poses, as set by a simulation.
    Poses(f64),
    Matrix(usize, f64),
    /// Sets a property of a length (bytes).
    Property(usize, usize),
    Delete(usize),
    Slider(usize, f64),
    Button(usize),
    DeleteControls,
    Target(f64),
    Rate(f64),
    Pause,
    /// A page moves the slider that no one else moves.
    Move(f64),
}

/// Returns one of a few paths, some of which are below others.
fn path(i: usize) -> String {
    ["a", "a/b", "a/b/c", "a-b", "b", "b/a", "/x/y", "c/d/e"][i % 8].into()
}

fn apply(meshcat: &Meshcat, mover: &mut Page, operation: &Operation) {
    let x = |x: f64| Isometry3::translation(x, 1.0, 2.0);
    match *operation {
        Operation::Object(i, size) => {
            let colour = Rgba::new(size.fract(), 0.5, 0.0, 1.0).unwrap();
            let ball = Sphere::new(size).unwrap().into();
            let block = BoxShape::new(size, 1.0, 1.0).unwrap().into();
            let shape = if i % 2 == 0 { ball } else { block };
            meshcat.set_object(&path(i), &shape, colour).unwrap();
        }
        Operation::Pose(i, v) => meshcat.set_transform(&path(i), &x(v)),
        Operation::Poses(v) => {
            for i in 0..200 {
                meshcat.set_transform(&format!("many/n{i}"), &x(v));
            }
        }
        Operation::Matrix(i, v) => {
            meshcat.set_transform_matrix(&path(i), &(Matrix4::identity() * v));
        }
        Operation::Property(i, length) => {
            let name = ["visible", "color", "text"][length % 3];
            meshcat.set_property(&path(i), name, "x".repeat(length));
        }
        Operation::Delete(8) => meshcat.delete("many"),
        Operation::Delete(9) => meshcat.delete(""),
        Operation::Delete(i) => meshcat.delete(&path(i)),
        Operation::Slider(i, v) => {
            let name = format!("s{i}");
            if meshcat.slider_value(&name).is_err() {
                meshcat.add_slider(&name, 0.0, 10.0, 0.1, v).unwrap();
            } else if v < 1.0 {
                meshcat.delete_slider(&name, true).unwrap();
            } else {
                meshcat.set_slider_value(&name, v).unwrap();
            }
        }
        Operation::Button(i) => meshcat.add_button(&format!("b{i}"), "").unwrap(),
        Operation::DeleteControls => {
            for name in meshcat.slider_names().iter().filter(|n| *n != "moved") {
                meshcat.delete_slider(name, true).unwrap();
            }
        }
        Operation::Target(v) => meshcat
            .set_camera_target(&Vector3::new(v, 0.0, 1.0))
            .unwrap(),
        Operation::Rate(v) => meshcat.set_realtime_rate(v),
        Operation::Pause => std::thread::sleep(Duration::from_millis(3)),
        Operation::Move(value) => mover.send(&[
            ("type", "slider".into()),
            ("name", "moved".into()),
            ("value", value.into()),
        ]),
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let value = 0.01..10.0;
    prop_oneof![
        3 => (0usize..8, value.clone()).prop_map(|(i, v)| Operation::Object(i, v)),
        4 => (0usize..8, value.clone()).prop_map(|(i, v)| Operation::Pose(i, v)),
        2 => value.clone().prop_map(Operation::Poses),
        2 => (0usize..8, value.clone()).prop_map(|(i, v)| Operation::Matrix(i, v)),
        3 => (0usize..8, 0usize..200).prop_map(|(i, n)| Operation::Property(i, n)),
        2 => (0usize..8, 0usize..100_000).prop_map(|(i, n)| Operation::Property(i, n)),
        3 => (0usize..10).prop_map(Operation::Delete),
        3 => (0usize..4, value.clone()).prop_map(|(i, v)| Operation::Slider(i, v)),
        1 => (0usize..3).prop_map(Operation::Button),
        1 => Just(Operation::DeleteControls),
        1 => value.clone().prop_map(Operation::Target),
        1 => value.clone().prop_map(Operation::Rate),
        4 => Just(Operation::Pause),
        2 => value.prop_map(Operation::Move),
    ]
}

/// A page that connects before an operation, takes some time to read a message (µs), and may
/// disconnect after some messages.
#[derive(Clone, Debug)]
struct Visit {
    from: usize,
    is_batched: bool,
    delay: u64,
    leaves_after: Option<usize>,
}

fn visit() -> impl Strategy<Value = Visit> {
    let delay = prop_oneof![Just(0u64), Just(100), Just(2000), Just(20_000)];
    let leaves = prop::option::weighted(0.3, 0usize..60);
    (0usize..300, any::<bool>(), delay, leaves).prop_map(
        |(from, is_batched, delay, leaves_after)| Visit {
            from,
            is_batched,
            delay,
            leaves_after,
        },
    )
}

fn connect(meshcat: &Meshcat, is_batched: bool) -> Page {
    Page::connect_to(meshcat, if is_batched { "/?batch=1" } else { "/" })
}

/// Returns whether a message is the mark, which is set last.
fn is_mark(message: &Value) -> bool {
    field(message, "path") == Some("/mark".into())
}

/// Reads up to the mark, slowly until the operations are over.
fn read(mut page: Page, visit: &Visit, is_over: &AtomicBool) -> Option<Model> {
    let mut reader = Reader::default();
    for count in 0.. {
        let message = page.next();
        if is_mark(&message) {
            return Some(reader.model);
        }
        reader.apply(&message);
        if visit.leaves_after == Some(count) {
            return None;
        }
        if visit.delay > 0 && !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(visit.delay));
        }
    }
    None
}

proptest! {
    // Each case takes a tenth of a second or more.
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_page_converges_to_the_scene(
        operations in prop::collection::vec(operation(), 300),
        visits in prop::collection::vec(visit(), 8),
    ) {
        let meshcat = server();
        meshcat.add_slider("moved", 0.0, 10.0, 0.1, 5.0).unwrap();
        meshcat.add_button("done", "").unwrap();
        let is_over = AtomicBool::new(false);
        let mut mover = connect(&meshcat, false);
        std::thread::scope(|scope| {
            let (mut readers, mut moves) = (Vec::new(), 5.0);
            for (i, operation) in operations.iter().enumerate() {
                for visit in visits.iter().filter(|v| v.from == i) {
                    let page = connect(&meshcat, visit.is_batched);
                    let is_over = &is_over;
                    readers.push((visit, scope.spawn(move || read(page, visit, is_over))));
                }
                apply(&meshcat, &mut mover, operation);
                if let Operation::Move(value) = operation {
                    moves = *value;
                }
            }
            // The messages of the page were handled.
            mover.send(&[("type", "button".into()), ("name", "done".into())]);
            wait_for("the click arrives", || meshcat.button_clicks("done").unwrap() == 1);
            let moved = meshcat.slider_value("moved").unwrap();
            assert!((moved - moves).abs() <= 0.05 + 1e-9, "{moved} {moves}");
            is_over.store(true, Ordering::Relaxed);
            drop(mover);
            meshcat.flush();
            let new = [false, true].map(|is_batched| {
                let mut page = connect(&meshcat, is_batched);
                let replay = page.replay();
                (page, replay)
            });
            // New pages may have been sent an earlier encoded scene, and the changes after it.
            meshcat.flush();
            meshcat.set_property("/mark", "visible", true);
            let expected = new.map(|(mut page, mut messages)| {
                messages.extend(page.until(is_mark));
                messages.pop();
                let mut reader = Reader::default();
                messages.iter().for_each(|m| reader.apply(m));
                reader.model
            });
            for (visit, reader) in readers {
                let Some(model) = reader.join().unwrap() else { continue };
                assert_eq!(model, expected[usize::from(visit.is_batched)], "{visit:?}");
            }
        });
    }
}
