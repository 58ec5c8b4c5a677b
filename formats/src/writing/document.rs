//! State of writing one document, and helpers for all formats.

use super::format::OutputFormat;
use super::written_model::WrittenFile;
use super::xml::{XmlText, is_xml_char};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use tarragon_documents::{Diagnostic, Severity};
use tarragon_geometry::{MeshSource, SceneGraph};
use tarragon_multibody::{Joint, ModelInstanceIndex, MultibodyPlant, RigidBody};

/// A document in the making.
pub(crate) struct ModelDocument<'a> {
    pub(crate) plant: &'a MultibodyPlant,
    pub(crate) scene: Option<&'a SceneGraph>,
    pub(crate) format: OutputFormat,
    /// Directory of the document, to which paths of meshes are relative.
    pub(crate) directory: Option<&'a Path>,
    /// Time step (s) for simulations of the model, if it has one.
    pub(crate) time_step: Option<f64>,
    pub(crate) xml: XmlText,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Numbers of the constraints that are left out.
    pub(crate) lost_constraints: BTreeSet<usize>,
    /// Files next to the document.
    pub(crate) files: Vec<WrittenFile>,
    /// Names of the OBJ files among them, by the meshes that they were made from.
    pub(crate) converted: Vec<(MeshSource, String)>,
    /// Start of the names of these files; `None` if only a text is written.
    file_prefix: Option<String>,
    /// Texts of the diagnostics.
    told: BTreeSet<String>,
    file: String,
}

/// Start of files that are written next to a document, as a comment of OBJ.
const FILE_MARK: &str = "# Written by tarragon for";

/// Names of one kind that are taken in the document.
#[derive(Default)]
pub(crate) struct TakenNames {
    taken: BTreeSet<String>,
    /// Next number to try, by name.
    next: HashMap<String, usize>,
}

impl TakenNames {
    /// Creates a set with reserved names.
    pub(crate) fn with(reserved: &[&str]) -> Self {
        Self {
            taken: reserved.iter().map(|name| name.to_string()).collect(),
            next: HashMap::new(),
        }
    }

    /// Takes the name, or the first free one of `name_1`, `name_2`, ...
    pub(crate) fn take(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        while !self.taken.insert(free.clone()) {
            let next = self.next.entry(name.into()).or_insert(0);
            *next += 1;
            free = format!("{name}_{next}");
        }
        free
    }

    /// Takes the name if it is free.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.taken.insert(name.into());
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.taken.contains(name)
    }
}

impl<'a> ModelDocument<'a> {
    pub(crate) fn new(
        plant: &'a MultibodyPlant,
        scene: Option<&'a SceneGraph>,
        format: OutputFormat,
        directory: Option<&'a Path>,
        file: String,
    ) -> Self {
        Self {
            plant,
            scene,
            format,
            directory,
            time_step: None,
            xml: XmlText::new(),
            diagnostics: vec![],
            lost_constraints: BTreeSet::new(),
            files: vec![],
            converted: vec![],
            file_prefix: None,
            told: BTreeSet::new(),
            file,
        }
    }

    /// Permits files next to the document, whose names start with a given one.
    pub(crate) fn allow_files(&mut self, prefix: &str) {
        self.file_prefix = Some(self.clean_name(prefix));
    }

    pub(crate) fn may_add_files(&self) -> bool {
        self.file_prefix.is_some()
    }

    /// Adds a text file next to the document, with a name like `wanted`. Its first line says that
    /// it was made, so that a file of another origin is never replaced. Returns its name; `None` if
    /// only a text is written.
    pub(crate) fn add_file(&mut self, wanted: &str, suffix: &str, text: &str) -> Option<String> {
        let prefix = self.file_prefix.as_deref()?;
        let directory = self.directory.unwrap_or(Path::new("."));
        let is_ours = |name: &str| match std::fs::read(directory.join(name)) {
            Ok(old) => old.starts_with(FILE_MARK.as_bytes()),
            Err(e) => e.kind() == std::io::ErrorKind::NotFound,
        };
        let wanted: String = self.clean_name(wanted).replace(['/', '\\'], "_");
        let names = (0..).map(|i| match i {
            0 => format!("{prefix}_{wanted}.{suffix}"),
            i => format!("{prefix}_{wanted}_{i}.{suffix}"),
        });
        let taken = |name: &String| self.files.iter().any(|file| file.name == *name);
        let name = names
            .take(1000)
            .find(|name| !taken(name) && is_ours(name))?;
        let text = format!("{FILE_MARK} {}.\n{text}", self.file);
        self.files.push(WrittenFile {
            name: name.clone(),
            text: text.replace('\r', ""),
        });
        Some(name)
    }

    /// Reports something that the format cannot say, once.
    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.told.insert(message.clone()) {
            self.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                ..Diagnostic::of_file(&self.file, message)
            });
        }
    }

    /// Reports elements of one kind that the format does not have, each in a warning of its own.
    pub(crate) fn leave_each_out(&mut self, what: &str, names: &[&str]) {
        for name in names {
            self.leave_out(what, &[name]);
        }
    }

    /// Reports an element that the format does not have, by its name or the names of its parts.
    pub(crate) fn leave_out(&mut self, what: &str, names: &[&str]) {
        if !names.is_empty() {
            let (format, list) = (self.format.name(), names.join("', '"));
            self.warn(format!(
                "{what} '{list}': left out, because {format} has no element for it"
            ));
        }
    }

    /// Reports a joint that the format does not have, given the names of bodies.
    pub(crate) fn leave_joint_out(&mut self, joint: &Joint, bodies: &[String], why: &str) {
        let ends = [joint.parent_body(), joint.child_body()];
        let [parent, child] = ends.map(|body| &bodies[body.index()]);
        self.warn(format!(
            "joint '{}': left out, because {why}; it no longer connects '{parent}' and '{child}'",
            joint.name()
        ));
    }

    /// Takes a name for an element: `wanted` if a reader returns it unchanged and it is free,
    /// otherwise a similar one, with a diagnostic.
    pub(crate) fn name(
        &mut self,
        taken: &mut TakenNames,
        kind: &str,
        instance: ModelInstanceIndex,
        wanted: &str,
    ) -> String {
        let mut clean = self.clean_name(wanted);
        if clean.is_empty() {
            clean = kind.replace(' ', "_");
        }
        if taken.has(&clean)
            && let Ok(model) = self.plant.model_instance_name(instance)
            && instance > ModelInstanceIndex::DEFAULT
        {
            let model = self.clean_name(&model.replace("::", "_"));
            clean = format!("{model}_{clean}");
        }
        let found = taken.take(&clean);
        if found != wanted {
            let format = self.format.name();
            self.warn(format!(
                "{kind} '{wanted}' is renamed to '{found}': {format} cannot have the name, or has \
                 it already"
            ));
        }
        found
    }

    /// Returns a name without what readers change or refuse.
    pub(crate) fn clean_name(&self, name: &str) -> String {
        let permitted = |c: char| if is_xml_char(c) { c } else { '_' };
        let mut clean: String = name.trim().chars().map(permitted).collect();
        if self.format == OutputFormat::Sdf {
            clean = clean.replace("::", "_");
            if clean.starts_with("__") && clean.ends_with("__") {
                clean = clean.trim_matches('_').into();
            }
        }
        clean
    }

    /// Returns the names of bodies by index; the world's is `world`.
    pub(crate) fn body_names(&mut self, taken: &mut TakenNames) -> Vec<String> {
        let plant = self.plant;
        let name = |(i, (_, body)): (usize, (_, &RigidBody))| match i {
            0 => "world".to_string(),
            _ => self.name(taken, "body", body.model_instance(), body.name()),
        };
        plant.bodies().enumerate().map(name).collect()
    }

    /// Returns the text by which a model file refers to the file of a mesh or an image: relative to
    /// the document if it is in the same directory or below. Reports a file that it cannot refer
    /// to.
    pub(crate) fn uri(&mut self, path: &Path, what: &str) -> Option<String> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let directory = self.directory.map(|d| {
            let d = if d.as_os_str().is_empty() {
                Path::new(".")
            } else {
                d
            };
            std::path::absolute(d).unwrap_or_else(|_| d.into())
        });
        let inside = directory.and_then(|d| absolute.strip_prefix(d).ok().map(PathBuf::from));
        let uri = match &inside {
            Some(relative) => relative.to_str().map(String::from),
            // MuJoCo knows no URLs.
            None if self.format == OutputFormat::Mjcf => absolute.to_str().map(String::from),
            None => absolute.to_str().map(|p| format!("file://{p}")),
        };
        let usable = |uri: &String| uri.trim() == uri && uri.chars().all(is_xml_char);
        let uri = uri.filter(usable);
        if uri.is_none() {
            let path = path.display();
            self.warn(format!(
                "{what}: left out, because '{path}' cannot be in XML"
            ));
        }
        uri
    }
}
