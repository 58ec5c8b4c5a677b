//! Deformable geometry in a browser: vertices move, recordings play, also in a static page.

use crate::browser::chromium::Tab;
use crate::browser::{can_run, open, settle, share};
use crate::support;
use crate::support::soft::{Soft, plate, waving};
use nalgebra::Vector3;
use serde_json::json;

const OBJECT: &str =
    "window.tarragon.node('/drake/visualizer/deformable_geometries/plate/<object>')";

/// Returns the largest distance of the plate in a page from where it should be (m).
fn error(soft: &Soft, tab: &mut Tab) -> f64 {
    let found = tab.eval(&format!(
        "Array.from({OBJECT}.geometry.getAttribute('position').array)"
    ));
    let found = found
        .as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap());
    let expected = soft.vertices(0);
    let expected = expected.iter().flatten();
    assert_eq!(found.len(), expected.clone().count());
    let errors = found.zip(expected).map(|(x, y)| (x - y).abs());
    errors.fold(0.0, f64::max)
}

/// Half a unit in the last place of coordinates below 4 m in single precision.
const SINGLE: f64 = 1.2e-7;

fn publish_at(soft: &mut Soft, t: f64) {
    soft.context.set_time(t);
    soft.deform(0, |p| waving(p, t));
    soft.context.force_publish().unwrap();
}

/// Returns the longest side of the bounds of the plate (m).
fn longest_side(soft: &Soft) -> f64 {
    let vertices = soft.vertices(0);
    let sides = (0..3).map(|axis| {
        let along = vertices.iter().map(|p| p[axis]);
        along.clone().fold(f64::MIN, f64::max) - along.fold(f64::MAX, f64::min)
    });
    sides.fold(0.0, f64::max)
}

#[test]
fn vertices_move_in_the_page() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let mut soft = plate(&meshcat, 20);
    soft.context.force_publish().unwrap();
    let camera = Vector3::new(0.35, -0.35, 0.3);
    meshcat.set_camera_pose(&camera, &Vector3::zeros()).unwrap();
    let mut tab = open(&meshcat);
    settle(&meshcat, &mut tab);
    assert!(error(&soft, &mut tab) < SINGLE);
    let id = tab.eval(&format!("{OBJECT}.uuid"));
    let is_green = |[r, g, b, _]: [u8; 4]| g > 60 && r < g / 2 && b < g / 2;
    let before = tab.screenshot();
    publish_at(&mut soft, 0.7);
    settle(&meshcat, &mut tab);
    assert!(error(&soft, &mut tab) < SINGLE);
    // The same object has moved, and out of the picture.
    assert_eq!(tab.eval(&format!("{OBJECT}.uuid")), id);
    let after = tab.screenshot();
    let (before, after) = (share(&before, is_green), share(&after, is_green));
    assert!(before > 0.02 && after < 0.001, "{before} and {after}");
    assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
}

/// The page decodes what was recorded: positions differ by at most 1e-5 of the plate's size, and by
/// the rounding of the numbers in a page.
#[test]
fn a_static_page_plays_the_vertices() {
    if !can_run() {
        return;
    }
    let meshcat = support::server();
    let mut soft = plate(&meshcat, 20);
    soft.context.force_publish().unwrap();
    meshcat.start_recording(64.0, false).unwrap();
    for frame in 0..100 {
        publish_at(&mut soft, f64::from(frame) / 64.0);
    }
    meshcat.with_recording(|animation| animation.set_autoplay(false));
    meshcat.stop_recording();
    meshcat.publish_recording();
    let html = meshcat.static_html().unwrap();
    let mut live = open(&meshcat);
    settle(&meshcat, &mut live);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scene.html");
    std::fs::write(&file, html).unwrap();
    let mut saved = Tab::blank();
    saved.go_offline();
    saved.navigate(&format!("file://{}", file.display()));
    saved.wait(&format!("{OBJECT} && window.tarragon.loading === 0"));
    for tab in [&mut live, &mut saved] {
        for frame in [0, 1, 31, 32, 99, 50, 98, 33] {
            let t = f64::from(frame) / 64.0;
            let scrub = "document.querySelector('input[aria-label=Time]')";
            tab.eval(&format!(
                "(() => {{ const s = {scrub}; s.step = 'any'; s.value = {t:?}; \
                 s.dispatchEvent(new Event('input')); }})()"
            ));
            // Not published: a live page would show it.
            soft.deform(0, |p| waving(p, t));
            let (error, side) = (error(&soft, tab), longest_side(&soft));
            assert!(
                error <= 1e-5 * side + SINGLE,
                "frame {frame}: {error:?} of {side:?}"
            );
        }
        assert_eq!(tab.eval("window.tarragon.errors"), json!([]));
    }
}
