//! The parser, which adds model files to a plant and a scene.

use crate::model_directives::{self, ModelDirectives, ModelInstanceInfo};
use crate::model_file;
use crate::reading::format::ModelFormat;
use crate::reading::mjcf_semantics::MjcfSemantics;
use crate::reading::model_options::ModelOptions;
use crate::reading::on_warning::OnWarning;
use crate::reading::parser_packages::ParserPackages;
use crate::reading::target::{ModelNaming, ParseTarget, SkyboxImages};
use crate::{Error, Result};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tarragon_documents::{Diagnostic, ModelInput, PackageMap, Severity, read_file};
use tarragon_framework::warnings::collect;
use tarragon_geometry::SceneGraph;
use tarragon_geometry::render::CubeMap;
use tarragon_multibody::{ModelInstanceIndex, MultibodyPlantBuilder, PlantMark};

/// Reads model files into a plant, and their geometry into a scene (Drake's `Parser`).
///
/// Formats: URDF (`.urdf`), SDFormat 1.0 to 1.12 (`.sdf`), MJCF (`.xml`), model directives
/// (`.dmd.yaml`), OBJ (`.obj`), and [`xacro`](tarragon_documents::xacro) (`.xacro`), from which
/// URDF, SDFormat or MJCF is made. Lengths are metres, angles radians, masses kilograms; MJCF has
/// units of its own. If a model cannot be read, plant and scene stay unchanged. Warnings name what
/// was left out of a model that could be read. They are printed, unless [`Self::on_warning`] says
/// otherwise, and kept in [`Self::diagnostics`].
///
/// ```
/// use tarragon_formats::Parser;
/// use tarragon_multibody::MultibodyPlantBuilder;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut parser = Parser::new(&mut plant);
/// let error = parser.add_models_from_string("<robot name='a'><link/></robot>", "urdf");
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "<literal>.urdf:1:17: error: <link> has no attribute 'name'"
/// );
/// parser.add_models_from_string("<robot name='a'><link name='b'/></robot>", "urdf")?;
/// let plant = plant.build()?;
/// assert_eq!(plant.num_positions(), 7);
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
pub struct Parser<'p> {
    plant: &'p mut MultibodyPlantBuilder,
    scene_graph: Option<&'p mut SceneGraph>,
    packages: ParserPackages,
    diagnostics: Vec<Diagnostic>,
    prefix: String,
    auto_renaming: bool,
    on_warning: OnWarning,
    uses_model_time_step: bool,
    mesh_geometry: bool,
    mjcf_semantics: MjcfSemantics,
    xacro_arguments: BTreeMap<String, String>,
    xacro_files: BTreeSet<PathBuf>,
    skybox: Option<SkyboxImages>,
    options: ModelOptions,
}

impl<'p> Parser<'p> {
    /// Creates a parser that adds models to `plant` without geometry: visual and collision elements
    /// are not read, and their files need not exist.
    pub fn new(plant: &'p mut MultibodyPlantBuilder) -> Self {
        Self {
            plant,
            scene_graph: None,
            packages: ParserPackages::default(),
            diagnostics: vec![],
            prefix: String::new(),
            auto_renaming: false,
            on_warning: OnWarning::default(),
            uses_model_time_step: false,
            mesh_geometry: true,
            mjcf_semantics: MjcfSemantics::default(),
            xacro_arguments: BTreeMap::new(),
            xacro_files: BTreeSet::new(),
            skybox: None,
            options: ModelOptions::default(),
        }
    }

    /// Creates a parser that adds models to `plant` and their geometry to `scene_graph`, and
    /// registers the plant with the scene.
    pub fn with_scene_graph(
        plant: &'p mut MultibodyPlantBuilder,
        scene_graph: &'p mut SceneGraph,
    ) -> Self {
        Self {
            scene_graph: Some(scene_graph),
            ..Self::new(plant)
        }
    }

    /// Sets the prefix of model names: models added from now on are named `prefix::name`. An empty
    /// prefix turns this off.
    pub fn set_model_name_prefix(&mut self, prefix: &str) {
        self.prefix = prefix.into();
    }
    /// Sets whether a model whose name is taken is renamed to `name_1`, `name_2`, ... instead of
    /// being an error.
    pub fn set_auto_renaming(&mut self, enabled: bool) {
        self.auto_renaming = enabled;
    }
    /// Returns whether models whose names are taken are renamed, see [`Self::set_auto_renaming`].
    pub fn auto_renaming(&self) -> bool {
        self.auto_renaming
    }
    /// Chooses what happens to warnings about models that are added from now on. By default, they
    /// are printed.
    ///
    /// ```
    /// use tarragon_formats::{OnWarning, Parser};
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mut parser = Parser::new(&mut plant);
    /// parser.on_warning(OnWarning::Collect);
    /// let robot = "<robot name='a'><link name='b'><inertail/></link></robot>";
    /// parser.add_models_from_string(robot, "urdf")?;
    /// assert_eq!(
    ///     parser.diagnostics()[0].message,
    ///     "<inertail> in <link> is ignored: URDF has no such element; did you mean <inertial>?"
    /// );
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    pub fn on_warning(&mut self, on_warning: OnWarning) {
        self.on_warning = on_warning;
    }
    /// Sets whether warnings are errors (Drake's `SetStrictParsing`). `true` chooses
    /// [`OnWarning::Fail`]; `false` replaces `Fail` with the default and keeps any other choice.
    pub fn set_strict_parsing(&mut self, strict: bool) {
        self.on_warning = match (strict, self.on_warning) {
            (true, _) => OnWarning::Fail,
            (false, OnWarning::Fail) => OnWarning::default(),
            (false, other) => other,
        };
    }
    /// Makes the plant take the time step of its models when models are added from now on. The
    /// first file with a time step that this parser reads decides (see
    /// [`ModelOptions::time_step`]). By default, the plant keeps its own time step.
    ///
    /// ```
    /// use tarragon_formats::Parser;
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mut parser = Parser::new(&mut plant);
    /// parser.use_model_time_step();
    /// let text = "<mujoco model='m'><option timestep='0.005'/></mujoco>";
    /// parser.add_models_from_string(text, "xml")?;
    /// assert_eq!(plant.time_step(), 0.005);
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    pub fn use_model_time_step(&mut self) {
        self.uses_model_time_step = true;
    }
    /// Sets whether geometry whose shape is a mesh or its convex hull is added; by default, it is.
    /// If not, such visual, collision and skin geometry is left out, and mesh files need not
    /// exist unless the mass of a body or a deformable body is computed from them.
    pub fn set_mesh_geometry(&mut self, enabled: bool) {
        self.mesh_geometry = enabled;
    }
    /// Sets how MJCF files are read where Drake's reading differs from MuJoCo's, which is the
    /// default.
    pub fn set_mjcf_semantics(&mut self, semantics: MjcfSemantics) {
        self.mjcf_semantics = semantics;
    }
    /// Sets the value of an argument of xacro files, as `xacro` has it on its command line
    /// (`name:=value`). Files that declare no argument of this name ignore it.
    pub fn set_xacro_argument(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.xacro_arguments.insert(name.into(), value.into());
    }
    /// Returns the arguments of [`Self::set_xacro_argument`].
    pub fn xacro_arguments(&self) -> &BTreeMap<String, String> {
        &self.xacro_arguments
    }
    /// Returns the files from which xacro files were expanded so far: themselves, those that they
    /// include, and YAML files. A change of any of them can change the models.
    pub fn xacro_files(&self) -> &BTreeSet<PathBuf> {
        &self.xacro_files
    }
    /// Returns the skybox of the models: the first `<texture type="skybox">` of the first MJCF file
    /// that has one, in either [reading](MjcfSemantics), and `None` without one. Attached models
    /// come after the models that attach them. The skybox changes nothing by itself; an
    /// [`EnvironmentMap`](tarragon_geometry::render::EnvironmentMap) that does not light shows it
    /// behind everything, as MuJoCo does.
    ///
    /// ```
    /// use tarragon_geometry::render::*;
    /// use tarragon_formats::Parser;
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mut parser = Parser::new(&mut plant);
    /// parser.add_models_from_string(
    ///     "<mujoco model='dusk'><asset>
    ///        <texture type='skybox' builtin='gradient' rgb1='.9 .5 .3' rgb2='0 0 .2' width='64'/>
    ///      </asset></mujoco>",
    ///     "xml",
    /// )?;
    /// let sky = parser.skybox()?.ok_or("no skybox")?;
    /// let sky = EnvironmentMap { lights: false, texture: sky.into(), ..Default::default() };
    /// let params = RenderEngineCpuParams { environment_map: Some(sky), ..Default::default() };
    /// RenderEngineCpu::new(params)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// This call makes the images, or cuts them from their files. Returns an error if a file cannot
    /// be read or is no PNG image. A file that is all six images is not read before they are drawn.
    pub fn skybox(&self) -> Result<Option<CubeMap>> {
        let made = self.skybox.as_ref().map(|make| make()).transpose();
        made.map_err(Error::invalid)
    }
    /// Returns what the files that were read so far say about the simulation.
    ///
    /// ```
    /// use tarragon_formats::{MjcfSemantics, Parser};
    /// use tarragon_multibody::MultibodyPlantBuilder;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let mut parser = Parser::new(&mut plant);
    /// let text = "<mujoco model='m'><option timestep='0.005'/></mujoco>";
    /// parser.add_models_from_string(text, "xml")?;
    /// assert_eq!(parser.model_options().time_step, Some(0.005));
    /// assert_eq!(parser.model_options().mjcf_semantics, Some(MjcfSemantics::MuJoCo));
    /// # Ok::<(), tarragon_multibody::Error>(())
    /// ```
    pub fn model_options(&self) -> ModelOptions {
        self.options
    }
    /// Returns the packages that `package://` URLs refer to, initially [the default
    /// ones](PackageMap). A model file's own package (a `package.xml` in its directory or above) is
    /// added automatically. It is looked for when this map is first needed, here or for a URL.
    pub fn package_map(&self) -> &PackageMap {
        self.packages.map()
    }
    /// Returns the packages for modification, see [`Self::package_map`].
    pub fn package_map_mut(&mut self) -> &mut PackageMap {
        self.packages.map_mut()
    }
    /// Returns the plant.
    pub fn plant(&mut self) -> &mut MultibodyPlantBuilder {
        self.plant
    }
    /// Returns the warnings and errors of all models so far, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Adds the models of a file; the suffix determines the format.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is larger than 256 MiB, its suffix is
    /// unknown, or its content is invalid; the message gives file, line and column. Plant and scene
    /// are then unchanged.
    pub fn add_models(&mut self, path: impl AsRef<Path>) -> Result<Vec<ModelInstanceIndex>> {
        let path = path.as_ref();
        let is_url = |path: &str| path.contains("://");
        if path.to_str().is_some_and(is_url) && !path.exists() {
            let url = path.display();
            let cure = if url.to_string().starts_with("http") {
                "add its package with `PackageMap::add_remote`, and use a package:// URL in \
                 `Parser::add_models_from_url`"
            } else {
                "use `Parser::add_models_from_url`"
            };
            return Err(Error::invalid(format!(
                "{url}: the file must be given by its path, got a URL; {cure}"
            )));
        }
        let format = ModelFormat::of_file(path)?;
        let bytes = read_file(path).map_err(|e| Error::io(path, e))?;
        self.packages.include_upstream(path);
        let input = ModelInput {
            file: &path.to_string_lossy(),
            bytes: &bytes,
            directory: Some(path.parent().unwrap_or(Path::new(""))),
            origins: None,
        };
        self.add(format, &input)
    }

    /// Adds the models of a file given by a `package://`, `model://` or `file://` URL, see
    /// [`Self::add_models`].
    ///
    /// # Errors
    /// Returns an error if the URL cannot be resolved, or in the cases of [`Self::add_models`].
    pub fn add_models_from_url(&mut self, url: &str) -> Result<Vec<ModelInstanceIndex>> {
        let path = self.packages.map().resolve_url(url)?;
        self.add_models(path)
    }

    /// Adds the models of a text. `format` is one of the suffixes without the leading dot. File
    /// names in the text must be absolute paths or URLs.
    ///
    /// # Errors
    /// Returns an error if the text is the path of a model, or in the cases of
    /// [`Self::add_models`].
    pub fn add_models_from_string(
        &mut self,
        text: &str,
        format: &str,
    ) -> Result<Vec<ModelInstanceIndex>> {
        let line = text.trim();
        if !line.contains(['<', '\n']) && ModelFormat::of_file(Path::new(line)).is_ok() {
            return Err(Error::invalid(format!(
                "model text: it must be the content of a model, got the path '{line}'; use \
                 `Parser::add_models`"
            )));
        }
        let file = format!("<literal>.{format}");
        let input = ModelInput {
            file: &file,
            bytes: text.as_bytes(),
            directory: None,
            origins: None,
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
                    model_directives::parse(input, &naming, target, diagnostics)
                }
                format => model_file::parse(format, input, &naming, target, diagnostics),
            };
            let nothing = models.is_empty() && target.plant.num_model_instances() == before;
            // Directives may add only frames and welds.
            let said = diagnostics.iter().any(Diagnostic::is_error);
            if nothing && !said && format != ModelFormat::ModelDirectives {
                diagnostics.push(Diagnostic {
                    severity: Severity::Warning,
                    ..Diagnostic::of_file(input.file, "the file has no model")
                });
            }
            models
        })
    }

    /// Runs `add` as a transaction: if anything is wrong, everything that it added to plant and
    /// scene is removed again.
    fn transact<V>(
        &mut self,
        file: &str,
        add: impl FnOnce(&mut ParseTarget<'_>, &mut Vec<Diagnostic>) -> V,
    ) -> Result<V> {
        // A rollback costs as much as was added, so loading many models takes linear time.
        let plant_before = PlantMark::new(self.plant);
        let had_skybox = self.skybox.is_some();
        let options_before = self.options;
        let scene_before = self.scene_graph.as_ref().map(|s| s.registration_mark());
        let mut found = vec![];
        let (result, others) = collect(|| self.add_marked(file, add, &mut found));
        // Code below the parsers reports text only, which may begin with a place in the file.
        found.extend(others.into_iter().map(|warning| Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::of_file(file, warning)
        }));
        drop_repeated_warnings(&mut found);
        self.on_warning.handle(&mut found);
        let failure = first_error(&found);
        self.diagnostics.extend(found);
        let mut result = failure.map_or(result, Err);
        if let (Ok(_), true, Some(step)) =
            (&result, self.uses_model_time_step, self.options.time_step)
            && let Err(error) = self.plant.set_time_step(step)
        {
            result = Err(error);
        }
        if result.is_err() {
            self.skybox = self.skybox.take().filter(|_| had_skybox);
            self.options = options_before;
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
        let xacro_files = RefCell::default();
        let mut target = ParseTarget {
            plant: self.plant,
            scene_graph: self.scene_graph.as_deref_mut(),
            packages: &mut self.packages,
            auto_renaming: self.auto_renaming,
            mesh_geometry: self.mesh_geometry,
            mjcf_semantics: self.mjcf_semantics,
            xacro_arguments: &self.xacro_arguments,
            xacro_files: &xacro_files,
            filter_groups: vec![],
            skybox: self.skybox.take(),
            options: self.options,
        };
        let value = add(&mut target, diagnostics);
        let groups = target.filter_groups;
        self.skybox = target.skybox;
        self.options = target.options;
        self.xacro_files.append(&mut xacro_files.into_inner());
        if let Some(scene_graph) = self.scene_graph.as_deref_mut() {
            self.plant.ensure_frames(scene_graph)?;
        }
        if let Err(error) = self.plant.add_filter_groups(&groups) {
            diagnostics.push(Diagnostic::of_file(file, error));
        }
        Ok(value)
    }
}

/// Executes model directives (Drake's `ProcessModelDirectives`). File names are URLs or absolute
/// paths. The parser's prefix is the scope of all names.
///
/// # Errors
/// Returns an error if the directives refer to something that does not exist, or in the cases of
/// [`Parser::add_models`]. Plant and scene are then unchanged.
pub fn process_model_directives(
    directives: &ModelDirectives,
    parser: &mut Parser<'_>,
) -> Result<Vec<ModelInstanceInfo>> {
    let scope = parser.prefix.clone();
    parser.transact("<directives>", |target, diagnostics| {
        model_directives::add(directives, &scope, target, diagnostics)
    })
}

/// Executes model directives with a new parser (Drake's overload without a parser), see
/// [`process_model_directives`]: adds the models to `plant` and their geometry to `scene_graph`, if
/// given. Packages are [the default ones](PackageMap).
///
/// ```
/// use tarragon_multibody::MultibodyPlantBuilder;
/// use tarragon_formats::directives::{ModelDirectives, process_model_directives_into};
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let scene = ModelDirectives::from_yaml("directives: [{add_model_instance: {name: left}}]")?;
/// process_model_directives_into(&scene, &mut plant, None)?;
/// assert_eq!(plant.model_instance_names()[2], "left");
/// # Ok::<(), tarragon_multibody::Error>(())
/// ```
///
/// # Errors
/// Returns an error in the cases of [`process_model_directives`].
pub fn process_model_directives_into(
    directives: &ModelDirectives,
    plant: &mut MultibodyPlantBuilder,
    scene_graph: Option<&mut SceneGraph>,
) -> Result<Vec<ModelInstanceInfo>> {
    let mut parser = match scene_graph {
        Some(scene_graph) => Parser::with_scene_graph(plant, scene_graph),
        None => Parser::new(plant),
    };
    process_model_directives(directives, &mut parser)
}

/// Removes warnings that are equal to earlier ones: a file that is added twice has the same faults
/// twice.
fn drop_repeated_warnings(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    diagnostics.retain(|d| d.is_error() || seen.insert(d.without_severity()));
}

/// Creates the error about the first error among diagnostics; it says how many others there are.
#[cold]
fn first_error(diagnostics: &[Diagnostic]) -> Option<Error> {
    let mut errors = diagnostics.iter().filter(|d| d.is_error());
    let mut first = errors.next()?.clone();
    first.message += &match errors.count() {
        0 => String::new(),
        1 => " (and 1 more error, see `Parser::diagnostics`)".into(),
        n => format!(" (and {n} more errors, see `Parser::diagnostics`)"),
    };
    Some(first.into_error())
}
