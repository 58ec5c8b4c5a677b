//! A scene that both engines draw, and the comparison of their images.

use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use std::io::Write;
use tarragon_framework::math;
use tarragon_geometry::render::RenderEngineGpuParams;
use tarragon_geometry::render::{
    CameraBatch, CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera,
    ImageBatch, RenderCameraCore, RenderEngine, RenderEngineCpu, RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{
    BoxShape, Capsule, Cylinder, Ellipsoid, GeometryId, HalfSpace, PerceptionProperties,
    RenderLabel, Rgba, Shape, Sphere,
};
use tarragon_gpu::{RenderEngineGpu, list_adapters};

/// Writes to standard error past the harness, which would hide it if the test passes.
pub(crate) fn say(text: &str) {
    std::io::stderr()
        .write_all(format!("{text}\n").as_bytes())
        .unwrap();
}

/// Returns the engine; `None`, and says so, if this machine has no adapter.
pub(crate) fn gpu(params: RenderEngineGpuParams) -> Option<RenderEngineGpu> {
    if list_adapters().is_empty() {
        let name = std::thread::current().name().unwrap_or("test").to_owned();
        say(&format!(
            "SKIPPED {name}: no adapter; install mesa-vulkan-drivers or a GPU driver"
        ));
        return None;
    }
    Some(RenderEngineGpu::new(params).unwrap())
}

/// Deterministic random numbers: SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom
/// number generators", 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        low + (high - low) * (z >> 11) as f64 / (1u64 << 53) as f64
    }
    pub(crate) fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next(-size, size))
    }
    pub(crate) fn pose(&mut self, p: Vector3<f64>) -> Isometry3<f64> {
        math::pose(math::rotation_exp(&self.vector(2.0)), p)
    }
    pub(crate) fn color(&mut self) -> Rgba {
        let mut c = || self.next(0.1, 1.0);
        Rgba::new(c(), c(), c(), 1.0).unwrap()
    }
    pub(crate) fn shape(&mut self, kind: usize) -> Shape {
        let mut l = || self.next(0.05, 0.5);
        match kind {
            0 => Sphere::new(l()).unwrap().into(),
            1 => BoxShape::new(l(), l(), l()).unwrap().into(),
            2 => Cylinder::new(l(), l()).unwrap().into(),
            3 => Capsule::new(l(), l()).unwrap().into(),
            4 => Ellipsoid::new(l(), l(), l()).unwrap().into(),
            _ => HalfSpace.into(),
        }
    }
}

/// A scene in both engines.
pub(crate) struct Pair {
    pub(crate) cpu: RenderEngineCpu,
    pub(crate) gpu: RenderEngineGpu,
    pub(crate) poses: BTreeMap<GeometryId, Isometry3<f64>>,
    pub(crate) core: RenderCameraCore,
    pub(crate) x_wc: Isometry3<f64>,
}

/// Tolerances of a comparison.
pub(crate) struct Tolerance {
    /// Part of the pixels that may differ in hit or label.
    pub(crate) labels: f64,
    /// Relative difference of depths (most pixels, then all that hit the same visual).
    pub(crate) depths: [f64; 2],
    /// Part of the channels that may differ by more than 2.
    pub(crate) colors: f64,
    /// Mean difference of channels.
    pub(crate) mean: f64,
}

/// The bounds of the crate's documentation.
pub(crate) const DECLARED: Tolerance = Tolerance {
    labels: 5e-4,
    depths: [1e-5, 1e-4],
    colors: 1e-3,
    mean: 0.1,
};

impl Pair {
    /// Creates an empty scene; the camera has pixels that are not square and an off-centre
    /// principal point. `None` without an adapter.
    pub(crate) fn new(
        params: RenderEngineCpuParams,
        (width, height): (usize, usize),
    ) -> Option<Self> {
        let gpu = gpu(RenderEngineGpuParams::from(&params))?;
        let (w, h) = (width as f64, height as f64);
        let info = CameraInfo::new(width, height, w, 1.1 * w, 0.45 * w, 0.55 * h).unwrap();
        let clipping = ClippingRange::new(0.05, 30.0).unwrap();
        Some(Self {
            cpu: RenderEngineCpu::new(params).unwrap(),
            gpu,
            poses: BTreeMap::new(),
            core: RenderCameraCore::new("any", info, clipping, Isometry3::identity()),
            x_wc: Isometry3::identity(),
        })
    }
    pub(crate) fn set_near(&mut self, near: f64) {
        let clipping = ClippingRange::new(near, 30.0).unwrap();
        let info = *self.core.intrinsics();
        self.core = RenderCameraCore::new("any", info, clipping, Isometry3::identity());
    }
    pub(crate) fn add(
        &mut self,
        shape: impl Into<Shape>,
        x_wg: Isometry3<f64>,
        color: Rgba,
    ) -> GeometryId {
        let label = RenderLabel::new(self.poses.len() as i16).unwrap();
        let properties = PerceptionProperties::phong(color).with_label(label);
        self.add_with(shape, x_wg, &properties)
    }
    pub(crate) fn add_with(
        &mut self,
        shape: impl Into<Shape>,
        x_wg: Isometry3<f64>,
        properties: &PerceptionProperties,
    ) -> GeometryId {
        let (id, shape) = (GeometryId::new(), shape.into());
        assert!(self.cpu.register_visual(id, &shape, properties).unwrap());
        assert!(self.gpu.register_visual(id, &shape, properties).unwrap());
        self.poses.insert(id, x_wg);
        id
    }
    /// Returns the cameras of all three kinds of images.
    pub(crate) fn cameras(&self) -> CameraBatch {
        let clipping = self.core.clipping();
        let range = DepthRange::new(clipping.near(), clipping.far()).unwrap();
        let color = ColorRenderCamera::from_core(self.core.clone());
        CameraBatch::new()
            .with_color(color.clone())
            .with_depth(DepthRenderCamera::from_core(self.core.clone(), range).unwrap())
            .with_label(color)
    }
    pub(crate) fn draw(&self, engine: &dyn RenderEngine) -> ImageBatch {
        let poses = |id| self.poses.get(&id).copied();
        let view = RenderView::new(self.x_wc, &poses);
        let mut images = ImageBatch::default();
        engine
            .render_batch(&[view], &self.cameras(), &mut images)
            .unwrap();
        images
    }
    /// Draws the scene with both engines and compares the images.
    pub(crate) fn compare(&self, name: &str, tolerance: &Tolerance) {
        let cpu = self.draw(&self.cpu);
        let gpu = self.draw(&self.gpu);
        compare(name, &cpu, &gpu, tolerance);
    }
}

pub(crate) fn compare(name: &str, cpu: &ImageBatch, gpu: &ImageBatch, tolerance: &Tolerance) {
    let n = cpu.label.data().len() as f64;
    let (mut labels, mut loose, mut worst) = (0, 0, 0.0_f64);
    let pixels = cpu.label.data().iter().zip(gpu.label.data());
    let depths = cpu.depth.data().iter().zip(gpu.depth.data());
    for ((la, lb), (za, zb)) in pixels.zip(depths) {
        if la != lb || za.is_finite() != zb.is_finite() {
            labels += 1;
        } else if za.is_finite() && *za > 0.0 {
            let error = f64::from(((zb - za) / za).abs());
            assert!(error.is_finite(), "{name}: {za} {zb}");
            loose += usize::from(error > tolerance.depths[0]);
            worst = worst.max(error);
        }
    }
    let channels = cpu.color.data().iter().zip(gpu.color.data());
    let off: Vec<u8> = channels.map(|(a, b)| a.abs_diff(*b)).collect();
    let wrong = off.iter().filter(|d| **d > 2).count() as f64 / off.len() as f64;
    let mean = off.iter().map(|d| f64::from(*d)).sum::<f64>() / off.len() as f64;
    let labels = f64::from(labels) / n;
    let text = format!(
        "{name}: labels differ in {:.4} % of the pixels; depths by at most {worst:.1e}, {:.4} % by more \
         than {:.0e}; {:.4} % of the channels by more than 2, {mean:.4} on average",
        100.0 * labels,
        100.0 * loose as f64 / n,
        tolerance.depths[0],
        100.0 * wrong,
    );
    say(&text);
    assert!(labels <= tolerance.labels, "{text}");
    assert!(
        worst <= tolerance.depths[1] && loose as f64 / n <= 0.01,
        "{text}"
    );
    assert!(
        wrong <= tolerance.colors && mean <= tolerance.mean,
        "{text}"
    );
}
