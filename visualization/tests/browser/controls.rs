//! Actions of users on the page reach the server.

use crate::browser::chromium::{PATIENCE, Tab};
use crate::browser::{can_run, open, settle};
use crate::support;
use crate::support::wait_for;
use nalgebra::Isometry3;
use serde_json::json;
use std::time::Instant;
use tarragon_geometry::{Rgba, Sphere};
use tarragon_visualization::{LoopMode, MeshcatAnimation};

fn wait_long(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn sliders_and_buttons_reach_the_server() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    meshcat
        .add_slider_with_keycodes("gain", -1.0, 1.0, 0.25, 0.0, "ArrowDown", "ArrowUp")
        .unwrap();
    meshcat.add_button("go", "KeyG").unwrap();
    let mut tab = Tab::open(&meshcat.web_url());
    tab.wait("window.tarragon.connected");
    let button =
        "[...document.querySelectorAll('button')].find(b => b.textContent.trim().startsWith('go'))";
    let slider = "document.querySelector('input[type=range][aria-label=gain]')";
    tab.wait(button);
    tab.wait(slider);
    tab.click(button);
    wait_for("the click arrives", || {
        meshcat.button_clicks("go").unwrap() == 1
    });
    tab.eval("document.activeElement.blur()");
    tab.press("KeyG", "g");
    wait_for("the key arrives", || {
        meshcat.button_clicks("go").unwrap() == 2
    });
    tab.press("ArrowUp", "ArrowUp");
    tab.press("ArrowUp", "ArrowUp");
    wait_for("the slider moves", || {
        meshcat.slider_value("gain").unwrap() == 0.5
    });
    tab.press("ArrowDown", "ArrowDown");
    wait_for("the slider moves back", || {
        meshcat.slider_value("gain").unwrap() == 0.25
    });
    // The number next to the slider follows the server.
    meshcat.set_slider_value("gain", -1.0).unwrap();
    tab.wait("document.querySelector('input[aria-label=\"gain, value\"]').valueAsNumber === -1");
    meshcat.delete_added_controls();
    tab.wait(&format!("!({slider}) && !({button})"));
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
}

#[test]
fn things_can_be_dragged() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let orange = Rgba::new(1.0, 0.5, 0.0, 1.0).unwrap();
    meshcat
        .set_object("ball", &Sphere::new(0.5).unwrap().into(), orange)
        .unwrap();
    meshcat.set_transform("ball", &Isometry3::translation(0.0, 0.0, 1.0));
    let eye = nalgebra::Vector3::new(3.0, 0.0, 1.0);
    let target = nalgebra::Vector3::new(0.0, 0.0, 1.0);
    meshcat.set_camera_pose(&eye, &target).unwrap();
    let mut tab = open(&meshcat);
    settle(&meshcat, &mut tab);
    tab.eval("window.tarragon.renderNow()");
    let middle = tab.eval(
        "(() => { const r = document.getElementById('canvas').getBoundingClientRect(); \
         return [r.x + r.width / 2, r.y + r.height / 2]; })()",
    );
    let [x, y] = [0, 1].map(|i| middle[i].as_f64().unwrap());
    let alt = 1;
    let mut mouse = |kind: &str, dx: f64, modifiers: i32| {
        let event = json!({"type": kind, "x": x + dx, "y": y, "button": "left", "buttons": 1,
            "clickCount": 1, "modifiers": modifiers});
        tab.call("Input.dispatchMouseEvent", event);
    };
    mouse("mousePressed", 0.0, alt);
    wait_long("the drag arrives", || meshcat.drag().is_some());
    let held = meshcat.drag().unwrap();
    assert_eq!(held.path, "/drake/ball");
    // The point of the sphere nearest to the camera; it is a mesh of flat triangles.
    assert!((held.point - nalgebra::Vector3::new(0.5, 0.0, 0.0)).norm() < 0.02);
    assert!((held.target - nalgebra::Vector3::new(0.5, 0.0, 1.0)).norm() < 0.02);
    // To the right of a camera that looks along -x is +y.
    mouse("mouseMoved", 40.0, alt);
    wait_long("the target moves", || {
        meshcat.drag().is_some_and(|d| d.target.y > 0.05)
    });
    let moved = meshcat.drag().unwrap();
    assert_eq!(moved.point, held.point);
    assert!((moved.target.x - held.target.x).abs() < 1e-3);
    mouse("mouseReleased", 40.0, alt);
    wait_long("the drag ends", || meshcat.drag().is_none());
    // Without Alt, the camera turns.
    mouse("mousePressed", 0.0, 0);
    mouse("mouseMoved", 40.0, 0);
    mouse("mouseReleased", 40.0, 0);
    assert!(meshcat.drag().is_none());
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
}

#[test]
fn gamepads_and_cameras_reach_the_server() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let mut tab = Tab::open(&format!("{}/?tracked_camera=on", meshcat.web_url()));
    tab.wait("window.tarragon.connected");
    // A gamepad in the form of the Gamepad API.
    tab.eval(
        "navigator.getGamepads = () => [{index: 0, connected: true, axes: [0.5, -1], timestamp: 1, mapping: 'standard', \
         id: 'test', buttons: [{value: 1, pressed: true}, {value: 0, pressed: false}]}]; \
         { const e = new Event('gamepadconnected'); e.gamepad = navigator.getGamepads()[0]; window.dispatchEvent(e); }",
    );
    wait_long("the gamepad is reported", || {
        meshcat.gamepad().index == Some(0)
    });
    assert_eq!(meshcat.gamepad().axes, [0.5, -1.0]);
    assert_eq!(meshcat.gamepad().button_values, [1.0, 0.0]);
    meshcat
        .set_camera_pose(
            &nalgebra::Vector3::new(3.0, -2.0, 1.0),
            &nalgebra::Vector3::zeros(),
        )
        .unwrap();
    wait_long("the camera is tracked", || {
        let pose = meshcat.tracked_camera_pose();
        pose.is_some_and(|x| {
            (x.translation.vector - nalgebra::Vector3::new(3.0, -2.0, 1.0)).norm() < 1e-6
        })
    });
    // The camera looks at the origin.
    let x_wc = meshcat.tracked_camera_pose().unwrap();
    let seen = x_wc.inverse() * nalgebra::Point3::origin();
    assert!(seen.coords.xy().norm() < 1e-6 && seen.z > 0.0, "{seen}");
}

#[test]
fn animations_play_scrub_and_stay_at_their_end() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let mut tab = open(&meshcat);
    let orange = Rgba::new(1.0, 0.5, 0.0, 1.0).unwrap();
    meshcat
        .set_object("ball", &Sphere::new(0.2).unwrap().into(), orange)
        .unwrap();
    // Half a minute, so that even a slow machine shows it playing.
    let mut animation = MeshcatAnimation::new(30.0).unwrap();
    for frame in (0..=900).step_by(30) {
        let x = Isometry3::translation(f64::from(frame) / 900.0, 0.0, 0.0);
        animation.set_transform(frame, "ball", &x).unwrap();
    }
    animation.set_property(0, "ball", "visible", true).unwrap();
    animation.set_loop_mode(LoopMode::Once);
    meshcat.set_animation(&animation);
    settle(&meshcat, &mut tab);
    let x = "window.tarragon.node('/drake/ball').position.x";
    tab.wait(&format!("{x} > 0"));
    let first = tab.eval(x).as_f64().unwrap();
    tab.wait(&format!("{x} > {first}"));
    let bar = "document.querySelector('[aria-label=Animation]')";
    let scrub = |tab: &mut Tab, share: f64| {
        tab.eval(&format!(
            "{{ const s = {bar}.querySelector('input[type=range]'); s.value = {share} * Number(s.max); \
             s.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
        ));
    };
    // Scrubbing stops the animation where it is put.
    scrub(&mut tab, 0.5);
    tab.wait(&format!("Math.abs({x} - 0.5) < 1e-6"));
    assert_eq!(
        tab.eval(&format!(
            "{bar}.querySelector('button[title=Play]') !== null"
        )),
        true
    );
    // Played to its end, the animation stays there.
    scrub(&mut tab, 0.99);
    tab.eval(&format!(
        "{bar}.querySelector('button[title=Play]').click()"
    ));
    tab.wait(&format!(
        "{x} === 1 && {bar}.querySelector('button[title=Play]')"
    ));
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
}

#[test]
fn recordings_are_shown_only_when_published() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let mut tab = open(&meshcat);
    let orange = Rgba::new(1.0, 0.5, 0.0, 1.0).unwrap();
    let ball = Sphere::new(0.2).unwrap().into();
    meshcat.set_object("ball", &ball, orange).unwrap();
    meshcat.start_recording(32.0, false).unwrap();
    for i in 0..=32 {
        let time = f64::from(i) / 32.0;
        let x = Isometry3::translation(0.0, 0.0, time);
        meshcat.set_transform_at_time("ball", &x, time).unwrap();
    }
    meshcat.stop_recording();
    settle(&meshcat, &mut tab);
    // Nothing was shown during the recording.
    let z = "window.tarragon.node('/drake/ball').position.z";
    assert_eq!(tab.eval(z), 0);
    meshcat.with_recording(|a| a.set_loop_mode(LoopMode::Once));
    meshcat.publish_recording();
    tab.wait(&format!("Math.abs({z} - 1) < 1e-6"));
}
