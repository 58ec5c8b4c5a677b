//! From model files to a plant.

use super::directives::{self, ModelDirectives, ModelInstanceInfo};
use super::format::ModelFormat;
use super::model_file;
use super::target::{ModelNaming, ParseTarget};
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::input::{ModelInput, read_file};
use crate::error::{Error, Result, parse_error};
use crate::model::ModelInstanceIndex;
use crate::packages::PackageMap;
use crate::plant::{MultibodyPlant, PlantMark};
use std::path::Path;
use tarragon_geometry::SceneGraph;

/// Reads model files into a plant, and their geometry into a scene (Drake's `Parser`).
///
/// Formats: URDF (`.urdf`), SDFormat 1.0 to 1.12 (`.sdf`), MJCF (`.xml`), model directives
/// (`.dmd.yaml`) and OBJ (`.obj`). Lengths are metres, angles radians, masses kilograms; MJCF has
/// units of its own. A model that can not be read leaves plant and scene as they were; what is left
/// out of a model that can be read is told by [`Self::diagnostics`].
///
/// ```
/// use tarragon_multibody::{MultibodyPlant, Parser};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// let error = parser.add_models_from_string("<robot name='a'><link/></robot>", "urdf");
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "<literal>.urdf:1:17: error: <link> has no attribute 'name'"
/// );
/// parser.add_models_from_string("<robot name='a'><link name='b'/></robot>", "urdf")?;
/// plant.finalize()?;
/// assert_eq!(plant.num_positions(), 7);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
pub struct Parser<'p> {
    plant: &'p mut MultibodyPlant,
    scene_graph: Option<&'p mut SceneGraph>,
    package_map: PackageMap,
    diagnostics: Vec<Diagnostic>,
    prefix: String,
    auto_renaming: bool,
    strict: bool,
}

impl<'p> Parser<'p> {
    /// A parser that adds models to `plant`, without geometry: visual and collision elements are
    /// not looked at, and their files need not exist.
    pub fn new(plant: &'p mut MultibodyPlant) -> Self {
        Self {
            plant,
            scene_graph: None,
            package_map: PackageMap::new(),
            diagnostics: vec![],
            prefix: String::new(),
            auto_renaming: false,
            strict: false,
        }
    }

    /// A parser that adds models to `plant` and their geometry to `scene_graph`; registers the
    /// plant with it.
    pub fn with_scene_graph(
        plant: &'p mut MultibodyPlant,
        scene_graph: &'p mut SceneGraph,
    ) -> Self {
        Self {
            scene_graph: Some(scene_graph),
            ..Self::new(plant)
        }
    }

    /// Names of all models from now on get `prefix::` in front; an empty prefix ends that.
    pub fn set_model_name_prefix(&mut self, prefix: &str) {
        self.prefix = prefix.into();
    }
    /// From now on a model whose name is taken is called `name_1`, `name_2`, ... instead of being
    /// an error.
    pub fn set_auto_renaming(&mut self, enabled: bool) {
        self.auto_renaming = enabled;
    }
    /// Whether models whose names are taken get others, see [`Self::set_auto_renaming`].
    pub fn auto_renaming(&self) -> bool {
        self.auto_renaming
    }
    /// Sets whether warnings are errors.
    pub fn set_strict_parsing(&mut self, strict: bool) {
        self.strict = strict;
    }
    /// The packages that `package://` URLs refer to, at first [the default ones](PackageMap). A
    /// model file's own package (a `package.xml` in its directory or above) is known without being
    /// added.
    pub fn package_map(&self) -> &PackageMap {
        &self.package_map
    }
    /// See [`Self::package_map`].
    pub fn package_map_mut(&mut self) -> &mut PackageMap {
        &mut self.package_map
    }
    /// The plant.
    pub fn plant(&mut self) -> &mut MultibodyPlant {
        self.plant
    }
    /// Warnings and errors of all models so far, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Adds the models of a file; the suffix tells the format.
    ///
    /// # Errors
    /// If the file can not be read or has more than 256 MiB, its suffix is not known, or something
    /// in it is wrong; the message gives file, line and column. Plant and scene are as before then.
    pub fn add_models(&mut self, path: impl AsRef<Path>) -> Result<Vec<ModelInstanceIndex>> {
        let path = path.as_ref();
        let format = ModelFormat::of_file(path)?;
        let bytes = read_file(path).map_err(|e| Error::io(path, e))?;
        self.package_map.populate_upstream(path);
        let input = ModelInput {
            file: &path.display().to_string(),
            bytes: &bytes,
            directory: Some(path.parent().unwrap_or(Path::new(""))),
        };
        self.add(format, &input)
    }

    /// As [`Self::add_models`], by a `package://`, `model://` or `file://` URL.
    ///
    /// # Errors
    /// If the URL can not be resolved, and as [`Self::add_models`].
    pub fn add_models_from_url(&mut self, url: &str) -> Result<Vec<ModelInstanceIndex>> {
        let path = self.package_map.resolve_url(url)?;
        self.add_models(path)
    }

    /// Adds the models of a text in the given format, one of the suffixes without the first dot.
    /// Files that it names must be absolute or URLs.
    ///
    /// # Errors
    /// As [`Self::add_models`].
    pub fn add_models_from_string(
        &mut self,
        text: &str,
        format: &str,
    ) -> Result<Vec<ModelInstanceIndex>> {
        let file = format!("<literal>.{format}");
        let input = ModelInput {
            file: &file,
            bytes: text.as_bytes(),
            directory: None,
        };
        self.add(ModelFormat::of_name("model text", format)?, &input)
    }

    fn add(
        &mut self,
        format: ModelFormat,
        input: &ModelInput<'_>,
    ) -> Result<Vec<ModelInstanceIndex>> {
        let _span = tracing::info_span!("parse", file = input.file).entered();
        let scope = self.prefix.clone();
        let naming = ModelNaming {
            name: None,
            scope: &scope,
        };
        self.transact(input.file, |target, diagnostics| {
            let before = target.plant.num_model_instances();
            let models = match format {
                ModelFormat::ModelDirectives => {
                    directives::parse(input, &naming, target, diagnostics)
                }
                format => model_file::parse(format, input, &naming, target, diagnostics),
            };
            let nothing = models.is_empty() && target.plant.num_model_instances() == before;
            // Directives may add frames and welds only.
            let said = diagnostics.iter().any(Diagnostic::is_error);
            if nothing && !said && format != ModelFormat::ModelDirectives {
                diagnostics.push(Diagnostic {
                    severity: Severity::Warning,
                    ..Diagnostic::of_file(input.file, "there is no model in the file")
                });
            }
            models
        })
    }

    /// Adds to plant and scene; what was added is taken back if anything was wrong.
    fn transact<V>(
        &mut self,
        file: &str,
        add: impl FnOnce(&mut ParseTarget<'_>, &mut Vec<Diagnostic>) -> V,
    ) -> Result<V> {
        // Taking back costs as much as was added, so loading many models takes linear time.
        let plant_before = PlantMark::new(self.plant);
        let scene_before = self.scene_graph.as_ref().map(|s| s.registration_mark());
        let mut found = vec![];
        let result = self.add_marked(file, add, &mut found);
        if self.strict {
            found.iter_mut().for_each(|d| d.severity = Severity::Error);
        }
        let errors: Vec<&Diagnostic> = found.iter().filter(|d| d.is_error()).collect();
        let failure = errors
            .first()
            .map(|first| parse_error((*first).clone(), errors.len() - 1));
        self.diagnostics.extend(found);
        let result = failure.map_or(result, Err);
        if result.is_err() {
            if let (Some(scene_graph), Some(mark)) = (&mut self.scene_graph, scene_before) {
                let taken = scene_graph.take_back(mark);
                taken.expect("the mark was made by this scene");
            }
            // Without a scene no frame was registered.
            let inspector = self.scene_graph.as_deref().map(|s| s.model_inspector());
            let has_frame = |f| inspector.is_none_or(|i| i.frame_name(f).is_ok());
            plant_before.take_back(self.plant, has_frame);
        }
        result
    }

    fn add_marked<V>(
        &mut self,
        file: &str,
        add: impl FnOnce(&mut ParseTarget<'_>, &mut Vec<Diagnostic>) -> V,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<V> {
        if let Some(scene_graph) = self.scene_graph.as_deref_mut() {
            self.plant.register_as_source_for_scene_graph(scene_graph)?;
            self.plant.ensure_frames(scene_graph)?;
        }
        let mut target = ParseTarget {
            plant: self.plant,
            scene_graph: self.scene_graph.as_deref_mut(),
            packages: &mut self.package_map,
            auto_renaming: self.auto_renaming,
            filter_groups: vec![],
        };
        let value = add(&mut target, diagnostics);
        let groups = target.filter_groups;
        if let Some(scene_graph) = self.scene_graph.as_deref_mut() {
            self.plant.ensure_frames(scene_graph)?;
        }
        if let Err(error) = self.plant.add_filter_groups(&groups) {
            diagnostics.push(Diagnostic::of_file(file, error));
        }
        Ok(value)
    }
}

/// Adds what directives say (Drake's `ProcessModelDirectives`); names of files are URLs or
/// absolute. The parser's prefix is a scope of all names.
///
/// # Errors
/// If something that they refer to is not there, and as [`Parser::add_models`]. Plant and scene are
/// as before then.
pub fn process_model_directives(
    directives: &ModelDirectives,
    parser: &mut Parser<'_>,
) -> Result<Vec<ModelInstanceInfo>> {
    let scope = parser.prefix.clone();
    parser.transact("<directives>", |target, diagnostics| {
        directives::add(directives, &scope, target, diagnostics)
    })
}

/// [`process_model_directives`] with a parser of its own (Drake's overload without a parser): adds
/// what directives say to `plant`, and geometry to `scene_graph` if there is one. Packages are [the
/// default ones](PackageMap).
///
/// ```
/// use tarragon_multibody::MultibodyPlant;
/// use tarragon_multibody::directives::{ModelDirectives, process_model_directives_into};
/// let mut plant = MultibodyPlant::new(0.001)?;
/// let scene = ModelDirectives::from_yaml("directives: [{add_model_instance: {name: left}}]")?;
/// process_model_directives_into(&scene, &mut plant, None)?;
/// assert_eq!(plant.model_instance_names()[2], "left");
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
///
/// # Errors
/// As [`process_model_directives`].
pub fn process_model_directives_into(
    directives: &ModelDirectives,
    plant: &mut MultibodyPlant,
    scene_graph: Option<&mut SceneGraph>,
) -> Result<Vec<ModelInstanceInfo>> {
    let mut parser = match scene_graph {
        Some(scene_graph) => Parser::with_scene_graph(plant, scene_graph),
        None => Parser::new(plant),
    };
    process_model_directives(directives, &mut parser)
}
