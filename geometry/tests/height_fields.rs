//! Height fields are seen by cameras where rays hit them.

use nalgebra::{Isometry3, Vector3};
use tarragon_framework::math;
use tarragon_framework::prelude::*;
use tarragon_geometry::render::{
    CameraInfo, ClippingRange, DepthRange, DepthRenderCamera, ImageDepth32F, RenderCameraCore,
    RenderEngineCpu, RenderEngineCpuParams,
};
use tarragon_geometry::*;

const WIDTH: usize = 48;
const HEIGHT: usize = 40;

/// Hills of 7 x 9 points on 2.4 m x 1.8 m, up to 0.4 m high.
fn hills() -> HeightField {
    let height = |k: usize| 0.1 * ((k * k * 7 + k * 3) % 5) as f64;
    HeightField::new(7, 9, (0..63).map(height).collect(), [2.4, 1.8], 0.2).unwrap()
}

/// Every pixel has the depth of the ray through its centre, from above and from the side.
#[test]
fn depth_images_see_what_rays_hit() {
    let mut scene = SceneGraph::new();
    let source = scene.register_source("world").unwrap();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::default()).unwrap();
    scene.add_renderer("cpu", engine).unwrap();
    let x_wf = math::pose(math::rpy(0.1, -0.15, 0.4), Vector3::new(0.1, -0.2, 0.3));
    let label = PerceptionProperties::new().with_label(RenderLabel::new(1).unwrap());
    let terrain = GeometryInstance::new(x_wf, hills(), "terrain")
        .unwrap()
        .with_proximity(ProximityProperties::new())
        .with_perception(label);
    scene.register_anchored_geometry(source, terrain).unwrap();
    let mut b = DiagramBuilder::new();
    let block = b.add("scene", scene);
    let ctx = b.build().unwrap().default_context();
    let query = ctx.eval(block.query).unwrap();

    let info = CameraInfo::from_fov_y(WIDTH, HEIGHT, 0.9).unwrap();
    let clipping = ClippingRange::new(0.01, 20.0).unwrap();
    let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
    let camera = DepthRenderCamera::from_core(core, DepthRange::new(0.1, 10.0).unwrap()).unwrap();
    let world = query.inspector().world_frame_id();
    let mut seen = 0;
    for (eye, target) in [
        (Vector3::new(0.2, 0.1, 2.5), Vector3::new(0.0, -0.1, 0.0)),
        (Vector3::new(2.0, -1.5, 0.9), Vector3::new(0.0, 0.0, 0.3)),
    ] {
        // The camera looks along its z axis, with y down.
        let forward = (target - eye).normalize();
        let x_wc = Isometry3::face_towards(&eye.into(), &target.into(), &-Vector3::z());
        let mut image = ImageDepth32F::new(WIDTH, HEIGHT);
        query
            .render_depth_image(&camera, world, &x_wc, &mut image)
            .unwrap();
        let pixels = (0..HEIGHT).flat_map(|v| (0..WIDTH).map(move |u| (u, v)));
        let directions = pixels.clone().map(|(u, v)| {
            let x = (u as f64 + 0.5 - info.center_x()) / info.focal_x();
            let y = (v as f64 + 0.5 - info.center_y()) / info.focal_y();
            x_wc * Vector3::new(x, y, 1.0)
        });
        let rays: Vec<_> = directions.map(|d| Ray::new(eye, d)).collect();
        let hits = query.cast_rays(&rays, &RayOptions::default()).unwrap();
        // At silhouettes, the pixel and the ray may see different slopes.
        let mut different = 0;
        for ((u, v), (ray, hit)) in pixels.zip(rays.iter().zip(&hits)) {
            let depth = f64::from(image.at(u, v)[0]);
            let expected = hit.as_ref().map(|hit| {
                let unit = ray.direction_w.normalize();
                hit.distance * forward.dot(&unit)
            });
            match expected {
                Some(z) if (depth - z).abs() < 1e-4 => seen += 1,
                None if depth > 10.0 => {}
                _ => different += 1,
            }
        }
        assert!(different <= WIDTH * HEIGHT / 200, "{different}");
    }
    assert!(seen > WIDTH * HEIGHT, "{seen}");
}
