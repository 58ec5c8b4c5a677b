//! The writer, which turns a plant and its scene into a model file.

use crate::Result;
use crate::mjcf;
use crate::sdf;
use crate::urdf;
use crate::writing::document::ModelDocument;
use crate::writing::extent;
use crate::writing::format::OutputFormat;
use crate::writing::written_model::WrittenModel;
use std::path::{Path, PathBuf};
use tarragon_documents::Diagnostic;
use tarragon_geometry::SceneGraph;
use tarragon_multibody::MultibodyPlant;

/// Writer of model files; inverse of [`Parser`](crate::Parser).
///
/// Everything that a model file declares is written: bodies, frames, joints, actuators,
/// constraints, force elements, collision filters, and geometries if there is a scene. What
/// building the plant adds is not. Numbers are written with all their digits. Settings of the plant
/// that are no part of models, such as its contact settings, are not written.
///
/// ```
/// use nalgebra::Vector3;
/// use tarragon_formats::*;
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let model = plant.add_model_instance("door")?;
/// let leaf = plant.add_rigid_body("leaf", model, SpatialInertia::plausible(8.0, Vector3::x())?)?;
/// plant.add_joint(Joint::revolute("hinge", BodyIndex::WORLD, leaf, Vector3::z())?)?;
/// let plant = plant.build()?;
/// let written = ModelWriter::new(&plant).write(OutputFormat::Urdf)?;
/// assert!(written.diagnostics.is_empty());
/// let mut again = MultibodyPlantBuilder::new(0.001)?;
/// Parser::new(&mut again).add_models_from_string(&written.text, "urdf")?;
/// assert_eq!(again.joint_by_name("door::hinge")?, plant.joint_by_name("door::hinge")?);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
#[derive(Clone)]
pub struct ModelWriter<'p> {
    plant: &'p MultibodyPlant,
    scene_graph: Option<&'p SceneGraph>,
    directory: Option<PathBuf>,
    time_step: Option<f64>,
}

impl<'p> ModelWriter<'p> {
    /// Creates a writer of a plant without geometry.
    pub fn new(plant: &'p MultibodyPlant) -> Self {
        Self {
            plant,
            scene_graph: None,
            directory: None,
            time_step: None,
        }
    }

    /// Creates a writer of a plant and its geometry.
    pub fn with_scene_graph(plant: &'p MultibodyPlant, scene_graph: &'p SceneGraph) -> Self {
        Self {
            scene_graph: Some(scene_graph),
            ..Self::new(plant)
        }
    }

    /// Sets the directory that the file will be in. Meshes in it or below are referred to by
    /// relative paths, all others by `file://` URLs.
    pub fn set_directory(&mut self, directory: impl Into<PathBuf>) {
        self.directory = Some(directory.into());
    }

    /// Sets the time step (s) for simulations of the model. Only MJCF files state it (`timestep`).
    /// Without it, readers of MJCF use MuJoCo's default, 2 ms.
    pub fn set_time_step(&mut self, time_step: f64) {
        self.time_step = Some(time_step);
    }

    /// Writes the model as text.
    ///
    /// # Errors
    /// Returns an error if the plant is not registered with the scene, or if something lies more
    /// than 1e100 m from the origin of its body or of the world, where sums of positions overflow.
    pub fn write(&self, format: OutputFormat) -> Result<WrittenModel> {
        let file = format!("<literal>.{}", format.suffix());
        let document = self.document(format, file, self.directory.as_deref())?;
        Ok(write_document(document))
    }

    /// Writes the model to a file, whose suffix selects the format: see
    /// [`OutputFormat::of_file`]. For MJCF, meshes that MuJoCo cannot read are written as OBJ files
    /// next to it, named after it. Each file appears as a whole; after an error, files that existed
    /// before are unchanged.
    ///
    /// # Errors
    /// Returns an error if the suffix has no format, a file cannot be written, or as
    /// [`Self::write`] does.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Vec<Diagnostic>> {
        let written = self.write_for(&path)?;
        written.save(path)?;
        Ok(written.diagnostics)
    }

    /// Writes the model as the text of a file, which [`WrittenModel::save`] then writes.
    ///
    /// # Errors
    /// Returns an error if the suffix has no format, or as [`Self::write`] does.
    pub fn write_for(&self, path: impl AsRef<Path>) -> Result<WrittenModel> {
        let path = path.as_ref();
        let format = OutputFormat::of_file(path)?;
        let directory = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut document = self.document(format, path.display().to_string(), Some(directory))?;
        document.allow_files(&stem);
        Ok(write_document(document))
    }

    fn document<'a>(
        &'a self,
        format: OutputFormat,
        file: String,
        directory: Option<&'a Path>,
    ) -> Result<ModelDocument<'a>> {
        if let Some(scene) = self.scene_graph {
            self.plant.check_scene(scene)?;
        }
        extent::check(self.plant, self.scene_graph)?;
        let (plant, scene) = (self.plant, self.scene_graph);
        let mut document = ModelDocument::new(plant, scene, format, directory, file);
        document.time_step = self.time_step;
        Ok(document)
    }
}

fn write_document(document: ModelDocument<'_>) -> WrittenModel {
    match document.format {
        OutputFormat::Urdf => urdf::write(document),
        OutputFormat::Sdf => sdf::write(document),
        OutputFormat::Mjcf => mjcf::write(document),
    }
}
