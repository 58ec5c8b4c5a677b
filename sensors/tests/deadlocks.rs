//! Simulations that render and simulations that change the scene never deadlock, whichever tasks
//! rayon runs on a waiting thread.
//!
//! Each scenario runs for `TARRAGON_DEADLOCK_SECONDS` (1 s by default, 4 s in CI).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use nalgebra::Isometry3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use support::{Behaviour, Engine};
use tarragon_framework::analysis::{MonteCarloConfig, monte_carlo};
use tarragon_framework::prelude::*;
use tarragon_framework::random::RandomGenerator;
use tarragon_geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams};
use tarragon_geometry::{
    BoxShape, GeometryId, GeometryInstance, IllustrationProperties, PerceptionProperties,
    RenderLabel, Rgba, Role, RoleAssign, SceneGraph, SceneGraphPorts, SourceId, Sphere,
};
use tarragon_sensors::*;

/// Large enough to be rendered in many pieces.
const WIDTH: usize = 192;
const HEIGHT: usize = 144;
const BALLS: usize = 40;

/// Balls in front of a camera.
struct Scene {
    diagram: Diagram<f64>,
    ports: SceneGraphPorts<f64>,
    source: SourceId,
    balls: Vec<GeometryId>,
    camera: ColorRenderCamera,
    /// The image before any change.
    original: ImageRgba8U,
}

fn cpu(threads: Option<usize>) -> RenderEngineCpu {
    let params = RenderEngineCpuParams {
        threads,
        ..RenderEngineCpuParams::default()
    };
    RenderEngineCpu::new(params).unwrap()
}

/// A user-defined engine whose registration also runs in parallel.
#[derive(Clone)]
struct Parallel(Engine);

impl RenderEngine for Parallel {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &tarragon_geometry::Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
        let busy: u32 = (0..64_u32).into_par_iter().with_max_len(1).sum();
        assert_eq!(busy, 2016);
        self.0.register_visual(id, shape, properties)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        (0..8).into_par_iter().with_max_len(1).for_each(|_| ());
        self.0.remove_visual(id)
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.0.has_visual(id)
    }
    fn render_color(
        &self,
        view: &tarragon_geometry::render::RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<()> {
        self.0.render_color(view, camera, image)
    }
    fn render_depth(
        &self,
        view: &tarragon_geometry::render::RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        self.0.render_depth(view, camera, image)
    }
    fn render_label(
        &self,
        view: &tarragon_geometry::render::RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        self.0.render_label(view, camera, image)
    }
    fn default_render_label(&self) -> RenderLabel {
        self.0.default_render_label()
    }
}

fn look(label: i16) -> PerceptionProperties {
    PerceptionProperties::phong(Rgba::WHITE).with_label(RenderLabel::new(label).unwrap())
}

fn core() -> RenderCameraCore {
    let info = CameraInfo::from_fov_y(WIDTH, HEIGHT, 1.0).unwrap();
    let clipping = ClippingRange::new(0.1, 10.0).unwrap();
    RenderCameraCore::new("engine", info, clipping, Isometry3::identity())
}

/// Returns a scene with 40 balls.
fn balls(engine: impl RenderEngine + 'static) -> (SceneGraph, SourceId, Vec<GeometryId>) {
    let mut scene = SceneGraph::new();
    scene.add_renderer("engine", engine).unwrap();
    let source = scene.register_source("toys").unwrap();
    let add = |k: usize| {
        let (x, y) = (0.3 * (k % 8) as f64 - 1.05, 0.3 * (k / 8) as f64 - 0.6);
        let at = Isometry3::translation(x, y, 3.0);
        let ball = GeometryInstance::new(at, Sphere::new(0.12).unwrap(), &format!("ball {k}"));
        let ball = ball.unwrap().with_perception(look(1 + k as i16));
        scene.register_anchored_geometry(source, ball).unwrap()
    };
    let balls = (0..BALLS).map(add).collect();
    (scene, source, balls)
}

impl Scene {
    fn new(engine: impl RenderEngine + 'static) -> Self {
        let (scene, source, balls) = balls(engine);
        let mut b = DiagramBuilder::new();
        let block = b.add("scene_graph", scene);
        let ports = block.ports().clone();
        let mut this = Self {
            diagram: b.build().unwrap(),
            ports,
            source,
            balls,
            camera: ColorRenderCamera::from_core(core()),
            original: ImageRgba8U::default(),
        };
        this.original = this.draw(&this.diagram.default_context());
        this
    }

    fn draw(&self, ctx: &Context<f64>) -> ImageRgba8U {
        let query = ctx.eval(self.ports.query).unwrap();
        let (world, x_pc) = (query.inspector().world_frame_id(), Isometry3::identity());
        let mut image = ImageRgba8U::new(WIDTH, HEIGHT);
        let drawn = query.render_color_image(&self.camera, world, &x_pc, &mut image);
        drawn.unwrap();
        image
    }

    /// Makes every kind of change in a context, and undoes it. `k` selects the ball.
    fn change(&self, ctx: &mut Context<f64>, k: usize) {
        let (source, ball) = (self.source, self.balls[k % BALLS]);
        let state = self.ports.geometry_mut(ctx).unwrap();
        let cube = BoxShape::new(0.2, 0.2, 0.2).unwrap();
        state.change_shape(source, ball, cube, None).unwrap();
        let replace = RoleAssign::Replace;
        let assigned = state.assign_role_with(source, ball, look(100), replace);
        assigned.unwrap();
        let seen = IllustrationProperties::new();
        state.assign_role(source, ball, seen).unwrap();
        state.remove_role(source, ball, Role::Illustration).unwrap();
        let at = Isometry3::translation(0.0, 0.0, 2.0);
        let more = GeometryInstance::new(at, Sphere::new(0.1).unwrap(), "more");
        let more =
            state.register_anchored_geometry(source, more.unwrap().with_perception(look(50)));
        state.remove_geometry(source, more.unwrap()).unwrap();
        let sphere = Sphere::new(0.12).unwrap();
        state.change_shape(source, ball, sphere, None).unwrap();
        let assigned = state.assign_role_with(source, ball, look(1), replace);
        assigned.unwrap();
    }

    /// Changes and renders a new context, which is then dropped.
    fn simulate(&self, k: usize) {
        let mut ctx = self.diagram.default_context();
        self.change(&mut ctx, k);
        assert!(self.draw(&ctx) == self.original, "the changes were undone");
        let (source, ball) = (self.source, self.balls[k % BALLS]);
        let mut fork = ctx.clone();
        let state = self.ports.geometry_mut(&mut fork).unwrap();
        state.remove_geometry(source, ball).unwrap();
        assert!(self.draw(&fork) != self.original, "a ball is missing");
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap()
}

/// Runs a scenario, which counts its steps and returns once the flag is set. Fails if there is no
/// progress for 30 s; a step takes milliseconds.
fn watched(scenario: impl FnOnce(&AtomicUsize, &AtomicBool) + Send + 'static) {
    let seconds = std::env::var("TARRAGON_DEADLOCK_SECONDS").ok();
    let seconds = seconds.and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let (done, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (ended, has_ended) = mpsc::channel();
    {
        let (done, stop) = (done.clone(), stop.clone());
        std::thread::spawn(move || {
            scenario(&done, &stop);
            // If the receiver is gone, the test has failed already.
            let _ = ended.send(());
        });
    }
    let (begin, mut last) = (Instant::now(), (Instant::now(), 0));
    loop {
        match has_ended.recv_timeout(Duration::from_millis(20)) {
            Ok(()) => break,
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the scenario panicked"),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        let now = done.load(Ordering::Relaxed);
        if now != last.1 {
            last = (Instant::now(), now);
        }
        let idle = last.0.elapsed();
        assert!(idle < Duration::from_secs(30), "deadlock after {now} steps");
        if begin.elapsed().as_secs_f64() >= seconds {
            stop.store(true, Ordering::Relaxed);
        }
    }
    assert!(done.load(Ordering::Relaxed) > 0, "no step was made");
}

/// Calls `step` with each item and the number of the step, in parallel, until `stop` is set. The
/// calls are tasks that a worker may run while it waits for parts of an image.
fn in_tasks<V: Send>(
    threads: usize,
    items: &mut [V],
    (done, stop): (&AtomicUsize, &AtomicBool),
    step: impl Fn(&mut V, usize) + Sync,
) {
    let pool = pool(threads);
    while !stop.load(Ordering::Relaxed) {
        pool.install(|| {
            let items = items.par_iter_mut().with_max_len(1);
            items.for_each(|item| step(item, done.fetch_add(1, Ordering::Relaxed)));
        });
    }
}

/// Calls `step` with the number of the step until `stop` is set.
fn repeat(done: &AtomicUsize, stop: &AtomicBool, mut step: impl FnMut(usize)) {
    while !stop.load(Ordering::Relaxed) {
        step(done.fetch_add(1, Ordering::Relaxed));
    }
}

#[test]
fn simulations_in_one_pool_render_and_change_shapes() {
    watched(|done, stop| {
        let scene = Scene::new(cpu(None));
        in_tasks(4, &mut [(); 64], (done, stop), |(), k| scene.simulate(k));
    });
}

#[test]
fn an_engine_with_its_own_threads_serves_a_pool_of_simulations() {
    watched(|done, stop| {
        let scene = Scene::new(cpu(Some(2)));
        pool(3).install(|| {
            (0..3).into_par_iter().with_max_len(1).for_each(|_| {
                repeat(done, stop, |k| scene.simulate(k));
            });
        });
    });
}

#[test]
fn a_thread_renders_while_every_worker_changes_shapes() {
    watched(|done, stop| {
        let scene = Scene::new(cpu(None));
        let ctx = scene.diagram.default_context();
        std::thread::scope(|s| {
            s.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    (0..64_usize).into_par_iter().for_each(|k| {
                        let mut ctx = scene.diagram.default_context();
                        scene.change(&mut ctx, k);
                    });
                }
            });
            repeat(done, stop, |_| assert!(scene.draw(&ctx) == scene.original));
        });
    });
}

#[test]
fn monte_carlo_samples_render_and_change_shapes() {
    watched(|done, stop| {
        let scene = Scene::new(cpu(None));
        let config = MonteCarloConfig { num_threads: 4 };
        while !stop.load(Ordering::Relaxed) {
            let sample = |_: &mut RandomGenerator| {
                scene.simulate(done.fetch_add(1, Ordering::Relaxed));
                Ok(())
            };
            assert_eq!(monte_carlo(sample, 32, 1, &config).unwrap().len(), 32);
        }
    });
}

#[test]
fn user_defined_engines_may_run_in_parallel() {
    watched(|done, stop| {
        let behaviour = Arc::new(Behaviour::default());
        let engine = Parallel(Engine::new(cpu(None), behaviour));
        let scene = Scene::new(engine);
        in_tasks(4, &mut [(); 64], (done, stop), |(), k| scene.simulate(k));
    });
}

/// Asynchronous cameras render on their own threads with the engines of the pool's simulations.
#[test]
fn asynchronous_cameras_render_while_shapes_change() {
    watched(|done, stop| {
        let (scene, source, balls) = balls(cpu(None));
        let parent = scene.world_frame_id();
        let config = RgbdSensorAsyncConfig {
            color_camera: Some(ColorRenderCamera::from_core(core())),
            fps: 100.0,
            output_delay: 0.005,
            ..RgbdSensorAsyncConfig::default()
        };
        let sensor = RgbdSensorAsync::new(parent, Isometry3::identity(), config).unwrap();
        let mut b = DiagramBuilder::new();
        let scene = b.add("scene_graph", scene);
        let sensor = b.add_f64("camera", sensor);
        b.connect(scene.query, sensor.geometry_query);
        let diagram = b.build().unwrap();
        let new = |_| Simulator::new(&diagram, diagram.default_context()).unwrap();
        let mut simulations: Vec<_> = (0..16).map(new).collect();
        in_tasks(4, &mut simulations, (done, stop), |sim, k| {
            let state = scene.geometry_mut(sim.context_mut()).unwrap();
            let shape = Sphere::new(0.05 + 0.01 * (k % 8) as f64).unwrap();
            let changed = state.change_shape(source, balls[k % BALLS], shape, None);
            changed.unwrap();
            let time = sim.context().time();
            sim.advance_to(time + 0.01).unwrap();
        });
        let image = sensor.color_image.unwrap();
        let width = |sim: &Simulator<f64>| sim.context().eval(image).unwrap().width();
        assert!(simulations.iter().all(|sim| width(sim) == WIDTH));
    });
}

/// Clones of a context share the buffers of their encoders; all of them render and compress in
/// parallel.
#[test]
fn clones_of_a_context_compress_images_concurrently() {
    watched(|done, stop| {
        let (scene, source, balls) = balls(cpu(None));
        let parent = scene.world_frame_id();
        let core = RenderCameraCore::new(
            "engine",
            CameraInfo::from_fov_y(400, 300, 1.0).unwrap(),
            ClippingRange::new(0.1, 10.0).unwrap(),
            Isometry3::identity(),
        );
        let color = ColorRenderCamera::from_core(core.clone());
        let range = DepthRange::new(0.1, 5.0).unwrap();
        let depth = DepthRenderCamera::from_core(core, range).unwrap();
        let camera = RgbdSensor::new(parent, Isometry3::identity(), color, depth);
        let mut packer = ImageToLcmImageArrayT::new(true);
        let port = packer.declare_image_input_port::<Rgba8U>("color").unwrap();
        let mut b = DiagramBuilder::new();
        let scene = b.add("scene_graph", scene);
        let camera = b.add_f64("camera", camera);
        let packer = b.add_f64("packer", packer);
        let images = b.add_f64("images", LcmImageArrayToImages::new());
        b.connect(scene.query, camera.geometry_query);
        b.connect(camera.color_image, packer.image_port(port).unwrap());
        b.connect(packer.image_array_t, images.image_array_t);
        let diagram = b.build().unwrap();
        let first = diagram.default_context();
        let mut forks: Vec<Context<f64>> = (0..16).map(|_| first.clone()).collect();
        in_tasks(4, &mut forks, (done, stop), |ctx, k| {
            let state = scene.geometry_mut(ctx).unwrap();
            let shape = Sphere::new(0.05 + 0.01 * (k % 8) as f64).unwrap();
            let changed = state.change_shape(source, balls[k % BALLS], shape, None);
            changed.unwrap();
            let unpacked = ctx.eval(images.color_image).unwrap();
            assert!(unpacked.data() == ctx.eval(camera.color_image).unwrap().data());
        });
    });
}
