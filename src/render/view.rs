//! The scene and the camera.

use super::roles::ShownRole;
use super::{Engine, RenderArgs};
use crate::{model, sky};
use nalgebra::{Isometry3, Point3};
use std::error::Error;
use std::path::Path;
use tarragon::framework::warnings::collect;
use tarragon::framework::{counted, math};
use tarragon::geometry::Aabb;
use tarragon::prelude::*;
use tarragon::sensors::{
    ColorRenderCamera, DepthRenderCamera, EnvironmentMap, add_camera_renderers,
    add_camera_renderers_with_environment,
};

/// A scene at one time, with a camera.
pub(super) struct View {
    pub(super) query: QueryObject<f64>,
    pub(super) color: ColorRenderCamera,
    pub(super) depth: DepthRenderCamera,
    /// Pose `X_WB` of the camera's body.
    pub(super) x_wb: Isometry3<f64>,
    /// Bounding box of everything visible.
    bounds: Aabb,
}

impl View {
    pub(super) fn new(args: &RenderArgs) -> Result<Self, Box<dyn Error>> {
        let config = args.camera.as_deref().map(|file| read_camera(file, args));
        let config = config.transpose()?;
        let plant = MultibodyPlantBuilder::new(0.001)?;
        let mut scene_graph = SceneGraph::new();
        // Before the model, so that what its geometry lacks is reported at its place.
        add_renderers(args, config.as_ref(), &mut scene_graph, None)?;
        let mut skybox = None;
        let extras = model::Extras::skybox(&mut skybox);
        let plant = args.model.load_with(plant, &mut scene_graph, extras)?;
        if let Some(skybox) = skybox.filter(|_| !args.no_skybox) {
            let name = config.as_ref().map_or(STUDIO, |c| &*c.renderer_name);
            scene_graph.remove_renderer(name)?;
            // The warnings of the first engine, again.
            let (added, _) = collect(|| {
                let sky = Some(sky::behind(skybox));
                add_renderers(args, config.as_ref(), &mut scene_graph, sky)
            });
            added?;
        }
        // Visuals were reported while they were loaded.
        let (shown, warnings) = collect(|| args.role.show(&plant, &mut scene_graph));
        shown?;
        args.model.options.report(&warnings)?;

        let mut builder = DiagramBuilder::new();
        let (_, scene_graph) = add_multibody_plant_scene_graph(&mut builder, plant, scene_graph)?;
        let camera = match &config {
            Some(config) => {
                let camera = apply_camera_config(config, &mut builder)?;
                Some((config, camera.body_pose_in_world()?))
            }
            None => None,
        };
        let ctx = builder.build()?.default_context();
        let query = ctx.eval(scene_graph.query)?.clone();
        let bounds = bounds(args, &query)?;
        let (color, depth, x_wb) = match camera {
            Some((config, x_wb)) => {
                let (color, depth) = config.make_cameras()?;
                (color, depth, *ctx.eval(x_wb)?)
            }
            None => fitted(args, &bounds)?,
        };
        Ok(Self {
            query,
            color,
            depth,
            x_wb,
            bounds,
        })
    }

    /// `X_WB` after the camera has moved around the model's centre by an angle (rad) about the
    /// world's z axis.
    pub(super) fn around(&self, angle: f64) -> Isometry3<f64> {
        let center = Point3::from(*self.bounds.center());
        let turn = math::rotation_z(angle);
        let about = math::pose(turn, center.coords - turn * center.coords);
        about * self.x_wb
    }

    /// Range of depths (m) that the model covers, as seen by the depth camera from its initial
    /// pose.
    pub(super) fn depth_of_model(&self) -> [f64; 2] {
        let x_cw = (self.x_wb * self.depth.core().x_bs()).inverse();
        let center = x_cw * Point3::from(*self.bounds.center());
        let radius = self.bounds.half_width().norm();
        let range = self.depth.depth_range();
        let near = (center.z - radius).max(range.min_depth());
        let far = (center.z + radius).min(range.max_depth());
        if near < far {
            [near, far]
        } else {
            [range.min_depth(), range.max_depth()]
        }
    }
}

/// Returns the bounds of what is visible. If nothing is, but the model has collision geometry,
/// returns the bounds of that, after a warning.
fn bounds(args: &RenderArgs, query: &QueryObject<f64>) -> Result<Aabb, Box<dyn Error>> {
    if let Some(bounds) = query.compute_scene_aabb(Role::Perception)? {
        return Ok(bounds);
    }
    let (file, role) = (args.model.model.display(), args.role.name());
    let Some(bounds) = query.compute_scene_aabb(Role::Proximity)? else {
        let message = match args.role {
            ShownRole::Proximity => {
                "no collision geometry; --role perception draws visual geometry"
            }
            _ => "no visual geometry of a supported kind",
        };
        return Err(format!("{file}: the model has nothing to draw: {message}").into());
    };
    let shapes = query.inspector().num_geometries_with_role(Role::Proximity);
    let shapes = counted(shapes, "collision shape");
    args.model.options.report(&[format!(
        "{file}: the images are empty, because no geometry of the model has the role {role}; \
         --role proximity draws its {shapes}"
    )])?;
    Ok(bounds)
}

/// Name of the render engine of fitted cameras.
const STUDIO: &str = "studio";

/// Adds the render engine of the camera.
fn add_renderers(
    args: &RenderArgs,
    config: Option<&CameraConfig>,
    scene_graph: &mut SceneGraph,
    sky: Option<EnvironmentMap>,
) -> Result<(), Box<dyn Error>> {
    match (config, sky, args.engine) {
        (Some(config), None, _) => add_camera_renderers([config], scene_graph)?,
        (Some(config), Some(sky), _) => {
            add_camera_renderers_with_environment([config], scene_graph, &sky)?;
        }
        (None, sky, Engine::Cpu) => {
            scene_graph.add_renderer(STUDIO, RenderEngineCpu::new(studio(sky))?)?;
        }
        (None, sky, Engine::Gpu) => add_gpu(scene_graph, sky)?,
    }
    Ok(())
}

/// Reads a camera file, and applies the requested image size.
fn read_camera(file: &Path, args: &RenderArgs) -> Result<CameraConfig, Box<dyn Error>> {
    let mut config = CameraConfig::from_yaml_file(file)?;
    if let Some(width) = args.width {
        config.width = width;
    }
    if let Some(height) = args.height {
        config.height = height;
    }
    // All images are drawn here, at one time.
    (config.rgb, config.depth, config.label) = (true, true, true);
    config.output_delay = 0.0;
    config
        .validate()
        .map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(config)
}

/// The renderer of fitted cameras.
fn studio(environment_map: Option<EnvironmentMap>) -> RenderEngineCpuParams {
    RenderEngineCpuParams {
        samples_per_side: 3,
        environment_map,
        ..RenderEngineCpuParams::studio()
    }
}

#[cfg(feature = "gpu")]
fn add_gpu(
    scene_graph: &mut SceneGraph,
    sky: Option<EnvironmentMap>,
) -> Result<(), Box<dyn Error>> {
    use tarragon::geometry::render::RenderEngineGpuParams;
    use tarragon::gpu::RenderEngineGpu;
    let engine = RenderEngineGpu::new(RenderEngineGpuParams::from(&studio(sky)))?;
    scene_graph.add_renderer(STUDIO, engine)?;
    Ok(())
}

#[cfg(not(feature = "gpu"))]
fn add_gpu(_: &mut SceneGraph, _: Option<EnvironmentMap>) -> Result<(), Box<dyn Error>> {
    Err(super::NO_GPU.into())
}

/// A camera that sees the whole model.
fn fitted(
    args: &RenderArgs,
    bounds: &Aabb,
) -> Result<(ColorRenderCamera, DepthRenderCamera, Isometry3<f64>), Box<dyn Error>> {
    let (width, height) = (args.width.unwrap_or(1280), args.height.unwrap_or(720));
    let info = CameraInfo::from_fov_y(width, height, 0.6)?;
    let (depth, x_wc) = DepthRenderCamera::fitted(STUDIO, info, bounds, &args.direction)
        .map_err(|e| format!("{}: {e}, with --camera", args.model.model.display()))?;
    Ok((depth.to_color(), depth, x_wc))
}
