//! `tarragon convert`: writes a model in another format.

use crate::model::ModelArgs;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use tarragon::multibody::{ModelWriter, MultibodyPlant, OutputFormat};
use tarragon::prelude::*;

/// Time step of the plant (s); it affects nothing that is written.
const TIME_STEP: f64 = 0.001;

/// Arguments of `tarragon convert`.
#[derive(clap::Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// File to write; its suffix selects the format: .urdf, .sdf, .xml or .mjcf.
    output: PathBuf,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode, Box<dyn Error>> {
    // An error before the model is loaded.
    OutputFormat::of_file(&args.output)?;
    let (mut plant, mut scene) = (MultibodyPlant::new(TIME_STEP)?, SceneGraph::new());
    args.model.load(&mut plant, &mut scene)?;
    let written = ModelWriter::with_scene_graph(&plant, &scene).write_for(&args.output)?;
    let file = args.output.display();
    let warnings: Vec<String> = written
        .diagnostics
        .iter()
        .map(|d| format!("{file}: {}", d.message))
        .collect();
    // Nothing is written if a warning is an error.
    args.model.options.report(&warnings)?;
    written.save(&args.output)?;
    Ok(ExitCode::SUCCESS)
}
