//! Frames of recordings.

use crate::support::{Page, field, is, server};
use nalgebra::{Isometry3, Matrix4};
use std::collections::BTreeMap;
use tarragon_framework::prelude::*;
use tarragon_framework::warnings::collect;
use tarragon_geometry::{
    BoxShape, FrameId, FramePoseVector, GeometryFrame, GeometryInstance, IllustrationProperties,
    ProximityProperties, SceneGraph, Sphere,
};
use tarragon_sensors::{BaseField, PointCloud};
use tarragon_visualization::{
    ContactVisualizer, ContactVisualizerParams, Meshcat, MeshcatAnimation,
    MeshcatPointCloudVisualizer, MeshcatVisualizer, MeshcatVisualizerParams,
};

/// A frame whose x coordinate is the time (m), so that a pose tells its time.
struct Clock(FrameId);

impl LeafSystem<f64> for Clock {
    type Ports = OutputPort<FramePoseVector<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let start = FramePoseVector::new();
        d.output("poses", start, Dep::Time, |clock, ctx, poses| {
            let x = Isometry3::translation(ctx.time(), 0.0, 0.0);
            *poses = FramePoseVector::from_iter([(clock.0, x)]);
            Ok(())
        })
    }
}

/// A scene with a ball of 0.1 m radius at the clock, and a wall that it touches from x = 0.45 m on.
fn clock() -> (DiagramBuilder, Block<SceneGraph>) {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("clock").unwrap();
    let frame = GeometryFrame::new("hand");
    let frame = scene.register_frame(source, frame).unwrap();
    let ball = Sphere::new(0.1).unwrap();
    let ball = GeometryInstance::new(Isometry3::identity(), ball, "ball")
        .unwrap()
        .with_illustration(IllustrationProperties::new())
        .with_proximity(ProximityProperties::new());
    scene.register_geometry(source, frame, ball).unwrap();
    let wall = BoxShape::new(1.0, 1.0, 1.0).unwrap();
    let wall = GeometryInstance::new(Isometry3::translation(1.05, 0.0, 0.0), wall, "wall")
        .unwrap()
        .with_proximity(ProximityProperties::new());
    scene.register_anchored_geometry(source, wall).unwrap();
    let mut b = DiagramBuilder::new();
    let scene = b.add_f64("scene_graph", scene);
    let clock = b.add_f64("clock", Clock(frame));
    let poses = scene.source_pose_port(source).unwrap();
    b.connect(*clock.ports(), poses);
    (b, scene)
}

fn visualizer(
    b: &mut DiagramBuilder,
    scene: &Block<SceneGraph>,
    meshcat: &Meshcat,
    prefix: &str,
    publish_period: f64,
) -> Block<MeshcatVisualizer> {
    let params = MeshcatVisualizerParams {
        publish_period,
        prefix: prefix.into(),
        ..Default::default()
    };
    MeshcatVisualizer::add_to_builder(b, scene.query, meshcat.clone(), params).unwrap()
}

/// Frame rate and keys of a published recording.
struct Recorded {
    rate: f64,
    /// Keys by `path.property`.
    tracks: BTreeMap<String, Vec<(u64, rmpv::Value)>>,
}

impl Recorded {
    fn of(meshcat: &Meshcat) -> Self {
        meshcat.publish_recording();
        let replay = Page::connect(meshcat).replay();
        let animation = replay.iter().find(|m| is("set_animation")(m)).unwrap();
        let (mut rate, mut tracks) = (f64::NAN, BTreeMap::new());
        let list = |of: &rmpv::Value, key| field(of, key).unwrap().as_array().unwrap().clone();
        for entry in list(animation, "animations") {
            let path = field(&entry, "path").unwrap();
            let clip = field(&entry, "clip").unwrap();
            rate = field(&clip, "fps").unwrap().as_f64().unwrap();
            for track in list(&clip, "tracks") {
                let name = field(&track, "name").unwrap();
                let key = |key: &rmpv::Value| {
                    let frame = field(key, "time").unwrap().as_u64().unwrap();
                    (frame, field(key, "value").unwrap())
                };
                let keys = list(&track, "keys").iter().map(key).collect();
                let name = format!("{}{}", path.as_str().unwrap(), name.as_str().unwrap());
                tracks.insert(name, keys);
            }
        }
        Self { rate, tracks }
    }
    /// Returns frames and x coordinates of a path.
    fn places(&self, path: &str) -> Vec<(u64, f64)> {
        let keys = &self.tracks[&format!("/drake/{path}.position")];
        let place = |(frame, value): &(u64, rmpv::Value)| (*frame, value[0].as_f64().unwrap());
        keys.iter().map(place).collect()
    }
    /// Returns frames and values of a property that is true or false.
    fn switches(&self, name: &str) -> Vec<(u64, bool)> {
        let keys = &self.tracks[name];
        let switch = |(frame, value): &(u64, rmpv::Value)| (*frame, value.as_bool().unwrap());
        keys.iter().map(switch).collect()
    }
}

fn run(b: DiagramBuilder, seconds: f64) {
    let d = b.build().unwrap();
    let mut sim = Simulator::new(&d, d.default_context()).unwrap();
    sim.advance_to(seconds).unwrap();
}

/// Frame k of a recording is the k-th publish, with the pose of its time. The rounding of `k *
/// period * rate` must not merge two publishes: 204, 293 and 980 frames were kept.
#[test]
fn every_publish_has_its_own_frame() {
    for (period, num_frames) in [
        (1.0 / 24.0, 241),
        (1.0 / 30.0, 301),
        (0.01, 1001),
        (1.0 / 60.0, 601),
        (0.1, 101),
        (1.0 / 64.0, 641),
    ] {
        let meshcat = server();
        let (mut b, scene) = clock();
        let shown = visualizer(&mut b, &scene, &meshcat, "v", period);
        shown.system().start_recording(false).unwrap();
        run(b, 10.0);
        let recorded = Recorded::of(&meshcat);
        assert!((recorded.rate * period - 1.0).abs() < 1e-15);
        let places = recorded.places("v/hand");
        assert_eq!(places.len(), num_frames, "{period}");
        for (k, (frame, x)) in places.into_iter().enumerate() {
            assert_eq!(frame, k as u64, "{period}");
            assert!((x - k as f64 * period).abs() < 1e-12, "{period}: {k} {x}");
        }
    }
}

/// Also when the publishes are more frequent than the frames, as in `simulate --record` (64 and 32
/// per second), where frame 0 had the pose at 1/64 s. Every frame has the publish nearest to it.
#[test]
fn frames_have_the_nearest_publish_and_the_first_is_the_start() {
    for (publish_rate, frame_rate) in [(64.0, 32.0), (64.0, 30.0), (100.0, 24.0), (1000.0, 64.0)] {
        let meshcat = server();
        let (mut b, scene) = clock();
        visualizer(&mut b, &scene, &meshcat, "v", 1.0 / publish_rate);
        meshcat.start_recording(frame_rate, false).unwrap();
        run(b, 2.0);
        let recorded = Recorded::of(&meshcat);
        let places = recorded.places("v/hand");
        assert_eq!(places[0], (0, 0.0));
        assert_eq!(places.len() as f64, 2.0 * frame_rate + 1.0);
        for (frame, x) in places {
            let error = (x - frame as f64 / frame_rate).abs() * publish_rate;
            assert!(error < 0.5 + 1e-9, "{publish_rate}: {frame} {x}");
        }
    }
}

/// All that is published at one time has one frame, whatever its period.
#[test]
fn visualizers_with_different_periods_share_frames() {
    let meshcat = server();
    let (mut b, scene) = clock();
    visualizer(&mut b, &scene, &meshcat, "fast", 0.01);
    visualizer(&mut b, &scene, &meshcat, "slow", 1.0 / 24.0);
    let cloud = MeshcatPointCloudVisualizer::new(meshcat.clone(), "cloud").unwrap();
    let cloud = b.add_f64("cloud", cloud.with_publish_period(0.01).unwrap());
    let contacts = ContactVisualizerParams {
        publish_period: 0.01,
        ..Default::default()
    };
    ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), contacts).unwrap();
    meshcat.start_recording(100.0, false).unwrap();
    let d = b.build().unwrap();
    let mut ctx = d.default_context();
    ctx.fix(cloud.cloud, PointCloud::new(1, BaseField::XYZS))
        .unwrap();
    let mut sim = Simulator::new(&d, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    let recorded = Recorded::of(&meshcat);
    let fast = recorded.places("fast/hand");
    assert_eq!(fast.len(), 101);
    for (frame, x) in fast {
        assert!((x - frame as f64 / 100.0).abs() < 1e-12, "{frame} {x}");
    }
    let slow = recorded.places("slow/hand");
    assert_eq!(slow.len(), 25);
    for (k, (frame, x)) in slow.into_iter().enumerate() {
        assert!((x - k as f64 / 24.0).abs() < 1e-12, "{k} {x}");
        // The nearest one; 12.5 belongs to frame 12.
        assert_eq!(frame, (x * 100.0 - 0.5 - 1e-9).ceil() as u64);
    }
    assert_eq!(recorded.places("cloud").len(), 101);
    // The ball touches the wall from 0.45 m on.
    let arrow = recorded.tracks.keys().find(|k| k.ends_with(".visible"));
    let switches = recorded.switches(arrow.unwrap());
    let first = switches.iter().find(|(_, is_shown)| *is_shown).unwrap().0;
    assert_eq!(first, 46, "{switches:?}");
    assert_eq!(switches.len(), 1 + 55, "{switches:?}");
}

/// The first publish of a contact may come after the publish that its frame shows.
#[test]
fn arrows_do_not_appear_before_their_contact() {
    let meshcat = server();
    let (mut b, scene) = clock();
    let contacts = ContactVisualizerParams {
        publish_period: 1.0 / 64.0,
        ..Default::default()
    };
    ContactVisualizer::add_to_builder(&mut b, scene.query, meshcat.clone(), contacts).unwrap();
    meshcat.start_recording(32.0, false).unwrap();
    // 29/64 s is the first time after 0.45 s: frame 14 shows 28/64 s.
    run(b, 0.5);
    let recorded = Recorded::of(&meshcat);
    let visible = recorded.tracks.keys().find(|k| k.ends_with(".visible"));
    let switches = recorded.switches(visible.unwrap());
    assert_eq!(switches, [(0, false), (15, true), (16, true)]);
}

/// Times of a loop of the user's own.
#[test]
fn values_set_at_times_have_their_own_frames() {
    let meshcat = server();
    meshcat.start_recording(100.0, false).unwrap();
    for k in 0..1001_u32 {
        let time = f64::from(k) * 0.01;
        let x = Isometry3::translation(time, 0.0, 0.0);
        meshcat.set_transform_at_time("a", &x, time).unwrap();
        meshcat
            .set_property_at_time("a", "material.opacity", time, time)
            .unwrap();
    }
    let recorded = Recorded::of(&meshcat);
    let opacity = &recorded.tracks["/drake/a.material.opacity"];
    assert_eq!(recorded.places("a").len(), 1001);
    assert_eq!(opacity.len(), 1001);
    for (frame, x) in recorded.places("a") {
        assert!((x - frame as f64 / 100.0).abs() < 1e-12, "{frame} {x}");
    }
    // Drake's rule.
    meshcat.with_recording(|animation| assert_eq!(animation.frame(0.29).unwrap(), 28));
}

/// A value replaces an earlier one of the same time, and all values of an earlier run.
#[test]
fn later_runs_replace_frames() {
    let meshcat = server();
    meshcat.start_recording(10.0, false).unwrap();
    let set = |x: f64, time: f64| {
        let x = Isometry3::translation(x, 0.0, 0.0);
        meshcat.set_transform_at_time("a", &x, time).unwrap();
    };
    for (x, time) in [(1.0, 0.0), (2.0, 0.02), (3.0, 0.1), (4.0, 0.1)] {
        set(x, time);
    }
    assert_eq!(Recorded::of(&meshcat).places("a"), [(0, 1.0), (1, 4.0)]);
    for (x, time) in [(5.0, 0.03), (6.0, 0.08), (7.0, 0.11)] {
        set(x, time);
    }
    assert_eq!(Recorded::of(&meshcat).places("a"), [(0, 5.0), (1, 7.0)]);
    // A new recording knows nothing of the last one.
    set(8.0, 0.2);
    meshcat.delete_recording();
    set(9.0, 0.21);
    assert_eq!(Recorded::of(&meshcat).places("a"), [(2, 9.0)]);
    meshcat.start_recording(20.0, false).unwrap();
    set(10.0, 0.11);
    assert_eq!(Recorded::of(&meshcat).places("a"), [(2, 10.0)]);
    // Frames before the start do not exist; nothing is set then.
    meshcat.with_recording(|animation| animation.set_start_time(0.1 + 0.2));
    set(11.0, 0.3);
    let error = meshcat.set_transform_at_time("a", &Isometry3::identity(), 0.29);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("at least the start time of 0.30000000000000004 s"),
        "{error}"
    );
    assert_eq!(Recorded::of(&meshcat).places("a"), [(0, 11.0), (2, 10.0)]);
}

/// The page cannot draw a pose of NaN: the object vanished, and its bounds with it.
#[test]
fn poses_that_are_not_finite_change_nothing_and_warn() {
    let meshcat = server();
    let x = Isometry3::translation(1.0, 2.0, f64::NAN);
    let infinite = Matrix4::from_diagonal_element(f64::INFINITY);
    let ((), said) = collect(|| {
        meshcat.set_transform("ball", &x);
        meshcat.set_transform_matrix("box", &infinite);
    });
    let expected = |path: &str, found: &str| {
        format!(
            "Meshcat: the pose of '/drake/{path}' must be finite, got {found}; it stays where it is"
        )
    };
    assert_eq!(said, [expected("ball", "NaN"), expected("box", "inf")]);
    assert!(!meshcat.has_path("ball") && !meshcat.has_path("box"));

    let mut animation = MeshcatAnimation::new(64.0).unwrap();
    let error = animation
        .set_transform(0, "ball", &x)
        .unwrap_err()
        .to_string();
    let expected = "MeshcatAnimation: the pose of '/drake/ball' must be finite, got NaN";
    assert_eq!(error, expected);
    assert!(animation.is_empty());
}
