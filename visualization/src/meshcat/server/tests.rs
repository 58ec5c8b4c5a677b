//! Pages without sockets: what they are sent if events happen in an order that is rare with
//! sockets.

use super::*;
use crate::meshcat::slider::Slider;
use tungstenite::protocol::{Role, WebSocket};

fn start() -> (Arc<Shared>, Server) {
    Server::start(MeshcatParams {
        port: Some(0),
        ..Default::default()
    })
    .unwrap()
}

/// Decodes the messages in frames.
fn messages(frames: &[bytes::Bytes]) -> Vec<rmpv::Value> {
    let stream = std::io::Cursor::new(frames.concat());
    let mut client = WebSocket::from_raw_socket(stream, Role::Client, None);
    let bytes = std::iter::from_fn(|| Some(client.read().ok()?.into_data()));
    bytes
        .map(|b| rmpv::decode::read_value(&mut &b[..]).unwrap())
        .collect()
}

/// If a program and a page set a slider at the same time, the page ends up with the server's value.
#[test]
fn a_page_that_moves_a_slider_is_corrected_after_an_older_value() {
    let (shared, _server) = start();
    let slider = Slider {
        value: 0.0,
        min: 0.0,
        max: 1.0,
        step: 0.1,
        decrement_keycode: String::new(),
        increment_keycode: String::new(),
    };
    shared.change(|s| s.add_slider("q", slider)).unwrap();
    let (page, _) = shared.join(Encoding::Standard);
    shared.change(|s| s.set_slider_value("q", 0.3)).unwrap();
    // The value is on its way to the page, which moves the slider before it arrives.
    shared.make_batch();
    let (name, value) = ("q".to_owned(), 0.6);
    let moved = ClientMessage::Slider { name, value };
    shared.receive(&page, moved).unwrap();
    let (_, frames) = shared.next_frames(&page).unwrap().unwrap();
    let value = |m: &rmpv::Value| m["value"].as_f64().unwrap();
    let found = messages(&frames);
    assert_eq!(value(found.last().unwrap()), 0.6000000000000001);
    // No correction is sent if no value is on its way.
    page.seen.store(shared.scene().revision, Ordering::Release);
    let (name, value) = ("q".to_owned(), 0.8);
    let moved = ClientMessage::Slider { name, value };
    shared.receive(&page, moved).unwrap();
    assert!(shared.next_frames(&page).is_none());
    shared.leave(&page);
}

/// If more is deleted at once than is kept, a page is told to reconnect and does not keep showing
/// deleted objects.
#[test]
fn a_page_that_missed_deletions_must_reconnect() {
    let (shared, _server) = start();
    let (page, _) = shared.join(Encoding::Standard);
    shared.change(|scene| {
        for i in 0..100_001 {
            scene.delete(&format!("/n{i}"));
        }
    });
    shared.make_batch();
    assert!(shared.next_frames(&page).unwrap().is_err());
    let (other, _) = shared.join(Encoding::Standard);
    shared.change(|scene| scene.delete("/n"));
    shared.make_batch();
    let (_, frames) = shared.next_frames(&other).unwrap().unwrap();
    assert_eq!(messages(&frames).len(), 1);
    shared.leave(&page);
    shared.leave(&other);
}

/// A flush ends when the server ends, for whatever reason.
#[test]
fn a_flush_ends_with_the_server() {
    let (shared, server) = start();
    // A page whose task is gone.
    let (page, _) = shared.join(Encoding::Standard);
    let waiting = shared.clone();
    let flush = std::thread::spawn(move || waiting.flush());
    drop(server);
    flush.join().unwrap();
    shared.leave(&page);
}
