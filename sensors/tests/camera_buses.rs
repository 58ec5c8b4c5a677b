//! Cameras that publish their images on LCM buses.

use crate::apply_camera_config::{apply, named, read};
use std::time::Duration;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_lcm::types::{LcmtImage, LcmtImageArray};
use tarragon_lcm::{Lcm, LcmBuses};
use tarragon_sensors::*;

/// Applies a camera to a diagram with a scene and one bus.
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
