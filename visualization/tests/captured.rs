//! Comparison with the bytes that Drake 1.51.1 sends for the same calls, recorded in
//! `captures/messages_hex.txt` (number, call, message). Objects are compared next to their code.

use crate::support::{Page, server};
use nalgebra::{Isometry3, Matrix4, Vector3};
use tarragon_visualization::{
    LoopMode, Meshcat, MeshcatAnimation, OrthographicCamera, PerspectiveCamera,
};

/// Returns the recorded messages whose numbers lie in a range.
fn recorded(range: std::ops::RangeInclusive<usize>) -> Vec<(String, String)> {
    let lines = include_str!("captures/messages_hex.txt").lines();
    let fields = lines.map(|line| {
        let mut fields = line.split(' ');
        let number: usize = fields.next().unwrap().parse().unwrap();
        let name = format!("{number} {}", fields.next().unwrap());
        (number, name, fields.next().unwrap().to_owned())
    });
    fields
        .filter(|(number, ..)| range.contains(number))
        .map(|(_, name, hex)| (name, hex))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Compares the messages sent by calls, one after the other, with the recorded messages of a range.
fn compare(
    meshcat: &Meshcat,
    page: &mut Page,
    range: std::ops::RangeInclusive<usize>,
    calls: &[&dyn Fn(&Meshcat)],
) {
    let expected = recorded(range.clone());
    let mut found = Vec::new();
    for call in calls {
        call(meshcat);
        meshcat.flush();
    }
    for _ in &expected {
        found.push(page.next_bytes());
    }
    for ((name, expected), found) in expected.iter().zip(&found) {
        let text = rmpv::decode::read_value(&mut &found[..]).unwrap();
        assert_eq!(&hex(found), expected, "{name}: {text}");
    }
    assert!(!expected.is_empty(), "{range:?}");
}

fn page() -> (Meshcat, Page) {
    let meshcat = server();
    let mut page = Page::connect(&meshcat);
    page.replay();
    (meshcat, page)
}

#[test]
fn transforms_properties_and_deletions_equal_drakes_messages() {
    let (meshcat, mut page) = page();
    let twice = Matrix4::from_diagonal(&nalgebra::Vector4::new(2.0, 2.0, 2.0, 1.0));
    compare(
        &meshcat,
        &mut page,
        26..=34,
        &[
            &|m| m.set_transform_matrix("s/box", &twice),
            &|m| m.set_transform("s/box", &Isometry3::identity()),
            &|m| m.set_property("s/box", "visible", false),
            &|m| m.set_property("s/box/<object>", "opacity", 0.25),
            &|m| m.set_property("s/box/<object>", "position", [1.0, 2.0, 3.0]),
            &|m| m.set_property("/Lights/SpotLight/<object>", "intensity", 5.0),
            &|m| m.set_property("/Background", "visible", true),
            &|m| m.delete("s/cone"),
            &|m| m.delete("not/there"),
        ],
    );
}

#[test]
fn camera_messages_equal_drakes() {
    let (meshcat, mut page) = page();
    let perspective = PerspectiveCamera {
        fov: 60.0,
        aspect: 1.5,
        near: 0.1,
        far: 50.0,
        zoom: 2.0,
    };
    let orthographic = OrthographicCamera {
        top: 2.0,
        bottom: -2.0,
        near: -500.0,
        far: 500.0,
        ..Default::default()
    };
    let target = Vector3::new(1.0, 2.0, 3.0);
    compare(
        &meshcat,
        &mut page,
        35..=56,
        &[
            &|m| m.set_camera(PerspectiveCamera::default()).unwrap(),
            &|m| m.set_camera(perspective).unwrap(),
            &|m| m.set_camera(orthographic).unwrap(),
            &|m| m.set_default_2d_render_mode(),
            &|m| m.reset_render_mode(),
            &|m| m.set_camera_target(&target).unwrap(),
            &|m| {
                m.set_camera_pose(&Vector3::new(5.0, 6.0, 7.0), &target)
                    .unwrap()
            },
        ],
    );
}

#[test]
fn control_messages_equal_drakes() {
    let (meshcat, mut page) = page();
    compare(
        &meshcat,
        &mut page,
        58..=71,
        &[
            &|m| m.set_environment_map("").unwrap(),
            &|m| m.add_button("btn", "").unwrap(),
            &|m| m.add_button("btn2", "KeyA").unwrap(),
            &|m| {
                m.add_slider("sl", -1.0, 1.0, 0.1, 0.33).unwrap();
            },
            &|m| {
                let keys = ["ArrowLeft", "ArrowRight"];
                m.add_slider_with_keycodes("sl2", 0.0, 10.0, 0.5, 3.5, keys[0], keys[1])
                    .unwrap();
            },
            &|m| m.set_slider_value("sl", 0.4).unwrap(),
            &|m| m.set_realtime_rate(1.25),
            &|m| assert!(m.delete_button("btn", true).unwrap()),
            &|m| assert!(m.delete_slider("sl", true).unwrap()),
            &|m| m.delete_added_controls(),
        ],
    );
}

#[test]
fn recording_messages_equal_drakes() {
    let (meshcat, mut page) = page();
    meshcat.start_recording(32.0, true).unwrap();
    let x = Isometry3::translation(1.0, 2.0, 3.0);
    let opacity = ("s/sphere/<object>", "material.opacity");
    compare(
        &meshcat,
        &mut page,
        72..=77,
        &[
            &|m| {
                m.set_transform_at_time("s/box", &Isometry3::identity(), 0.0)
                    .unwrap()
            },
            &|m| m.set_transform_at_time("s/box", &x, 0.5).unwrap(),
            &|m| {
                m.set_property_at_time("s/box", "visible", true, 0.5)
                    .unwrap()
            },
            &|m| {
                let p = [1.0, 2.0, 3.0];
                m.set_property_at_time("s/sphere/<object>", "position", p, 0.5)
                    .unwrap();
            },
            &|m| {
                m.set_property_at_time(opacity.0, opacity.1, 0.5, 0.75)
                    .unwrap()
            },
            &|m| {
                m.stop_recording();
                m.publish_recording();
            },
        ],
    );
}

#[test]
fn animation_messages_equal_drakes() {
    let (meshcat, mut page) = page();
    let mut animation = MeshcatAnimation::new(16.0).unwrap();
    animation.set_autoplay(false);
    animation.set_loop_mode(LoopMode::PingPong);
    animation.set_repetitions(3).unwrap();
    let up = Isometry3::translation(0.0, 0.0, 1.0);
    animation
        .set_transform(0, "s/ell", &Isometry3::identity())
        .unwrap();
    animation.set_transform(20, "s/ell", &up).unwrap();
    animation
        .set_property(0, "s/ell", "visible", false)
        .unwrap();
    animation
        .set_property(20, "s/ell", "visible", true)
        .unwrap();
    animation
        .set_property(0, "s/ell/<object>", "material.opacity", 0.1)
        .unwrap();
    animation
        .set_property(4, "s/ell/<object>", "scale", [1.0, 1.0, 2.0])
        .unwrap();
    // A property keeps its type, and a failed call changes nothing.
    let before = animation.clone();
    let error = animation
        .set_property(1, "s/ell", "position", 1.0)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("as a number, it was set as a vector3"),
        "{error}"
    );
    assert_eq!(animation, before);
    compare(
        &meshcat,
        &mut page,
        78..=80,
        &[&|m| m.set_animation(&animation), &|m| m.delete(""), &|m| {
            m.delete("/")
        }],
    );
}
