//! A user-defined render engine: it paints the direction of surfaces, a "normal map" of the scene.
//!
//! Any implementation of `RenderEngine` can be added to a SceneGraph and serves its cameras. This
//! one casts a ray per pixel, draws every shape that rays can hit, and leaves depth and labels to
//! the library's engine.

#![allow(clippy::print_stdout, reason = "examples show what they do")]

use std::collections::BTreeMap;
use std::path::Path;
use tarragon::geometry::cast_ray;
use tarragon::geometry::render::{RenderEngine, RenderView, check_image_size};
use tarragon::geometry::{Ray, RenderLabel};
use tarragon::prelude::*;
use tarragon::sensors::{
    ClippingRange, ColorRenderCamera, ImageDepth32F, ImageLabel16I, ImageRgba8U, save_image,
};

/// Red, green and blue are x, y and z of the normals in the camera frame.
#[derive(Clone)]
struct NormalMap {
    shapes: BTreeMap<GeometryId, Shape>,
    /// Draws depth and labels.
    other: RenderEngineCpu,
}

impl NormalMap {
    /// The colour of the first surface that a ray (in the camera frame, z = 1) hits between the
    /// clipping planes.
    fn color(
        &self,
        view: &RenderView<'_>,
        ray: Vector3<f64>,
        clipping: &ClippingRange,
    ) -> Result<[u8; 4], Error> {
        let length = ray.norm();
        let mut nearest = (clipping.far() - clipping.near()) * length;
        let mut color = [0, 0, 0, 255];
        let start = view.x_wc * nalgebra::Point3::from(ray * clipping.near());
        let ray = Ray::new(start.coords, view.x_wc.rotation * ray);
        // Engines hold no poses: a geometry without a pose in the view is not part of its scene.
        for (id, shape) in &self.shapes {
            let Some(x_wg) = view.x_wg(*id) else { continue };
            let Some(hit) = cast_ray(shape, &x_wg, &ray, nearest)? else {
                continue;
            };
            nearest = hit.distance;
            let n = view.x_wc.rotation.inverse() * hit.nhat_w;
            // z points into the image: surfaces that face the camera become blue.
            let byte = |x: f64| (127.5 + 127.5 * x).round() as u8;
            color = [byte(n.x), byte(n.y), byte(-n.z), 255];
        }
        Ok(color)
    }
}

impl RenderEngine for NormalMap {
    fn register_visual(
        &mut self,
        id: GeometryId,
        shape: &Shape,
        properties: &PerceptionProperties,
    ) -> Result<bool, Error> {
        // `false` declines: visuals for visualizers only must not be hit by rays.
        if !self.other.register_visual(id, shape, properties)? {
            return Ok(false);
        }
        self.shapes.insert(id, shape.clone());
        Ok(true)
    }
    fn remove_visual(&mut self, id: GeometryId) -> bool {
        self.other.remove_visual(id);
        self.shapes.remove(&id).is_some()
    }
    fn has_visual(&self, id: GeometryId) -> bool {
        self.shapes.contains_key(&id)
    }
    fn render_color(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageRgba8U,
    ) -> Result<(), Error> {
        let core = camera.core();
        let k = core.intrinsics();
        check_image_size(image, k)?;
        for (u, v) in (0..k.height()).flat_map(|v| (0..k.width()).map(move |u| (u, v))) {
            let x = (u as f64 + 0.5 - k.center_x()) / k.focal_x();
            let y = (v as f64 + 0.5 - k.center_y()) / k.focal_y();
            let color = self.color(view, Vector3::new(x, y, 1.0), core.clipping())?;
            image.at_mut(u, v).copy_from_slice(&color);
        }
        Ok(())
    }
    fn render_depth(
        &self,
        view: &RenderView<'_>,
        camera: &DepthRenderCamera,
        image: &mut ImageDepth32F,
    ) -> Result<(), Error> {
        self.other.render_depth(view, camera, image)
    }
    fn render_label(
        &self,
        view: &RenderView<'_>,
        camera: &ColorRenderCamera,
        image: &mut ImageLabel16I,
    ) -> Result<(), Error> {
        self.other.render_label(view, camera, image)
    }
    fn default_render_label(&self) -> RenderLabel {
        self.other.default_render_label()
    }
}

fn main() -> Result<()> {
    let mut scene = SceneGraph::new();
    let engine = NormalMap {
        shapes: BTreeMap::new(),
        other: RenderEngineCpu::new(RenderEngineCpuParams::default())?,
    };
    scene.add_renderer("normals", engine)?;
    let source = scene.register_source("toys")?;
    for (name, shape, x) in [
        ("ball", Sphere::new(0.5)?.into(), -0.7),
        ("cube", BoxShape::new(0.6, 0.6, 0.6)?.into(), 0.2),
        ("pill", Shape::from(Capsule::new(0.2, 0.7)?), 0.9),
    ] {
        let instance = GeometryInstance::new(Isometry3::translation(x, 0.0, 0.5), shape, name)?
            .with_perception(PerceptionProperties::new());
        scene.register_anchored_geometry(source, instance)?;
    }
    let world = scene.world_frame_id();

    let mut b = DiagramBuilder::new();
    let scene = b.add("scene_graph", scene);
    let ctx = b.build()?.default_context();
    let query = ctx.eval(scene.query)?;

    let info = CameraInfo::from_fov_y(320, 240, 0.8)?;
    let camera = ColorRenderCamera::new("normals", info);
    let x_wc = look_at(&Vector3::new(0.4, -2.5, 1.3), &Vector3::new(0.1, 0.0, 0.5));
    let mut image = ImageRgba8U::new(320, 240);
    query.render_color_image(&camera, world, &x_wc, &mut image)?;

    let folder = Path::new("target/12_render_engine");
    std::fs::create_dir_all(folder)?;
    save_image(&image, folder.join("normals.png"))?;
    let seen = image.data().chunks(4).filter(|p| p[..3] != [0; 3]).count();
    println!("{seen} of {} pixels show a surface", 320 * 240);
    println!("written: {}", folder.join("normals.png").display());
    Ok(())
}
