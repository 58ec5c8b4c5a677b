//! Loading the model that a command is given.

use std::error::Error;
use std::path::PathBuf;
use tarragon::multibody::{MultibodyPlant, Parser};
use tarragon::prelude::*;

/// Which model, and where its parts are.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Model file (.urdf).
    pub(crate) model: PathBuf,
    /// Where packages are that the model refers to: NAME=DIR, or a directory to search; may be
    /// repeated.
    #[arg(long)]
    package: Vec<String>,
}

impl Args {
    /// Adds the model; warnings go to standard error.
    pub(crate) fn load(
        &self,
        plant: &mut MultibodyPlant,
        scene_graph: &mut SceneGraph,
    ) -> Result<(), Box<dyn Error>> {
        let mut parser = Parser::with_scene_graph(plant, scene_graph);
        for package in &self.package {
            match package.split_once('=') {
                Some((name, folder)) => parser.package_map_mut().add(name, folder)?,
                None => parser.package_map_mut().populate_from_folder(package)?,
            }
        }
        parser.add_models(&self.model)?;
        for diagnostic in parser.diagnostics() {
            eprintln!("{diagnostic}");
        }
        plant.finalize()?;
        Ok(())
    }
}
