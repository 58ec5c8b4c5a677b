//! `tarragon render`: one picture of a model.

use crate::model;
use nalgebra::{Isometry3, Vector3};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use tarragon::geometry::render::{
    LightFrame, LightParameter, RenderEngineCpu, RenderEngineCpuParams, look_at_box,
};
use tarragon::multibody::{MultibodyPlant, add_multibody_plant_scene_graph};
use tarragon::prelude::*;
use tarragon::sensors::{
    CameraInfo, ClippingRange, ColorRenderCamera, DepthRange, DepthRenderCamera, RenderCameraCore,
    save_image,
};

/// Arguments of `tarragon render`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: model::Args,
    /// Directory of the images `color.png`, `depth.tiff` and `label.png`; created if need be.
    #[arg(long)]
    out: PathBuf,
    /// Width of the images (pixels).
    #[arg(long, default_value_t = 1280, value_parser = pixels)]
    width: usize,
    /// Height of the images (pixels).
    #[arg(long, default_value_t = 720, value_parser = pixels)]
    height: usize,
    /// Direction that the camera looks in, x,y,z in the world.
    #[arg(long, value_parser = direction, default_value = "-1,0.8,-0.5", allow_hyphen_values = true)]
    direction: Vector3<f64>,
}

/// The side of an image: more than this does not fit into memory with what is drawn on it.
fn pixels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(side @ 1..=16_384) => Ok(side),
        _ => Err("a number of pixels from 1 to 16384 is expected".into()),
    }
}

/// Three numbers with commas between them.
fn direction(text: &str) -> Result<Vector3<f64>, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x, y, z]) if x.hypot(*y).hypot(*z).is_normal() => Ok(Vector3::new(*x, *y, *z)),
        _ => Err("three numbers x,y,z that are not all zero are expected".into()),
    }
}

/// Loads, looks, writes.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let lamp = |x, y, z, intensity| LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(x, y, z),
        intensity,
        ..LightParameter::default()
    };
    let engine = RenderEngineCpu::new(RenderEngineCpuParams {
        lights: vec![
            lamp(-0.5, 0.45, -0.9, 0.9),
            lamp(0.8, 0.5, -0.5, 0.45),
            lamp(-0.4, -0.6, -0.3, 0.3),
        ],
        samples_per_side: 3,
        ..RenderEngineCpuParams::default()
    })?;
    let mut plant = MultibodyPlant::new(0.001)?;
    let mut scene_graph = SceneGraph::new();
    scene_graph.add_renderer("cpu", engine)?;
    args.model.load(&mut plant, &mut scene_graph)?;
    if let Some(source) = plant.source_id() {
        scene_graph.show_proximity_where_unseen(source, &PerceptionProperties::new())?;
    }

    let mut builder = DiagramBuilder::new();
    let (_, scene_graph) = add_multibody_plant_scene_graph(&mut builder, plant, scene_graph)?;
    let ctx = builder.build()?.default_context();
    let query = ctx.eval(scene_graph.query)?;
    let bounds = query.compute_scene_aabb(Role::Perception)?.ok_or_else(|| {
        format!(
            "{}: the model has nothing to see: no visual geometry of a supported kind",
            args.model.model.display()
        )
    })?;

    let info = CameraInfo::from_fov_y(args.width, args.height, 0.6)?;
    let x_wc = look_at_box(&bounds, &args.direction, &info);
    let distance = (x_wc.translation.vector - bounds.center()).norm();
    let size = bounds.half_width().norm();
    let clipping = ClippingRange::new(0.01 * distance, 2.0 * (distance + size))?;
    let core = RenderCameraCore::new("cpu", info, clipping, Isometry3::identity());
    let color_camera = ColorRenderCamera::new(core.clone());
    let depth_range = DepthRange::new(0.01 * distance, 2.0 * (distance + size))?;
    let depth_camera = DepthRenderCamera::new(core, depth_range)?;

    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("can not create the directory '{}': {e}", args.out.display()))?;
    let world = query.inspector().world_frame_id();
    let mut image = tarragon::sensors::ImageRgba8U::new(args.width, args.height);
    query.render_color_image(&color_camera, world, &x_wc, &mut image)?;
    save_image(&image, &args.out.join("color.png"))?;
    let mut image = tarragon::sensors::ImageDepth32F::new(args.width, args.height);
    query.render_depth_image(&depth_camera, world, &x_wc, &mut image)?;
    save_image(&image, &args.out.join("depth.tiff"))?;
    let mut image = tarragon::sensors::ImageLabel16I::new(args.width, args.height);
    query.render_label_image(&color_camera, world, &x_wc, &mut image)?;
    save_image(&image, &args.out.join("label.png"))?;
    writeln!(
        std::io::stdout(),
        "{}",
        args.out.join("color.png").display()
    )?;
    Ok(())
}
