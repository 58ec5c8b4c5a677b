//! Plant configuration from a model file.

use crate::Result;
use crate::parser::Parser;
use crate::reading::on_warning::OnWarning;
use std::path::Path;
use tarragon_multibody::{MultibodyPlantBuilder, MultibodyPlantConfig};

/// Configuration of a plant from a model file.
pub trait FromModel: Sized {
    /// Returns the default configuration with the time step of a model file (see
    /// [`ModelOptions::time_step`](crate::ModelOptions::time_step)), or the default time step if
    /// the file has none. The geometry of the file is not read. Warnings are dropped here, because
    /// the parser that later adds the file to a plant reports them.
    ///
    /// ```
    /// use tarragon_formats::*;
    /// use tarragon_multibody::*;
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("m.xml");
    /// std::fs::write(&file, "<mujoco model='m'><option timestep='0.005'/></mujoco>")?;
    /// let config = MultibodyPlantConfig::from_model(&file)?;
    /// let mut plant = MultibodyPlantBuilder::from_config(&config)?;
    /// assert_eq!(plant.time_step(), 0.005);
    /// Parser::new(&mut plant).add_models(&file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Parser::add_models`].
    fn from_model(path: impl AsRef<Path>) -> Result<Self>;
}

impl FromModel for MultibodyPlantConfig {
    fn from_model(path: impl AsRef<Path>) -> Result<Self> {
        let mut config = Self::default();
        let mut plant = MultibodyPlantBuilder::new(config.time_step)?;
        let mut parser = Parser::new(&mut plant);
        parser.on_warning(OnWarning::Ignore);
        parser.add_models(path)?;
        config.time_step = parser.model_options().time_step.unwrap_or(config.time_step);
        Ok(config)
    }
}
