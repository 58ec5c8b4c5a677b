//! Loading the models that a command is given.

use crate::files;
use crate::warnings::{self, Message, print_messages};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use tarragon::documents::xacro::{self, XacroReport};
use tarragon::documents::{Diagnostic, PackageMap, Severity};
use tarragon::formats::{MjcfSemantics, ModelOptions, OnWarning, Parser};
use tarragon::framework::counted;
use tarragon::framework::warnings::{collect, warn};
use tarragon::geometry::HydroelasticType;
use tarragon::multibody::{MultibodyPlant, MultibodyPlantBuilder};
use tarragon::prelude::*;
use tarragon::sensors::CubeMap;

/// A model file and the options for reading it.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct ModelArgs {
    /// Model file (.urdf, .sdf, .world, .xml, .mjcf, .xacro, .dmd.yaml or .obj).
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) options: Options,
}

/// Options for reading models.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    #[command(flatten)]
    source: SourceOptions,
    /// Reading of MJCF files. Drake's reading leaves out more than MuJoCo's and warns about it.
    #[arg(long, value_enum, default_value_t)]
    mjcf_semantics: MjcfReading,
}

/// Options for reading files of any format, xacro included.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct SourceOptions {
    /// Package that the model refers to, as NAME=DIR, or a directory to search for packages
    /// (package.xml) and models of Gazebo (model.config); may be repeated. Packages in the folders
    /// of ROS_PACKAGE_PATH and models in the folders of GZ_SIM_RESOURCE_PATH are found without it.
    #[arg(long)]
    package: Vec<String>,
    /// Packages as a JSON object from names to directories, which are relative to the file.
    #[arg(long, value_name = "FILE")]
    packages: Option<PathBuf>,
    /// Treats warnings as errors, including those about things missing from a picture.
    #[arg(long)]
    strict: bool,
    /// Argument of xacro files, as NAME=VALUE or NAME:=VALUE; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    xacro_arg: Vec<String>,
}

/// Reading of MJCF files.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MjcfReading {
    #[default]
    Mujoco,
    Drake,
}

impl MjcfReading {
    pub(crate) fn semantics(self) -> MjcfSemantics {
        match self {
            Self::Drake => MjcfSemantics::Drake,
            Self::Mujoco => MjcfSemantics::MuJoCo,
        }
    }
}

/// Results of reading models besides plant and scene.
#[derive(Default)]
pub(crate) struct Extras<'a> {
    /// Receives the files that xacro files were made from, also after an error.
    pub(crate) files: Option<&'a mut BTreeSet<PathBuf>>,
    /// Receives the skybox, which takes time to make.
    pub(crate) skybox: Option<&'a mut Option<CubeMap>>,
    /// Receives what the files say about the simulation.
    pub(crate) model_options: Option<&'a mut ModelOptions>,
    /// Whether the plant takes the time step of the models.
    pub(crate) uses_model_time_step: bool,
    /// Whether the geometry of the models is left out.
    pub(crate) without_geometry: bool,
    /// Whether geometry with meshes is left out.
    pub(crate) without_meshes: bool,
}

impl<'a> Extras<'a> {
    /// Asks for the skybox.
    pub(crate) fn skybox(skybox: &'a mut Option<CubeMap>) -> Self {
        Self {
            skybox: Some(skybox),
            ..Self::default()
        }
    }
}

impl ModelArgs {
    /// Same as [`Options::configure`].
    pub(crate) fn configure(&self, parser: &mut Parser<'_>) -> Result<(), Box<dyn Error>> {
        self.options.configure(parser)
    }
    /// Same as [`Options::load`].
    pub(crate) fn load(
        &self,
        plant: MultibodyPlantBuilder,
        scene_graph: &mut SceneGraph,
    ) -> Result<MultibodyPlant, Box<dyn Error>> {
        self.load_with(plant, scene_graph, Extras::default())
    }
    /// Same as [`Options::load`].
    pub(crate) fn load_with(
        &self,
        plant: MultibodyPlantBuilder,
        scene_graph: &mut SceneGraph,
        extras: Extras<'_>,
    ) -> Result<MultibodyPlant, Box<dyn Error>> {
        let models = std::slice::from_ref(&self.model);
        self.options.load(models, plant, scene_graph, extras)
    }
}

impl Options {
    /// Adds the packages to the parser, and makes it collect warnings or, with `--strict`, fail.
    pub(crate) fn configure(&self, parser: &mut Parser<'_>) -> Result<(), Box<dyn Error>> {
        let configured = collect(|| self.source.configure_packages(parser.package_map_mut()));
        let (configured, warnings) = configured;
        configured?;
        self.report(&warnings)?;
        for (name, value) in self.source.xacro_arguments(&[])? {
            parser.set_xacro_argument(name, value);
        }
        // The commands summarize similar warnings when they print them.
        parser.on_warning(if self.source.strict {
            OnWarning::Fail
        } else {
            OnWarning::Collect
        });
        parser.set_mjcf_semantics(self.mjcf_semantics.semantics());
        Ok(())
    }

    /// Prints diagnostics on standard error.
    pub(crate) fn print(&self, diagnostics: &[Diagnostic]) {
        print_messages(&messages(diagnostics));
    }
    /// Returns the lines that [`Self::print`] prints.
    pub(crate) fn lines(&self, diagnostics: &[Diagnostic]) -> Vec<String> {
        warnings::lines(&messages(diagnostics), warnings::are_all_printed())
    }

    /// Same as [`SourceOptions::report`].
    pub(crate) fn report(&self, warnings: &[String]) -> Result<(), Box<dyn Error>> {
        self.source.report(warnings)
    }

    /// Adds the models and builds the plant. All warnings and errors go to standard error.
    pub(crate) fn load(
        &self,
        models: &[PathBuf],
        mut plant: MultibodyPlantBuilder,
        scene_graph: &mut SceneGraph,
        extras: Extras<'_>,
    ) -> Result<MultibodyPlant, Box<dyn Error>> {
        self.add(models, &mut plant, scene_graph, extras)?;
        let shown: Vec<String> = models.iter().map(|m| m.display().to_string()).collect();
        let shown = shown.join(", ");
        Ok(plant.build().map_err(|e| format!("{shown}: error: {e}"))?)
    }

    /// Adds the models to a plant. All warnings and errors go to standard
    /// error.
    pub(crate) fn add(
        &self,
        models: &[PathBuf],
        plant: &mut MultibodyPlantBuilder,
        scene_graph: &mut SceneGraph,
        extras: Extras<'_>,
    ) -> Result<(), Box<dyn Error>> {
        let mut parser = if extras.without_geometry {
            // A plant in a diagram with a scene poses its frames, even if they are empty.
            plant.register_as_source_for_scene_graph(scene_graph)?;
            Parser::new(plant)
        } else {
            Parser::with_scene_graph(plant, scene_graph)
        };
        self.configure(&mut parser)?;
        parser.set_mesh_geometry(!extras.without_meshes);
        if extras.uses_model_time_step {
            parser.use_model_time_step();
        }
        let added = models.iter().try_for_each(|model| {
            let added = parser.add_models(model).map(|_| ());
            added.map_err(|error| (model.display().to_string(), error))
        });
        if let Some(files) = extras.files {
            files.extend(parser.xacro_files().iter().cloned());
        }
        self.print(parser.diagnostics());
        if let Err((model, error)) = added {
            let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
            // Without diagnostics, the error itself is complete, for example about a missing file.
            return Err(match parser.diagnostics().iter().filter(is_error).count() {
                0 => error.into(),
                n => format!("{model}: {}, nothing was loaded", counted(n, "error")).into(),
            });
        }
        if let Some(options) = extras.model_options {
            *options = parser.model_options();
        }
        if let Some(skybox) = extras.skybox {
            *skybox = self.skybox(&parser)?;
        }
        Ok(())
    }

    /// Returns the skybox of the models. One that cannot be read is left out with a warning.
    pub(crate) fn skybox(&self, parser: &Parser<'_>) -> Result<Option<CubeMap>, Box<dyn Error>> {
        let made = parser.skybox().and_then(|sky| {
            // Files that are drawn as they are have not been read yet.
            sky.as_ref()
                .map_or(Ok(()), |sky| sky.mean_colors().map(drop))?;
            Ok(sky)
        });
        match made {
            Ok(sky) => Ok(sky),
            Err(error) => {
                self.report(&[format!("the skybox is left out: {error}")])?;
                Ok(None)
            }
        }
    }
}

/// Returns true if a geometry declares that it is rigid or compliant in hydroelastic contact.
pub(crate) fn declares_hydroelastics(scene: &SceneGraph) -> Result<bool> {
    let inspector = scene.model_inspector();
    for id in inspector.geometry_ids_with_role(Role::Proximity) {
        let properties = inspector.proximity_properties(id)?;
        let declared = properties.map(|p| p.try_get("hydroelastic", "compliance_type"));
        let declared: Option<&HydroelasticType> = declared.transpose()?.flatten();
        if declared.is_some_and(|kind| *kind != HydroelasticType::Undefined) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl SourceOptions {
    /// Adds packages to a map: first from the options, then from `ROS_PACKAGE_PATH`, last the
    /// models of `GZ_SIM_RESOURCE_PATH`. The first of several packages with a name counts.
    fn configure_packages(&self, packages: &mut PackageMap) -> Result<(), Box<dyn Error>> {
        if let Some(file) = &self.packages {
            add_packages(packages, file)?;
        }
        for package in &self.package {
            packages
                .add_argument(package)
                .map_err(|e| format!("--package {package}: {e}"))?;
        }
        // The paths may name any number of folders that the model does not need, so what is wrong
        // with them is no reason to stop; packages that are found again are no news.
        let (found, _) = collect(|| packages.populate_from_ros_package_path());
        if let Err(error) = found {
            warn(format!("ROS_PACKAGE_PATH is ignored: {error}"));
        }
        packages.populate_from_gz_resource_path();
        Ok(())
    }

    /// Expands a xacro file with arguments like NAME:=VALUE, those of `--xacro-arg` among them.
    /// Returns the XML and the files that were read. Messages of the file and warnings go to
    /// standard error, also before an error.
    pub(crate) fn expand(
        &self,
        file: &Path,
        arguments: &[String],
    ) -> Result<(String, Vec<PathBuf>), Box<dyn Error>> {
        let mut packages = PackageMap::new();
        let (configured, warnings) = collect(|| self.configure_packages(&mut packages));
        configured?;
        self.report(&warnings)?;
        let arguments = self.xacro_arguments(arguments)?;
        let mut report = XacroReport::default();
        let expanded = xacro::expand_reporting(file, &arguments, &packages, &mut report);
        for message in &report.messages {
            eprintln!("{message}");
        }
        let shown = report.diagnostics.iter().map(|warning| Diagnostic {
            severity: if self.strict {
                Severity::Error
            } else {
                warning.severity
            },
            ..warning.clone()
        });
        print_messages(&messages(&shown.collect::<Vec<_>>()));
        let text = expanded?;
        self.check_warnings(report.diagnostics.len())?;
        Ok((text, report.files))
    }

    /// Returns the arguments of xacro files: those of `--xacro-arg`, replaced by others.
    fn xacro_arguments(&self, others: &[String]) -> Result<BTreeMap<String, String>, String> {
        let option = self.xacro_arg.iter().map(|a| ("--xacro-arg", a));
        let all = option.chain(others.iter().map(|a| ("an argument of the file", a)));
        let split = |(what, argument): (&str, &String)| {
            xacro_argument(argument).map_err(|e| format!("{what} {e}"))
        };
        all.map(split).collect()
    }

    /// Prints each distinct warning once; with `--strict`, any warning is an error.
    pub(crate) fn report(&self, warnings: &[String]) -> Result<(), Box<dyn Error>> {
        let warnings: BTreeSet<&String> = warnings.iter().collect();
        let severity = if self.strict {
            Severity::Error
        } else {
            Severity::Warning
        };
        let shown = warnings.iter().map(|w| Message::new(severity, *w));
        print_messages(&shown.collect::<Vec<_>>());
        self.check_warnings(warnings.len())
    }

    /// Returns an error if there are warnings, with `--strict`.
    fn check_warnings(&self, number: usize) -> Result<(), Box<dyn Error>> {
        if self.strict && number > 0 {
            Err(format!("{}, with --strict", counted(number, "warning")).into())
        } else {
            Ok(())
        }
    }
}

/// Splits an argument of xacro files.
fn xacro_argument(argument: &str) -> Result<(String, String), String> {
    // The value may hold any of both signs.
    let split = argument.split_once('=');
    let split = split.map(|(name, value)| (name.strip_suffix(':').unwrap_or(name).trim(), value));
    match split {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err(format!(
            "must be NAME=VALUE or NAME:=VALUE, got '{argument}'"
        )),
    }
}

fn messages(diagnostics: &[Diagnostic]) -> Vec<Message> {
    diagnostics.iter().map(Message::from).collect()
}

fn add_packages(packages: &mut PackageMap, file: &Path) -> Result<(), Box<dyn Error>> {
    let place = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = std::fs::read(file).map_err(|e| place(&e))?;
    let map: BTreeMap<String, PathBuf> = serde_json::from_slice(&text).map_err(|e| {
        format!(
            "{}; the file must hold a JSON object from names to directories",
            place(&e)
        )
    })?;
    let beside = files::folder_of(file);
    for (name, folder) in map {
        packages.add(name, beside.join(folder))?;
    }
    Ok(())
}
