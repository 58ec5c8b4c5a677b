//! `tarragon view`: shows models in a browser.

mod distance;
mod session;
mod watch;

use crate::stop::{INTERRUPTED, Stop};
use crate::{model, page, sweep};
use indicatif::{ProgressBar, ProgressStyle};
use session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tarragon::visualization::{Meshcat, MeshcatParams};
use watch::Watch;

/// Time between two reads of the sliders (s): exact in binary, as a frame rate of recordings.
const PERIOD: f64 = 1.0 / 32.0;
/// Name of the button that shows collision geometry.
const COLLISION: &str = "show collision geometry";
/// Name of the button that shows visual geometry.
const VISUAL: &str = "show visual geometry";

/// Arguments of `tarragon view`.
#[derive(clap::Args)]
pub(crate) struct ViewArgs {
    /// Model files (.urdf, .sdf, .world, .xml, .mjcf, .xacro, .dmd.yaml or .obj), all in one world.
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    options: model::Options,
    /// Host to listen on; with `*`, others on the network can watch and move the sliders.
    #[arg(long, default_value = "localhost")]
    host: String,
    /// Port to listen on; 0 chooses any free port. By default, the first free port from 7000 to
    /// 7999.
    #[arg(long)]
    port: Option<u16>,
    /// Writes a page with the models that needs no server, and exits.
    #[arg(long = "static", value_name = "FILE", conflicts_with_all = ["record", "duration"])]
    static_page: Option<PathBuf>,
    /// On exit, writes a page that plays back the motion of the models.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Moves the joints through their ranges and back within this time (s).
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "4", value_parser = sweep::positive, allow_negative_numbers = true)]
    sweep: Option<f64>,
    /// Exits after this time (s).
    #[arg(long, value_name = "SECONDS", value_parser = sweep::positive, allow_negative_numbers = true)]
    duration: Option<f64>,
    /// Shows the two closest parts if they are at most this far apart (m); 0 shows none.
    #[arg(long, value_name = "METRES", default_value_t = 0.5, value_parser = sweep::not_negative, allow_negative_numbers = true)]
    distance: f64,
    /// Does not reload the models when their files change.
    #[arg(long)]
    no_reload: bool,
}

/// Shows the models until Ctrl-C.
pub(crate) fn run(args: &ViewArgs) -> Result<ExitCode, Box<dyn Error>> {
    let mut watch = Watch::new(&args.models);
    // Errors in the models are reported before a server is started.
    let mut xacro_files = BTreeSet::new();
    let loaded = session::load(args, &mut xacro_files)?;
    let meshcat = Meshcat::new(MeshcatParams {
        host: args.host.clone(),
        port: args.port,
        ..Default::default()
    })?;
    let output = args.static_page.as_ref().or(args.record.as_ref());
    if output.is_some() {
        // Fails early if the page cannot be made.
        meshcat.static_html()?;
    }
    let mut session = Session::start(loaded, &meshcat, args, &BTreeMap::new())?;
    session.fit_camera()?;
    if let Some(file) = &args.static_page {
        session.show(0.0, args)?;
        return page::save(&meshcat, file).map(|()| ExitCode::SUCCESS);
    }
    for button in [COLLISION, VISUAL] {
        meshcat.add_button(button, "")?;
    }
    writeln!(std::io::stdout(), "{}", meshcat.web_url())?;
    std::io::stdout().flush()?;
    let stop = Stop::listen()?;
    if args.record.is_some() {
        meshcat.start_recording(1.0 / PERIOD, true)?;
    }
    watch.follow(&(session.files() | &xacro_files));
    let interrupted = follow(session, watch, xacro_files, &meshcat, args, &stop)?;
    if let Some(file) = &args.record {
        meshcat.stop_recording();
        // Lines and labels cannot be recorded; their final state would be wrong at all other times.
        meshcat.delete(distance::PATH);
        meshcat.publish_recording();
        page::save(&meshcat, file)?;
    }
    Ok(if interrupted && args.duration.is_some() {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Follows sliders, buttons and files until the end; returns whether Ctrl-C ended it.
fn follow(
    mut session: Session,
    mut watch: Watch,
    mut xacro_files: BTreeSet<PathBuf>,
    meshcat: &Meshcat,
    args: &ViewArgs,
    stop: &Stop,
) -> Result<bool, Box<dyn Error>> {
    let status = ProgressBar::new_spinner();
    status.set_style(ProgressStyle::with_template("{msg}")?);
    let start = Instant::now();
    // Last state of the buttons: pages redraw whenever they are sent anything.
    let mut seen = None;
    // Frames are counted by integers, so that recordings of any length keep their rate.
    let mut frame = 0_u32;
    loop {
        let time = f64::from(frame) * PERIOD;
        if args.duration.is_some_and(|end| time > end) {
            return Ok(false);
        }
        if !args.no_reload && watch.has_changed() {
            let mut read = BTreeSet::new();
            match session::load(args, &mut read) {
                Ok(loaded) => {
                    xacro_files = read;
                    let positions = session.positions();
                    drop(session);
                    session = Session::start(loaded, meshcat, args, &positions)?;
                    seen = None;
                    status.suspend(|| eprintln!("reloaded the models"));
                }
                // A file may be invalid for a while during editing. The files of a failed
                // expansion are watched too.
                Err(error) => {
                    xacro_files.append(&mut read);
                    status.suspend(|| eprintln!("error: {error}"));
                }
            }
            watch.follow(&(session.files() | &xacro_files));
        }
        let shown = |button| Ok::<bool, Box<dyn Error>>(meshcat.button_clicks(button)? % 2 == 1);
        let now = Some((shown(COLLISION)?, shown(VISUAL)?));
        if let Some((collision, visual)) = now.filter(|_| now != seen) {
            meshcat.set_property("proximity", "visible", collision);
            meshcat.set_property("illustration", "visible", visual);
            seen = now;
        }
        status.set_message(session.show(time, args)?);
        frame += 1;
        let due = start + Duration::from_secs_f64(f64::from(frame) * PERIOD);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if stop.is_asked() {
            return Ok(true);
        }
    }
}
