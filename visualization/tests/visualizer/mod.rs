//! Nodes that the visualizer of a scene creates in Meshcat's tree.

mod appearance;
mod deformable;

use crate::support::{Page, field, is, server, wait_for};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::{
    BoxShape, FrameId, FramePoseVector, GeometryFrame, GeometryInstance, IllustrationProperties,
    ProximityProperties, Rgba, Role, SceneGraph, SourceId, Sphere,
};
use tarragon_visualization::{
    Meshcat, MeshcatAnimation, MeshcatVisualizer, MeshcatVisualizerParams,
};

fn at(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// Contents below a path, as a new page receives them: matrices, properties, and paths of objects.
#[derive(Debug, Default, PartialEq)]
struct Tree {
    transforms: BTreeMap<String, Vec<f64>>,
    properties: BTreeMap<(String, String), rmpv::Value>,
    objects: Vec<String>,
}

impl Tree {
    fn of(meshcat: &Meshcat, root: &str) -> Self {
        let mut tree = Self::default();
        for m in Page::connect(meshcat).replay() {
            let text = |key| field(&m, key).and_then(|v| v.as_str().map(String::from));
            let Some(path) = text("path").filter(|p| p.starts_with(root)) else {
                continue;
            };
            match &*text("type").unwrap() {
                "set_object" => tree.objects.push(path),
                "set_transform" => {
                    let m = field(&m, "matrix").unwrap();
                    let m = m.as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
                    tree.transforms.insert(path, m.collect());
                }
                "set_property" => {
                    let value = field(&m, "value").unwrap();
                    tree.properties
                        .insert((path, text("property").unwrap()), value);
                }
                other => panic!("{other}"),
            }
        }
        tree.objects.sort();
        tree
    }
    /// Returns the position of a path.
    fn position(&self, path: &str) -> [f64; 3] {
        let m = self.transforms.get(path);
        let m = m.unwrap_or_else(|| panic!("{path} has no transform: {self:#?}"));
        [m[12], m[13], m[14]]
    }
    fn property(&self, path: &str, name: &str) -> Option<&rmpv::Value> {
        self.properties.get(&(path.into(), name.into()))
    }
}

/// A scene of balls, with a source of frames.
struct Toys {
    scene: SceneGraph,
    source: SourceId,
}

impl Toys {
    fn new() -> Self {
        let mut scene = SceneGraph::new();
        let source = scene.register_source("toys").unwrap();
        Self { scene, source }
    }
    fn frame(&mut self, name: &str) -> FrameId {
        let frame = GeometryFrame::new(name);
        self.scene.register_frame(self.source, frame).unwrap()
    }
    fn ball(&mut self, frame: FrameId, name: &str, x_fg: Isometry3<f64>) {
        let ball = ball(name, x_fg);
        self.scene
            .register_geometry(self.source, frame, ball)
            .unwrap();
    }
    fn anchored(&mut self, name: &str, x_wg: Isometry3<f64>) {
        let ball = ball(name, x_wg);
        self.scene
            .register_anchored_geometry(self.source, ball)
            .unwrap();
    }
}

fn ball(name: &str, x_fg: Isometry3<f64>) -> GeometryInstance {
    GeometryInstance::new(x_fg, Sphere::new(0.1).unwrap(), name)
        .unwrap()
        .with_illustration(IllustrationProperties::new())
}

/// A diagram of a scene and a visualizer.
struct Shown {
    diagram: Diagram<f64>,
    scene: Block<SceneGraph>,
    visualizer: Block<MeshcatVisualizer>,
    source: SourceId,
}

fn show(toys: Toys, meshcat: &Meshcat, params: MeshcatVisualizerParams) -> Shown {
    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", toys.scene);
    let (query, meshcat) = (scene.query, meshcat.clone());
    let visualizer = MeshcatVisualizer::add_to_builder(&mut b, query, meshcat, params).unwrap();
    Shown {
        diagram: b.build().unwrap(),
        scene,
        visualizer,
        source: toys.source,
    }
}

impl Shown {
    fn move_to(&self, ctx: &mut Context<f64>, poses: &[(FrameId, Isometry3<f64>)]) {
        let poses = FramePoseVector::from_iter(poses.iter().copied());
        let port = self.scene.source_pose_port(self.source).unwrap();
        ctx.fix(port, poses).unwrap();
    }
    fn context(&self, poses: &[(FrameId, Isometry3<f64>)]) -> Context<f64> {
        let mut ctx = self.diagram.default_context();
        self.move_to(&mut ctx, poses);
        ctx
    }
}

/// Paths and poses equal those of Drake 1.51.1 for the same frames and geometries.
#[test]
fn paths_and_poses_equal_drakes() {
    let meshcat = server();
    let mut toys = Toys::new();
    let offset = at(0.1, 0.2, 0.3);
    let link = toys.frame("arm::link");
    toys.ball(link, "arm::v1", offset);
    toys.ball(link, "arm::v/2", offset);
    let slash = toys.frame("ns::box::li/nk");
    toys.ball(slash, "ns::box::v3", offset);
    toys.anchored("floor", offset);
    let mine = toys.frame("my::frame");
    toys.ball(mine, "bx", at(1.0, 0.0, 0.0));
    let kid = GeometryFrame::new("kid");
    let kid = toys
        .scene
        .register_frame_on(toys.source, mine, kid)
        .unwrap();
    toys.ball(kid, "kb", at(1.0, 0.0, 0.0));
    toys.frame("without geometry");
    let empty = toys.scene.model_inspector().frame_ids().last().unwrap();
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let ctx = shown.context(&[
        (link, at(1.0, 2.0, 3.0)),
        (slash, at(4.0, 5.0, 6.0)),
        (mine, at(5.0, 0.0, 0.0)),
        (kid, at(0.0, 7.0, 0.0)),
        (empty, at(0.0, 0.0, 0.0)),
    ]);
    assert!(!meshcat.has_path("visualizer"));
    ctx.force_publish().unwrap();

    let tree = Tree::of(&meshcat, "/drake/visualizer");
    let root = "/drake/visualizer/";
    let objects = [
        "arm/link/arm/v/2",
        "arm/link/arm/v1",
        "floor",
        "kid/kb",
        "my/frame/bx",
        "ns/box/li/nk/ns/box/v3",
    ];
    assert_eq!(tree.objects, objects.map(|o| format!("{root}{o}")));
    let position = |path: &str| tree.position(&format!("{root}{path}"));
    assert_eq!(position("arm/link"), [1.0, 2.0, 3.0]);
    assert_eq!(position("arm/link/arm/v1"), [0.1, 0.2, 0.3]);
    assert_eq!(position("floor"), [0.1, 0.2, 0.3]);
    assert_eq!(position("ns/box/li/nk"), [4.0, 5.0, 6.0]);
    assert_eq!(position("kid"), [5.0, 7.0, 0.0]);
    assert_eq!(position("kid/kb"), [1.0, 0.0, 0.0]);
    assert_eq!(position("my/frame"), [5.0, 0.0, 0.0]);
    assert_eq!(tree.transforms.len(), 10);
    let visible = tree.property("/drake/visualizer", "visible").unwrap();
    assert_eq!(*visible, true.into());
    assert_eq!(tree.properties.len(), 1);
}

/// Returns the position of a path in the world: the product of the poses from the root on.
fn pose_in_world(tree: &Tree, path: &str) -> Vector3<f64> {
    let mut x = nalgebra::Matrix4::identity();
    for (i, _) in path.match_indices('/').skip(1).chain([(path.len(), "")]) {
        if let Some(m) = tree.transforms.get(&path[..i]) {
            x *= nalgebra::Matrix4::from_column_slice(m);
        }
    }
    x.fixed_view::<3, 1>(0, 3).into()
}

/// A path below another one keeps its pose in the world, also when things move; Drake would
/// multiply the poses.
#[test]
fn nested_names_do_not_move_each_other() {
    let meshcat = server();
    let mut toys = Toys::new();
    toys.anchored("table", at(3.0, 0.0, 0.0));
    let leg = toys.frame("table::leg");
    toys.ball(leg, "ball", at(0.0, 0.0, 0.5));
    toys.ball(leg, "ball::inner", at(0.0, 0.0, 0.75));
    let inner = toys.frame("table::leg::ball");
    toys.ball(inner, "own", at(0.0, 1.0, 0.0));
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let turn = math::pose(math::rotation_z(1.0), Vector3::new(0.0, 5.0, 0.0));
    for x_wl in [at(1.0, 0.0, 0.0), turn] {
        let x_wi = at(0.0, 0.0, 9.0);
        let ctx = shown.context(&[(leg, x_wl), (inner, x_wi)]);
        ctx.force_publish().unwrap();
        let tree = Tree::of(&meshcat, "/drake/visualizer");
        let root = "/drake/visualizer/table";
        for (path, expected) in [
            ("", at(3.0, 0.0, 0.0)),
            ("/leg", x_wl),
            // The frame came first, so it gets the name.
            ("/leg/ball (2)", x_wl * at(0.0, 0.0, 0.5)),
            ("/leg/ball/inner", x_wl * at(0.0, 0.0, 0.75)),
            ("/leg/ball", x_wi),
            ("/leg/ball/own", x_wi * at(0.0, 1.0, 0.0)),
        ] {
            let p = pose_in_world(&tree, &format!("{root}{path}"));
            let error = (p - expected.translation.vector).norm();
            // A few roundings of numbers below 10.
            assert!(error < 1e-14, "{path}: {p}");
        }
    }
}

#[test]
fn equal_names_get_numeric_suffixes() {
    let meshcat = server();
    let mut toys = Toys::new();
    let other = toys.scene.register_source("others").unwrap();
    let a = toys.frame("a");
    let frame = GeometryFrame::new("a");
    let b = toys.scene.register_frame(other, frame).unwrap();
    let instance = ball("ball", at(0.0, 0.0, 0.0));
    toys.scene.register_geometry(other, b, instance).unwrap();
    toys.ball(a, "ball", at(0.0, 0.0, 0.0));
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let mut ctx = shown.context(&[(a, at(1.0, 0.0, 0.0))]);
    let poses = FramePoseVector::from_iter([(b, at(2.0, 0.0, 0.0))]);
    ctx.fix(shown.scene.source_pose_port(other).unwrap(), poses)
        .unwrap();
    ctx.force_publish().unwrap();
    let tree = Tree::of(&meshcat, "/drake/visualizer");
    assert_eq!(tree.position("/drake/visualizer/a")[0], 1.0);
    assert_eq!(tree.position("/drake/visualizer/a (2)")[0], 2.0);
    assert_eq!(
        tree.objects,
        ["/drake/visualizer/a (2)/ball", "/drake/visualizer/a/ball"]
    );
}

#[test]
fn only_changed_poses_are_sent() {
    let meshcat = server();
    let mut toys = Toys::new();
    let frames: Vec<FrameId> = (0..20).map(|i| toys.frame(&format!("f{i}"))).collect();
    for frame in &frames {
        toys.ball(*frame, "ball", at(0.0, 0.0, 0.0));
    }
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let mut poses: Vec<_> = frames.iter().map(|f| (*f, at(1.0, 0.0, 0.0))).collect();
    let mut ctx = shown.context(&poses);
    ctx.force_publish().unwrap();
    let mut page = Page::connect(&meshcat);
    page.replay();
    wait_for("the page is connected", || {
        meshcat.num_active_connections() == 1
    });
    let mut sent = |ctx: &Context<f64>, mark: f64| {
        ctx.force_publish().unwrap();
        meshcat.set_property("/mark", "x", mark);
        let found = page.until(is("set_property"));
        let paths = found[..found.len() - 1].iter();
        let paths = paths.map(|m| field(m, "path").unwrap().as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(sent(&ctx, 1.0), Vec::<String>::new());
    poses[7].1 = at(1.0, 0.0, 0.1);
    shown.move_to(&mut ctx, &poses);
    assert_eq!(sent(&ctx, 2.0), ["/drake/visualizer/f7"]);

    // Poses that were moved or deleted by others are restored, although the frames did not move.
    meshcat.set_transform("visualizer/f3", &at(9.0, 9.0, 9.0));
    meshcat.delete("visualizer/f4");
    ctx.force_publish().unwrap();
    let tree = Tree::of(&meshcat, "/drake/visualizer");
    for f in ["f3", "f4"] {
        let path = format!("/drake/visualizer/{f}");
        assert_eq!(tree.position(&path), [1.0, 0.0, 0.0]);
    }
}

#[test]
fn changed_geometry_is_sent_again() {
    let meshcat = server();
    let mut toys = Toys::new();
    let frame = toys.frame("f");
    toys.ball(frame, "one", at(0.0, 0.0, 0.0));
    toys.ball(frame, "two", at(0.0, 0.0, 0.0));
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let mut ctx = shown.context(&[(frame, at(1.0, 0.0, 0.0))]);
    ctx.force_publish().unwrap();
    meshcat.set_property("visualizer", "visible", false);
    meshcat.set_property("visualizer/f", "my own", 1.0);

    let source = shown.source;
    let state = shown.scene.geometry_mut(&mut ctx).unwrap();
    let one = state.inspector().geometry_ids().next().unwrap();
    state.remove_geometry(source, one).unwrap();
    let block = BoxShape::new(0.1, 0.1, 0.1).unwrap();
    let three = GeometryInstance::new(at(0.0, 0.0, 0.3), block, "three")
        .unwrap()
        .with_illustration(IllustrationProperties::phong(Rgba::WHITE));
    state.register_geometry(source, frame, three).unwrap();
    ctx.force_publish().unwrap();

    let tree = Tree::of(&meshcat, "/drake/visualizer");
    let expected = ["/drake/visualizer/f/three", "/drake/visualizer/f/two"];
    assert_eq!(tree.objects, expected);
    assert_eq!(tree.position("/drake/visualizer/f/three"), [0.0, 0.0, 0.3]);
    // Properties set by the user remain.
    let property = |path, name| tree.property(path, name).unwrap().clone();
    assert_eq!(property("/drake/visualizer", "visible"), false.into());
    assert_eq!(property("/drake/visualizer/f", "my own"), 1.0.into());
    // The other contexts of the diagram keep their geometry.
    let other = shown.context(&[(frame, at(2.0, 0.0, 0.0))]);
    other.force_publish().unwrap();
    assert!(meshcat.has_path("visualizer/f/one"));
}

#[test]
fn dual_numbers_show_their_real_parts() {
    let meshcat = server();
    let mut toys = Toys::new();
    let frame = toys.frame("f");
    toys.ball(frame, "ball", at(0.0, 0.0, 0.0));
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let diagram = shown.diagram.to_scalar::<AutoDiff>().unwrap();
    let scene = diagram.ports(&shown.scene).unwrap();
    let mut ctx = diagram.default_context();
    let x = AutoDiff::variable(2.0, 0);
    let zero = AutoDiff::from(0.0);
    let pose = math::pose(math::rotation_z(x), Vector3::new(x, zero, zero));
    let port = scene.source_pose_port(shown.source).unwrap();
    ctx.fix(port, FramePoseVector::from_iter([(frame, pose)]))
        .unwrap();
    ctx.force_publish().unwrap();
    let tree = Tree::of(&meshcat, "/drake/visualizer");
    let m = &tree.transforms["/drake/visualizer/f"];
    assert_eq!(m[12], 2.0);
    assert!((m[0] - 2.0_f64.cos()).abs() < 1e-15);
}

#[test]
fn recordings_have_every_frame() {
    let meshcat = server();
    let mut toys = Toys::new();
    let frame = toys.frame("f");
    toys.ball(frame, "ball", at(0.0, 0.0, 0.0));
    let params = MeshcatVisualizerParams {
        publish_period: 0.25,
        ..Default::default()
    };
    let shown = show(toys, &meshcat, params);
    let ctx = shown.context(&[(frame, at(1.0, 0.0, 0.0))]);
    let visualizer = shown.visualizer.system();
    visualizer.start_recording(false).unwrap();
    let mut sim = Simulator::new(&shown.diagram, ctx).unwrap();
    sim.advance_to(1.0).unwrap();
    visualizer.stop_recording();
    let tree = Tree::of(&meshcat, "/drake/visualizer");
    assert_eq!(tree.objects, ["/drake/visualizer/f/ball"]);
    assert!(!tree.transforms.contains_key("/drake/visualizer/f"));
    visualizer.publish_recording();
    let replay = Page::connect(&meshcat).replay();
    let animation = replay.iter().find(|m| is("set_animation")(m)).unwrap();
    let text = animation.to_string();
    // Frames 0 to 4, at 0 to 1 s, also of bodies that do not move.
    assert!(text.contains("/drake/visualizer/f"), "{text}");
    assert_eq!(text.matches("\"time\"").count(), 2 * 5, "{text}");
    visualizer.with_recording(|animation| assert_eq!(animation.frames_per_second(), 4.0));
    visualizer.delete_recording();
    visualizer.with_recording(|animation| assert!(animation.is_empty()));
}

/// No lock is held while the user changes a recording.
#[test]
fn a_recording_continues_while_it_is_changed() {
    let meshcat = server();
    meshcat.start_recording(4.0, false).unwrap();
    let record = |time: f64, x: f64| {
        let set = meshcat.set_transform_at_time("f", &at(x, 0.0, 0.0), time);
        set.unwrap();
    };
    record(0.0, 1.0);
    meshcat.with_recording(|animation| {
        animation.set_transform(1, "f", &at(2.0, 0.0, 0.0)).unwrap();
        record(0.5, 3.0);
        record(0.0, 1.0);
    });
    let mut expected = MeshcatAnimation::new(4.0).unwrap();
    for (frame, x) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
        expected
            .set_transform(frame, "f", &at(x, 0.0, 0.0))
            .unwrap();
    }
    meshcat.with_recording(|animation| {
        assert_eq!(*animation, expected);
        meshcat.delete_recording();
    });
    meshcat.with_recording(|animation| assert!(animation.is_empty(), "it stays deleted"));
}

#[test]
fn initialization_and_delete_clear_the_prefix() {
    let meshcat = server();
    let mut toys = Toys::new();
    let frame = toys.frame("f");
    toys.ball(frame, "ball", at(0.0, 0.0, 0.0));
    meshcat.set_transform("visualizer/of a program before", &at(0.0, 0.0, 0.0));
    let shown = show(toys, &meshcat, MeshcatVisualizerParams::default());
    let ctx = shown.context(&[(frame, at(1.0, 0.0, 0.0))]);
    let mut sim = Simulator::new(&shown.diagram, ctx.clone()).unwrap();
    sim.initialize().unwrap();
    assert!(!meshcat.has_path("visualizer/of a program before"));
    assert!(meshcat.has_path("visualizer/f/ball"));
    shown.visualizer.system().delete();
    assert!(!meshcat.has_path("visualizer"));
    for ctx in [sim.context(), &ctx] {
        ctx.force_publish().unwrap();
        let tree = Tree::of(&meshcat, "/drake/visualizer");
        assert_eq!(tree.objects, ["/drake/visualizer/f/ball"]);
        assert_eq!(tree.position("/drake/visualizer/f"), [1.0, 0.0, 0.0]);
    }
}

#[test]
fn simulations_in_parallel_share_a_server() {
    let meshcat = server();
    std::thread::scope(|threads| {
        for k in 0..4 {
            let meshcat = &meshcat;
            threads.spawn(move || {
                let mut toys = Toys::new();
                let frames: Vec<_> = (0..50).map(|i| toys.frame(&format!("f{i}"))).collect();
                for frame in &frames {
                    toys.ball(*frame, "ball", at(0.0, 0.0, 0.0));
                }
                let params = MeshcatVisualizerParams {
                    prefix: format!("sim{k}"),
                    ..Default::default()
                };
                let shown = show(toys, meshcat, params);
                // Clones of a context share what they have sent; other contexts do not.
                let ctx = shown.context(&[]);
                for n in 0..100 {
                    let x = f64::from(n) + 0.25 * f64::from(k);
                    let poses: Vec<_> = frames.iter().map(|f| (*f, at(x, 0.0, 0.0))).collect();
                    let mut ctx = if n % 2 == 0 {
                        ctx.clone()
                    } else {
                        shown.diagram.default_context()
                    };
                    shown.move_to(&mut ctx, &poses);
                    ctx.force_publish().unwrap();
                }
            });
        }
    });
    for k in 0..4 {
        let tree = Tree::of(&meshcat, &format!("/drake/sim{k}/"));
        assert_eq!(tree.objects.len(), 50);
        for i in 0..50 {
            let x = tree.position(&format!("/drake/sim{k}/f{i}"))[0];
            assert_eq!(x, 99.0 + 0.25 * f64::from(k));
        }
    }
}

#[test]
fn errors_explain_invalid_parameters() {
    let meshcat = server();
    for (params, words) in [
        (
            MeshcatVisualizerParams {
                publish_period: 0.0,
                ..Default::default()
            },
            "'visualizer': the publish period must be positive and finite, got 0.0 s",
        ),
        (
            MeshcatVisualizerParams {
                role: Role::Unassigned,
                ..Default::default()
            },
            "the role must be Illustration, Proximity or Perception, got Unassigned",
        ),
        (
            MeshcatVisualizerParams {
                initial_alpha_slider_value: 1.5,
                ..Default::default()
            },
            "initial_alpha_slider_value must be from 0 to 1, got 1.5",
        ),
    ] {
        let error = MeshcatVisualizer::new(meshcat.clone(), params).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(meshcat.slider_names(), Vec::<String>::new());
}
