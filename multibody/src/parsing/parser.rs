//! From model files to a plant.

use super::diagnostic::{Diagnostic, Severity};
use super::model::Model;
use super::package_map::PackageMap;
use super::urdf;
use crate::error::{Error, Result};
use crate::index::ModelInstanceIndex;
use crate::plant::MultibodyPlant;
use std::path::{Path, PathBuf};
use tarragon_geometry::SceneGraph;

/// Reads model files into a plant, and their geometry into a scene (Drake's `Parser`).
///
/// So far: URDF (`.urdf`). Lengths are metres, angles radians, masses kilograms. A model that can not
/// be read leaves plant and scene as they were; what is left out of a model that can be read is
/// told by [`Self::diagnostics`]. Meshes may be OBJ or STL; visual and collision geometry with other
/// mesh files is left out with a warning.
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

/// Where a model's files are.
pub(crate) struct Resources<'a> {
    packages: &'a PackageMap,
    /// Directory of the model file; none for a model given as text.
    directory: Option<&'a Path>,
    /// Whether geometry is wanted; its files need not exist otherwise.
    pub(crate) geometry: bool,
}

impl Resources<'_> {
    /// The file that a URI or a path relative to the model file stands for.
    pub(crate) fn resolve(&self, uri: &str) -> Result<PathBuf, String> {
        let path = if uri.contains("://") {
            self.packages.resolve_url(uri).map_err(|e| e.to_string())?
        } else if let Some(directory) = self.directory {
            directory.join(uri)
        } else if Path::new(uri).is_absolute() {
            uri.into()
        } else {
            return Err(format!(
                "'{uri}' is relative to the model file, but the model was given as text; use \
                 package:// or file://"
            ));
        };
        if path.is_file() {
            return Ok(path);
        }
        let hint = match uri.contains("://") {
            true => "correct the name or the parser's package map",
            false => "names without package:// are relative to the model file; correct the name",
        };
        Err(format!(
            "'{uri}' resolves to '{}', which does not exist; {hint}",
            path.display()
        ))
    }
}

impl<'p> Parser<'p> {
    /// A parser that adds models to `plant`, without geometry: visual and collision elements are not
    /// looked at, and their files need not exist.
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

    /// A parser that adds models to `plant` and their geometry to `scene_graph`; registers the plant
    /// with it.
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
    /// From now on a model whose name is taken is called `name_1`, `name_2`, ... instead of being an
    /// error.
    pub fn set_auto_renaming(&mut self, enabled: bool) {
        self.auto_renaming = enabled;
    }
    /// From now on warnings are errors.
    pub fn set_strict_parsing(&mut self) {
        self.strict = true;
    }
    /// The packages that `package://` URLs refer to. A model file's own package (a `package.xml` in
    /// its directory or above) is known without being added.
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
    /// If the file can not be read, its suffix is not known, or something in it is wrong; the message
    /// gives file, line and column.
    pub fn add_models(&mut self, path: impl AsRef<Path>) -> Result<Vec<ModelInstanceIndex>> {
        let path = path.as_ref();
        let format = path.extension().map(|s| s.to_string_lossy().to_lowercase());
        check_format(&path.display().to_string(), format.as_deref().unwrap_or(""))?;
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        self.package_map.populate_upstream(path);
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.add(&path.display().to_string(), &bytes, Some(&directory))
    }

    /// As [`Self::add_models`], by a `package://`, `model://` or `file://` URL.
    ///
    /// # Errors
    /// If the URL can not be resolved, and as [`Self::add_models`].
    pub fn add_models_from_url(&mut self, url: &str) -> Result<Vec<ModelInstanceIndex>> {
        let path = self.package_map.resolve_url(url)?;
        self.add_models(path)
    }

    /// Adds the models of a text in the given format (`urdf`). Files that it names must be absolute
    /// or URLs.
    ///
    /// # Errors
    /// As [`Self::add_models`].
    pub fn add_models_from_string(
        &mut self,
        text: &str,
        format: &str,
    ) -> Result<Vec<ModelInstanceIndex>> {
        check_format("model text", format)?;
        self.add(&format!("<literal>.{format}"), text.as_bytes(), None)
    }

    fn add(
        &mut self,
        file: &str,
        bytes: &[u8],
        directory: Option<&Path>,
    ) -> Result<Vec<ModelInstanceIndex>> {
        let _span = tracing::info_span!("parse", file).entered();
        let resources = Resources {
            packages: &self.package_map,
            directory,
            geometry: self.scene_graph.is_some(),
        };
        let (model, mut found) = urdf::parse(file, bytes, &resources);
        if self.strict {
            found.iter_mut().for_each(|d| d.severity = Severity::Error);
        }
        let errors: Vec<&Diagnostic> = found
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .collect();
        let failure = errors
            .first()
            .map(|first| Error::parse((*first).clone(), errors.len() - 1));
        self.diagnostics.extend(found);
        match (model, failure) {
            (_, Some(error)) => Err(error),
            (Some(model), None) => self.install(file, model).map(|instance| vec![instance]),
            (None, None) => Err(Error::invalid(format!("{file}: no model was found"))),
        }
    }

    fn install(&mut self, file: &str, model: Model) -> Result<ModelInstanceIndex> {
        let mut name = match self.prefix.as_str() {
            "" => model.name.clone(),
            prefix => format!("{prefix}::{}", model.name),
        };
        if self.auto_renaming {
            let taken = |name: &str| self.plant.model_instances.iter().any(|m| m == name);
            let base = name.clone();
            let mut subscript = 0;
            while taken(&name) {
                subscript += 1;
                name = format!("{base}_{subscript}");
            }
        }
        let scene_graph = self.scene_graph.as_deref_mut();
        model
            .install(&name, self.plant, scene_graph)
            .map_err(|failure| {
                let (line, column) = failure.place;
                let diagnostic = Diagnostic {
                    severity: Severity::Error,
                    file: file.into(),
                    line,
                    column,
                    message: failure.error.to_string(),
                };
                self.diagnostics.push(diagnostic.clone());
                Error::parse(diagnostic, 0)
            })
    }
}

fn check_format(what: &str, format: &str) -> Result<()> {
    match format {
        "urdf" => Ok(()),
        "sdf" | "xml" | "yaml" | "obj" => Err(Error::invalid(format!(
            "{what}: the format '.{format}' is not supported yet, .urdf is expected"
        ))),
        other => Err(Error::invalid(format!(
            "{what}: the suffix '.{other}' is no model format, .urdf is expected"
        ))),
    }
}
