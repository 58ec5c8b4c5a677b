//! Fixtures shared by the tests of the CPU engine.

mod batch;
mod cube_sky;
mod exact;
mod maps;
mod options;
mod rules;
mod together;

use super::*;
use crate::Rgba;
use crate::error::Result;
use crate::ids::GeometryId;
use crate::mesh;
use crate::properties::{PerceptionProperties, RenderLabel};
use crate::render::{
    CameraInfo, ClippingRange, DepthRange, LightFrame, LightParameter, LightType, PixelType,
};
use crate::render::{
    ColorRenderCamera, DepthRenderCamera, Image, ImageDepth32F, ImageLabel16I, ImageRgba8U,
    RenderCameraCore, RenderEngine, RenderView,
};
use crate::shape::Shape;
use crate::shape::{BoxShape, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere};
use nalgebra::{Isometry3, Point3, Vector3};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tarragon_framework::math;

/// Deterministic random numbers: SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom
/// number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        low + (high - low) * (z >> 11) as f64 / (1u64 << 53) as f64
    }
    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next(-size, size))
    }
    fn pose(&mut self, p: Vector3<f64>) -> Isometry3<f64> {
        math::pose(math::rotation_exp(&self.vector(2.0)), p)
    }
    fn shape(&mut self, kind: usize) -> Shape {
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

struct Fixture {
    engine: RenderEngineCpu,
    poses: BTreeMap<GeometryId, Isometry3<f64>>,
    core: RenderCameraCore,
    range: DepthRange,
    x_wc: Isometry3<f64>,
}

impl Fixture {
    fn new(width: usize, height: usize, near: f64, far: f64) -> Self {
        let info = CameraInfo::new(
            width,
            height,
            width as f64,
            width as f64 * 1.1,
            width as f64 * 0.45,
            height as f64 * 0.55,
        )
        .unwrap();
        Self {
            engine: RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap(),
            poses: BTreeMap::new(),
            core: RenderCameraCore::new(
                "cpu",
                info,
                ClippingRange::new(near, far).unwrap(),
                Isometry3::identity(),
            ),
            range: DepthRange::new(near, far).unwrap(),
            x_wc: Isometry3::identity(),
        }
    }
    fn add(&mut self, shape: impl Into<Shape>, x_wg: Isometry3<f64>, label: i16) -> GeometryId {
        let diffuse = Rgba::new(1.0, 0.5, 0.25, 1.0).unwrap();
        let label = RenderLabel::new(label).unwrap();
        let properties = PerceptionProperties::phong(diffuse).with_label(label);
        let id = GeometryId::new();
        assert!(
            self.engine
                .register_visual(id, &shape.into(), &properties)
                .unwrap()
        );
        self.poses.insert(id, x_wg);
        id
    }
    fn draw<P: PixelType>(
        &self,
        draw: impl FnOnce(&RenderView<'_>, &mut Image<P>) -> Result<()>,
    ) -> Image<P> {
        let poses = |id| self.poses.get(&id).copied();
        let info = self.core.intrinsics();
        let mut image = Image::new(info.width(), info.height());
        draw(&RenderView::new(self.x_wc, &poses), &mut image).unwrap();
        image
    }
    fn depth(&self) -> ImageDepth32F {
        let camera = DepthRenderCamera::from_core(self.core.clone(), self.range).unwrap();
        self.draw(|view, image| self.engine.render_depth(view, &camera, image))
    }
    fn label(&self) -> ImageLabel16I {
        let camera = ColorRenderCamera::from_core(self.core.clone());
        self.draw(|view, image| self.engine.render_label(view, &camera, image))
    }
    fn color(&self) -> ImageRgba8U {
        let camera = ColorRenderCamera::from_core(self.core.clone());
        self.draw(|view, image| self.engine.render_color(view, &camera, image))
    }
    /// Returns the ray of a pixel in the camera frame.
    fn ray(&self, u: usize, v: usize) -> Vector3<f64> {
        let k = self.core.intrinsics();
        Vector3::new(
            (u as f64 + 0.5 - k.center_x()) / k.focal_x(),
            (v as f64 + 0.5 - k.center_y()) / k.focal_y(),
            1.0,
        )
    }
    fn pixels(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (w, h) = (
            self.core.intrinsics().width(),
            self.core.intrinsics().height(),
        );
        (0..h).flat_map(move |v| (0..w).map(move |u| (u, v)))
    }
}

/// Writes a mesh to a unique temporary file.
fn obj(name: &str, text: &str) -> PathBuf {
    // Ids are unique among the tests of a process.
    let unique = format!("{}-{}", std::process::id(), GeometryId::new());
    let path = std::env::temp_dir().join(format!("tarragon-{name}-{unique}.obj"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Returns a lumpy sphere of `2 n^2` triangles as an OBJ file.
fn lumpy(n: usize) -> String {
    let mut text = String::new();
    for i in 0..=n {
        for j in 0..n {
            let a = std::f64::consts::PI * i as f64 / n as f64;
            let b = std::f64::consts::TAU * j as f64 / n as f64;
            let r = 0.4 + 0.1 * (5.0 * b).sin() * a.sin() + 0.05 * (7.0 * a).cos();
            let (x, y, z) = (a.sin() * b.cos(), a.sin() * b.sin(), a.cos());
            text += &format!("v {} {} {}\n", r * x, r * y, r * z);
        }
    }
    for i in 0..n {
        for j in 0..n {
            let k = |i: usize, j: usize| i * n + j % n + 1;
            let (a, b, c, d) = (k(i, j), k(i, j + 1), k(i + 1, j), k(i + 1, j + 1));
            text += &format!("f {a} {c} {b}\nf {b} {c} {d}\n");
        }
    }
    text
}
