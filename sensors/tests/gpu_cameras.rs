//! Cameras that draw on GPUs.

use crate::apply_camera_config::named;
#[cfg(feature = "gpu")]
use nalgebra::Isometry3;
#[cfg(feature = "gpu")]
use tarragon_framework::prelude::*;
use tarragon_geometry::SceneGraph;
#[cfg(feature = "gpu")]
use tarragon_geometry::{GeometryInstance, PerceptionProperties, RenderLabel, Rgba, Sphere};
use tarragon_sensors::*;

/// Without the feature `gpu`, or without an adapter, there is no silent fallback.
#[test]
fn the_engine_on_gpus_is_created_or_an_error_says_what_is_missing() {
    let camera = named(
        "a",
        "renderer_class: !RenderEngineGpuParams {adapter: no such one}",
    );
    let mut scene = SceneGraph::new();
    let message = add_camera_renderers([&camera], &mut scene)
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("camera 'a': "), "{message}");
    let cure = if cfg!(feature = "gpu") {
        "adapter"
    } else {
        "--features gpu"
    };
    assert!(message.contains(cure), "{message}");
    assert_eq!(scene.renderer_count(), 0, "the scene is unchanged");
}

/// Runs with `--features gpu` only, and where there is an adapter.
#[cfg(feature = "gpu")]
#[test]
fn asynchronous_cameras_draw_on_gpus_what_they_draw_on_cpus() {
    if tarragon_gpu::list_adapters().is_empty() {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "SKIPPED: no adapter");
        return;
    }
    let images = |class: &str| {
        let yaml = "{width: 64, height: 48, depth: true, label: true, output_delay: 0.01, ";
        let camera = named("a", &format!("{yaml} renderer_class: {class}}}"));
        let mut scene = SceneGraph::new();
        let source = scene.register_source("s").unwrap();
        let look = PerceptionProperties::phong(Rgba::opaque(0.8, 0.3, 0.1).unwrap());
        let look = look.with_label(RenderLabel::new(7).unwrap());
        let at = Isometry3::translation(0.0, 0.0, 1.5);
        let ball = GeometryInstance::new(at, Sphere::new(0.3).unwrap(), "ball").unwrap();
        let ball = ball.with_perception(look);
        scene.register_anchored_geometry(source, ball).unwrap();
        add_camera_renderers([&camera], &mut scene).unwrap();
        let mut b = DiagramBuilder::new();
        b.add("scene_graph", scene);
        let camera = apply_camera_config(&camera, &mut b).unwrap();
        let diagram = b.build().unwrap();
        let mut sim = Simulator::new(&diagram, diagram.default_context()).unwrap();
        sim.advance_to(0.05).unwrap();
        let ctx = sim.context();
        let color = ctx.eval(camera.color_image().unwrap()).unwrap().clone();
        let depth = ctx.eval(camera.depth_image_32f().unwrap()).unwrap().clone();
        let label = ctx.eval(camera.label_image().unwrap()).unwrap().clone();
        (color, depth, label)
    };
    let (cpu, gpu) = (images("RenderEngineCpu"), images("RenderEngineGpu"));
    assert!(cpu.2.data().contains(&7) && cpu.2 == gpu.2);
    for (a, b) in cpu.1.data().iter().zip(gpu.1.data()) {
        // Single precision on the GPU.
        assert!(a == b || (a - b).abs() < 1e-5 * a, "{a} {b}");
    }
    let off = cpu.0.data().iter().zip(gpu.0.data());
    assert!(off.filter(|(a, b)| a.abs_diff(**b) > 2).count() == 0);
}
