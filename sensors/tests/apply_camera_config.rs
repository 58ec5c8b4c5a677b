//! Camera configurations applied to a scene and a diagram.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon_multibody::{
    FixedOffsetFrame, FrameIndex, MultibodyPlantBuilder, SpatialInertia,
    add_multibody_plant_scene_graph,
};
use tarragon_sensors::*;

pub(crate) fn read(text: &str) -> CameraConfig {
    CameraConfig::from_yaml(text).unwrap()
}

pub(crate) fn named(name: &str, yaml: &str) -> CameraConfig {
    CameraConfig {
        name: name.into(),
        ..read(yaml)
    }
}

/// The expected results are those of pydrake 1.51.1, except for the glTF client.
#[test]
fn cameras_share_renderers_or_conflict() {
    let vtk = "renderer_class: RenderEngineVtk";
    let params = "renderer_class: !RenderEngineVtkParams {}";
    let black = "renderer_class: !RenderEngineVtkParams {default_clear_color: [0, 0, 0]}";
    let gl = "renderer_class: RenderEngineGl";
    for (first, second, expected) in [
        ("{}", "{}", None),
        ("{}", vtk, None),
        (vtk, vtk, None),
        (vtk, "{}", None),
        (gl, "{}", None),
        (
            vtk,
            gl,
            Some("must be a RenderEngineVtk as for camera 'a', got renderer_class RenderEngineGl"),
        ),
        ("{}", gl, Some("renderer_class RenderEngineGl")),
        (vtk, params, None),
        (params, vtk, None),
        (params, params, None),
        (black, black, None),
        (black, vtk, None),
        (
            black,
            params,
            Some("must have the same parameters as for camera 'a'"),
        ),
        (
            vtk,
            black,
            Some("must have the same parameters as for camera 'a'"),
        ),
        (black, "{renderer_class: RenderEngineGl, rgb: false}", None),
        (
            vtk,
            "renderer_class: RenderEngineGltfClient",
            Some("got renderer_class RenderEngineGltfClient"),
        ),
        ("renderer_class: RenderEngineGltfClient", "{}", None),
        (
            "renderer_class: RenderEngineGltfClient",
            "renderer_class: !RenderEngineGltfClientParams {}",
            None,
        ),
        (
            "renderer_class: RenderEngineGltfClient",
            "renderer_class: !RenderEngineGltfClientParams {render_endpoint: draw}",
            Some("must have the same parameters as for camera 'a'"),
        ),
        (
            "renderer_class: RenderEngineGltfClient",
            vtk,
            Some("must be a RenderEngineGltfClient as for camera 'a'"),
        ),
    ] {
        let cameras = [named("a", first), named("b", second)];
        let mut scene = SceneGraph::new();
        let done = add_camera_renderers(&cameras, &mut scene);
        match expected {
            None => {
                done.unwrap();
                assert_eq!(scene.renderer_count(), 1, "{first} {second}");
            }
            Some(expected) => {
                let message = done.unwrap_err().to_string();
                assert!(message.starts_with("camera 'b': "), "{message}");
                assert!(message.contains(expected), "{first} {second}: {message}");
                assert_eq!(scene.renderer_count(), 0, "the scene is unchanged");
            }
        }
    }
}

#[test]
fn existing_renderers_are_used() {
    let mut scene = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("default", engine).unwrap();
    let mut add =
        |yaml: &str| add_camera_renderers([&read(yaml)], &mut scene).map_err(|e| e.to_string());
    assert_eq!(add("{}"), Ok(()));
    assert_eq!(add("renderer_class: RenderEngineVtk"), Ok(()));
    assert_eq!(add("renderer_class: RenderEngineCpu"), Ok(()));
    let message = add("renderer_class: RenderEngineGltfClient").unwrap_err();
    assert!(
        message.contains("cannot replace RenderEngineGltfClient"),
        "{message}"
    );
    let message = add("renderer_class: !RenderEngineCpuParams {}").unwrap_err();
    assert!(
        message.contains("renderer_class must have no parameters"),
        "{message}"
    );
    assert_eq!(
        add("{renderer_name: other, renderer_class: !RenderEngineCpuParams {samples_per_side: 2}}"),
        Ok(())
    );
    assert_eq!(scene.renderer_count(), 2);
    let bad =
        "{renderer_name: third, renderer_class: !RenderEngineCpuParams {samples_per_side: 99}}";
    let message = add_camera_renderers([&read(bad)], &mut scene)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("samples_per_side must be from 1 to 16, got 99"),
        "{message}"
    );
}

/// An engine that is not ours, although its type has the same name.
mod foreign {
    use tarragon_framework::Result;
    use tarragon_geometry::render::{
        ColorRenderCamera, DepthRenderCamera, ImageDepth32F, ImageLabel16I, ImageRgba8U,
        RenderEngine, RenderView,
    };
    use tarragon_geometry::{GeometryId, PerceptionProperties, RenderLabel, Shape};

    #[derive(Clone)]
    pub(super) struct RenderEngineCpu;

    impl RenderEngine for RenderEngineCpu {
        fn register_visual(
            &mut self,
            _: GeometryId,
            _: &Shape,
            _: &PerceptionProperties,
        ) -> Result<bool> {
            Ok(false)
        }
        fn remove_visual(&mut self, _: GeometryId) -> bool {
            false
        }
        fn has_visual(&self, _: GeometryId) -> bool {
            false
        }
        fn render_color(
            &self,
            _: &RenderView<'_>,
            _: &ColorRenderCamera,
            _: &mut ImageRgba8U,
        ) -> Result<()> {
            Ok(())
        }
        fn render_depth(
            &self,
            _: &RenderView<'_>,
            _: &DepthRenderCamera,
            _: &mut ImageDepth32F,
        ) -> Result<()> {
            Ok(())
        }
        fn render_label(
            &self,
            _: &RenderView<'_>,
            _: &ColorRenderCamera,
            _: &mut ImageLabel16I,
        ) -> Result<()> {
            Ok(())
        }
        fn default_render_label(&self) -> RenderLabel {
            RenderLabel::DONT_CARE
        }
    }
}

#[test]
fn engines_of_different_classes_are_told_apart_whatever_their_types_are_called() {
    let mut scene = SceneGraph::new();
    scene
        .add_renderer("default", foreign::RenderEngineCpu)
        .unwrap();
    assert!(add_camera_renderers([&read("{}")], &mut scene).is_ok());
    for class in ["RenderEngineVtk", "RenderEngineGl", "RenderEngineCpu"] {
        let config = read(&format!("renderer_class: {class}"));
        let error = add_camera_renderers([&config], &mut scene).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("cannot replace {class}")),
            "{error}"
        );
    }
}

/// A plant with a body `hand` in the model `arm`; the frame `tip` is fixed to the body.
fn plant() -> MultibodyPlantBuilder {
    let mut plant = MultibodyPlantBuilder::new(0.001).unwrap();
    let arm = plant.add_model_instance("arm").unwrap();
    let hand = plant
        .add_rigid_body("hand", arm, SpatialInertia::zero())
        .unwrap();
    let tip = FixedOffsetFrame::new("tip", hand, Isometry3::translation(0.0, 0.0, 0.5));
    plant.add_frame(tip).unwrap();
    let frame = plant.frame_by_name("hand").unwrap();
    plant
        .weld_frames(
            FrameIndex::WORLD,
            frame,
            Isometry3::translation(1.0, 0.0, 0.0),
        )
        .unwrap();
    plant
}

/// Applies a camera to a diagram with the plant and a scene.
pub(crate) fn apply(config: &CameraConfig) -> Result<(Diagram<f64>, AppliedCamera)> {
    let (mut b, mut scene) = (DiagramBuilder::new(), SceneGraph::new());
    add_camera_renderers([config], &mut scene)?;
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, plant(), scene).unwrap();
    let connections = CameraConnections::new()
        .with_scene_graph(&scene)
        .with_plant(&plant);
    let applied = apply_camera_config_with(config, &mut b, connections)?;
    Ok((b.build().unwrap(), applied))
}

#[test]
fn cameras_are_fixed_in_frames_of_the_plant() {
    for (frame, expected) in [
        ("tip", Vector3::new(1.0, 0.0, 0.75)),
        ("arm::tip", Vector3::new(1.0, 0.0, 0.75)),
        ("arm::hand", Vector3::new(1.0, 0.0, 0.25)),
        ("world", Vector3::new(0.0, 0.0, 0.25)),
        ("''", Vector3::new(0.0, 0.0, 0.25)),
    ] {
        let config = read(&format!(
            "X_PB: {{base_frame: {frame}, translation: [0, 0, 0.25]}}"
        ));
        let (diagram, camera) = apply(&config).unwrap();
        let ctx = diagram.default_context();
        let x_wb = ctx.eval(camera.body_pose_in_world().unwrap()).unwrap();
        assert!(
            (x_wb.translation.vector - expected).norm() < 1e-15,
            "{frame}: {x_wb}"
        );
    }
    let message = apply(&read("X_PB: {base_frame: arm::elbow}"))
        .err()
        .unwrap()
        .to_string();
    assert!(
        message.starts_with("camera 'preview_camera': X_PB.base_frame: "),
        "{message}"
    );
    assert!(message.contains("arm::elbow"), "{message}");
}

/// The sensors and their ports are those of pydrake 1.51.1.
#[test]
fn a_delay_makes_a_camera_asynchronous() {
    let ports = |yaml: &str| {
        let (diagram, camera) = apply(&read(yaml)).unwrap();
        let sensor = diagram
            .systems()
            .find(|s| s.path == "rgbd_sensor_preview_camera");
        (sensor.map(|s| s.output_ports.join(" ")), camera)
    };
    let all =
        "color_image label_image depth_image_32f depth_image_16u body_pose_in_world image_time";
    let (found, camera) = ports("{capture_offset: 0.01, label: true}");
    assert_eq!(found.as_deref(), Some(all));
    assert!(matches!(camera.sensor, CameraSensor::Continuous(_)));
    assert!(
        camera.color_image().is_ok()
            && camera.label_image().is_ok()
            && camera.depth_image_32f().is_err()
    );
    assert_eq!((camera.period, camera.offset), (0.1, 0.01));

    let (found, camera) = ports("output_delay: 0.05");
    assert_eq!(
        found.as_deref(),
        Some("color_image body_pose_in_world image_time")
    );
    assert!(matches!(camera.sensor, CameraSensor::Async(_)));
    assert_eq!((camera.period, camera.offset), (0.1, 0.05 + 0.05 * 1e-3));
    let (found, _) = ports("{output_delay: 0.05, depth: true, rgb: false}");
    assert_eq!(
        found.as_deref(),
        Some("depth_image_32f depth_image_16u body_pose_in_world image_time")
    );
    let (found, camera) = ports("{output_delay: 0.05, label: true, rgb: false}");
    assert_eq!(
        found.as_deref(),
        Some("color_image label_image body_pose_in_world image_time")
    );
    assert!(
        camera.color_image().is_err(),
        "colour images are not requested"
    );
    let (found, camera) = ports("rgb: false");
    assert!(found.is_none() && !camera.is_enabled());
    assert!(matches!(camera.sensor, CameraSensor::SwitchedOff));
    let errors = [
        camera.color_image().err(),
        camera.depth_image_32f().err(),
        camera.depth_image_16u().err(),
        camera.label_image().err(),
        camera.body_pose_in_world().err(),
        camera.image_time().err(),
    ];
    for error in errors.map(Option::unwrap) {
        assert_eq!(error.kind(), ErrorKind::InvalidState);
        let text = error.to_string();
        assert!(
            text.starts_with("camera 'preview_camera' has no "),
            "{text}"
        );
        assert!(text.ends_with("to true in its configuration"), "{text}");
    }
}

#[test]
fn missing_renderers_and_plants_are_explained() {
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", SceneGraph::new());
    let mut message = |yaml: &str| {
        let applied = apply_camera_config(&read(yaml), &mut b);
        applied.err().unwrap().to_string()
    };
    let found = message("name: front");
    assert!(
        found.contains(
            "camera 'front': the scene has no renderer 'default'; call `add_camera_renderers`"
        ),
        "{found}"
    );
    let mut scene = SceneGraph::new();
    let config = read("X_PB: {base_frame: hand}");
    add_camera_renderers([&config], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    let found = apply_camera_config(&config, &mut b)
        .err()
        .unwrap()
        .to_string();
    assert!(found.contains("'hand' needs a plant"), "{found}");
}

#[test]
fn plant_and_scene_are_found_by_their_names() {
    let config = read("X_PB: {base_frame: 'arm::tip'}");
    let mut scene = SceneGraph::new();
    add_camera_renderers([&config], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    let applied = apply_camera_config(&config, &mut b);
    let message = applied.err().unwrap().to_string();
    assert!(
        message.contains("'scene_graph'") && message.contains("CameraConnections"),
        "{message}"
    );
    let scene_only = b.add("scene_graph", scene.clone());
    let applied = apply_camera_config(&config, &mut b);
    let message = applied.err().unwrap().to_string();
    assert!(message.contains("'arm::tip' needs a plant"), "{message}");
    drop(scene_only);

    let mut b = DiagramBuilder::new();
    add_multibody_plant_scene_graph(&mut b, plant(), scene).unwrap();
    let camera = apply_camera_config(&config, &mut b);
    let camera = camera.unwrap();
    let ctx = b.build().unwrap().default_context();
    let x_wb = ctx.eval(camera.body_pose_in_world().unwrap()).unwrap();
    assert_eq!(x_wb.translation.vector, Vector3::new(1.0, 0.0, 0.5));
}

#[test]
fn a_system_named_plant_must_be_a_plant() {
    let config = read("{}");
    let mut scene = SceneGraph::new();
    add_camera_renderers([&config], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    b.add("plant", tarragon_framework::primitives::Gain::new(1, 1.0));
    // A camera in the world frame needs no plant.
    assert!(apply_camera_config(&config, &mut b).is_ok());
    let on_hand = named("b", "X_PB: {base_frame: hand}");
    let applied = apply_camera_config(&on_hand, &mut b);
    let message = applied.err().unwrap().to_string();
    assert!(
        message.starts_with("camera 'b': ") && message.contains("Gain"),
        "{message}"
    );
}
