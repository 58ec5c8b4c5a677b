//! `tarragon convert`: writes a model in another format.

use crate::model::ModelArgs;
use std::error::Error;
use std::path::{Path, PathBuf};
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
    let format = OutputFormat::of_file(&args.output)?;
    let (mut plant, mut scene) = (MultibodyPlant::new(TIME_STEP)?, SceneGraph::new());
    args.model.load(&mut plant, &mut scene)?;
    let mut writer = ModelWriter::with_scene_graph(&plant, &scene);
    writer.set_directory(args.output.parent().unwrap_or(Path::new("")));
    // Nothing is written if a warning is an error.
    let warnings = writer.write(format)?.diagnostics;
    let file = args.output.display();
    let warnings: Vec<String> = warnings
        .iter()
        .map(|d| format!("{file}: {}", d.message))
        .collect();
    args.model.options.report(&warnings)?;
    writer.save(&args.output)?;
    Ok(ExitCode::SUCCESS)
}
