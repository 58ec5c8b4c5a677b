//! Values of sliders, on the server and on the page.
//!
//! The rule: the allowed values are the multiples of the step within the range, and both ends. The
//! nearest one wins, at a tie the one that is farther from zero. Keys go to the next one.

use crate::browser::can_run;
use crate::browser::chromium::Tab;
use crate::support::{server, wait_for};
use serde_json::json;
use tarragon_formats::Parser;
use tarragon_multibody::{MultibodyPlant, MultibodyPlantBuilder};
use tarragon_visualization::{JointSliders, Meshcat, MeshcatPoseSliders, MeshcatPoseSlidersParams};

/// Range and step of a slider, and its allowed values in ascending order.
type Case = ([f64; 3], &'static [f64]);

/// Ranges with ends that are multiples of the step, and others. The lists follow from the rule; all
/// numbers except in the last three are exact in binary.
const CASES: [Case; 9] = [
    // Both ends are half a step from a multiple: `Math.round(-0.5)` is 0.
    ([-1.0, 1.0, 2.0], &[-1.0, 0.0, 1.0]),
    ([-3.0, 3.0, 2.0], &[-3.0, -2.0, 0.0, 2.0, 3.0]),
    ([0.5, 3.5, 1.0], &[0.5, 1.0, 2.0, 3.0, 3.5]),
    ([-3.5, -0.5, 1.0], &[-3.5, -3.0, -2.0, -1.0, -0.5]),
    // Shorter than a step, without and with a multiple.
    ([0.25, 0.75, 1.0], &[0.25, 0.75]),
    ([-1.0, 1.0, 5.0], &[-1.0, 0.0, 1.0]),
    ([2.0, 2.0, 1.0], &[2.0]),
    // The last multiple is rounded up (3 * 0.1 > 0.3) or down (3 * 0.7 < 2.1): one value, not two.
    ([0.0, 0.3, 0.1], &[0.0, 0.1, 0.2, 0.3]),
    ([0.0, 2.1, 0.7], &[0.0, 0.7, 1.4, 2.1]),
];

fn nearest(allowed: &[f64], value: f64) -> f64 {
    let better = |a: &f64, b: &f64| {
        let (da, db) = ((a - value).abs(), (b - value).abs());
        da.total_cmp(&db).then(b.abs().total_cmp(&a.abs()))
    };
    *allowed.iter().min_by(|a, b| better(a, b)).unwrap()
}

#[test]
fn the_server_takes_the_nearest_allowed_value() {
    let meshcat = server();
    for ([min, max, step], allowed) in CASES {
        for k in -64..=64 {
            let value = f64::from(k) / 16.0;
            let expected = nearest(allowed, value);
            let initial = meshcat.add_slider("a", min, max, step, value).unwrap();
            assert_eq!(initial, expected, "[{min}, {max}] by {step}: {value}");
            meshcat.set_slider_value("a", min).unwrap();
            assert_eq!(meshcat.slider_value("a").unwrap(), min);
            meshcat.set_slider_value("a", value).unwrap();
            assert_eq!(meshcat.slider_value("a").unwrap(), expected);
            meshcat.delete_slider("a", true).unwrap();
        }
    }
    // A joint's limits in degrees.
    let end = 0.785;
    let set = |value: f64| {
        meshcat.set_slider_value("q", value).unwrap();
        meshcat.slider_value("q").unwrap()
    };
    assert_eq!(meshcat.add_slider("q", -end, end, 0.01, 9.0).unwrap(), end);
    for (value, expected) in [
        (-9.0, -end),
        (0.784, end),
        (0.783, end),
        (-0.7825, -end),
        (0.782, 0.78),
        (-0.782, -0.78),
        (0.775, 0.78),
        (0.774, 0.77),
    ] {
        assert_eq!(set(value), expected, "{value}");
    }
}

/// A joint between limits that are no multiples of the step, which also starts at one.
fn knee() -> MultibodyPlant {
    let urdf = r#"<robot name="leg"><link name="world"/><link name="shin"/>
        <joint name="knee" type="revolute"><parent link="world"/><child link="shin"/>
            <limit lower="-0.785" upper="0.785"/></joint></robot>"#;
    let mut plant = MultibodyPlantBuilder::new(0.0).unwrap();
    Parser::new(&mut plant)
        .add_models_from_string(urdf, "urdf")
        .unwrap();
    plant.build().unwrap()
}

#[test]
fn joints_and_poses_reach_their_limits() {
    let meshcat = server();
    let sliders = JointSliders::new(meshcat.clone(), &knee(), Default::default()).unwrap();
    for (q, expected) in [
        (0.785, 0.785),
        (-1.0, -0.785),
        (0.784, 0.785),
        (0.124, 0.12),
    ] {
        sliders.set_positions(&[q]).unwrap();
        assert_eq!(meshcat.slider_value("knee/leg").unwrap(), expected);
    }
    let params = MeshcatPoseSlidersParams {
        upper_limit: [3.0, 3.0, 3.0, 0.125, 1.0, 1.0],
        step: [0.25; 6],
        ..Default::default()
    };
    let sliders = MeshcatPoseSliders::new(meshcat.clone(), params).unwrap();
    meshcat.set_slider_value("x", 9.0).unwrap();
    assert_eq!(sliders.pose().translation.x, 0.125);
    // The pose after a deletion is the one that the sliders had taken.
    let pose = nalgebra::Isometry3::translation(0.1, 0.6, -0.4);
    sliders.set_pose(&pose).unwrap();
    let shown = sliders.pose();
    assert_eq!(
        shown.translation.vector,
        nalgebra::vector![0.125, 0.5, -0.5]
    );
    sliders.delete();
    assert_eq!(sliders.pose(), shown);
}

/// The controls of one slider on a page.
struct Slider<'a> {
    meshcat: &'a Meshcat,
    tab: Tab,
    name: &'static str,
}

impl Slider<'_> {
    fn element(&self, suffix: &str) -> String {
        format!(
            "document.querySelector('input[aria-label=\"{}{suffix}\"]')",
            self.name
        )
    }
    /// Waits for the server's value, and for the same value in the number box.
    fn expect(&mut self, value: f64, what: &str) {
        let (meshcat, name) = (self.meshcat, self.name);
        wait_for(&format!("{what}: {value}"), || {
            (meshcat.slider_value(name).unwrap() - value).abs() < 1e-15
        });
        let shown = self.element(", value");
        let shown = self.tab.eval(&format!("{shown}.valueAsNumber"));
        assert!(
            (shown.as_f64().unwrap() - value).abs() < 1e-9,
            "{what}: {shown} for {value}"
        );
    }
    /// Puts the handle at a position, or a number into the box.
    fn put(&mut self, suffix: &str, event: &str, value: f64) {
        let element = self.element(suffix);
        self.tab.eval(&format!(
            "{{ const s = {element}; s.value = {value}; \
             s.dispatchEvent(new Event('{event}', {{bubbles: true}})); s.blur(); }}"
        ));
    }
    fn key(&mut self, code: &str) {
        let key = code.trim_start_matches("Key").to_lowercase();
        self.tab.press(code, &key);
    }
    /// Goes through all values by handle, keys and number box.
    fn check(&mut self, allowed: &[f64]) {
        let handle = self.element("");
        self.tab.wait(&handle);
        let ends = self
            .tab
            .eval(&format!("[{handle}.min, {handle}.max].map(Number)"));
        assert_eq!(ends, json!([0, allowed.len() - 1]), "{allowed:?}");
        for (k, value) in allowed.iter().enumerate().rev() {
            self.put("", "input", k as f64);
            self.expect(*value, "handle");
        }
        // At an end, a key has no effect.
        self.key("KeyS");
        for value in allowed {
            self.expect(*value, "up");
            self.key("KeyW");
        }
        for value in allowed.iter().rev() {
            self.expect(*value, "down");
            self.key("KeyS");
        }
        for k in -16..=16 {
            let value = f64::from(k) / 4.0;
            self.put(", value", "change", value);
            self.expect(nearest(allowed, value), "number box");
        }
    }
}

#[test]
fn handles_and_keys_go_through_all_values() {
    if !can_run() {
        return;
    }
    for ([min, max, step], allowed) in CASES {
        let meshcat = server();
        meshcat
            .add_slider_with_keycodes("a", min, max, step, min, "KeyS", "KeyW")
            .unwrap();
        let tab = Tab::open(&meshcat.web_url());
        let (meshcat, name) = (&meshcat, "a");
        let mut slider = Slider { meshcat, tab, name };
        slider.check(allowed);
        assert_eq!(slider.tab.eval("window.tarragon.errors"), json!([]));
    }
}

#[test]
fn joint_sliders_reach_their_limits_on_the_page() {
    if !can_run() {
        return;
    }
    let meshcat = server();
    let sliders = JointSliders::new(meshcat.clone(), &knee(), Default::default()).unwrap();
    let tab = Tab::open(&meshcat.web_url());
    let (meshcat, name) = (&meshcat, "knee/leg");
    let mut slider = Slider { meshcat, tab, name };
    let handle = slider.element("");
    slider.tab.wait(&handle);
    // -0.785, 157 multiples from -0.78 to 0.78, 0.785.
    assert_eq!(slider.tab.eval(&format!("Number({handle}.max)")), 158);
    for (k, value) in [
        (0.0, -0.785),
        (1.0, -0.78),
        (79.0, 0.0),
        (157.0, 0.78),
        (158.0, 0.785),
    ] {
        slider.put("", "input", k);
        slider.expect(value, "handle");
    }
    // The page follows the server.
    sliders.set_positions(&[-0.785]).unwrap();
    let shown = slider.element(", value");
    slider
        .tab
        .wait(&format!("{shown}.valueAsNumber === -0.785"));
    slider.tab.wait(&format!("{handle}.value === '0'"));
}
