//! Camera configurations applied to a scene and a diagram.

use nalgebra::{Isometry3, Vector3};
use std::time::Duration;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
#[cfg(feature = "gpu")]
use tarragon_geometry::{GeometryInstance, PerceptionProperties, RenderLabel, Rgba, Sphere};
use tarragon_lcm::types::{LcmtImage, LcmtImageArray};
use tarragon_lcm::{Lcm, LcmBuses};
use tarragon_multibody::{
    FixedOffsetFrame, FrameIndex, MultibodyPlant, SpatialInertia, add_multibody_plant_scene_graph,
};
use tarragon_sensors::*;

fn read(text: &str) -> CameraConfig {
    CameraConfig::from_yaml(text).unwrap()
}

fn named(name: &str, yaml: &str) -> CameraConfig {
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
fn plant() -> MultibodyPlant {
    let mut plant = MultibodyPlant::new(0.001).unwrap();
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
fn apply(config: &CameraConfig) -> Result<(Diagram<f64>, AppliedCamera)> {
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

fn apply_on_bus(yaml: &str, bus: &str) -> Result<(Diagram<f64>, Lcm)> {
    let config = CameraConfig {
        name: "cam".into(),
        width: 32,
        height: 24,
        ..read(yaml)
    };
    let (mut b, mut scene) = (DiagramBuilder::new(), SceneGraph::new());
    add_camera_renderers([&config], &mut scene)?;
    b.add("scene_graph", scene);
    let (mut buses, lcm) = (LcmBuses::new(), Lcm::with_url("memq://").unwrap());
    buses.add(bus, lcm.clone()).unwrap();
    let on = CameraConnections::new().with_lcm_buses(&buses);
    let applied = apply_camera_config_with(&config, &mut b, on)?;
    assert_eq!(applied.publisher.is_some(), applied.is_enabled());
    Ok((b.build().unwrap(), lcm))
}

/// Systems, times and images are those of pydrake 1.51.1.
#[test]
fn images_are_published_as_drake_publishes_them() {
    let color = ("rgb", 128, 3, 1);
    let depth = ("depth", 64, 5, 3);
    let label = ("label", 64, 6, 2);
    for (yaml, times, images) in [
        ("{}", &[0, 100_000, 200_000, 300_000][..], vec![color]),
        (
            "depth: true",
            &[0, 100_000, 200_000, 300_000],
            vec![depth, color],
        ),
        (
            "{label: true, depth: true, do_compress: false}",
            &[0, 100_000, 200_000, 300_000],
            vec![depth, color, label],
        ),
        (
            "{rgb: false, label: true}",
            &[0, 100_000, 200_000, 300_000],
            vec![label],
        ),
        (
            "{output_delay: 0.05, capture_offset: 0.02, depth: true, label: true}",
            &[70_050, 170_050, 270_050],
            vec![depth, color, label],
        ),
        (
            "{capture_offset: 0.03, fps: 20}",
            &[30_000, 80_000, 130_000, 180_000, 230_000, 280_000, 330_000],
            vec![color],
        ),
        ("rgb: false", &[], vec![]),
    ] {
        let (diagram, lcm) = apply_on_bus(yaml, "default").unwrap();
        let names: Vec<String> = diagram.systems().map(|s| s.path.clone()).collect();
        let has = |name: &str| names.iter().any(|n| n == name);
        assert_eq!(has("image_to_lcm_cam"), !images.is_empty(), "{names:?}");
        assert_eq!(
            has("LcmPublisherSystem(DRAKE_RGBD_CAMERA_IMAGES_cam)"),
            !images.is_empty()
        );
        let (sender, heard) = std::sync::mpsc::channel();
        let subscription = lcm.subscribe(
            "DRAKE_RGBD_CAMERA_IMAGES_cam",
            move |message: &LcmtImageArray| sender.send(message.clone()).unwrap(),
        );
        let mut subscription = subscription.unwrap();
        subscription.set_queue_capacity(100);
        let ctx = diagram.default_context();
        Simulator::new(&diagram, ctx)
            .unwrap()
            .advance_to(0.349)
            .unwrap();
        lcm.handle_subscriptions(Duration::ZERO).unwrap();
        let messages: Vec<LcmtImageArray> = heard.try_iter().collect();
        let found: Vec<i64> = messages.iter().map(|m| m.header.utime).collect();
        assert_eq!(found, times, "{yaml}");
        for message in messages {
            let of = |i: &LcmtImage| {
                assert_eq!(
                    (i.width, i.height, i.header.utime),
                    (32, 24, message.header.utime)
                );
                let packed = i8::from(!yaml.contains("do_compress"));
                assert_eq!(i.compression_method, packed);
                let name = i.header.frame_name.clone();
                (name, i.row_stride, i.pixel_format, i.channel_type)
            };
            let found: Vec<_> = message.images.iter().map(of).collect();
            let expected = images.iter().map(|i| (i.0.to_string(), i.1, i.2, i.3));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{yaml}");
        }
    }
}

#[test]
fn missing_buses_and_long_channels_are_errors() {
    let message = |yaml: &str, bus: &str| apply_on_bus(yaml, bus).err().unwrap().to_string();
    assert_eq!(
        message("lcm_bus: driver", "default"),
        "camera 'cam': there is no LCM bus 'driver'; the buses are: 'default'"
    );
    apply_on_bus("lcm_bus: driver", "driver").unwrap();
    // Without buses nothing is published, and the name of the bus is not looked up.
    let (_, camera) = apply(&read("lcm_bus: driver")).unwrap();
    assert!(camera.publisher.is_none());

    let config = CameraConfig {
        name: "c".repeat(39),
        ..read("{}")
    };
    let (mut b, mut scene) = (DiagramBuilder::new(), SceneGraph::new());
    add_camera_renderers([&config], &mut scene).unwrap();
    b.add("scene_graph", scene);
    let mut buses = LcmBuses::new();
    buses
        .add("default", Lcm::with_url("memq://").unwrap())
        .unwrap();
    let on = CameraConnections::new().with_lcm_buses(&buses);
    let applied = apply_camera_config_with(&config, &mut b, on);
    let message = applied.err().unwrap().to_string();
    assert!(
        message.contains("at most 63 bytes and no zero byte, got 64 bytes"),
        "{message}"
    );
    assert_eq!(b.build().unwrap().systems().count(), 1, "nothing was added");
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
    b.add("plant", tarragon_framework::primitives::Gain::new(1.0, 1));
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

#[test]
fn a_bus_overrides_buses_by_name() {
    let config = CameraConfig {
        width: 32,
        height: 24,
        ..named("cam", "lcm_bus: driver")
    };
    let lcm = Lcm::with_url("memq://").unwrap();
    let heard =
        tarragon_lcm::Subscriber::<LcmtImageArray>::new(&lcm, "DRAKE_RGBD_CAMERA_IMAGES_cam")
            .unwrap();
    let mut scene = SceneGraph::new();
    add_camera_renderers([&config], &mut scene).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene.clone());
    let no_buses = LcmBuses::new();
    let on = CameraConnections::new()
        .with_lcm(&lcm)
        .with_lcm_buses(&no_buses);
    let camera = apply_camera_config_with(&config, &mut b, on).unwrap();
    assert!(camera.publisher.is_some());
    let diagram = b.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.05).unwrap();
    lcm.handle_subscriptions(Duration::ZERO).unwrap();
    assert_eq!(heard.count(), 1);

    let nobody = Lcm::with_url(LcmBuses::MEMQ_NULL).unwrap();
    let mut b = DiagramBuilder::new();
    b.add("scene_graph", scene);
    let on = CameraConnections::new().with_lcm(&nobody);
    let camera = apply_camera_config_with(&config, &mut b, on).unwrap();
    assert!(camera.publisher.is_none(), "the null bus gets no publisher");
}

/// Without the feature `gpu`, or without an adapter, there is no silent fallback.
#[test]
fn the_engine_on_gpus_is_created_or_an_error_says_what_is_missing() {
    let camera = named(
        "a",
        "renderer_class: !RenderEngineGpuParams {adapter: no such one}",
    );
    let mut scene = SceneGraph::new();
    let message = add_camera_renderers([&camera], &mut scene)
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("camera 'a': "), "{message}");
    let cure = if cfg!(feature = "gpu") {
        "adapter"
    } else {
        "--features gpu"
    };
    assert!(message.contains(cure), "{message}");
    assert_eq!(scene.renderer_count(), 0, "the scene is unchanged");
}

/// Runs with `--features gpu` only, and where there is an adapter.
#[cfg(feature = "gpu")]
#[test]
fn asynchronous_cameras_draw_on_gpus_what_they_draw_on_cpus() {
    if tarragon_gpu::list_adapters().is_empty() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: no adapter");
        return;
    }
    let images = |class: &str| {
        let yaml = "{width: 64, height: 48, depth: true, label: true, output_delay: 0.01, ";
        let camera = named("a", &format!("{yaml} renderer_class: {class}}}"));
        let mut scene = SceneGraph::new();
        let source = scene.register_source("s").unwrap();
        let look = PerceptionProperties::phong(Rgba::opaque(0.8, 0.3, 0.1).unwrap());
        let look = look.with_label(RenderLabel::new(7).unwrap());
        let at = Isometry3::translation(0.0, 0.0, 1.5);
        let ball = GeometryInstance::new(at, Sphere::new(0.3).unwrap(), "ball").unwrap();
        let ball = ball.with_perception(look);
        scene.register_anchored_geometry(source, ball).unwrap();
        add_camera_renderers([&camera], &mut scene).unwrap();
        let mut b = DiagramBuilder::new();
        b.add("scene_graph", scene);
        let camera = apply_camera_config(&camera, &mut b).unwrap();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.05).unwrap();
        let ctx = sim.context();
        let color = ctx.eval(camera.color_image().unwrap()).unwrap().clone();
        let depth = ctx.eval(camera.depth_image_32f().unwrap()).unwrap().clone();
        let label = ctx.eval(camera.label_image().unwrap()).unwrap().clone();
        (color, depth, label)
    };
    let (cpu, gpu) = (images("RenderEngineCpu"), images("RenderEngineGpu"));
    assert!(cpu.2.data().contains(&7) && cpu.2 == gpu.2);
    for (a, b) in cpu.1.data().iter().zip(gpu.1.data()) {
        // Single precision on the GPU.
        assert!(a == b || (a - b).abs() < 1e-5 * a, "{a} {b}");
    }
    let off = cpu.0.data().iter().zip(gpu.0.data());
    assert!(off.filter(|(a, b)| a.abs_diff(**b) > 2).count() == 0);
}
