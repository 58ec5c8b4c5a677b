//! `tarragon simulate`: models that fall and move, in a browser or without one.

mod actuation;
mod build;
mod columns;
mod csv;
mod drag;
mod driver;
mod floor;
mod ground;
mod log;
mod log_columns;
mod plot;
mod scenario;
mod session;
mod start;
mod stats;

use crate::stop::{INTERRUPTED, Stop};
use crate::{model, page, sweep};
use build::World;
use log::{Log, LogArgs};
use scenario::Scenario;
use session::{Ending, PERIOD, Playback, Settings};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use tarragon::framework::counted;
use tarragon::visualization::{Meshcat, MeshcatParams};

/// Time step of a plant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TimeStep {
    /// That of the model file.
    Model,
    Seconds(f64),
}

impl std::str::FromStr for TimeStep {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "model" => Ok(Self::Model),
            _ => Ok(Self::Seconds(sweep::not_negative(text).map_err(|why| {
                format!("{why}, or 'model' for the time step of the file")
            })?)),
        }
    }
}

/// Arguments of `tarragon simulate`.
#[derive(clap::Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    model: model::ModelArgs,
    /// Name of the scenario in a file that maps names to scenarios.
    #[arg(long, value_name = "NAME")]
    scenario_name: Option<String>,
    /// Simulated time at the end (s) [default: that of the scenario, or none].
    #[arg(long, value_name = "SECONDS", value_parser = sweep::positive, allow_negative_numbers = true)]
    until: Option<f64>,
    /// Simulated seconds per second of real time; 0 runs as fast as possible [default: that of the
    /// scenario, or 1; 0 with --no-browser].
    #[arg(long, value_name = "RATE", value_parser = sweep::not_negative, allow_negative_numbers = true)]
    realtime_rate: Option<f64>,
    /// Time step (s), or 0 for continuous time. `model` takes the time step of the file (MJCF, or
    /// an SDF world with `<physics>`), or 0.001 if the file has none [default: the step of the
    /// scenario, or `model`].
    #[arg(long, value_name = "SECONDS|model", allow_negative_numbers = true)]
    time_step: Option<TimeStep>,
    /// Contact model [default: that of the scenario; for a model `hydroelastic_with_fallback` if a
    /// geometry declares hydroelastic properties, else `point_manifold`].
    #[arg(long, value_name = "MODEL", value_parser = ["point", "point_manifold", "hydroelastic", "hydroelastic_with_fallback"])]
    contact_model: Option<String>,
    /// Keyframe of an MJCF model to start from, with its velocities and controls; `none` starts
    /// from the default pose.
    #[arg(long, value_name = "NAME|none", default_value = "none")]
    keyframe: String,
    /// Initial position or velocity, or constant input of an actuator, by a name like that of a
    /// column of the log: `arm::elbow.q=0.5`, `arm::elbow.v=1`, `arm::motor.u=2`. May be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Leaves out all geometry: nothing collides and nothing is drawn.
    #[arg(long, conflicts_with = "record")]
    no_geometry: bool,
    /// Leaves out geometry with meshes: it neither collides nor is drawn. Mesh files may be missing
    /// unless masses are computed from them. Primitive shapes stay.
    #[arg(long)]
    no_meshes: bool,
    /// On exit, writes one line about steps, times and energies to standard output.
    #[arg(long, value_name = "FORMAT", value_parser = ["json"])]
    stats: Option<String>,
    /// Height at which a free model starts above the ground (m). [default: 0.1]
    #[arg(long, value_name = "METRES", value_parser = sweep::not_negative, allow_negative_numbers = true)]
    height: Option<f64>,
    /// Leaves out the ground; a free model then falls from its default pose. A model over its own
    /// floor never gets a ground.
    #[arg(long)]
    no_ground: bool,
    /// Fixes the free bodies of the model to the world.
    #[arg(long)]
    weld: bool,
    /// On exit, writes a page that plays back the motion.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    log: LogArgs,
    /// Writes the images of the scenario's cameras into this directory, in one folder per camera.
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Starts paused.
    #[arg(long, conflicts_with = "no_browser")]
    paused: bool,
    /// Starts no server for a browser.
    #[arg(long, conflicts_with_all = ["host", "port"])]
    no_browser: bool,
    /// Host to listen on; with `*`, others on the network can watch and move the sliders.
    #[arg(long, default_value = "localhost")]
    host: String,
    /// Port to listen on; 0 chooses any free port. By default, the first free port from 7000 to
    /// 7999.
    #[arg(long)]
    port: Option<u16>,
}

impl SimulateArgs {
    /// Whether a page is served or recorded.
    fn shows_page(&self) -> bool {
        !self.no_browser || self.record.is_some()
    }
}

/// Simulates until the end time, the button `Stop` or Ctrl-C, then writes what was recorded.
pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode, Box<dyn Error>> {
    let started = Instant::now();
    args.log.check(args.record.as_deref())?;
    let (scenario, world) = load(args)?;
    let until = args.until.unwrap_or(scenario.simulation_duration);
    if args.no_browser && until.is_infinite() {
        return Err(
            "--no-browser must come with --until or a scenario's simulation_duration; \
                    otherwise nothing ends the simulation"
                .into(),
        );
    }
    let log = Log::create(&args.log, &world.plant)?;
    let meshcat = start_server(args)?;
    let keys = &scenario.simulator_config;
    let settings = Settings {
        simulator: keys.config(),
        seed: scenario.random_seed,
        until: until + keys.start_time.unwrap_or(0.0),
        realtime_rate: match args.realtime_rate {
            Some(rate) => rate,
            None if args.no_browser => 0.0,
            None => keys.target_realtime_rate,
        },
        step: match world.plant.time_step() {
            0.0 => PERIOD,
            step => step,
        },
        starts_paused: args.paused,
        recording_rate: (args.record.is_some())
            .then(|| session::recording_rate(scenario.visualization.publish_period)),
    };
    let page = meshcat.as_ref().filter(|_| !args.no_browser);
    // Above the sliders, of which there may be many.
    page.map_or(Ok(()), session::add_buttons)?;
    if let Some(meshcat) = &meshcat {
        page::show_sky(meshcat, world.skybox.as_ref())?;
    }
    let ground = world.ground;
    let images = args.images.as_deref();
    let experiment = build::wire(
        world,
        &scenario,
        meshcat.as_ref(),
        page,
        log.clone(),
        images,
    )?;
    if let (Some(meshcat), Some(z)) = (&meshcat, ground) {
        let grid = nalgebra::Isometry3::translation(0.0, 0.0, z);
        meshcat.set_transform("/Grid", &grid);
    }
    let (options, has_buttons) = (&args.model.options, page.is_some());
    let mut playback = Playback::new(
        experiment,
        settings,
        meshcat.clone(),
        has_buttons,
        log.clone(),
        options,
    )?;
    playback.fit_camera()?;
    if let Some(meshcat) = page {
        writeln!(std::io::stdout(), "{}", meshcat.web_url())?;
        std::io::stdout().flush()?;
    }
    let stop = Stop::listen()?;
    let loaded = started.elapsed();
    let start = playback.energy();
    let ending = playback.run(&stop);
    if args.stats.is_some() {
        let stats = playback.stats(
            loaded,
            start,
            ending.as_ref().is_err_and(|e| has_diverged(&**e)),
        );
        writeln!(std::io::stdout(), "{stats}")?;
    }
    // An error, too, leaves what was recorded before it.
    let rows = log.as_ref().map(Log::finish).transpose()?;
    if let (Some(meshcat), Some(file)) = (&meshcat, &args.record) {
        meshcat.stop_recording();
        playback.hide_drag();
        meshcat.publish_recording();
        page::save(meshcat, file)?;
    }
    let (time, rate) = (playback.now(), playback.realtime_rate());
    let rows = rows.map_or(String::new(), |n| format!(", {}", counted(n, "record")));
    let what = match ending {
        Ok(Ending::Signal) => "interrupted at",
        Ok(_) => "simulated",
        Err(_) => "failed at",
    };
    let rate = if rate.is_finite() && rate > 0.0 && ending.is_ok() {
        format!(" at {rate:.2} times real time")
    } else {
        String::new()
    };
    eprintln!("{what} {time:.3} s{rate}{rows}");
    Ok(match ending? {
        Ending::Signal if until.is_finite() => ExitCode::from(INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}

/// Returns true if a simulation failed numerically. Errors from outside the framework count, too.
fn has_diverged(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<tarragon::framework::Error>();
    error.is_none_or(|e| e.kind() == tarragon::framework::ErrorKind::NumericalFailure)
}

/// Loads the model or the scenario.
fn load(args: &SimulateArgs) -> Result<(Scenario, World), Box<dyn Error>> {
    let file = &args.model.model;
    let is_scenario = Scenario::is_in(file);
    if args.scenario_name.is_some() && !is_scenario {
        return Err(format!(
            "--scenario-name must come with a scenario (.yaml), got the model {}; leave it out",
            file.display()
        )
        .into());
    }
    let mut scenario = if is_scenario {
        Scenario::load(file, args.scenario_name.as_deref())?
    } else {
        Scenario::of_model()
    };
    if let Some(TimeStep::Seconds(step)) = args.time_step {
        scenario.plant_config.time_step = step;
    }
    if let Some(model) = &args.contact_model {
        scenario.plant_config.contact_model.clone_from(model);
    }
    if !is_scenario {
        if args.images.is_some() {
            return Err(format!(
                "--images must come with a scenario that has cameras, got the model {}",
                file.display()
            )
            .into());
        }
        let world = build::load_model(args, &scenario)?;
        return Ok((scenario, world));
    }
    let uses_model = args.time_step == Some(TimeStep::Model);
    for (given, option) in [
        (args.weld, "--weld"),
        (args.no_ground, "--no-ground"),
        (args.no_geometry, "--no-geometry"),
        (uses_model, "--time-step model"),
    ] {
        if given {
            return Err(format!(
                "{option} must come with a model, got the scenario {}; use its directives",
                file.display()
            )
            .into());
        }
    }
    let world = build::load_scenario(args, &scenario)?;
    Ok((scenario, world))
}

/// Starts a server, unless nothing is shown or recorded.
fn start_server(args: &SimulateArgs) -> Result<Option<Meshcat>, Box<dyn Error>> {
    if !args.shows_page() {
        return Ok(None);
    }
    let params = if args.no_browser {
        MeshcatParams {
            port: Some(0),
            ..Default::default()
        }
    } else {
        MeshcatParams {
            host: args.host.clone(),
            port: args.port,
            ..Default::default()
        }
    };
    let meshcat = Meshcat::new(params)?;
    if args.record.is_some() {
        // Fails early if the page cannot be made.
        meshcat.static_html()?;
    }
    Ok(Some(meshcat))
}
