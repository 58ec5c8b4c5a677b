//! The engine behind cameras that are configured by data.

use super::recorder::{Answer, Recorder, http};
use nalgebra::Isometry3;
use std::process::Command;
use tarragon_framework::prelude::*;
use tarragon_geometry::{GeometryInstance, PerceptionProperties, RenderLabel, SceneGraph, Sphere};
use tarragon_sensors::*;

fn config(server: &Recorder, rest: &str) -> CameraConfig {
    let url = server.base_url();
    CameraConfig::from_yaml(&format!(
        "{{name: front, renderer_name: blender, width: 64, height: 48, rgb: true, depth: true, \
         label: true, renderer_class: !RenderEngineGltfClientParams {{base_url: '{url}'}}{rest}}}"
    ))
    .unwrap()
}

fn scene_with_ball() -> SceneGraph {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("toys").unwrap();
    let look = PerceptionProperties::new().with_label(RenderLabel::new(7).unwrap());
    let at = Isometry3::translation(0.0, 0.0, 2.0);
    let ball = GeometryInstance::new(at, Sphere::new(0.5).unwrap(), "ball").unwrap();
    scene
        .register_anchored_geometry(source, ball.with_perception(look))
        .unwrap();
    scene
}

#[test]
fn cameras_request_their_images() {
    let server = Recorder::of_images();
    let camera = config(&server, "");
    let mut scene = scene_with_ball();
    add_camera_renderers([&camera], &mut scene).unwrap();
    let engine = scene.render_engine_by_name("blender").unwrap();
    assert!(engine.renders_for("RenderEngineGltfClient") && !engine.renders_for("RenderEngineGl"));
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    let camera = apply_camera_config(&camera, &mut b).unwrap();
    let ctx = b.build().unwrap().default_context();
    assert!(
        server.requests().is_empty(),
        "nothing is requested before it is read"
    );
    let color = ctx.eval(camera.color_image().unwrap()).unwrap();
    assert_eq!(color.at(1, 2), [10, 20, 30, 99]);
    assert_eq!(
        ctx.eval(camera.depth_image_32f().unwrap())
            .unwrap()
            .at(1, 2),
        [1.25]
    );
    assert_eq!(
        ctx.eval(camera.depth_image_16u().unwrap())
            .unwrap()
            .at(1, 2),
        [1250]
    );
    assert_eq!(
        ctx.eval(camera.label_image().unwrap()).unwrap().at(1, 2),
        [7]
    );
    let requests = server.requests();
    let kinds: Vec<String> = requests.iter().map(|r| r.field("image_type")).collect();
    assert_eq!(kinds, ["color", "depth", "label"]);
    assert!(
        requests.iter().all(|r| r.scene().contains("mesh0")),
        "the ball is in every scene"
    );
}

#[test]
fn asynchronous_cameras_request_images_on_their_threads() {
    let server = Recorder::of_images();
    let camera = config(&server, ", fps: 10, output_delay: 0.05");
    let mut scene = scene_with_ball();
    add_camera_renderers([&camera], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    let camera = apply_camera_config(&camera, &mut b).unwrap();
    let diagram = b.build().unwrap();
    let mut simulator = Simulator::new(&diagram, diagram.default_context()).unwrap();
    simulator.advance_to(0.27).unwrap();
    let ctx = simulator.context();
    assert_eq!(ctx.eval(camera.image_time().unwrap()).unwrap(), &[0.2]);
    assert_eq!(
        ctx.eval(camera.label_image().unwrap()).unwrap().at(1, 2),
        [7]
    );
    assert!(
        server.requests().len() >= 9,
        "three images at 0, 0.1 and 0.2 s"
    );
}

#[test]
fn failures_name_the_camera_or_the_server() {
    let server = Recorder::new(|_| Answer::Bytes(http("400 Bad Request", b"no scene for you")));
    let camera = config(&server, "");
    let mut scene = scene_with_ball();
    add_camera_renderers([&camera], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    let camera = apply_camera_config(&camera, &mut b).unwrap();
    let ctx = b.build().unwrap().default_context();
    let error = ctx.eval(camera.color_image().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Network);
    let text = error.to_string();
    assert!(
        text.contains("rgbd_sensor_front") && text.contains("no scene for you"),
        "{text}"
    );

    let yaml = "renderer_class: !RenderEngineGltfClientParams {base_url: 'https://lab'}";
    let camera = CameraConfig::from_yaml(yaml).unwrap();
    let error = add_camera_renderers([&camera], &mut SceneGraph::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error
            .to_string()
            .starts_with("camera 'preview_camera': Render"),
        "{error}"
    );
}

/// Set in the process that runs without the permission.
const CHILD: &str = "TARRAGON_TEST_WITHOUT_NETWORK";

#[test]
fn environment_can_forbid_the_engine() {
    let params = RenderEngineGltfClientParams::default();
    if std::env::var_os(CHILD).is_some() {
        let error = make_render_engine_gltf_client(params).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let drake = "RenderEngineGltfClient has been disabled via the DRAKE_ALLOW_NETWORK \
                     environment variable";
        assert!(error.to_string().starts_with(drake), "{error}");
        return;
    }
    // Tests run in threads, so only another process can have another environment.
    let child = |allowed: &str| {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "gltf_client::cameras::environment_can_forbid_the_engine",
            ])
            .env("DRAKE_ALLOW_NETWORK", allowed)
            .env(CHILD, "1")
            .output()
            .unwrap()
    };
    for forbidden in ["none", "lcm:meshcat"] {
        let output = child(forbidden);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
    }
    let output = child("lcm:render_gltf_client");
    assert!(
        !output.status.success(),
        "with the permission there is no error"
    );
}
