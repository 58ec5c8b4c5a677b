//! Images that are rendered while the simulation continues.

use crate::support::{Behaviour, WIDTH, image_time, world};
use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tarragon_framework::InitializeOptions;
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::render::{RenderEngineCpu, RenderEngineCpuParams};
use tarragon_sensors::*;

/// Waits until other threads make `what` true.
fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "the condition stays false"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Images of a slow engine on other threads equal those of a camera that renders on demand.
#[test]
fn asynchronous_images_are_bitwise_equal() {
    let mut world = world(Behaviour {
        delay: Duration::from_millis(3),
        ..Behaviour::default()
    });
    let config = world.config(10.0, 0.02, 0.07);
    let sensor = world.add(config);
    let (color, depth) = (world.color.clone(), world.depth.clone());
    let direct = RgbdSensor::new(world.cart, Isometry3::identity(), color, depth);
    let direct = world.builder.add_f64("direct", direct);
    world
        .builder
        .connect(world.scene.query, direct.geometry_query);
    let diagram = world.builder.build().unwrap();
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    let mut then = diagram.default_context();
    let mut before: Option<ImageRgba8U> = None;
    for k in 1..6 {
        sim.advance_to(0.1 * f64::from(k)).unwrap();
        let ctx = sim.context();
        then.set_time(image_time(ctx, &sensor));
        let color = ctx.eval(sensor.color_image.unwrap()).unwrap();
        assert_eq!(color.data(), then.eval(direct.color_image).unwrap().data());
        let depth = ctx.eval(sensor.depth_image_32f.unwrap()).unwrap();
        assert_eq!(
            depth.data(),
            then.eval(direct.depth_image_32f).unwrap().data()
        );
        let depth = ctx.eval(sensor.depth_image_16u.unwrap()).unwrap();
        assert_eq!(
            depth.data(),
            then.eval(direct.depth_image_16u).unwrap().data()
        );
        let label = ctx.eval(sensor.label_image.unwrap()).unwrap();
        assert_eq!(label.data(), then.eval(direct.label_image).unwrap().data());
        assert!(label.data().contains(&7), "the ball is in the picture");
        assert!(
            before.is_none_or(|b| b.data() != color.data()),
            "the cart moves"
        );
        before = Some(color.clone());
    }
}

#[test]
fn the_simulation_continues_while_images_are_rendered() {
    let delay = Duration::from_millis(40);
    let (mut sim, sensor, behaviour) = world(Behaviour {
        delay,
        ..Behaviour::default()
    })
    .simulation();
    sim.advance_to(0.04).unwrap();
    assert!(
        behaviour.done() < 3,
        "the step did not wait for three images of 40 ms"
    );
    sim.advance_to(0.06).unwrap();
    assert_eq!(behaviour.done(), 3, "the step waited for all images");
    assert_eq!(image_time(sim.context(), &sensor), 0.0);
}

#[test]
fn changes_after_the_capture_do_not_affect_its_images() {
    let delay = Duration::from_millis(5);
    let (mut sim, sensor, _) = world(Behaviour {
        delay,
        ..Behaviour::default()
    })
    .simulation();
    sim.advance_to(0.01).unwrap();
    let ctx = sim.context_mut();
    let core = ctx
        .param(sensor.color_camera.unwrap())
        .unwrap()
        .core()
        .clone();
    let small = CameraInfo::from_fov_y(8, 6, 1.0).unwrap();
    let core = RenderCameraCore::new("mine", small, *core.clipping(), Isometry3::identity());
    *ctx.param_mut(sensor.color_camera.unwrap()).unwrap() = ColorRenderCamera::from_core(core);
    *ctx.param_mut(sensor.x_pb).unwrap() = Isometry3::translation(0.0, 5.0, 0.0);
    sim.advance_to(0.06).unwrap();
    let ctx = sim.context();
    assert_eq!(
        ctx.eval(sensor.color_image.unwrap()).unwrap().width(),
        WIDTH
    );
    assert_eq!(
        ctx.eval(sensor.body_pose_in_world).unwrap().translation.y,
        0.0
    );
    sim.advance_to(0.26).unwrap();
    let ctx = sim.context();
    assert_eq!(
        ctx.eval(sensor.color_image.unwrap()).unwrap().width(),
        8,
        "the next capture uses the small camera"
    );
    assert_eq!(
        ctx.eval(sensor.body_pose_in_world).unwrap().translation.y,
        5.0
    );
    assert_eq!(
        ctx.eval(sensor.depth_image_32f.unwrap()).unwrap().width(),
        WIDTH
    );
}

#[test]
fn clones_between_capture_and_output_share_the_images() {
    let delay = Duration::from_millis(5);
    let mut world = world(Behaviour {
        delay,
        ..Behaviour::default()
    });
    let config = world.config(5.0, 0.0, 0.05);
    let sensor = world.add(config);
    let (diagram, behaviour) = (world.builder.build().unwrap(), world.behaviour);
    let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
    sim.advance_to(0.01).unwrap();
    let mut fork = Simulator::new(&diagram, sim.context().clone()).unwrap();
    let goes_on = InitializeOptions::suppress_initialization_events();
    fork.initialize_with(goes_on).unwrap();
    fork.advance_to(0.1).unwrap();
    let fork = fork.into_context();
    sim.advance_to(0.1).unwrap();
    assert_eq!(behaviour.begun(), 3, "rendered once for both");
    let color = sensor.color_image.unwrap();
    assert_eq!(image_time(&fork, &sensor), 0.0);
    let (a, b) = (
        sim.context().eval(color).unwrap(),
        fork.eval(color).unwrap(),
    );
    assert_eq!(a.data(), b.data());
}

#[test]
fn engine_errors_fail_the_step() {
    for (behaviour, expected) in [
        (
            Behaviour {
                fails: 5,
                ..Behaviour::default()
            },
            "the Grey8U image must have the size 4 x 4 of its camera, got 0 x 0",
        ),
        (
            Behaviour {
                panics: 5,
                ..Behaviour::default()
            },
            "the rendering thread panicked",
        ),
    ] {
        let (mut sim, sensor, _) = world(behaviour).simulation();
        sim.advance_to(0.24).unwrap();
        let message = sim.advance_to(0.3).unwrap_err().to_string();
        assert!(
            message.contains("'camera'") && message.contains(expected),
            "{message}"
        );
        assert_eq!(
            image_time(sim.context(), &sensor),
            0.0,
            "the state is unchanged"
        );
    }
}

#[test]
fn rendering_stops_when_its_contexts_are_dropped() {
    let delay = Duration::from_millis(30);
    let (mut sim, _, behaviour) = world(Behaviour {
        delay,
        ..Behaviour::default()
    })
    .simulation();
    sim.advance_to(0.01).unwrap();
    until(|| behaviour.begun() == 1);
    drop(sim);
    until(|| behaviour.done() == 1);
    // The thread owns the scene, and with it the engine, until it ends.
    until(|| Arc::strong_count(&behaviour) == 1);
    assert_eq!(
        behaviour.begun(),
        1,
        "the other two images were never started"
    );
}

/// There are more simulations than threads, and each waits for images that need threads of the same
/// pool.
#[test]
fn many_simulations_on_few_threads_do_not_block_each_other() {
    // The rendering threads do not belong to a rayon pool, so they use the global pool, as the
    // simulations do.
    const N: usize = 40;
    let times: Vec<f64> = {
        let runs = (0..N).into_par_iter().map(|_| {
            let mut scene = SceneGraph::new();
            let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
            scene.add_renderer("mine", engine).unwrap();
            let parent = scene.world_frame_id();
            // Large enough to be rendered in parallel.
            let info = CameraInfo::from_fov_y(256, 192, 1.0).unwrap();
            let clipping = ClippingRange::new(0.1, 10.0).unwrap();
            let core = RenderCameraCore::new("mine", info, clipping, Isometry3::identity());
            let config = RgbdSensorAsyncConfig {
                color_camera: Some(ColorRenderCamera::from_core(core)),
                fps: 5.0,
                ..RgbdSensorAsyncConfig::default()
            };
            let mut b = DiagramBuilder::new();
            let scene = b.add("scene_graph", scene);
            let sensor = RgbdSensorAsync::new(parent, Isometry3::identity(), config).unwrap();
            let sensor = b.add_f64("camera", sensor);
            b.connect(scene.query, sensor.geometry_query);
            let diagram = b.build().unwrap();
            let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
            sim.advance_to(1.0).unwrap();
            image_time(sim.context(), &sensor)
        });
        runs.collect()
    };
    assert_eq!(times, vec![0.8; N]);
}
