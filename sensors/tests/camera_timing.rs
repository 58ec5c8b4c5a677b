//! When discrete and asynchronous cameras show what.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tarragon_framework::InitializeOptions;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView};
use tarragon_geometry::{
    FrameId, FramePoseVector, GeometryFrame, GeometryId, GeometryInstance, PerceptionProperties,
    RenderLabel, Rgba, SceneGraph, Shape, SourceId, Sphere,
};
use tarragon_sensors::*;

/// What an engine does before it draws, and what it has done.
#[derive(Default)]
struct Behaviour {
    /// Time that each image takes at least.
    delay: Duration,
    /// Number of the image that fails, counted from 1.
    fails: u32,
    /// Number of the image that panics.
    panics: u32,
    begun: AtomicU32,
    done: AtomicU32,
}

impl Behaviour {
    fn work(&self) -> tarragon_geometry::Result<()> {
        let n = 1 + self.begun.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.delay);
        self.done.fetch_add(1, Ordering::SeqCst);
        assert_ne!(n, self.panics, "the lamp is broken");
        if n == self.fails {
            // An error of the geometry crate: the size of an image.
            let info = CameraInfo::from_fov_y(4, 4, 1.0)?;
            tarragon_geometry::render::check_image_size(&ImageGrey8U::default(), &info)?;
        }
        Ok(())
    }
    fn begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }
    fn done(&self) -> u32 {
        self.done.load(Ordering::SeqCst)
    }
}

/// A user's own engine.
struct Engine {
    cpu: RenderEngineCpu,
    behaviour: Arc<Behaviour>,
}

impl RenderEngine for Engine {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> tarragon_geometry::Result<bool> {
        self.cpu.register_visual(id, shape, properties)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.cpu.remove_visual(id)
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.cpu.has_visual(id)
    }
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> tarragon_geometry::Result<()> {
        self.behaviour.work()?;
        self.cpu.render_color(view, camera, image)
    }
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> tarragon_geometry::Result<()> {
        self.behaviour.work()?;
        self.cpu.render_depth(view, camera, image)
    }
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> tarragon_geometry::Result<()> {
        self.behaviour.work()?;
        self.cpu.render_label(view, camera, image)
    }
    fn default_render_label(&self) -> RenderLabel {
        self.cpu.default_render_label()
    }
}

/// Carries a frame along x at 1 m/s.
struct Cart {
    frame: FrameId,
}

impl LeafSystem<f64> for Cart {
    type Ports = OutputPort<FramePoseVector<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let model = FramePoseVector::from_iter([(self.frame, Isometry3::identity())]);
        d.output("poses", model, &[Dep::Time], |cart, ctx, poses| {
            let x = Isometry3::translation(ctx.time(), 0.0, 0.0);
            *poses = FramePoseVector::from_iter([(cart.frame, x)]);
            Ok(())
        })
    }
}

const WIDTH: usize = 32;

/// A camera on a cart that drives past a ball.
struct World {
    builder: DiagramBuilder,
    scene: Block<SceneGraph>,
    cart: FrameId,
    behaviour: Arc<Behaviour>,
    color: ColorRenderCamera,
    depth: DepthRenderCamera,
}

fn world(behaviour: Behaviour) -> World {
    let behaviour = Arc::new(behaviour);
    let mut scene = SceneGraph::new();
    let params = RenderEngineCpuParams {
        threads: Some(2),
        ..RenderEngineCpuParams::default()
    };
    let cpu = RenderEngineCpu::new(params).unwrap();
    let engine = Engine {
        cpu,
        behaviour: behaviour.clone(),
    };
    scene.add_renderer("mine", engine).unwrap();
    let source: SourceId = scene.register_source("toys").unwrap();
    let cart = scene
        .register_frame(source, GeometryFrame::new("cart"))
        .unwrap();
    let look =
        PerceptionProperties::with_color_and_label(Rgba::WHITE, RenderLabel::new(7).unwrap());
    let at = Isometry3::translation(0.3, 0.0, 2.0);
    let ball = GeometryInstance::new(at, Sphere::new(0.5).unwrap(), "ball").with_perception(look);
    scene.register_anchored_geometry(source, ball).unwrap();
    let info = CameraInfo::from_fov_y(WIDTH, 24, 1.0).unwrap();
    let clipping = ClippingRange::new(0.1, 10.0).unwrap();
    let core = RenderCameraCore::new("mine", info, clipping, Isometry3::identity());
    let depth = DepthRenderCamera::new(core.clone(), DepthRange::new(0.1, 5.0).unwrap()).unwrap();
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let poses = builder.add_f64("cart", Cart { frame: cart });
    builder.connect(*poses.ports(), scene.source_pose_port(source).unwrap());
    World {
        builder,
        scene,
        cart,
        behaviour,
        color: ColorRenderCamera::new(core),
        depth,
    }
}

impl World {
    fn config(&self, fps: f64, capture_offset: f64, output_delay: f64) -> RgbdSensorAsyncConfig {
        RgbdSensorAsyncConfig {
            fps,
            capture_offset,
            output_delay,
            color_camera: Some(self.color.clone()),
            depth_camera: Some(self.depth.clone()),
            render_label_image: true,
        }
    }
    fn add(&mut self, config: RgbdSensorAsyncConfig) -> Block<RgbdSensorAsync> {
        let sensor = RgbdSensorAsync::new(self.cart, Isometry3::identity(), config).unwrap();
        let sensor = self.builder.add_f64("camera", sensor);
        self.builder
            .connect(self.scene.query, sensor.geometry_query);
        sensor
    }
    /// 5 fps, captured at once, 50 ms late.
    fn simulation(mut self) -> (Simulator<f64>, Block<RgbdSensorAsync>, Arc<Behaviour>) {
        let config = self.config(5.0, 0.0, 0.05);
        let sensor = self.add(config);
        let diagram = self.builder.build().unwrap();
        let sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        (sim, sensor, self.behaviour)
    }
}

fn image_time(ctx: &Context<f64>, sensor: &Block<RgbdSensorAsync>) -> f64 {
    ctx.eval(sensor.image_time).unwrap()[0]
}

/// Waits until something happens on other threads.
fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "it never happens"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// fps, capture offset, output delay; then boundaries of `AdvanceTo` and the image times after them.
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
fn asynchronous_images_come_when_drakes_do() {
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

/// As documented, and as RgbdSensorDiscrete of pydrake 1.51.1 shows images: none after initialization,
/// that of 0 s after the first step.
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
    // k * 0.1 is counted, so the third sample is at 0.30000000000000004.
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
        "three images per sample, and none besides"
    );
    // Exported under the names of Drake.
    let exported = diagram.exports().find(|e| e.path == "camera").unwrap();
    assert_eq!(exported.input_ports, ["geometry_query"]);
    let names =
        "body_pose_in_world color_image depth_image_16u depth_image_32f image_time label_image";
    assert_eq!(exported.output_ports.join(" "), names);
}

#[test]
fn discrete_cameras_need_a_period_and_may_leave_out_labels() {
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
    assert_eq!(world.behaviour.begun(), 2, "no label was drawn");
}

/// The images of a slow engine on other threads are those of a camera that draws at once.
#[test]
fn asynchronous_images_are_the_same_bits() {
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
fn the_simulation_goes_on_while_images_are_drawn() {
    let delay = Duration::from_millis(40);
    let (mut sim, sensor, behaviour) = world(Behaviour {
        delay,
        ..Behaviour::default()
    })
    .simulation();
    sim.advance_to(0.04).unwrap();
    assert!(
        behaviour.done() < 3,
        "it did not wait for three images of 40 ms"
    );
    sim.advance_to(0.06).unwrap();
    assert_eq!(behaviour.done(), 3, "now it did");
    assert_eq!(image_time(sim.context(), &sensor), 0.0);
}

#[test]
fn changes_after_the_capture_do_not_show() {
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
    *ctx.param_mut(sensor.color_camera.unwrap()).unwrap() = ColorRenderCamera::new(core);
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
        "the next ones are small"
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
fn clones_in_mid_flight_share_the_images_to_come() {
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
    assert_eq!(behaviour.begun(), 3, "drawn once for both");
    let color = sensor.color_image.unwrap();
    assert_eq!(image_time(&fork, &sensor), 0.0);
    let (a, b) = (
        sim.context().eval(color).unwrap(),
        fork.eval(color).unwrap(),
    );
    assert_eq!(a.data(), b.data());
}

#[test]
fn a_reset_in_mid_flight_starts_again() {
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
    // A time between capture and output, and nothing was captured: nothing comes before the next one.
    sim.context_mut().set_time(1.01);
    sim.initialize().unwrap();
    sim.advance_to(1.1).unwrap();
    assert!(image_time(sim.context(), &sensor).is_nan());
    sim.advance_to(1.3).unwrap();
    assert_eq!(image_time(sim.context(), &sensor), 1.2000000000000002);
}

#[test]
fn errors_of_the_engine_are_errors_of_the_step() {
    for (behaviour, expected) in [
        (
            Behaviour {
                fails: 5,
                ..Behaviour::default()
            },
            "the Grey8U image is 0 x 0",
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
            "the state is as it was"
        );
    }
}

#[test]
fn threads_end_with_their_contexts() {
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
        "the other two images were not even begun"
    );
}

/// More simulations than threads, each waiting for images that need threads of the same pool.
#[test]
fn many_simulations_on_few_threads_do_not_block_each_other() {
    // The threads that draw are none of rayon's, so they use the global pool, as the simulations do.
    const N: usize = 40;
    let times: Vec<f64> = {
        let runs = (0..N).into_par_iter().map(|_| {
            let mut scene = SceneGraph::new();
            let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
            scene.add_renderer("mine", engine).unwrap();
            let parent = scene.world_frame_id();
            // Large enough to be drawn in parallel.
            let info = CameraInfo::from_fov_y(256, 192, 1.0).unwrap();
            let clipping = ClippingRange::new(0.1, 10.0).unwrap();
            let core = RenderCameraCore::new("mine", info, clipping, Isometry3::identity());
            let config = RgbdSensorAsyncConfig {
                color_camera: Some(ColorRenderCamera::new(core)),
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

#[test]
fn impossible_schedules_are_explained() {
    let world = world(Behaviour::default());
    let message = |config: RgbdSensorAsyncConfig| {
        let sensor = RgbdSensorAsync::new(world.cart, Isometry3::identity(), config);
        sensor.unwrap_err().to_string()
    };
    for (config, expected) in [
        (world.config(0.0, 0.0, 0.1), "fps is 0"),
        (world.config(NAN, 0.0, 0.1), "fps is NaN"),
        (world.config(5.0, -1.0, 0.1), "capture_offset is -1 s"),
        (world.config(5.0, 0.0, 0.0), "output_delay is 0 s"),
        (world.config(5.0, 0.0, 0.2), "less than 1 / fps = 0.2 s"),
        (
            RgbdSensorAsyncConfig {
                color_camera: None,
                depth_camera: None,
                ..world.config(5.0, 0.0, 0.1)
            },
            "neither a colour nor a depth camera",
        ),
        (
            RgbdSensorAsyncConfig {
                color_camera: None,
                ..world.config(5.0, 0.0, 0.1)
            },
            "label images are drawn by the colour camera",
        ),
    ] {
        let found = message(config);
        assert!(
            found.starts_with("RgbdSensorAsync: ") && found.contains(expected),
            "{found}"
        );
    }
}
