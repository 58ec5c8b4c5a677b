//! Unsupported features are errors that name them.

use crate::support::{Pair, Random, gpu};
use nalgebra::Isometry3;
use tarragon_geometry::render::RenderEngineGpuParams;
use tarragon_geometry::render::{
    CameraInfo, ColorRenderCamera, ImageRgba8U, RenderEngine, RenderEngineCpuParams, RenderView,
};
use tarragon_geometry::{ErrorKind, MeshcatCone, PerceptionProperties, Rgba, Sphere};
use tarragon_gpu::RenderEngineGpu;

#[test]
fn invalid_and_unsupported_parameters_are_refused_without_an_adapter() {
    let with = |change: fn(&mut RenderEngineGpuParams)| {
        let mut params = RenderEngineGpuParams::default();
        change(&mut params);
        RenderEngineGpu::new(params).unwrap_err()
    };
    let e = with(|p| p.cast_shadows = true);
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(
        e.to_string()
            .contains("draws no shadows; use RenderEngineCpu"),
        "{e}"
    );
    let e = with(|p| p.samples_per_side = 17).to_string();
    assert!(
        e.contains("samples_per_side must be from 1 to 16, got 17"),
        "{e}"
    );
    let e = with(|p| p.exposure = Some(f64::NAN)).to_string();
    assert!(
        e.contains("exposure must be positive and finite, got NaN"),
        "{e}"
    );
    let e = with(|p| p.adapter = Some("no such adapter".into()));
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    let text = e.to_string();
    assert!(
        text.contains("got 'no such adapter'") || text.contains("install mesa-vulkan-drivers"),
        "{text}"
    );
}

#[test]
fn translucent_geometry_is_refused_in_colour_images_only() {
    let Some(mut pair) = Pair::new(RenderEngineCpuParams::default(), (80, 60)) else {
        return;
    };
    let pose = Isometry3::translation(0.0, 0.0, 2.0);
    let glass = Rgba::new(0.5, 0.5, 1.0, 0.4).unwrap();
    let id = pair.add(Sphere::new(0.5).unwrap(), pose, glass);
    let poses = |id| pair.poses.get(&id).copied();
    let view = RenderView::new(Isometry3::identity(), &poses);
    let cameras = pair.cameras();
    let color = cameras.color().unwrap();
    let mut image = ImageRgba8U::new(80, 60);
    let e = pair.gpu.render_color(&view, color, &mut image).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(
        e.to_string()
            .contains(&format!("geometry {id} is translucent")),
        "{e}"
    );
    // Where it is not visible, it is not in the way.
    let nowhere = |_| None;
    let empty = RenderView::new(Isometry3::identity(), &nowhere);
    pair.gpu.render_color(&empty, color, &mut image).unwrap();
    assert_eq!(image.at(0, 0), &[204, 229, 255, 255]);
}

#[test]
fn large_images_are_refused_with_numbers() {
    let Some(engine) = gpu(RenderEngineGpuParams::default()) else {
        return;
    };
    let info = CameraInfo::from_fov_y(9000, 2, 1.0).unwrap();
    let mut image = ImageRgba8U::new(9000, 2);
    let nowhere = |_| None;
    let view = RenderView::new(Isometry3::identity(), &nowhere);
    let camera = ColorRenderCamera::new("gpu", info);
    let e = engine
        .render_color(&view, &camera, &mut image)
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("must have at most") && e.contains("got 9000 x 2"),
        "{e}"
    );
    let wrong = engine.render_color(&view, &camera, &mut ImageRgba8U::new(2, 2));
    assert!(wrong.is_err());
}

#[test]
fn registration_follows_the_rules_of_the_cpu_engine() {
    let Some(mut engine) = gpu(RenderEngineGpuParams {
        renderer_name: Some("gpu".into()),
        ..RenderEngineGpuParams::default()
    }) else {
        return;
    };
    let mut random = Random(1);
    let ids = [(); 3].map(|()| tarragon_geometry::GeometryId::new());
    let plain = PerceptionProperties::new();
    assert!(
        engine
            .register_visual(ids[0], &random.shape(0), &plain)
            .unwrap()
    );
    let twice = engine.register_visual(ids[0], &random.shape(0), &plain);
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::AlreadyExists);
    let cone = MeshcatCone::new(1.0, 0.5, 0.5).unwrap().into();
    assert!(!engine.register_visual(ids[1], &cone, &plain).unwrap());
    let copy = engine.clone();
    assert!(engine.remove_visual(ids[0]) && !engine.remove_visual(ids[0]));
    assert!(copy.has_visual(ids[0]) && !engine.has_visual(ids[0]));
    let boxed: Box<dyn RenderEngine> = Box::new(copy);
    assert!(boxed.has_visual(ids[0]) && boxed.renders_for("RenderEngineGpu"));
}
