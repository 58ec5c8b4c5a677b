//! From a robot description to images and gradients.
//!
//! Loads our seven-joint arm in a table-top scene, or any URDF named on the command line, moves it
//! along a joint trajectory, writes 2 s of colour, depth and label images at 10 Hz, and prints the
//! nearest pair of bodies with the gradient of its distance with respect to the joint positions,
//! checked against central differences.
//!
//! ```text
//! cargo run --release --example rgbd_robot [-- MODEL.urdf] [--out DIR] [--package DIR]...
//! ```

#[path = "support/nearest_pair.rs"]
mod nearest_pair;
#[path = "support/swing.rs"]
mod swing;

use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::geometry::Aabb;
use tarragon::geometry::render::look_at_box;
use tarragon::multibody::compute_default_scene_aabb;
use tarragon::prelude::*;
use tarragon::sensors::{Depth32F, Label16I, Rgba8U};

/// Images per second.
const RATE: f64 = 10.0;
type AnyResult<V> = Result<V, Box<dyn Error>>;

#[derive(clap::Parser)]
struct Args {
    /// Robot description; by default the arm of examples/models.
    model: Option<PathBuf>,
    /// Directory of the images.
    #[arg(long, default_value = "target/rgbd_robot")]
    out: PathBuf,
    /// Package that the model refers to, as NAME=DIR, or a directory to search for packages; may be
    /// repeated.
    #[arg(long)]
    package: Vec<String>,
    /// Simulated time (s).
    #[arg(long, default_value_t = 2.0)]
    duration: f64,
}

/// The parts of the world, before they become a diagram.
struct World {
    plant: MultibodyPlant,
    scene_graph: SceneGraph,
    trajectory: PiecewisePolynomial,
    camera: Isometry3<f64>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> AnyResult<()> {
    if !(args.duration >= 0.0 && args.duration.is_finite()) {
        let found = args.duration;
        return Err(format!("--duration must be finite and at least 0 s, got {found:?} s").into());
    }
    let world = match &args.model {
        Some(model) => any_robot(model, &args.package)?,
        None => arm_on_table()?,
    };
    let mut out = std::io::stdout().lock();
    take_pictures(&world, args, &mut out)?;
    nearest_pair::differentiate(&world, args.duration, &mut out)?;
    writeln!(out, "the images are in {}", args.out.display())?;
    Ok(())
}

fn camera_info() -> Result<CameraInfo> {
    CameraInfo::from_fov_y(640, 480, 0.6)
}

/// An empty plant whose positions another system supplies, and a scene with a renderer.
fn empty() -> Result<(MultibodyPlantBuilder, SceneGraph)> {
    let mut scene_graph = SceneGraph::new();
    let engine = RenderEngineCpu::new(RenderEngineCpuParams::studio())?;
    scene_graph.add_renderer("cpu", engine)?;
    let mut plant = MultibodyPlantBuilder::new(0.001)?;
    plant.set_position_source(PositionSource::InputPort);
    Ok((plant, scene_graph))
}

/// Loads a model, prints its warnings, and welds its free bodies to the world.
fn load(
    (plant, scene_graph): (&mut MultibodyPlantBuilder, &mut SceneGraph),
    model: &Path,
    packages: &[String],
    x_wm: Isometry3<f64>,
) -> Result<()> {
    let mut parser = Parser::with_scene_graph(plant, scene_graph);
    for package in packages {
        parser.package_map_mut().add_argument(package)?;
    }
    parser.add_models(model)?;
    plant.weld_unattached_bodies(x_wm)?;
    Ok(())
}

/// An object of `scene.json`.
#[derive(serde::Deserialize)]
struct Placed {
    model: String,
    xyz: [f64; 3],
    rpy: [f64; 3],
}

#[derive(serde::Deserialize)]
struct Motion {
    times: Vec<f64>,
    q: Vec<Vec<f64>>,
}

/// Our arm on a table with objects to reach for; see examples/models.
fn arm_on_table() -> AnyResult<World> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
    let (mut plant, mut scene_graph) = empty()?;
    let mut add = |model: &str, x_wm| {
        let model = models.join(model);
        load((&mut plant, &mut scene_graph), &model, &[], x_wm)
    };
    add("arm7/arm7.urdf", Isometry3::identity())?;
    let scene = std::fs::read(models.join("table_top/scene.json"))?;
    let mut scene: BTreeMap<String, Vec<Placed>> = serde_json::from_slice(&scene)?;
    for object in scene.remove("objects").unwrap_or_default() {
        let x_wo = math::pose_xyz_rpy(object.xyz.into(), object.rpy.into());
        add(&format!("table_top/{}", object.model), x_wo)?;
    }
    let plant = plant.build()?;
    let motion: Motion = serde_json::from_slice(&std::fs::read(models.join("arm7/motion.json"))?)?;
    let (eye, target) = ([1.35, -1.08, 0.78], [0.26, -0.035, 0.255]);
    Ok(World {
        plant,
        scene_graph,
        trajectory: PiecewisePolynomial::cubic_spline_at_rest(&motion.times, &motion.q)?,
        camera: look_at(&eye.into(), &target.into()),
    })
}

/// Any robot, standing on a floor, with each joint swinging a little.
fn any_robot(model: &Path, packages: &[String]) -> AnyResult<World> {
    let (mut plant, mut scene_graph) = empty()?;
    let origin = Isometry3::identity();
    load((&mut plant, &mut scene_graph), model, packages, origin)?;
    let plant = plant.build()?;
    if let Some(source) = plant.source_id() {
        scene_graph.show_proximity_where_unseen(source, &PerceptionProperties::new())?;
    }
    let bounds = compute_default_scene_aabb(&plant, &scene_graph, Role::Perception)?
        .ok_or("the model has nothing to draw: no visual geometry of a supported kind")?;
    let size = bounds.half_width().norm();
    let (center, side) = (bounds.center(), 8.0 * size);
    let below = Isometry3::translation(center.x, center.y, bounds.lower().z - 0.051 * size);
    let look = PerceptionProperties::phong(Rgba::new(0.6, 0.62, 0.65, 1.0)?);
    let floor = GeometryInstance::new(below, BoxShape::new(side, side, 0.1 * size)?, "floor")?
        .with_perception(look)
        .with_proximity(ProximityProperties::new());
    let source = scene_graph.register_source("floor")?;
    scene_graph.register_anchored_geometry(source, floor)?;
    let room = Aabb::new(*center, bounds.half_width() * 1.1);
    Ok(World {
        trajectory: swing::swing(&plant)?,
        camera: look_at_box(&room, &Vector3::new(-1.0, 0.8, -0.5), &camera_info()?),
        plant,
        scene_graph,
    })
}

/// Simulates, and writes the camera's images.
fn take_pictures(world: &World, args: &Args, out: &mut impl Write) -> AnyResult<()> {
    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("cannot create the directory '{}': {e}", args.out.display()))?;
    let mut builder = DiagramBuilder::new();
    let (plant, scene) = (world.plant.clone(), world.scene_graph.clone());
    let (plant, scene_graph) = add_multibody_plant_scene_graph(&mut builder, plant, scene)?;
    let motion = builder.add("motion", TrajectorySource::new(world.trajectory.clone(), 0));
    builder.connect(motion.y, plant.position()?);

    let distance = world.camera.translation.vector.norm().max(0.1);
    let camera = DepthRenderCamera::new("cpu", camera_info()?)
        .with_depth_range(0.01 * distance..20.0 * distance)?;
    let world_frame = scene_graph.world_frame_id();
    let camera = RgbdSensor::from_depth_camera(world_frame, world.camera, camera);
    let camera = builder.add_f64("camera", camera);
    builder.connect(scene_graph.query, camera.geometry_query);

    let mut writer = ImageWriter::new();
    let format = args.out.join("{port_name}_{count:04}");
    let wrong = "the name of the output directory is not UTF-8";
    let format = format.to_str().ok_or(wrong)?;
    let color = writer.declare_image_input_port::<Rgba8U>("color", format, 1.0 / RATE, 0.0)?;
    let depth = writer.declare_image_input_port::<Depth32F>("depth", format, 1.0 / RATE, 0.0)?;
    let label = writer.declare_image_input_port::<Label16I>("label", format, 1.0 / RATE, 0.0)?;
    let writer = builder.add_f64("writer", writer);
    builder.connect(camera.color_image, writer.image_port(color)?);
    builder.connect(camera.depth_image_32f, writer.image_port(depth)?);
    builder.connect(camera.label_image, writer.image_port(label)?);

    let diagram = builder.build()?;
    let mut sim = Simulator::new(&diagram, diagram.default_context())?;
    let progress = ProgressBar::new((args.duration * 1e3) as u64).with_style(
        ProgressStyle::with_template("simulating [{bar:40}] {pos}/{len} ms of simulated time")?,
    );
    let bar = progress.clone();
    sim.set_monitor(move |ctx| {
        bar.set_position((ctx.time() * 1e3) as u64);
        Ok(EventStatus::DidNothing)
    });
    let start = std::time::Instant::now();
    sim.advance_to(args.duration)?;
    progress.finish_and_clear();
    writeln!(
        out,
        "{} images of colour, depth and label, {:.2} s of simulated time in {:.2} s: see {}\n",
        3 * sim.statistics().publishes, // three images each time
        args.duration,
        start.elapsed().as_secs_f64(),
        args.out.join("color_0000.png").display()
    )?;
    Ok(())
}
