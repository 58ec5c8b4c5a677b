//! `tarragon render`: pictures of a model, and a video of it turning.

mod pictures;
mod view;

use crate::model;
use crate::stop::{INTERRUPTED, Stop};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use nalgebra::Vector3;
use pictures::{Picture, Pictures, write_turntable};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use view::View;

/// Arguments of `tarragon render`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    model: model::Args,
    /// Directory of the pictures; created if need be.
    #[arg(long)]
    out: PathBuf,
    /// Camera as Drake's `CameraConfig` in YAML. Without it, a camera that sees the whole model.
    #[arg(long, value_name = "FILE")]
    camera: Option<PathBuf>,
    /// Render engine, where no camera file chooses one.
    #[arg(long, value_enum, default_value_t = Engine::Cpu)]
    engine: Engine,
    /// Width of the pictures (pixels): 1280, or that of the camera file.
    #[arg(long, value_parser = pixels)]
    width: Option<usize>,
    /// Height of the pictures (pixels): 720, or that of the camera file.
    #[arg(long, value_parser = pixels)]
    height: Option<usize>,
    /// Direction that the camera looks in, x,y,z in the world.
    #[arg(long, value_parser = direction, default_value = "-1,0.8,-0.5", allow_hyphen_values = true)]
    direction: Vector3<f64>,
    /// Which pictures: `color.png`, `depth.tiff` (m), `label.png` (16 bit), and depth and labels in
    /// colours to look at, `depth_color.png` and `label_color.png`.
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values_t = Picture::all())]
    images: Vec<Picture>,
    /// Video of one turn around the model, .avi (Motion-JPEG) or .png (animated).
    #[arg(long, value_name = "FILE")]
    turntable: Option<PathBuf>,
    /// What the video shows.
    #[arg(long, value_enum, default_value_t = Picture::Color)]
    turntable_image: Picture,
    /// Frames of one turn.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Frames per second of the video.
    #[arg(long, default_value_t = 30.0, value_parser = rate, allow_negative_numbers = true)]
    fps: f64,
    /// No progress bar.
    #[arg(long)]
    quiet: bool,
}

/// The render engines that there are.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Engine {
    /// The software renderer, also for Drake's VTK and GL engines.
    #[value(aliases = ["RenderEngineCpu", "RenderEngineVtk", "RenderEngineGl", "vtk", "gl"])]
    Cpu,
}

/// The side of a picture: more than this does not fit into memory with what is drawn on it.
fn pixels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(side @ 1..=16_384) => Ok(side),
        _ => Err("a number of pixels from 1 to 16384 is expected".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate <= 1000.0 => Ok(rate),
        _ => Err("frames per second above 0 and up to 1000 are expected".into()),
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
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let stop = Stop::listen()?;
    let view = View::new(args)?;
    std::fs::create_dir_all(&args.out)
        .map_err(|e| format!("cannot create the directory '{}': {e}", args.out.display()))?;
    let frames = args.turntable.as_ref().map_or(0, |_| args.frames);
    let bar = if args.quiet {
        ProgressBar::hidden()
    } else {
        // Nothing is drawn where standard error is not a terminal.
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
