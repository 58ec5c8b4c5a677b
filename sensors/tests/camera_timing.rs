//! Times at which discrete and asynchronous cameras output their images.

use crate::support::{Behaviour, WIDTH, image_time, world};
use nalgebra::Isometry3;
use std::time::Duration;
use tarragon_framework::prelude::*;
use tarragon_sensors::*;

/// fps, capture offset and output delay; then the boundaries of `AdvanceTo`, each with the image
/// time after it.
type Schedule = ((f64, f64, f64), &'static [(f64, f64)]);

const NAN: f64 = f64::NAN;

/// Recorded from RgbdSensorAsync of pydrake 1.51.1.
const SCHEDULES: [Schedule; 4] = [
    (
        (5.0, 0.0, 0.05),
        &[
            (0.0, NAN),
            (0.01, NAN),
            (0.05, NAN),
            (0.051, 0.0),
            (0.1, 0.0),
            (0.2, 0.0),
            (0.25, 0.0),
            (0.26, 0.2),
            (0.4, 0.2),
            (0.449999, 0.2),
            (0.45, 0.2),
            (0.46, 0.4),
            (0.7, 0.6000000000000001),
        ],
    ),
    (
        (5.0, 0.1, 0.15),
        &[
            (0.1, NAN),
            (0.2, NAN),
            (0.25, NAN),
            (0.26, 0.1),
            (0.4, 0.1),
            (0.45, 0.1),
            (0.46, 0.30000000000000004),
            (0.7, 0.5),
        ],
    ),
    (
        (10.0, 0.03, 0.02),
        &[
            (0.01, NAN),
            (0.05, NAN),
            (0.051, 0.03),
            (0.1, 0.03),
            (0.2, 0.13),
            (0.25, 0.13),
            (0.26, 0.23),
            (0.4, 0.33000000000000007),
            (0.45, 0.33000000000000007),
            (0.46, 0.43000000000000005),
            (0.7, 0.6300000000000001),
        ],
    ),
    (
        (10.0, 0.25, 0.02),
        &[
            (0.1, NAN),
            (0.2, NAN),
            (0.26, NAN),
            (0.27, NAN),
            (0.35, 0.25),
        ],
    ),
];

#[test]
fn asynchronous_images_appear_when_those_of_drake_do() {
    for ((fps, offset, delay), table) in SCHEDULES {
        let mut world = world(Behaviour::default());
        let config = world.config(fps, offset, delay);
        let sensor = world.add(config);
        let diagram = world.builder.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        assert!(image_time(sim.context(), &sensor).is_nan());
        for (boundary, expected) in table {
            sim.advance_to(*boundary).unwrap();
            let ctx = sim.context();
            let found = image_time(ctx, &sensor);
            assert!(
                found == *expected || found.is_nan() && expected.is_nan(),
                "{boundary}: {found}"
            );
            let size = if expected.is_nan() { 0 } else { WIDTH };
            assert_eq!(ctx.eval(sensor.color_image.unwrap()).unwrap().width(), size);
            assert_eq!(ctx.eval(sensor.label_image.unwrap()).unwrap().width(), size);
            assert_eq!(
                ctx.eval(sensor.depth_image_32f.unwrap()).unwrap().width(),
                size
            );
            assert_eq!(
                ctx.eval(sensor.depth_image_16u.unwrap()).unwrap().width(),
                size
            );
            let x = ctx.eval(sensor.body_pose_in_world).unwrap().translation.x;
            assert_eq!(
                x,
                if expected.is_nan() { 0.0 } else { *expected },
                "the pose at the capture"
            );
        }
    }
}

/// RgbdSensorDiscrete of pydrake 1.51.1 shows the same: no image after initialization, the image of
/// 0 s after the first step.
#[test]
fn discrete_images_are_held() {
    let mut world = world(Behaviour::default());
    let sensor = RgbdSensor::new(
        world.cart,
        Isometry3::identity(),
        world.color.clone(),
        world.depth.clone(),
    );
    let sensor = RgbdSensorDiscrete::new(sensor, 0.1, true).unwrap();
    assert_eq!(sensor.period(), 0.1);
    let sensor = sensor.add_to(&mut world.builder, "camera").unwrap();
    world
        .builder
        .connect(world.scene.query, sensor.geometry_query);
    let diagram = world.builder.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.initialize().unwrap();
    let ctx = sim.context();
    let color = ctx.eval(sensor.color_image).unwrap();
    assert_eq!((color.width(), color.at(0, 0)), (WIDTH, &[0; 4][..]));
    assert_eq!(ctx.eval(sensor.image_time).unwrap(), &[0.0]);
    // Sample times are k * 0.1, so sample 3 is at 0.30000000000000004.
    for (boundary, expected) in [
        (0.01, 0.0),
        (0.1, 0.0),
        (0.1001, 0.1),
        (0.29, 0.2),
        (0.31, 0.30000000000000004),
    ] {
        sim.advance_to(boundary).unwrap();
        let ctx = sim.context();
        assert_eq!(
            ctx.eval(sensor.image_time).unwrap(),
            &[expected],
            "{boundary}"
        );
        assert_eq!(
            ctx.eval(sensor.body_pose_in_world).unwrap().translation.x,
            expected
        );
        assert_eq!(
            ctx.eval(sensor.color_image).unwrap().at(0, 0),
            [204, 229, 255, 255]
        );
        assert_eq!(
            ctx.eval(sensor.label_image.unwrap()).unwrap().at(0, 0),
            [32766]
        );
        assert_eq!(ctx.eval(sensor.depth_image_16u).unwrap().at(0, 0), [65535]);
        assert_eq!(
            ctx.eval(sensor.depth_image_32f).unwrap().at(0, 0),
            [f32::INFINITY]
        );
    }
    assert_eq!(
        world.behaviour.begun(),
        4 * 3,
        "three images per sample and no others"
    );
    // The exported ports have the names of Drake.
    let exported = diagram.exports().find(|e| e.path == "camera").unwrap();
    assert_eq!(exported.input_ports, ["geometry_query"]);
    let names =
        "body_pose_in_world color_image depth_image_16u depth_image_32f image_time label_image";
    assert_eq!(exported.output_ports.join(" "), names);
}

#[test]
fn discrete_cameras_need_a_period_and_labels_are_optional() {
    let mut world = world(Behaviour::default());
    let sensor = RgbdSensor::new(
        world.cart,
        Isometry3::identity(),
        world.color.clone(),
        world.depth.clone(),
    );
    for period in [0.0, -1.0, NAN, f64::INFINITY] {
        assert!(
            RgbdSensorDiscrete::new(sensor.clone(), period, true).is_err(),
            "{period}"
        );
    }
    let without =
        RgbdSensorDiscrete::new(sensor, RgbdSensorDiscrete::DEFAULT_PERIOD, false).unwrap();
    let ports = without.add_to(&mut world.builder, "camera").unwrap();
    assert!(ports.label_image.is_none());
    world
        .builder
        .connect(world.scene.query, ports.geometry_query);
    let diagram = world.builder.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.01).unwrap();
    assert_eq!(world.behaviour.begun(), 2, "no label image was rendered");
}

#[test]
fn a_reset_discards_pending_images() {
    let delay = Duration::from_millis(5);
    let (mut sim, sensor, _) = world(Behaviour {
        delay,
        ..Behaviour::default()
    })
    .simulation();
    sim.advance_to(0.22).unwrap();
    assert_eq!(image_time(sim.context(), &sensor), 0.0);
    sim.context_mut().set_time(0.0);
    sim.initialize().unwrap();
    assert!(image_time(sim.context(), &sensor).is_nan());
    for (boundary, expected) in SCHEDULES[0].1 {
        sim.advance_to(*boundary).unwrap();
        let found = image_time(sim.context(), &sensor);
        assert!(
            found == *expected || found.is_nan() && expected.is_nan(),
            "{boundary}: {found}"
        );
    }
    // At a time between capture and output with nothing captured, the first image is that of the
    // next capture.
    sim.context_mut().set_time(1.01);
    sim.initialize().unwrap();
    sim.advance_to(1.1).unwrap();
    assert!(image_time(sim.context(), &sensor).is_nan());
    sim.advance_to(1.3).unwrap();
    assert_eq!(image_time(sim.context(), &sensor), 1.2000000000000002);
}

#[test]
fn invalid_configurations_are_explained() {
    let world = world(Behaviour::default());
    let message = |config: RgbdSensorAsyncConfig| {
        let sensor = RgbdSensorAsync::new(world.cart, Isometry3::identity(), config);
        sensor.unwrap_err().to_string()
    };
    for (config, expected) in [
        (
            world.config(0.0, 0.0, 0.1),
            "fps must be positive and finite, got 0.0",
        ),
        (
            world.config(NAN, 0.0, 0.1),
            "fps must be positive and finite, got NaN",
        ),
        (
            world.config(5.0, -1.0, 0.1),
            "capture_offset must be finite and at least 0, got -1.0 s",
        ),
        (
            world.config(5.0, 0.0, 0.0),
            "less than 1 / fps = 0.2 s, got 0.0 s",
        ),
        (world.config(5.0, 0.0, 0.2), "less than 1 / fps = 0.2 s"),
        (
            RgbdSensorAsyncConfig {
                color_camera: None,
                depth_camera: None,
                ..world.config(5.0, 0.0, 0.1)
            },
            "a colour or a depth camera, got neither",
        ),
        (
            RgbdSensorAsyncConfig {
                color_camera: None,
                ..world.config(5.0, 0.0, 0.1)
            },
            "label images need a colour camera",
        ),
    ] {
        let found = message(config);
        assert!(
            found.starts_with("RgbdSensorAsync: ") && found.contains(expected),
            "{found}"
        );
    }
}

#[test]
fn defaults_of_new_contexts_can_be_changed() {
    let world = world(Behaviour::default());
    let config = RgbdSensorAsyncConfig {
        depth_camera: None,
        ..world.config(5.0, 0.0, 0.05)
    };
    let x_pb = Isometry3::translation(0.0, 0.0, 1.0);
    let mut sensor = RgbdSensorAsync::new(world.cart, Isometry3::identity(), config).unwrap();
    let root = world.scene.system().world_frame_id();
    sensor.set_default_parent_frame_id(root);
    sensor.set_default_x_pb(x_pb);
    let shown = world.color.clone().with_show_window(true);
    sensor
        .set_default_color_render_camera(shown.clone())
        .unwrap();
    let refused = sensor.set_default_depth_render_camera(world.depth.clone());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("without a depth camera"), "{message}");
    let mut continuous =
        RgbdSensor::from_depth_camera(world.cart, Isometry3::identity(), world.depth.clone());
    continuous.set_default_parent_frame_id(root);
    continuous.set_default_x_pb(x_pb);
    continuous.set_default_color_render_camera(shown.clone());
    assert_eq!(continuous.default_x_pb(), &x_pb);
    let mut b = DiagramBuilder::new();
    let sensor = b.add_f64("async", sensor);
    let continuous = b.add_f64("continuous", continuous);
    let ctx = b.build().unwrap().default_context();
    for (parent, pose, camera) in [
        (sensor.parent_id, sensor.x_pb, sensor.color_camera.unwrap()),
        (
            continuous.parent_id,
            continuous.x_pb,
            continuous.color_camera,
        ),
    ] {
        assert_eq!(ctx.param(parent).unwrap(), &root);
        assert_eq!(ctx.param(pose).unwrap(), &x_pb);
        assert_eq!(ctx.param(camera).unwrap(), &shown);
    }
}
