//! From a model or a scenario to a diagram.

use super::actuation::Actuation;
use super::drag::{DragSpring, Dragged, Pull};
use super::driver::Driver;
use super::ground::Ground;
use super::log::{Log, LogWriter};
use super::scenario::Scenario;
use super::{SimulateArgs, TimeStep};
use crate::model::{self, Extras};
use crate::{page, sky};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use tarragon::documents::{Diagnostic, Severity};
use tarragon::formats::Parser;
use tarragon::formats::directives::{ModelDirective, ModelDirectives, process_model_directives};
use tarragon::framework::{Diagram, counted};
use tarragon::lcm::{Lcm, LcmBuses, LcmParams};
use tarragon::multibody::{
    ContactModel, ContactResults, Joint, JointIndex, MultibodyModel, MultibodyPlant,
    MultibodyPlantBuilder, add_multibody_plant_scene_graph, compute_default_scene_aabb,
};
use tarragon::prelude::*;
use tarragon::sensors::{
    AppliedCamera, CameraConnections, CubeMap, Depth32F, Label16I, Rgba8U,
    add_camera_renderers_with_environment, apply_camera_config_with,
};
use tarragon::visualization::{
    ContactVisualizer, ContactVisualizerParams, Meshcat, VisualizationConfig,
    VisualizationConnections, apply_visualization_config,
};

/// Finalized plant with its scene.
pub(super) struct World {
    pub(super) plant: MultibodyPlant,
    scene: SceneGraph,
    pub(super) skybox: Option<CubeMap>,
    /// Height of an added ground (m).
    pub(super) ground: Option<f64>,
    /// Initial velocities.
    pub(super) velocities: Vec<f64>,
    /// Inputs of actuators by their indices; all others have defaults.
    pub(super) inputs: BTreeMap<usize, f64>,
}

/// Loads a model, puts a ground below it and builds the plant.
pub(super) fn load_model(
    args: &SimulateArgs,
    scenario: &Scenario,
) -> Result<World, Box<dyn Error>> {
    let (mut plant, mut scene) = empty(scenario)?;
    let models = std::slice::from_ref(&args.model.model);
    let mut skybox = None;
    let extras = Extras {
        uses_model_time_step: matches!(args.time_step, None | Some(TimeStep::Model)),
        without_geometry: args.no_geometry,
        without_meshes: args.no_meshes,
        ..Extras::skybox(&mut skybox)
    };
    args.model
        .options
        .add(models, &mut plant, &mut scene, extras)?;
    if args.shows_page() {
        page::show_models_without_visuals(&plant, &mut scene)?;
    }
    if args.contact_model.is_none() && model::declares_hydroelastics(&scene)? {
        plant.set_contact_model(ContactModel::HydroelasticWithFallback);
    }
    if args.weld {
        plant.weld_unattached_bodies(Isometry3::identity())?;
    }
    // A keyframe replaces the default positions.
    let moved = match args.keyframe.as_str() {
        "none" => start_within_limits(&mut plant)?,
        _ => vec![],
    };
    if !moved.is_empty() {
        eprintln!(
            "warning: joints whose default positions violate their limits start at the limits: {}",
            moved.join(", ")
        );
    }
    let mut ground = None;
    if !args.no_ground {
        ground = Ground::below(&plant, &scene, args.height.unwrap_or(DEFAULT_HEIGHT))?;
    }
    if let Some(height) = args.height {
        warn_of_ignored_height(height, args.no_ground, ground);
    }
    if let Some(ground) = ground {
        ground.add(&mut plant, &mut scene)?;
    }
    let mut plant = plant.build()?;
    if let Some(ground) = ground {
        ground.lift(&mut plant)?;
    }
    let mut world = World {
        plant,
        scene,
        skybox,
        ground: ground.map(|ground| ground.z),
        velocities: vec![],
        inputs: BTreeMap::new(),
    };
    world.start_as_asked(args)?;
    warn_of_continuous_time("--time-step 0", &world.plant);
    Ok(world)
}

/// Height at which a free model starts above the ground (m), unless `--height` is given.
const DEFAULT_HEIGHT: f64 = 0.1;

/// Warns that `--height` has no effect if nothing is lifted above a ground.
fn warn_of_ignored_height(height: f64, no_ground: bool, ground: Option<Ground>) {
    let why = match ground {
        Some(ground) if !ground.lifts() => "parts of the model are fixed to the world",
        Some(_) => return,
        None if no_ground => "--no-ground leaves out the ground",
        None => "the model has its own floor, or no free body that can collide",
    };
    eprintln!("warning: --height {height} has no effect, because {why}");
}

/// Warns about joint limits and dry friction, which have no effect in continuous time; `cause` is
/// the setting that chose it.
fn warn_of_continuous_time(cause: &str, plant: &MultibodyPlant) {
    if plant.time_step() > 0.0 {
        return;
    }
    let joints = || plant.joints().map(|(_, joint)| joint);
    let is_limited = |joint: &&Joint| {
        let (lower, upper) = (joint.position_lower_limits(), joint.position_upper_limits());
        lower.iter().chain(upper).any(|limit| limit.is_finite())
    };
    let has_friction = |joint: &&Joint| joint.dry_friction() != 0.0;
    let lost = [
        ("limits", joints().filter(is_limited).count()),
        ("dry friction", joints().filter(has_friction).count()),
    ];
    for (what, number) in lost.into_iter().filter(|(_, number)| *number > 0) {
        eprintln!(
            "warning: {cause}: the {what} of {} will not act, because time is continuous; choose a \
             positive time step",
            counted(number, "joint")
        );
    }
}

/// Moves the default positions of joints into their limits, because a violated limit throws the
/// model away. Returns the names of the joints.
fn start_within_limits(plant: &mut MultibodyPlantBuilder) -> Result<Vec<String>> {
    let mut names = vec![];
    for (joint, name, q) in beyond_limits(plant) {
        plant.set_default_joint_positions(joint, &q)?;
        names.push(name);
    }
    Ok(names)
}

/// Returns the joints whose default positions violate their limits, with the nearest positions that
/// do not.
pub(super) fn beyond_limits(plant: &MultibodyModel) -> Vec<(JointIndex, String, Vec<f64>)> {
    let mut beyond = vec![];
    for (index, joint) in plant.joints() {
        let (lower, upper) = (joint.position_lower_limits(), joint.position_upper_limits());
        let limits = lower.iter().zip(upper);
        let clamp = |(q, (lower, upper)): (&f64, (&f64, &f64))| q.max(*lower).min(*upper);
        let positions = joint.default_positions();
        let q: Vec<f64> = positions.iter().zip(limits).map(clamp).collect();
        if q != positions {
            beyond.push((index, joint.name().to_owned(), q));
        }
    }
    beyond
}

fn empty(scenario: &Scenario) -> Result<(MultibodyPlantBuilder, SceneGraph), Box<dyn Error>> {
    let config = scenario.scene_graph_config.config();
    let scene = config.and_then(SceneGraph::with_config);
    let scene = scene.map_err(|e| scenario.error_in("scene_graph_config", &e))?;
    let plant = MultibodyPlantBuilder::from_config(&scenario.plant_config);
    let plant = plant.map_err(|e| scenario.error_in("plant_config", &e))?;
    Ok((plant, scene))
}

/// Executes the directives of a scenario, sets gains and initial positions, and builds the plant.
pub(super) fn load_scenario(
    args: &SimulateArgs,
    scenario: &Scenario,
) -> Result<World, Box<dyn Error>> {
    let in_file = |e: Box<dyn Error>| format!("{}: {e}", scenario.file.display());
    let (mut plant, mut scene) = empty(scenario)?;
    let skybox = add_directives(args, scenario, &mut plant, &mut scene)?;
    for (model, driver) in &scenario.model_drivers {
        let place = || format!("{}: model_drivers: {model}", scenario.at(driver));
        set_driver(&mut plant, model, &driver.value).map_err(|e| format!("{}: {e}", place()))?;
    }
    let mut plant = plant.build().map_err(|e| in_file(e.into()))?;
    for (model, positions) in &scenario.initial_position {
        for (joint, q) in positions {
            let place = || format!("{}: initial_position: {model}: {joint}", scenario.at(q));
            set_position(&mut plant, model, joint, &q.value)
                .map_err(|e| format!("{}: {e}", place()))?;
        }
    }
    let cameras = scenario.cameras.values().map(|camera| &camera.value);
    let added = match &skybox {
        Some(skybox) => {
            let sky = sky::behind(skybox.clone());
            add_camera_renderers_with_environment(cameras, &mut scene, &sky)
        }
        None => add_camera_renderers(cameras, &mut scene),
    };
    added.map_err(|e| in_file(e.into()))?;
    if args.shows_page() {
        page::show_models_without_visuals(&plant, &mut scene)?;
    }
    let mut world = World {
        plant,
        scene,
        skybox,
        ground: None,
        velocities: vec![],
        inputs: BTreeMap::new(),
    };
    world.start_as_asked(args)?;
    let of_file = || format!("{}: plant_config: time_step 0", scenario.file.display());
    let cause = args
        .time_step
        .map_or_else(of_file, |_| "--time-step 0".into());
    warn_of_continuous_time(&cause, &world.plant);
    Ok(world)
}

fn set_driver(plant: &mut MultibodyPlantBuilder, model: &str, driver: &Driver) -> Result<()> {
    let instance = plant.model_instance_by_name(model)?;
    match driver {
        Driver::ZeroForce => Ok(()),
        Driver::JointStiffness(gains) => {
            let actuators = plant.joint_actuator_indices_in(instance)?;
            for (name, gains) in gains {
                let is_named = |i| plant.joint_actuator(i).is_ok_and(|a| a.name() == name);
                let Some(actuator) = actuators.iter().copied().find(|i| is_named(*i)) else {
                    let names = actuators
                        .iter()
                        .map(|i| Ok(plant.joint_actuator(*i)?.name()));
                    let names: Vec<&str> = names.collect::<Result<_>>()?;
                    return Err(tarragon::Error::not_found(format!(
                        "gains: '{name}' must be an actuator of the model, one of [{}]",
                        names.join(", ")
                    )));
                };
                plant.set_controller_gains(actuator, *gains)?;
            }
            Ok(())
        }
        Driver::Unsupported(name) => Err(tarragon::Error::unsupported(format!(
            "{name} is not supported; use !JointStiffnessDriver or !ZeroForceDriver"
        ))),
    }
}

fn set_position(plant: &mut MultibodyPlant, model: &str, joint: &str, q: &[f64]) -> Result<()> {
    let instance = plant.model_instance_by_name(model)?;
    let joint = plant.joint_by_name_in(joint, instance)?;
    plant.set_default_joint_positions(joint, q)
}

/// Warns if the time step `own` (s) of an SDFormat world differs from the scenario's, which is
/// used. Does not warn if `--time-step` is given.
fn warn_of_other_step(args: &SimulateArgs, scenario: &Scenario, own: Option<f64>) {
    let step = scenario.plant_config.time_step;
    if let Some(own) = own.filter(|own| *own != step && args.time_step.is_none()) {
        eprintln!(
            "warning: {}: plant_config: time_step is {step:?} s, but a world has max_step_size \
             {own:?} s; set time_step or use --time-step",
            scenario.file.display()
        );
    }
}

/// Executes the directives; files are relative to the file of the scenario. Returns the skybox of
/// the models.
fn add_directives(
    args: &SimulateArgs,
    scenario: &Scenario,
    plant: &mut MultibodyPlantBuilder,
    scene: &mut SceneGraph,
) -> Result<Option<CubeMap>, Box<dyn Error>> {
    let directory = std::path::absolute(scenario.directory())?;
    let directives = scenario.directives.iter().map(|directive| {
        let mut directive = directive.value.clone();
        match &mut directive {
            ModelDirective::AddModel(add) => resolve(&mut add.file, &directory),
            ModelDirective::AddDirectives(add) => resolve(&mut add.file, &directory),
            _ => {}
        }
        directive
    });
    let directives: Vec<ModelDirective> = directives.collect();
    let before = (plant.clone(), scene.clone());
    let mut parser = Parser::with_scene_graph(plant, scene);
    args.model.configure(&mut parser)?;
    parser.set_mesh_geometry(!args.no_meshes);
    let list = ModelDirectives {
        directives: directives.clone(),
    };
    let added = process_model_directives(&list, &mut parser);
    let has_failed = added.is_err();
    let is_shown = |d: &&Diagnostic| !has_failed || d.severity != Severity::Error;
    let shown = parser.diagnostics().iter().filter(is_shown).cloned();
    args.model.options.print(&shown.collect::<Vec<_>>());
    let Err(error) = added else {
        let (skybox, options) = (args.model.options.skybox(&parser)?, parser.model_options());
        let own = options
            .time_step
            .filter(|_| options.mjcf_semantics.is_none());
        warn_of_other_step(args, scenario, own);
        return Ok(skybox);
    };
    // Diagnostics of directives given as data have no place: the first prefix of the list that
    // fails ends with the culprit.
    for (i, culprit) in scenario.directives.iter().enumerate() {
        let (mut plant, mut scene) = before.clone();
        let mut parser = Parser::with_scene_graph(&mut plant, &mut scene);
        args.model.configure(&mut parser)?;
        parser.set_mesh_geometry(!args.no_meshes);
        let directives = directives[..=i].to_vec();
        if let Err(e) = process_model_directives(&ModelDirectives { directives }, &mut parser) {
            let message = e.to_string();
            let message = message.trim_start_matches("<directives>: error: ");
            return Err(format!("{}: {message}", scenario.at(culprit)).into());
        }
    }
    Err(error.into())
}

/// Makes a file name relative to `directory` absolute; URLs stay.
fn resolve(file: &mut String, directory: &Path) {
    if !file.contains("://") && Path::new(&*file).is_relative() {
        *file = directory.join(&*file).display().to_string();
    }
}

/// Diagram of an experiment, with what is needed to run it.
pub(super) struct Experiment {
    pub(super) diagram: Diagram<f64>,
    pub(super) plant: Block<MultibodyPlant>,
    pub(super) query: OutputPort<QueryObject<f64>>,
    pub(super) contacts: OutputPort<ContactResults<f64>>,
    pub(super) actuation: Actuation,
    /// Initial velocities.
    pub(super) velocities: Vec<f64>,
    /// Spring by which a user drags a body.
    pub(super) pull: InputPort<Option<Pull>>,
    pub(super) dragged: Option<Dragged>,
}

/// Builds the diagram.
pub(super) fn wire(
    world: World,
    scenario: &Scenario,
    meshcat: Option<&Meshcat>,
    sliders: Option<&Meshcat>,
    log: Option<Log>,
    images: Option<&Path>,
) -> Result<Experiment, Box<dyn Error>> {
    let actuation = Actuation::new(&world.plant, scenario, sliders, &world.inputs)?;
    let velocities = world.velocities.clone();
    let newtons_per_meter = arrow_scale(&world)?;
    let mut b = DiagramBuilder::new();
    let (plant, scene) = add_multibody_plant_scene_graph(&mut b, world.plant, world.scene)?;
    let buses = open_buses(scenario)?;
    let config = &scenario.visualization;
    let on_lcm = VisualizationConnections {
        lcm_buses: Some(&buses),
        ..Default::default()
    };
    let mut visualizers = vec![];
    // The server belongs to the command.
    let enable_meshcat_creation = false;
    let sent = VisualizationConfig {
        enable_meshcat_creation,
        ..config.clone()
    };
    let sent = apply_visualization_config(&sent, &mut b, on_lcm);
    sent.map_err(|e| scenario.error_in("visualization", &e))?;
    if let Some(meshcat) = meshcat {
        let shown = VisualizationConfig {
            enable_meshcat_creation,
            lcm_bus: "default".into(),
            publish_contacts: false,
            // Pages keep their objects after a reset.
            delete_on_initialization_event: false,
            ..config.clone()
        };
        let on_page = VisualizationConnections {
            meshcat: Some(meshcat.clone()),
            ..Default::default()
        };
        let applied = apply_visualization_config(&shown, &mut b, on_page)?;
        visualizers.extend(applied.illustration.into_iter().chain(applied.proximity));
        if config.publish_contacts {
            let period = config.publish_period;
            show_contacts(&mut b, (&plant, &scene), meshcat, period, newtons_per_meter)?;
        }
    }
    for camera in scenario.cameras.values() {
        let config = &camera.value;
        let at = |e: tarragon::Error| format!("{}: {e}", scenario.at(camera));
        let on = CameraConnections::new().with_lcm_buses(&buses);
        let applied = apply_camera_config_with(config, &mut b, on).map_err(at)?;
        let Some(folder) = images.filter(|_| applied.is_enabled()) else {
            continue;
        };
        add_image_writers(&mut b, config, &applied, &folder.join(&config.name))?;
    }
    if let Some(log) = log {
        let plant_of_log = plant.system().clone();
        let writer = b.add_f64(
            "log",
            LogWriter {
                log,
                plant: plant_of_log,
            },
        );
        b.connect(plant.state()?, writer.state);
        b.connect(plant.contact_results()?, writer.contacts);
        if let Some(port) = writer.configurations {
            b.connect(plant.deformable_body_configuration()?, port);
        }
    }
    let step = match plant.time_step() {
        0.0 => scenario.simulator_config.config().max_step_size,
        step => step,
    };
    let dragged = sliders.map(|meshcat| Dragged::new(meshcat.clone(), visualizers, step));
    let spring = b.add_f64("drag_spring", DragSpring);
    b.connect(plant.body_poses, spring.poses);
    b.connect(plant.body_spatial_velocities, spring.velocities);
    b.connect(spring.forces, plant.applied_spatial_force()?);
    let (query, contacts) = (scene.query, plant.contact_results()?);
    Ok(Experiment {
        diagram: b.build()?,
        plant,
        query,
        contacts,
        actuation,
        velocities,
        pull: spring.pull,
        dragged,
    })
}

/// Force per length of contact arrows (N/m): that of the weight of everything that moves is half as
/// long as the scene is large.
fn arrow_scale(world: &World) -> Result<f64, Box<dyn Error>> {
    let plant = &world.plant;
    let mut mass = 0.0;
    for (index, body) in plant.bodies() {
        let joint = plant.inboard_joint(index).map(|joint| plant.joint(joint));
        if joint.transpose()?.is_some_and(|j| j.num_velocities() > 0) {
            mass += body.spatial_inertia().mass();
        }
    }
    let deformable = plant.deformable_bodies().iter();
    mass += deformable.map(|body| body.mass()).sum::<f64>();
    let bounds = compute_default_scene_aabb(plant, &world.scene, Role::Proximity)?;
    let size = bounds.map_or(1.0, |b| 2.0 * b.half_width().norm());
    let scale = mass * plant.gravity().norm() / (0.5 * size);
    let default = ContactVisualizerParams::default().newtons_per_meter;
    Ok(if scale > 0.0 && scale.is_finite() {
        scale
    } else {
        default
    })
}

/// Shows contact forces as arrows.
fn show_contacts(
    b: &mut DiagramBuilder,
    (plant, scene): (&Block<MultibodyPlant>, &Block<SceneGraph>),
    meshcat: &Meshcat,
    publish_period: f64,
    newtons_per_meter: f64,
) -> Result<()> {
    let params = ContactVisualizerParams {
        publish_period,
        newtons_per_meter,
        radius: 0.004,
        delete_on_initialization_event: false,
        ..ContactVisualizerParams::default()
    };
    let arrows = ContactVisualizer::add_to_builder(b, scene.query, meshcat.clone(), params)?;
    b.connect(plant.contact_results()?, arrows.contact_results);
    Ok(())
}

/// Writes the images of a camera into a folder: `color_0000.png` and so on.
fn add_image_writers(
    b: &mut DiagramBuilder,
    config: &CameraConfig,
    camera: &AppliedCamera,
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    let problem = |e: std::io::Error| format!("cannot write '{}': {e}", folder.display());
    std::fs::create_dir_all(folder).map_err(problem)?;
    // Braces in the name of the folder are no fields.
    let escaped = folder.display().to_string();
    let escaped = PathBuf::from(escaped.replace('{', "{{").replace('}', "}}"));
    let format = |kind: &str| {
        escaped
            .join(format!("{kind}_{{count:04}}"))
            .display()
            .to_string()
    };
    let name = |kind: &str| format!("{kind}_writer_{}", config.name);
    let (period, offset) = (camera.period, camera.offset);
    if config.rgb {
        let (name, format, image) = (name("color"), format("color"), camera.color_image()?);
        ImageWriter::add_to_builder::<Rgba8U>(b, &name, image, &format, period, offset)?;
    }
    if config.depth {
        let (name, format, image) = (name("depth"), format("depth"), camera.depth_image_32f()?);
        ImageWriter::add_to_builder::<Depth32F>(b, &name, image, &format, period, offset)?;
    }
    if config.label {
        let (name, format, image) = (name("label"), format("label"), camera.label_image()?);
        ImageWriter::add_to_builder::<Label16I>(b, &name, image, &format, period, offset)?;
    }
    Ok(())
}

/// Opens the buses of a scenario. A scenario without the key has a default bus that discards
/// everything.
fn open_buses(scenario: &Scenario) -> Result<LcmBuses, Box<dyn Error>> {
    let mut buses = LcmBuses::new();
    let Some(params) = &scenario.lcm_buses else {
        buses.add("default", Lcm::with_url(LcmBuses::MEMQ_NULL)?)?;
        return Ok(buses);
    };
    for (name, params) in params {
        let lcm = Lcm::new(LcmParams::clone(params));
        let section = format!("lcm_buses.{name}");
        buses.add(name, lcm.map_err(|e| scenario.error_in(&section, &e))?)?;
    }
    Ok(buses)
}
