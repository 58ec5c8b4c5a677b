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

use clap::Parser as _;
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tarragon::framework::primitives::TrajectorySource;
use tarragon::framework::trajectories::PiecewisePolynomial;
use tarragon::geometry::render::{LightFrame, LightParameter, look_at_box};
use tarragon::geometry::{Aabb, proximity};
use tarragon::multibody::{Joint, JointKind};
use tarragon::prelude::*;
use tarragon::sensors::{
    ClippingRange, Depth32F, DepthRange, DepthRenderCamera, Label16I, RenderCameraCore, Rgba8U,
};

/// Step of central differences (m or rad), which are accurate to about 1e-9 for a smooth distance;
/// the tolerance leaves room for a feature change within the step.
const STEP: f64 = 1e-6;
const TOLERANCE: f64 = 1e-6;

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
    differentiate(&world, args.duration, &mut out)?;
    writeln!(out, "the images are in {}", args.out.display())?;
    Ok(())
}

fn camera_info() -> AnyResult<CameraInfo> {
    Ok(CameraInfo::from_fov_y(640, 480, 0.6)?)
}

/// A renderer with bright studio lighting: a main lamp from the upper left, and two fill lights.
fn renderer() -> AnyResult<RenderEngineCpu> {
    let lamp = |x, y, z, intensity| LightParameter {
        frame: LightFrame::World,
        direction: Vector3::new(x, y, z),
        intensity,
        ..LightParameter::default()
    };
    Ok(RenderEngineCpu::new(RenderEngineCpuParams {
        lights: vec![
            lamp(-0.5, 0.45, -0.9, 0.9),
            lamp(0.8, 0.5, -0.5, 0.45),
            lamp(-0.4, -0.6, -0.3, 0.3),
        ],
        samples_per_side: 2,
        ..RenderEngineCpuParams::default()
    })?)
}

/// Our arm on a table with objects to reach for; see examples/models.
fn arm_on_table() -> AnyResult<World> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
    let json = |file: &str| -> AnyResult<serde_json::Value> {
        Ok(serde_json::from_slice(&std::fs::read(models.join(file))?)?)
    };
    let mut plant = MultibodyPlant::new(0.001)?;
    let mut scene_graph = SceneGraph::new();
    scene_graph.add_renderer("cpu", renderer()?)?;
    load(
        &mut plant,
        &mut scene_graph,
        &models.join("arm7/arm7.urdf"),
        &[],
        Isometry3::identity(),
    )?;
    for object in json("table_top/scene.json")?["objects"]
        .as_array()
        .ok_or("scene.json must have objects")?
    {
        let vector = |key: &str| -> AnyResult<Vector3<f64>> {
            let v: [f64; 3] = serde_json::from_value(object[key].clone())?;
            Ok(v.into())
        };
        let file = object["model"]
            .as_str()
            .ok_or("every object of scene.json must name its model file")?;
        let x_wo = math::pose_xyz_rpy(vector("xyz")?, vector("rpy")?);
        load(
            &mut plant,
            &mut scene_graph,
            &models.join("table_top").join(file),
            &[],
            x_wo,
        )?;
    }
    plant.finalize()?;
    let motion = json("arm7/motion.json")?;
    let times: Vec<f64> = serde_json::from_value(motion["times"].clone())?;
    let q: Vec<Vec<f64>> = serde_json::from_value(motion["q"].clone())?;
    Ok(World {
        plant,
        scene_graph,
        trajectory: PiecewisePolynomial::cubic_spline_at_rest(&times, &q)?,
        camera: look_at(
            &Vector3::new(1.35, -1.08, 0.78),
            &Vector3::new(0.26, -0.035, 0.255),
        ),
    })
}

/// Any robot, standing on a floor, with each joint swinging a little.
fn any_robot(model: &Path, packages: &[String]) -> AnyResult<World> {
    let mut plant = MultibodyPlant::new(0.001)?;
    let mut scene_graph = SceneGraph::new();
    scene_graph.add_renderer("cpu", renderer()?)?;
    load(
        &mut plant,
        &mut scene_graph,
        model,
        packages,
        Isometry3::identity(),
    )?;
    plant.finalize()?;
    if let Some(source) = plant.source_id() {
        scene_graph.show_proximity_where_unseen(source, &PerceptionProperties::new())?;
    }
    let bounds = bounds(&plant, &scene_graph)?;
    let size = bounds.half_width().norm();
    let source = scene_graph.register_source("floor")?;
    let side = 8.0 * size;
    let below = Vector3::new(
        bounds.center().x,
        bounds.center().y,
        bounds.lower().z - 0.051 * size,
    );
    let floor = GeometryInstance::new(
        math::pose(UnitQuaternion::identity(), below),
        BoxShape::new(side, side, 0.1 * size)?,
        "floor",
    )?;
    let mut look = PerceptionProperties::new();
    look.set("phong", "diffuse", Rgba::new(0.6, 0.62, 0.65, 1.0)?);
    let floor = floor
        .with_perception(look)
        .with_proximity(ProximityProperties::new());
    scene_graph.register_anchored_geometry(source, floor)?;
    let room = Aabb::new(*bounds.center(), bounds.half_width() * 1.1);
    let camera = look_at_box(&room, &Vector3::new(-1.0, 0.8, -0.5), &camera_info()?);
    let trajectory = swing(&plant)?;
    Ok(World {
        plant,
        scene_graph,
        trajectory,
        camera,
    })
}

/// Loads a model, prints its warnings, and welds bodies that are not attached to the world.
fn load(
    plant: &mut MultibodyPlant,
    scene_graph: &mut SceneGraph,
    model: &Path,
    packages: &[String],
    x_wm: Isometry3<f64>,
) -> AnyResult<()> {
    let first_body = plant.num_bodies();
    let mut parser = Parser::with_scene_graph(plant, scene_graph);
    for package in packages {
        add_package(parser.package_map_mut(), package)?;
    }
    parser.add_models(model)?;
    for diagnostic in parser.diagnostics() {
        eprintln!("{diagnostic}");
    }
    let children: Vec<BodyIndex> = plant
        .joints()
        .map(|(_, joint)| joint.child_body())
        .collect();
    let roots = plant.bodies().map(|(index, _)| index).skip(first_body);
    let roots: Vec<BodyIndex> = roots.filter(|body| !children.contains(body)).collect();
    for root in roots {
        let name = format!("world_welds_to_{}", plant.body(root)?.name());
        let instance = plant.body(root)?.model_instance();
        let weld = Joint::weld(name, BodyIndex::WORLD, root, x_wm);
        plant.add_joint(weld.with_model_instance(instance))?;
    }
    Ok(())
}

/// `NAME=DIR` is one package, `DIR` all packages in it.
fn add_package(map: &mut PackageMap, argument: &str) -> AnyResult<()> {
    match argument.split_once('=') {
        Some((name, folder)) => map.add(name, folder)?,
        None => map.populate_from_folder(argument)?,
    }
    Ok(())
}

/// Bounding box of a robot in its default position.
fn bounds(plant: &MultibodyPlant, scene_graph: &SceneGraph) -> AnyResult<Aabb> {
    let mut builder = DiagramBuilder::new();
    let (_, scene_graph) =
        add_multibody_plant_scene_graph(&mut builder, plant.clone(), scene_graph.clone())?;
    let ctx = builder.build()?.default_context();
    let bounds = ctx
        .eval(scene_graph.query)?
        .compute_scene_aabb(Role::Perception)?;
    Ok(bounds.ok_or("the model has nothing to draw: no visual geometry of a supported kind")?)
}

/// Moves every joint to one side, to the other and back, within its limits.
fn swing(plant: &MultibodyPlant) -> AnyResult<PiecewisePolynomial> {
    let times = [0.0, 0.5, 1.0, 1.5, 2.0];
    let shape = [0.0, 1.0, 0.0, -1.0, 0.0];
    let mut samples = vec![plant.default_positions(); times.len()];
    let (lower, upper) = (plant.position_lower_limits(), plant.position_upper_limits());
    for (index, joint) in plant.joints() {
        let reach = match joint.kind() {
            JointKind::Revolute { .. } => 0.25,
            JointKind::Prismatic { .. } => 0.05,
            _ => 0.0,
        };
        let start = plant.position_start(index)?;
        // Neighbours swing against each other, so that limbs do not fold into the body.
        let reach = if index.index() % 2 == 0 {
            reach
        } else {
            -reach
        };
        if reach != 0.0 {
            for (sample, side) in samples.iter_mut().zip(shape) {
                let q = sample[start] + side * reach;
                sample[start] = q.clamp(lower[start], upper[start]);
            }
        }
    }
    Ok(PiecewisePolynomial::cubic_spline_at_rest(&times, &samples)?)
}

/// Simulates, and writes the camera's images.
fn take_pictures(world: &World, args: &Args, out: &mut impl Write) -> AnyResult<()> {
    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("cannot create the directory '{}': {e}", args.out.display()))?;
    let mut plant = world.plant.clone();
    plant.set_position_source(PositionSource::InputPort);
    let mut builder = DiagramBuilder::new();
    let (plant, scene_graph) =
        add_multibody_plant_scene_graph(&mut builder, plant, world.scene_graph.clone())?;
    let motion = builder.add("motion", TrajectorySource::new(world.trajectory.clone(), 0));
    builder.connect(motion.y, plant.position()?);

    let distance = world.camera.translation.vector.norm().max(0.1);
    let clipping = ClippingRange::new(0.005 * distance, 50.0 * distance)?;
    let core = RenderCameraCore::new("cpu", camera_info()?, clipping, Isometry3::identity());
    let depth_range = DepthRange::new(0.01 * distance, 20.0 * distance)?;
    let camera = RgbdSensor::from_depth_camera(
        scene_graph.system().world_frame_id(),
        world.camera,
        DepthRenderCamera::new(core, depth_range)?,
    );
    let camera = builder.add_f64("camera", camera);
    builder.connect(scene_graph.query, camera.geometry_query);

    let mut writer = ImageWriter::new();
    let format = args.out.join("{port_name}_{count:04}");
    let format = format
        .to_str()
        .ok_or("the name of the output directory is not UTF-8")?;
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

/// Prints the nearest pair over time, with gradients by dual numbers and by central differences.
fn differentiate(world: &World, duration: f64, out: &mut impl Write) -> AnyResult<()> {
    let mut plant = world.plant.clone();
    plant.set_position_source(PositionSource::InputPort);
    let mut builder = DiagramBuilder::new();
    let (plant, scene_graph) =
        add_multibody_plant_scene_graph(&mut builder, plant, world.scene_graph.clone())?;
    let diagram = builder.build()?;
    let mut ctx = diagram.default_context();
    let (position, query) = (plant.position()?, scene_graph.query);

    let inspector = scene_graph.system().model_inspector();
    // Frames are named model::body. Obstacles matter more than the robot's own wrist, so pairs
    // within one model count only if there are no others.
    let model = |id: GeometryId| -> AnyResult<&str> {
        let frame = inspector.frame_name(inspector.frame_id(id)?)?;
        Ok(frame.split("::").next().unwrap_or(frame))
    };
    let mut candidates = vec![];
    for (a, b) in inspector.collision_candidates() {
        candidates.push((model(a)? == model(b)?, a, b));
    }
    let only_within = candidates.iter().all(|c| c.0);
    let (mut pairs, mut left_out) = (vec![], 0);
    for (_, a, b) in candidates.into_iter().filter(|c| only_within || !c.0) {
        if proximity::is_supported(inspector.shape(a)?, inspector.shape(b)?) {
            pairs.push((a, b));
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        writeln!(
            out,
            "left out {left_out} pairs: two half spaces have no distance"
        )?;
    }
    if pairs.is_empty() {
        writeln!(out, "no pair of collision geometry has a distance")?;
        return Ok(());
    }
    let name = |id: GeometryId| -> AnyResult<String> {
        Ok(inspector
            .frame_name(inspector.frame_id(id)?)?
            .replace("::", "/"))
    };

    // The same diagram over dual numbers.
    let dual_diagram = diagram.to_scalar::<AutoDiff>()?;
    let mut dual_ctx = dual_diagram.default_context();
    let dual_position = dual_diagram.ports(&plant)?.position()?;
    let dual_query = dual_diagram.ports(&scene_graph)?.query;

    writeln!(
        out,
        "time s | nearest pair                             | distance mm | |AD - CD| | gradient mm/rad"
    )?;
    let mut worst: f64 = 0.0;
    for step in 0..=(duration * RATE + 1e-9) as usize {
        let time = step as f64 / RATE;
        let q = world.trajectory.value(time);
        let mut distance = |q: &[f64], (a, b)| -> AnyResult<f64> {
            ctx.fix(position, q.to_vec())?;
            Ok(ctx
                .eval(query)?
                .compute_signed_distance_pair_closest_points(a, b)?
                .distance)
        };
        let mut nearest = (f64::INFINITY, pairs[0]);
        for pair in &pairs {
            let d = distance(&q, *pair)?;
            if d < nearest.0 {
                nearest = (d, *pair);
            }
        }
        let (d, (a, b)) = nearest;
        let (_, gradient) = try_gradient(
            |q| -> AnyResult<AutoDiff> {
                dual_ctx.fix(dual_position, q.to_vec())?;
                let query = dual_ctx.eval(dual_query)?;
                Ok(query
                    .compute_signed_distance_pair_closest_points(a, b)?
                    .distance)
            },
            &q,
        )?;
        let mut difference: f64 = 0.0;
        for i in 0..q.len() {
            let mut shifted = q.clone();
            shifted[i] = q[i] + STEP;
            let above = distance(&shifted, (a, b))?;
            shifted[i] = q[i] - STEP;
            let below = distance(&shifted, (a, b))?;
            difference = difference.max((gradient[i] - (above - below) / (2.0 * STEP)).abs());
        }
        worst = worst.max(difference);
        let shown: Vec<String> = gradient
            .iter()
            .take(8)
            .map(|g| format!("{:8.1}", 1e3 * g))
            .collect();
        let more = if gradient.len() > 8 { " ..." } else { "" };
        let pair = format!("{} - {}", name(a)?, name(b)?);
        writeln!(
            out,
            "{time:6.2} | {pair:40} | {:11.3} | {difference:9.1e} | {}{more}",
            1e3 * d,
            shown.join(" ")
        )?;
    }
    if worst > TOLERANCE {
        return Err(format!(
            "a gradient differs from central differences by {worst:e}, more than {TOLERANCE:e}"
        )
        .into());
    }
    writeln!(
        out,
        "\nall gradients agree with central differences to {worst:.1e} m/rad"
    )?;
    Ok(())
}
