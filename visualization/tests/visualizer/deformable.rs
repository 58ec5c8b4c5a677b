//! Deformable geometry: objects, their vertices, and recordings.

use super::*;
use crate::support::soft::{Soft, SoftScene, plate, soft_ball, waving};
use std::io::Write;
use tarragon_fem::DeformableBodyConfig;
use tarragon_framework::AutoDiff;
use tarragon_geometry::GeometryConfigurationVector;
use tarragon_lcm::types::LcmtViewerLinkData;
use tarragon_lcm::{Lcm, LcmBuses, Subscriber};
use tarragon_multibody::{MultibodyPlantBuilder, add_multibody_plant_scene_graph};
use tarragon_visualization::{
    VisualizationConfig, VisualizationConnections, add_default_visualization,
    apply_visualization_config,
};

/// Adds a visualizer to a scene.
fn shown(
    mut scene: SoftScene,
    meshcat: &Meshcat,
    params: MeshcatVisualizerParams,
) -> (Soft, Block<MeshcatVisualizer>) {
    let (builder, query) = (&mut scene.builder, scene.graph.query);
    let visualizer =
        MeshcatVisualizer::add_to_builder(builder, query, meshcat.clone(), params).unwrap();
    (scene.build(), visualizer)
}

/// Elements of a typed array of four bytes each.
fn array(value: &rmpv::Value) -> Vec<[u8; 4]> {
    let rmpv::Value::Ext(_, bytes) = value else {
        panic!("{value}");
    };
    bytes.as_chunks().0.to_vec()
}

fn floats(value: &rmpv::Value) -> Vec<f32> {
    array(value).into_iter().map(f32::from_le_bytes).collect()
}

/// Returns the positions and the triangles of an object.
pub(super) fn contents(message: &rmpv::Value) -> (Vec<f32>, Vec<u32>) {
    let get = |value: &rmpv::Value, key: &str| field(value, key).unwrap();
    let object = get(message, "object");
    let geometry = get(&get(&object, "geometries").as_array().unwrap()[0], "data");
    let position = get(&get(&geometry, "attributes"), "position");
    let faces = array(&get(&get(&geometry, "index"), "array"));
    let faces = faces.into_iter().map(u32::from_le_bytes);
    (floats(&get(&position, "array")), faces.collect())
}

/// Returns the current vertices of a ball in single precision.
fn single(soft: &Soft, ball: usize) -> Vec<f32> {
    let vertices = soft.vertices(ball);
    vertices.iter().flatten().map(|x| *x as f32).collect()
}

pub(super) fn on_path<'m>(
    messages: &'m [rmpv::Value],
    kind: &str,
    path: &str,
) -> Vec<&'m rmpv::Value> {
    let has_path = |m: &&rmpv::Value| field(m, "path").is_some_and(|p| p.as_str() == Some(path));
    messages
        .iter()
        .filter(|m| is(kind)(m))
        .filter(has_path)
        .collect()
}

/// Marks the end of what was set, and returns all messages before it.
fn until_now(meshcat: &Meshcat, page: &mut Page) -> Vec<rmpv::Value> {
    meshcat.set_property("/mark", "visible", false);
    let is_mark = |m: &rmpv::Value| field(m, "path").is_some_and(|p| p.as_str() == Some("/mark"));
    page.until(|m| is_mark(m) && is("set_property")(m))
}

const A: &str = "/drake/visualizer/deformable_geometries/soft/a";
const B: &str = "/drake/visualizer/deformable_geometries/b";

fn two_balls() -> SoftScene {
    let red = Some([1.0, 0.0, 0.0, 0.5]);
    SoftScene::new([
        (soft_ball("soft::a", 0.1, red), 0.1),
        (soft_ball("b", 0.2, None), 0.1),
    ])
}

#[test]
fn our_page_gets_vertices_and_other_pages_get_objects() {
    let meshcat = server();
    let (mut soft, _) = shown(two_balls(), &meshcat, Default::default());
    soft.context.force_publish().unwrap();
    let tree = Tree::of(&meshcat, "/drake/visualizer");
    assert_eq!(tree.objects, [B, A]);
    let mut theirs = Page::connect(&meshcat);
    let replay = theirs.replay();
    for (ball, path) in [(0, A), (1, B)] {
        let (positions, faces) = contents(on_path(&replay, "set_object", path)[0]);
        assert_eq!(positions, single(&soft, ball), "{path}");
        assert_eq!(faces, soft.boundary(ball).triangles.as_flattened());
    }
    let red = field(on_path(&replay, "set_object", A)[0], "object").unwrap();
    let red = &field(&red, "materials").unwrap()[0];
    assert_eq!(field(red, "color").unwrap().as_u64(), Some(0xff_00_00));
    assert_eq!(field(red, "opacity").unwrap().as_f64(), Some(0.5));
    let mut ours = Page::connect_to(&meshcat, "/?batch=1");
    ours.replay();

    soft.deform(0, |p| 2.0 * p + Vector3::new(1.0, 2.0, 3.0));
    soft.context.force_publish().unwrap();
    let messages = until_now(&meshcat, &mut ours);
    assert_eq!(on_path(&messages, "set_object", A).len(), 0);
    let moved = on_path(&messages, "set_vertices", A);
    assert_eq!(moved.len(), 1);
    let moved = floats(&field(moved[0], "positions").unwrap());
    assert_eq!(moved, single(&soft, 0));
    // The other ball rests.
    assert_eq!(on_path(&messages, "set_vertices", B).len(), 0);
    let messages = until_now(&meshcat, &mut theirs);
    assert_eq!(on_path(&messages, "set_vertices", A).len(), 0);
    let object = on_path(&messages, "set_object", A);
    assert_eq!(object.len(), 1);
    let faces = soft.boundary(0).triangles.as_flattened().to_vec();
    assert_eq!(contents(object[0]), (moved.clone(), faces.clone()));
    // A page that connects now sees the same.
    for page in ["/", "/?batch=1"] {
        let replay = Page::connect_to(&meshcat, page).replay();
        let object = on_path(&replay, "set_object", A);
        assert_eq!(
            contents(object[0]),
            (moved.clone(), faces.clone()),
            "{page}"
        );
    }
}

#[test]
fn geometry_without_the_role_is_deleted() {
    let meshcat = server();
    let (mut soft, visualizer) = shown(two_balls(), &meshcat, Default::default());
    soft.context.force_publish().unwrap();
    let geometry_at = |soft: &Soft, path: &str| {
        let inspector = soft.context.eval(soft.graph.query).unwrap().inspector();
        let system = visualizer.system();
        system.geometry_at(&inspector, path).unwrap()
    };
    let [a, b] = soft.balls[..] else { panic!() };
    assert_eq!(geometry_at(&soft, A), Some(a));
    let (graph, source) = (soft.graph.clone(), soft.source);
    let state = graph.geometry_mut(&mut soft.context).unwrap();
    state.remove_role(source, a, Role::Illustration).unwrap();
    soft.context.force_publish().unwrap();
    assert_eq!(Tree::of(&meshcat, "/drake/visualizer").objects, [B]);
    assert_eq!(geometry_at(&soft, A), None);
    let state = graph.geometry_mut(&mut soft.context).unwrap();
    state.remove_geometry(source, b).unwrap();
    soft.context.force_publish().unwrap();
    assert!(!meshcat.has_path("visualizer/deformable_geometries"));
}

/// Whenever a page connects, it ends up with the last vertices.
#[test]
fn pages_that_connect_meanwhile_end_up_with_the_same_vertices() {
    let meshcat = server();
    let (mut soft, _) = shown(two_balls(), &meshcat, Default::default());
    let publisher = {
        let meshcat = meshcat.clone();
        std::thread::spawn(move || {
            for k in 0..300 {
                soft.deform(k % 2, |p| p * (1.0 + 0.01 * k as f64));
                soft.context.force_publish().unwrap();
                if k % 100 == 50 {
                    // The objects are set again.
                    meshcat.delete("visualizer/deformable_geometries");
                }
            }
            soft
        })
    };
    let connect = |k: usize| {
        let is_ours = k.is_multiple_of(2);
        let mut page = Page::connect_to(&meshcat, if is_ours { "/?batch=1" } else { "/" });
        let replay = page.replay();
        std::thread::sleep(std::time::Duration::from_millis(1));
        (page, replay)
    };
    let pages: Vec<_> = (0..20).map(connect).collect();
    let soft = publisher.join().unwrap();
    for (k, (mut page, mut messages)) in pages.into_iter().enumerate() {
        messages.extend(until_now(&meshcat, &mut page));
        for (ball, path) in [(0, A), (1, B)] {
            let of_path = |m: &&rmpv::Value| field(m, "path") == Some(path.into());
            let mut last = messages.iter().filter(of_path).filter_map(|m| {
                let kind = field(m, "type")?;
                match kind.as_str()? {
                    "set_object" => Some(contents(m).0),
                    "set_vertices" => Some(floats(&field(m, "positions")?)),
                    _ => None,
                }
            });
            assert_eq!(
                last.next_back(),
                Some(single(&soft, ball)),
                "page {k}, {path}"
            );
        }
    }
}

/// Contexts with different geometry at one path show their own, as far as they publish.
#[test]
fn every_publish_shows_the_geometry_of_its_context() {
    let meshcat = server();
    let ball = |radius| SoftScene::new([(soft_ball("ball", radius, None), 0.1)]);
    let path = "/drake/visualizer/deformable_geometries/ball";
    let is_shown = |soft: &Soft| {
        let replay = Page::connect(&meshcat).replay();
        let object = on_path(&replay, "set_object", path);
        contents(object[0]).0 == single(soft, 0)
    };
    let (small, _) = shown(ball(0.1), &meshcat, Default::default());
    let (large, _) = shown(ball(0.5), &meshcat, Default::default());
    for soft in [&small, &large, &small, &large] {
        soft.context.force_publish().unwrap();
        assert!(is_shown(soft));
    }
    meshcat.delete(path);
    large.context.force_publish().unwrap();
    assert!(is_shown(&large));
}

#[test]
fn the_alpha_slider_applies_to_objects_that_are_set_again() {
    let meshcat = server();
    let params = MeshcatVisualizerParams {
        enable_alpha_slider: true,
        initial_alpha_slider_value: 0.5,
        ..Default::default()
    };
    let (mut soft, _) = shown(two_balls(), &meshcat, params);
    soft.context.force_publish().unwrap();
    let mut theirs = Page::connect(&meshcat);
    theirs.replay();
    soft.deform(0, |p| 2.0 * p);
    soft.context.force_publish().unwrap();
    let messages = until_now(&meshcat, &mut theirs);
    let of_a = messages
        .iter()
        .filter(|m| field(m, "path") == Some(A.into()));
    let kinds: Vec<String> = of_a
        .map(|m| field(m, "type").unwrap().as_str().unwrap().into())
        .collect();
    assert_eq!(kinds, ["set_object", "set_property"]);
}

/// Vertices of dual numbers are shown by their real parts.
#[test]
fn converted_diagrams_show_the_same() {
    let meshcat = server();
    let (soft, _) = shown(two_balls(), &meshcat, Default::default());
    let dual = soft.diagram.to_scalar::<AutoDiff>().unwrap();
    let mut ctx = dual.default_context();
    let moving = soft.balls.iter().map(|ball| {
        let x = soft.configurations.value(*ball).unwrap();
        (*ball, x.map(|x| AutoDiff::variable(x, 0)))
    });
    let graph = dual.ports(&soft.graph).unwrap();
    let port = graph.source_configuration_port(soft.source).unwrap();
    ctx.fix(port, GeometryConfigurationVector::from_iter(moving))
        .unwrap();
    ctx.force_publish().unwrap();
    let replay = Page::connect(&meshcat).replay();
    let object = on_path(&replay, "set_object", A);
    assert_eq!(contents(object[0]).0, single(&soft, 0));
}

/// Vertices are recorded, also while pages do not see them, and only pages that can play them
/// receive them.
#[test]
fn recordings_hold_the_vertices() {
    let meshcat = server();
    let (mut soft, visualizer) = shown(two_balls(), &meshcat, Default::default());
    soft.context.force_publish().unwrap();
    let [mut theirs, mut ours] = ["/", "/?batch=1"].map(|page| Page::connect_to(&meshcat, page));
    theirs.replay();
    ours.replay();
    visualizer.system().start_recording(false).unwrap();
    for frame in 0..3 {
        soft.context.set_time(f64::from(frame) / 64.0);
        soft.deform(0, |p| p * (1.0 + f64::from(frame)));
        soft.context.force_publish().unwrap();
    }
    visualizer.system().stop_recording();
    visualizer.system().publish_recording();
    let messages = until_now(&meshcat, &mut theirs);
    assert!(on_path(&messages, "set_object", A).is_empty());
    let animation = messages.iter().find(|m| is("set_animation")(m)).unwrap();
    assert_eq!(field(animation, "vertices"), None);
    let messages = until_now(&meshcat, &mut ours);
    assert!(on_path(&messages, "set_vertices", A).is_empty());
    let animation = messages.iter().find(|m| is("set_animation")(m)).unwrap();
    let tracks = field(animation, "vertices").unwrap();
    let tracks = tracks.as_array().unwrap();
    let paths: Vec<_> = tracks.iter().map(|t| field(t, "path").unwrap()).collect();
    assert_eq!(paths, [B.into(), A.into()]);
    for track in tracks {
        assert_eq!(field(track, "fps").unwrap().as_f64(), Some(64.0));
        let groups = field(track, "groups").unwrap();
        let frames = array(&field(&groups[0], "frames").unwrap());
        let frames: Vec<u32> = frames.into_iter().map(u32::from_le_bytes).collect();
        assert_eq!(frames, [0, 1, 2]);
    }
    // The recording is over: pages see the vertices again.
    soft.deform(0, |p| 9.0 * p);
    soft.context.force_publish().unwrap();
    let messages = until_now(&meshcat, &mut ours);
    assert_eq!(on_path(&messages, "set_vertices", A).len(), 1);
    // Another recording begins without these frames.
    visualizer.system().delete_recording();
    visualizer.system().publish_recording();
    let is_empty = visualizer
        .system()
        .with_recording(|animation| animation.is_empty());
    assert!(is_empty);
}

/// A static page with 1000 frames of 5000 vertices has less than 20 MB. The unit tests of the
/// recording decode as many frames; a browser decodes those of a static page.
#[test]
fn a_long_recording_fits_into_a_static_page() {
    let meshcat = server();
    if meshcat.static_html().is_err() {
        return crate::support::skip("no viewer page (install Node.js and build again)");
    }
    let mut soft = plate(&meshcat, 49);
    assert_eq!(soft.boundary(0).positions.len(), 5000);
    soft.context.force_publish().unwrap();
    let still = meshcat.static_html().unwrap().len();
    meshcat.start_recording(64.0, false).unwrap();
    for frame in 0..1000 {
        let t = f64::from(frame) / 64.0;
        soft.context.set_time(t);
        soft.deform(0, |p| waving(p, t));
        soft.context.force_publish().unwrap();
    }
    meshcat.stop_recording();
    meshcat.publish_recording();
    let html = meshcat.static_html().unwrap();
    let _ = writeln!(
        std::io::stderr(),
        "{} bytes, {still} without the motion",
        html.len()
    );
    assert!(html.len() < 20_000_000, "{} bytes", html.len());
    assert!(html.len() > still + 1_000_000);
}

/// A plant needs no further code: the page shows the ball where it has fallen to, and so does LCM.
#[test]
fn default_visualization_shows_deformable_bodies() {
    let meshcat = server();
    let (mut plant, mut graph) = (
        MultibodyPlantBuilder::new(1.0 / 64.0).unwrap(),
        SceneGraph::new(),
    );
    plant
        .register_as_source_for_scene_graph(&mut graph)
        .unwrap();
    let rubber = DeformableBodyConfig::default();
    let ball = soft_ball("ball", 0.1, None);
    let ball = plant.register_deformable_body(&mut graph, ball, &rubber, 0.2);
    let ball = ball.unwrap();
    let mut b = DiagramBuilder::new();
    let (plant, _) = add_multibody_plant_scene_graph(&mut b, plant, graph).unwrap();
    add_default_visualization(&mut b, Some(meshcat.clone())).unwrap();
    let lcm = Lcm::with_url("memq://").unwrap();
    let mut buses = LcmBuses::new();
    buses.add("default", lcm.clone()).unwrap();
    let only_lcm = VisualizationConfig {
        enable_meshcat_creation: false,
        ..VisualizationConfig::default()
    };
    let on = VisualizationConnections {
        lcm_buses: Some(&buses),
        ..VisualizationConnections::default()
    };
    apply_visualization_config(&only_lcm, &mut b, on).unwrap();
    let sent = ["", "_PROXIMITY"].map(|role| {
        let channel = format!("DRAKE_VIEWER_DEFORMABLE{role}");
        Subscriber::<LcmtViewerLinkData>::new(&lcm, &channel).unwrap()
    });
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.25).unwrap();
    let positions = plant.deformable_positions(sim.context(), ball).unwrap();
    let lowest = positions
        .iter()
        .map(|p| p.z as f32)
        .fold(f32::MAX, f32::min);
    assert!(lowest < -0.3);
    let replay = Page::connect(&meshcat).replay();
    for prefix in ["illustration", "proximity"] {
        let path = format!("/drake/{prefix}/deformable_geometries/ball");
        let (shown, _) = contents(on_path(&replay, "set_object", &path)[0]);
        let z = shown.chunks(3).map(|p| p[2]);
        assert_eq!(z.fold(f32::MAX, f32::min), lowest, "{path}");
    }
    lcm.handle_subscriptions(std::time::Duration::ZERO).unwrap();
    for sent in sent {
        let geometry = &sent.message().unwrap().geom[0];
        assert_eq!(geometry.string_data, "ball");
        let count = geometry.float_data[0] as usize;
        let z = geometry.float_data[2..][..3 * count]
            .chunks(3)
            .map(|p| p[2]);
        assert_eq!(z.fold(f32::MAX, f32::min), lowest);
    }
}
