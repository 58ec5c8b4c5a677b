//! Messages of deformable geometry.

use crate::drake_visualizer::{Heard, Message, only};
use crate::support::soft::{Soft, SoftScene, soft_ball};
use nalgebra::{Isometry3, Vector3};
use serde_json::Value;
use tarragon_geometry::{
    GeometryInstance, IllustrationProperties, ProximityProperties, Rgba, Role, Sphere,
};
use tarragon_lcm::LcmMessage;
use tarragon_lcm::types::{LcmtViewerGeometryData, LcmtViewerLinkData, LcmtViewerLoadRobot};
use tarragon_visualization::{DrakeVisualizer, DrakeVisualizerParams};

/// Returns a scene that one visualizer for each parameter set publishes.
fn published(mut scene: SoftScene, heard: &Heard, shows: &[DrakeVisualizerParams]) -> Soft {
    for params in shows {
        let (builder, query) = (&mut scene.builder, scene.graph.query);
        let lcm = Some(heard.lcm.clone());
        DrakeVisualizer::add_to_builder(builder, query, lcm, params.clone()).unwrap();
    }
    scene.build()
}

fn on_channel<'m>(messages: &'m [Message], channel: &str) -> &'m [u8] {
    let found = messages.iter().find(|(c, _)| c == channel);
    &found.unwrap_or_else(|| panic!("no {channel}")).1
}

/// Drake 1.51.1 published the recorded messages for a deformed sphere.
#[test]
fn messages_equal_drakes_byte_for_byte() {
    let file = include_bytes!("../../../tests/reference/deformable/visual.json.gz");
    let truth: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&file[..])).unwrap();
    for case in truth["visual"].as_array().unwrap() {
        let role = match case["role"].as_str().unwrap() {
            "illustration" => Role::Illustration,
            _ => Role::Proximity,
        };
        let sphere = Sphere::new(case["shape"]["radius"].as_f64().unwrap()).unwrap();
        let name = case["name"].as_str().unwrap();
        let ball = GeometryInstance::new(Isometry3::identity(), sphere, name).unwrap();
        let blue = Rgba::new(0.1, 0.2, 0.3, 0.5).unwrap();
        let ball = ball.with_illustration(IllustrationProperties::new().with_diffuse(blue));
        let ball = ball.with_proximity(ProximityProperties::new());
        let hint = case["resolution_hint"].as_f64().unwrap();
        let heard = Heard::new();
        let shows = [false, true].map(|use_role_channel_suffix| DrakeVisualizerParams {
            role,
            use_role_channel_suffix,
            ..DrakeVisualizerParams::default()
        });
        let mut soft = published(SoftScene::new([(ball, hint)]), &heard, &shows);
        let coordinates = case["configuration"].as_array().unwrap().iter();
        soft.set(0, coordinates.map(|x| x.as_f64().unwrap()).collect());
        soft.context.force_publish().unwrap();
        let messages = heard.take();
        let channels = case["channels"].as_object().unwrap();
        assert_eq!(messages.len(), channels.len());
        for (channel, hex) in channels {
            let found = on_channel(&messages, channel);
            let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, hex.as_str().unwrap(), "{role:?} {channel}");
        }
    }
}

#[test]
fn vertices_follow_and_triangles_stay() {
    let heard = Heard::new();
    let balls = ["soft::a", "b"].map(|name| (soft_ball(name, 0.1, None), 0.1));
    let shows = [DrakeVisualizerParams::default()];
    let mut soft = published(SoftScene::new(balls), &heard, &shows);
    soft.context.force_publish().unwrap();
    let before: LcmtViewerLinkData = only(&heard.take(), "DRAKE_VIEWER_DEFORMABLE");
    soft.deform(1, |p| 2.0 * p + Vector3::new(1.0, 2.0, 3.0));
    soft.context.force_publish().unwrap();
    let messages = heard.take();
    assert_eq!(messages.len(), 2, "nothing is loaded again");
    let after: LcmtViewerLinkData = only(&messages, "DRAKE_VIEWER_DEFORMABLE");
    let names: Vec<&str> = after.geom.iter().map(|g| &*g.string_data).collect();
    assert_eq!(names, ["soft::a", "b"]);
    assert_eq!(before.geom[0], after.geom[0]);
    let [before, after] = [&before, &after].map(|m| &m.geom[1].float_data);
    let surface = soft.boundary(1);
    let (vertices, end) = (soft.vertices(1), 2 + 3 * surface.positions.len());
    let counts = [
        surface.positions.len() as f32,
        surface.triangles.len() as f32,
    ];
    assert_eq!(after[..2], counts);
    let coordinates = vertices
        .iter()
        .flat_map(|p| [p.x as f32, p.y as f32, p.z as f32]);
    assert_eq!(after[2..end], coordinates.collect::<Vec<f32>>());
    assert_ne!(before[2..end], after[2..end]);
    let indices = surface.triangles.as_flattened().iter().map(|v| *v as f32);
    assert_eq!(after[end..], indices.collect::<Vec<f32>>());
    assert_eq!(before[end..], after[end..]);
}

#[test]
fn geometry_without_the_role_leaves_the_message() {
    let heard = Heard::new();
    let red = Some([1.0, 0.0, 0.0, 0.5]);
    let shows = [Role::Illustration, Role::Proximity].map(|role| DrakeVisualizerParams {
        role,
        use_role_channel_suffix: true,
        ..DrakeVisualizerParams::default()
    });
    let scene = SoftScene::new([
        (soft_ball("a", 0.1, red), 0.1),
        (soft_ball("b", 0.2, None), 0.1),
    ]);
    let mut soft = published(scene, &heard, &shows);
    soft.context.force_publish().unwrap();
    let names = |messages: &[Message], role: &str| -> Vec<String> {
        let message: LcmtViewerLinkData =
            only(messages, &format!("DRAKE_VIEWER_DEFORMABLE_{role}"));
        message.geom.into_iter().map(|g| g.string_data).collect()
    };
    let messages = heard.take();
    let seen: LcmtViewerLinkData = only(&messages, "DRAKE_VIEWER_DEFORMABLE_ILLUSTRATION");
    assert_eq!(seen.geom[0].color, [1.0, 0.0, 0.0, 0.5]);
    assert_eq!(seen.geom[1].color, [0.9, 0.9, 0.9, 1.0]);
    assert_eq!(seen.geom[0].r#type, LcmtViewerGeometryData::MESH);
    assert_eq!(names(&messages, "PROXIMITY"), ["a", "b"]);
    for (_, load) in messages.iter().filter(|(c, _)| c.contains("LOAD")) {
        assert_eq!(LcmtViewerLoadRobot::decode(load).unwrap().link, []);
    }

    let (graph, source) = (soft.graph.clone(), soft.source);
    let [a, b] = soft.balls[..] else { panic!() };
    let state = graph.geometry_mut(&mut soft.context).unwrap();
    state.remove_role(source, a, Role::Illustration).unwrap();
    soft.context.force_publish().unwrap();
    let messages = heard.take();
    // Without triangles, for a while.
    assert_eq!(names(&messages, "ILLUSTRATION"), ["b", "a"]);
    let seen: LcmtViewerLinkData = only(&messages, "DRAKE_VIEWER_DEFORMABLE_ILLUSTRATION");
    assert_eq!(seen.geom[1].float_data, [0.0, 0.0]);
    for _ in 1..64 {
        soft.context.force_publish().unwrap();
        assert_eq!(names(&heard.take(), "ILLUSTRATION"), ["b", "a"]);
    }
    soft.context.force_publish().unwrap();
    let messages = heard.take();
    assert_eq!(names(&messages, "ILLUSTRATION"), ["b"]);
    assert_eq!(names(&messages, "PROXIMITY"), ["a", "b"]);
    let state = graph.geometry_mut(&mut soft.context).unwrap();
    state.remove_geometry(source, b).unwrap();
    for _ in 0..64 {
        soft.context.force_publish().unwrap();
        assert_eq!(names(&heard.take(), "ILLUSTRATION"), ["b"]);
    }
    soft.context.force_publish().unwrap();
    let messages = heard.take();
    assert!(names(&messages, "ILLUSTRATION").is_empty());
    assert_eq!(names(&messages, "PROXIMITY"), ["a"]);
}
