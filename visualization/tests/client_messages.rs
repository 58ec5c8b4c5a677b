//! Tests of the messages of pages: controls, drags, gamepads and cameras.

use crate::support::{Page, field, is, outline, server, wait_for};
use nalgebra::Vector3;

#[test]
fn controls_work_both_ways() {
    let meshcat = server();
    assert_eq!(
        meshcat.add_slider("s", -1.0, 1.0, 0.1, 0.33).unwrap(),
        0.30000000000000004
    );
    meshcat.add_button("b", "KeyA").unwrap();
    let (mut one, mut two) = (Page::connect(&meshcat), Page::connect(&meshcat));
    one.replay();
    two.replay();
    one.send(&[
        ("type", "slider".into()),
        ("name", "s".into()),
        ("value", 0.62.into()),
    ]);
    one.send(&[("type", "button".into()), ("name", "b".into())]);
    wait_for("the button is clicked", || {
        meshcat.button_clicks("b").unwrap() == 1
    });
    assert_eq!(meshcat.slider_value("s").unwrap(), 0.6000000000000001);
    // The other page follows; the page that moved the slider receives nothing.
    let moved = two.next();
    assert_eq!(
        outline(std::slice::from_ref(&moved)),
        ["set_control_value s"]
    );
    assert_eq!(field(&moved, "value"), Some(0.6000000000000001.into()));
    meshcat.set_slider_value("s", -5.0).unwrap();
    let moved = one.next();
    assert_eq!(field(&moved, "value"), Some((-1.0).into()));

    let error = |r: tarragon_visualization::Result<()>| r.unwrap_err().to_string();
    assert_eq!(
        error(meshcat.add_button("b", "KeyB")),
        "Meshcat button 'b': the key code must stay 'KeyA', got 'KeyB'; delete the button before giving it \
         another key"
    );
    assert_eq!(
        error(meshcat.add_button("s", "")),
        "Meshcat already has a slider named 's'; delete it first or use another name"
    );
    assert_eq!(
        error(meshcat.slider_value("b").map(drop)),
        "Meshcat has no slider named 'b': 'b' is a button; its sliders are: s"
    );
    assert!(meshcat.add_slider("t", 1.0, 0.0, 0.1, 0.5).is_err());
    assert!(meshcat.add_slider("t", 0.0, 1.0, 0.0, 0.5).is_err());
    // Adding the button again resets its clicks.
    meshcat.add_button("b", "KeyA").unwrap();
    assert_eq!(meshcat.button_clicks("b").unwrap(), 0);
    meshcat.delete_added_controls();
    assert!(meshcat.slider_names().is_empty() && meshcat.button_names().is_empty());
    let gone = two.until(|m| is("delete_control")(m) && field(m, "name") == Some("b".into()));
    assert!(outline(&gone).contains(&"delete_control s".into()));
}

#[test]
fn drags_last_until_they_are_dropped_or_their_page_leaves() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    let point = |x: f64| rmpv::Value::Array(vec![x.into(), 0.into(), 1.into()]);
    let drag = |page: &mut Page, x: f64| {
        page.send(&[
            ("type", "drag".into()),
            ("path", "/drake/ball".into()),
            ("point", point(0.5)),
            ("target", point(x)),
        ]);
    };
    drag(&mut page, 2.0);
    wait_for("the drag arrives", || meshcat.drag().is_some());
    let held = meshcat.drag().unwrap();
    assert_eq!(held.path, "/drake/ball");
    assert_eq!(held.point, Vector3::new(0.5, 0.0, 1.0));
    assert_eq!(held.target, Vector3::new(2.0, 0.0, 1.0));
    // The drop of another page ends nothing.
    let mut other = Page::connect(&meshcat);
    other.replay();
    other.send(&[("type", "drop".into())]);
    drag(&mut page, 3.0);
    wait_for("the target moves", || {
        meshcat.drag().is_some_and(|d| d.target.x == 3.0)
    });
    page.send(&[("type", "drop".into())]);
    wait_for("the drag ends", || meshcat.drag().is_none());
    drag(&mut page, 4.0);
    wait_for("the next drag arrives", || meshcat.drag().is_some());
    drop(page);
    wait_for("the page left", || meshcat.drag().is_none());
}

#[test]
fn gamepads_and_cameras_are_reported() {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    let identity: Vec<rmpv::Value> = (0..16).map(|i| i64::from(i % 5 == 0).into()).collect();
    let pad = rmpv::Value::Map(vec![
        ("index".into(), 0.into()),
        ("button_values".into(), rmpv::Value::Array(vec![1.into()])),
        (
            "axes".into(),
            rmpv::Value::Array(vec![0.5.into(), (-1).into()]),
        ),
    ]);
    page.send(&[
        ("type", "gamepad".into()),
        ("name", "".into()),
        ("gamepad", pad),
    ]);
    page.send(&[
        ("type", "camera_pose".into()),
        ("camera_pose", rmpv::Value::Array(identity.clone())),
        ("is_perspective", true.into()),
    ]);
    wait_for("the camera is tracked", || {
        meshcat.tracked_camera_pose().is_some()
    });
    let gamepad = meshcat.gamepad();
    assert_eq!((gamepad.index, gamepad.axes), (Some(0), vec![0.5, -1.0]));
    // The camera looks along the world's +y, which is three.js's -z, with z along the camera's -y.
    let forward = meshcat.tracked_camera_pose().unwrap() * Vector3::z();
    assert!((forward - Vector3::y()).norm() < 1e-12);
    // Invalid messages are ignored and do not end the connection.
    page.0.send(tungstenite::Message::text("hello")).unwrap();
    page.0
        .send(tungstenite::Message::binary(vec![0xc1]))
        .unwrap();
    page.send(&[
        ("type", "camera_pose".into()),
        ("camera_pose", rmpv::Value::Array(identity)),
        ("is_perspective", false.into()),
    ]);
    wait_for("an orthographic camera has no pose", || {
        meshcat.tracked_camera_pose().is_none()
    });
    drop(page);
    wait_for("the page left", || meshcat.num_active_connections() == 0);
}
