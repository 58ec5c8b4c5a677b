//! A test world: a ball, a camera on a cart, and a render engine that can be slow or fail.

#![allow(dead_code, reason = "not every test needs everything")]

use nalgebra::Isometry3;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView};
use tarragon_geometry::{
    FrameId, FramePoseVector, GeometryFrame, GeometryId, GeometryInstance, PerceptionProperties,
    RenderLabel, Rgba, SceneGraph, Shape, SourceId, Sphere,
};
use tarragon_sensors::*;

/// Delay and failures of an engine, and counters of its images.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// Minimum time per image.
    pub(crate) delay: Duration,
    /// Number of the image that fails, counted from 1.
    pub(crate) fails: u32,
    /// Number of the image that panics.
    pub(crate) panics: u32,
    pub(crate) begun: AtomicU32,
    pub(crate) done: AtomicU32,
}

impl Behaviour {
    fn work(&self) -> Result<()> {
        let n = 1 + self.begun.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.delay);
        self.done.fetch_add(1, Ordering::SeqCst);
        assert_ne!(n, self.panics, "the lamp is broken");
        if n == self.fails {
            // Provoke an error of the geometry crate: a wrong image size.
            let info = CameraInfo::from_fov_y(4, 4, 1.0)?;
            tarragon_geometry::render::check_image_size(&ImageGrey8U::default(), &info)?;
        }
        Ok(())
    }
    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }
    pub(crate) fn done(&self) -> u32 {
        self.done.load(Ordering::SeqCst)
    }
}

/// A user-defined engine.
#[derive(Clone)]
pub(crate) struct Engine {
    cpu: RenderEngineCpu,
    pub(crate) behaviour: Arc<Behaviour>,
}

impl Engine {
    pub(crate) fn new(cpu: RenderEngineCpu, behaviour: Arc<Behaviour>) -> Self {
        Self { cpu, behaviour }
    }
}

impl RenderEngine for Engine {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool> {
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
    ) -> Result<()> {
        self.behaviour.work()?;
        self.cpu.render_color(view, camera, image)
    }
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<()> {
        self.behaviour.work()?;
        self.cpu.render_depth(view, camera, image)
    }
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<()> {
        self.behaviour.work()?;
        self.cpu.render_label(view, camera, image)
    }
    fn default_render_label(&self) -> RenderLabel {
        self.cpu.default_render_label()
    }
}

/// A system that moves a frame along x at 1 m/s.
pub(crate) struct Cart {
    frame: FrameId,
}

impl LeafSystem<f64> for Cart {
    type Ports = OutputPort<FramePoseVector<f64>>;
    fn declare(&self, d: &mut Declare<Self, f64>) -> Self::Ports {
        let model = FramePoseVector::from_iter([(self.frame, Isometry3::identity())]);
        d.output("poses", model, Dep::Time, |cart, ctx, poses| {
            let x = Isometry3::translation(ctx.time(), 0.0, 0.0);
            *poses = FramePoseVector::from_iter([(cart.frame, x)]);
            Ok(())
        })
    }
}

pub(crate) const WIDTH: usize = 32;

/// A camera on a cart that drives past a ball.
pub(crate) struct World {
    pub(crate) builder: DiagramBuilder,
    pub(crate) scene: Block<SceneGraph>,
    pub(crate) cart: FrameId,
    pub(crate) behaviour: Arc<Behaviour>,
    pub(crate) color: ColorRenderCamera,
    pub(crate) depth: DepthRenderCamera,
}

pub(crate) fn world(behaviour: Behaviour) -> World {
    let behaviour = Arc::new(behaviour);
    let mut scene = SceneGraph::new();
    let params = RenderEngineCpuParams {
        threads: Some(2),
        ..RenderEngineCpuParams::default()
    };
    let cpu = RenderEngineCpu::new(params).unwrap();
    let engine = Engine::new(cpu, behaviour.clone());
    scene.add_renderer("mine", engine).unwrap();
    let source: SourceId = scene.register_source("toys").unwrap();
    let cart = scene
        .register_frame(source, GeometryFrame::new("cart"))
        .unwrap();
    let look = PerceptionProperties::phong(Rgba::WHITE).with_label(RenderLabel::new(7).unwrap());
    let at = Isometry3::translation(0.3, 0.0, 2.0);
    let ball = GeometryInstance::new(at, Sphere::new(0.5).unwrap(), "ball")
        .unwrap()
        .with_perception(look);
    scene.register_anchored_geometry(source, ball).unwrap();
    let info = CameraInfo::from_fov_y(WIDTH, 24, 1.0).unwrap();
    let clipping = ClippingRange::new(0.1, 10.0).unwrap();
    let core = RenderCameraCore::new("mine", info, clipping, Isometry3::identity());
    let depth =
        DepthRenderCamera::from_core(core.clone(), DepthRange::new(0.1, 5.0).unwrap()).unwrap();
    let mut builder = DiagramBuilder::new();
    let scene = builder.add("scene_graph", scene);
    let poses = builder.add_f64("cart", Cart { frame: cart });
    builder.connect(*poses.ports(), scene.source_pose_port(source).unwrap());
    World {
        builder,
        scene,
        cart,
        behaviour,
        color: ColorRenderCamera::from_core(core),
        depth,
    }
}

impl World {
    pub(crate) fn config(
        &self,
        fps: f64,
        capture_offset: f64,
        output_delay: f64,
    ) -> RgbdSensorAsyncConfig {
        RgbdSensorAsyncConfig {
            fps,
            capture_offset,
            output_delay,
            color_camera: Some(self.color.clone()),
            depth_camera: Some(self.depth.clone()),
            render_label_image: true,
        }
    }
    pub(crate) fn add(&mut self, config: RgbdSensorAsyncConfig) -> Block<RgbdSensorAsync> {
        let sensor = RgbdSensorAsync::new(self.cart, Isometry3::identity(), config).unwrap();
        let sensor = self.builder.add_f64("camera", sensor);
        self.builder
            .connect(self.scene.query, sensor.geometry_query);
        sensor
    }
    /// Returns a simulation with 5 fps, no capture offset and an output delay of 50 ms.
    pub(crate) fn simulation(mut self) -> (Simulator<f64>, Block<RgbdSensorAsync>, Arc<Behaviour>) {
        let config = self.config(5.0, 0.0, 0.05);
        let sensor = self.add(config);
        let diagram = self.builder.build().unwrap();
        let sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        (sim, sensor, self.behaviour)
    }
}

pub(crate) fn image_time(ctx: &Context<f64>, sensor: &Block<RgbdSensorAsync>) -> f64 {
    ctx.eval(sensor.image_time).unwrap()[0]
}
