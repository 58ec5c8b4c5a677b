//! `tarragon render`: draws images of a model, and a video of it turning.

mod pictures;
mod roles;
mod view;

use crate::model;
use crate::stop::{INTERRUPTED, Stop};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Vector3;
use pictures::{Picture, Pictures, write_turntable};
use roles::ShownRole;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use view::View;

/// Arguments of `tarragon render`.
#[derive(clap::Args)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    model: model::ModelArgs,
    /// Directory for the images; created if needed.
    #[arg(long)]
    out: PathBuf,
    /// Camera as a YAML file in the format of Drake's `CameraConfig`; by default, a camera that
    /// sees the whole model.
    #[arg(long, value_name = "FILE")]
    camera: Option<PathBuf>,
    /// Render engine, unless a camera file chooses one.
    #[arg(long, value_enum, default_value_t = Engine::Cpu)]
    engine: Engine,
    /// Role of the geometry to draw. `proximity` is collision geometry; `all` adds it to the
    /// visuals.
    #[arg(long, value_enum, default_value_t = ShownRole::Perception)]
    role: ShownRole,
    /// Image width (pixels) [default: that of the camera file, or 1280].
    #[arg(long, value_parser = pixels)]
    width: Option<usize>,
    /// Image height (pixels) [default: that of the camera file, or 720].
    #[arg(long, value_parser = pixels)]
    height: Option<usize>,
    /// Direction in which the camera looks, x,y,z in the world.
    #[arg(long, value_parser = direction, default_value = "-1,0.8,-0.5", allow_hyphen_values = true)]
    direction: Vector3<f64>,
    /// Images to write: `color.png`, `depth.tiff` (m), `label.png` (16 bit), and depth and labels
    /// in false colours, `depth_color.png` and `label_color.png`.
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values_t = Picture::all())]
    images: Vec<Picture>,
    /// Video of one turn around the model, .avi (Motion-JPEG) or .png (animated).
    #[arg(long, value_name = "FILE")]
    turntable: Option<PathBuf>,
    /// Content of the video.
    #[arg(long, value_enum, default_value_t = Picture::Color)]
    turntable_image: Picture,
    /// Number of frames of one turn.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Frames per second of the video.
    #[arg(long, default_value_t = 30.0, value_parser = rate, allow_negative_numbers = true)]
    fps: f64,
    /// Draws the background of the camera instead of the skybox of an MJCF model.
    #[arg(long)]
    no_skybox: bool,
    /// Hides the progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Message of builds without the GPU engine.
#[cfg(not(feature = "gpu"))]
pub(crate) const NO_GPU: &str =
    "--engine gpu: this build has no GPU engine; build it with --features gpu";

/// The available render engines.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Engine {
    /// The software renderer, also used for Drake's VTK and GL engines.
    #[value(aliases = ["RenderEngineCpu", "RenderEngineVtk", "RenderEngineGl", "vtk", "gl"])]
    Cpu,
    /// The renderer on GPUs, for builds with `--features gpu`.
    #[value(aliases = ["RenderEngineGpu"])]
    Gpu,
}

/// Parses an image side; larger images would not fit into memory together with the renderer's
/// buffers.
fn pixels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(side @ 1..=16_384) => Ok(side),
        _ => Err("must be a number of pixels from 1 to 16384".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate <= 1000.0 => Ok(rate),
        _ => Err("must be above 0 and at most 1000 frames per second".into()),
    }
}

/// Parses three numbers separated by commas.
fn direction(text: &str) -> Result<Vector3<f64>, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    match numbers.as_deref() {
        Ok([x, y, z]) if x.hypot(*y).hypot(*z).is_normal() => Ok(Vector3::new(*x, *y, *z)),
        _ => Err("must be three numbers x,y,z that are not all zero".into()),
    }
}

/// Loads the model, draws the images and writes them.
pub(crate) fn run(args: &RenderArgs) -> Result<ExitCode, Box<dyn Error>> {
    let stop = Stop::listen()?;
    let view = View::new(args)?;
    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("cannot create the directory '{}': {e}", args.out.display()))?;
    let frames = args.turntable.as_ref().map_or(0, |_| args.frames);
    let bar = if args.quiet {
        ProgressBar::hidden()
    } else {
        // Nothing is drawn if standard error is not a terminal.
        ProgressBar::new(args.images.len() as u64 + u64::from(frames))
    };
    let style = "{msg:14} [{bar:40}] {pos}/{len}  {eta}";
    bar.set_style(ProgressStyle::with_template(style)?.progress_chars("=> "));
    let mut pictures = Pictures::new(&view)?;
    let mut written = vec![];
    for picture in &args.images {
        if stop.is_asked() {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        bar.set_message(picture.file_name());
        let path = args.out.join(picture.file_name());
        pictures.save(*picture, &path)?;
        written.push(path);
        bar.inc(1);
    }
    if let Some(path) = &args.turntable {
        bar.set_message("turntable");
        let goes_on = || {
            bar.inc(1);
            !stop.is_asked()
        };
        let image = args.turntable_image;
        if !write_turntable(&mut pictures, image, path, frames, args.fps, goes_on)? {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        written.push(path.clone());
    }
    bar.finish_and_clear();
    let mut out = std::io::stdout().lock();
    for path in written {
        writeln!(out, "{}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}
