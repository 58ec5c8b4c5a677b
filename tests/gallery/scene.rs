//! A scene with a camera.

use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon::geometry::render::{
    CameraInfo, ClippingRange, ColorRenderCamera, RenderCameraCore, RenderEngine, RenderEngineCpu,
    RenderEngineCpuParams, RenderView, look_at,
};
use tarragon::geometry::{GeometryId, PerceptionProperties, RenderLabel, Rgba, Shape};
use tarragon::sensors::ImageRgba8U;

pub(crate) struct Scene {
    engine: RenderEngineCpu,
    poses: BTreeMap<GeometryId, Isometry3<f64>>,
    x_wc: Isometry3<f64>,
    /// Distance of the near plane (m).
    pub(crate) near: f64,
}

impl Scene {
    pub(crate) fn new(params: RenderEngineCpuParams) -> Self {
        Self {
            engine: RenderEngineCpu::new(params).unwrap(),
            poses: BTreeMap::new(),
            x_wc: look_at(&Vector3::new(0.6, -3.0, 1.7), &Vector3::new(0.1, 0.0, 0.3)),
            near: 0.05,
        }
    }
    pub(crate) fn look_from(&mut self, p_wc: Vector3<f64>, p_wt: Vector3<f64>) {
        self.x_wc = look_at(&p_wc, &p_wt);
    }
    pub(crate) fn add(&mut self, shape: impl Into<Shape>, x_wg: Isometry3<f64>, color: Rgba) {
        let label = RenderLabel::new(self.poses.len() as i16).unwrap();
        let properties = PerceptionProperties::phong(color).with_label(label);
        let id = GeometryId::new();
        assert!(
            self.engine
                .register_visual(id, &shape.into(), &properties)
                .unwrap()
        );
        self.poses.insert(id, x_wg);
    }
    pub(crate) fn draw(&self) -> ImageRgba8U {
        let info = CameraInfo::from_fov_y(160, 120, 0.7).unwrap();
        let clipping = ClippingRange::new(self.near, 50.0).unwrap();
        let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
        let poses = |id| self.poses.get(&id).copied();
        let view = RenderView::new(self.x_wc, &poses);
        let mut image = ImageRgba8U::new(160, 120);
        self.engine
            .render_color(&view, &ColorRenderCamera::from_core(core), &mut image)
            .unwrap();
        image
    }
}
