//! `<include>`: replacement of the element by a model from another file.

use super::document;
use super::element::{Element, Report, SourceFile, truth};
use super::graph_builder::InterfaceFile;
use super::merge;
use crate::model_source::ModelSource;
use crate::reading::format::ModelFormat;
use crate::reading::target::ParseTarget;
use std::path::{Path, PathBuf};
use tarragon_documents::xml::{Parsed, PreparedXml, Reported, XmlReader};
use tarragon_documents::{decode, read_file};

/// Maximum depth of nested files; more is a mistake or an attack.
const MAX_DEPTH: usize = 32;
/// Maximum number of included files; more is a mistake or an attack.
const MAX_FILES: usize = 1000;

/// Replaces each `<include>` with the included model; models in other formats are left for later.
pub(super) struct IncludeExpander<'a, 't> {
    target: &'a ParseTarget<'t>,
    report: &'a Report,
    /// Files that are being read, outermost first.
    open: Vec<PathBuf>,
    num_files: usize,
    pub(super) interfaces: Vec<InterfaceFile>,
}

impl<'a, 't> IncludeExpander<'a, 't> {
    pub(super) fn new(target: &'a ParseTarget<'t>, report: &'a Report, file: &str) -> Self {
        Self {
            target,
            report,
            open: vec![canonical(Path::new(file))],
            num_files: 0,
            interfaces: vec![],
        }
    }

    /// Expands everything below an element. An include that cannot be read is reported and left
    /// out.
    pub(super) fn expand(&mut self, parent: &mut Element) {
        let children = std::mem::take(&mut parent.children);
        for mut child in children {
            match child.tag.as_str() {
                "include" => {
                    // Errors were reported.
                    if let Ok(included) = self.include(child, parent) {
                        parent.children.extend(included);
                    }
                }
                tag => {
                    if matches!(tag, "model" | "world") {
                        self.expand(&mut child);
                    }
                    parent.children.push(child);
                }
            }
        }
    }

    fn include(&mut self, mut include: Element, parent: &Element) -> Parsed<Vec<Element>> {
        let merged = truth(include.filled("merge").unwrap_or("false"));
        let merged = merged == Some(true);
        if merged && parent.tag != "model" {
            let message = format!(
                "merge=\"true\" in a <{}>: a model can only be merged into a <model>",
                parent.tag
            );
            return Err(self.report.error(&include, message));
        }
        if let Some(frame) = include.child("placement_frame") {
            let message = match (include.child("pose"), frame.text.as_str()) {
                (_, "") => "<placement_frame> must not be empty",
                (None, _) => "<placement_frame> needs a <pose> next to it",
                _ => "",
            };
            if !message.is_empty() {
                return Err(self.report.error(frame, message));
            }
        }
        let uri = self.report.required_text(&include, "uri")?.to_string();
        let path = self.find(&uri, &include)?;
        self.num_files += 1;
        if self.open.len() >= MAX_DEPTH || self.num_files > MAX_FILES {
            let message = format!(
                "'{uri}': there are more than {MAX_FILES} included files, or they are nested \
                 deeper than {MAX_DEPTH}"
            );
            return Err(self.report.error(&include, message));
        }
        let format = ModelFormat::of_file(&path).map_err(|e| self.report.error(&include, e))?;
        if self.open.contains(&canonical(&path)) {
            let message = format!("'{uri}' includes itself");
            return Err(self.report.error(&include, message));
        }
        let source = match format {
            ModelFormat::Sdf | ModelFormat::Xacro => Some(self.source(&path, format, &include)?),
            _ => None,
        };
        let source = match source {
            Some(source) if source.format == ModelFormat::Sdf => {
                let model = self.model(&path, &uri, &include, source)?;
                return Ok(if merged {
                    merge::merged(model, parent, self.report)
                } else {
                    vec![model]
                });
            }
            source => source,
        };
        let format = source.as_ref().map_or(format, |source| source.format);
        if !format.can_be_included() {
            let message = format!("'{uri}': models of this format cannot be included");
            return Err(self.report.error(&include, message));
        }
        if include.flag("static", false) {
            let message = format!("'{uri}': only SDFormat models can be made static here");
            return Err(self.report.error(&include, message));
        }
        include.interface = Some(self.interfaces.len());
        self.interfaces.push(InterfaceFile {
            path,
            format,
            source,
        });
        Ok(vec![include])
    }

    /// Resolves a URI to a file; a directory stands for the file that its `model.config` names.
    fn find(&self, uri: &str, include: &Element) -> Parsed<PathBuf> {
        let directory = include.place.source.directory.as_deref();
        let path = match self.target.resolve(uri, directory) {
            Ok(path) => return Ok(path),
            Err(why) => {
                let folder = match (uri.contains("://"), directory) {
                    (true, _) => self.target.packages.map().resolve_url(uri).ok(),
                    (false, Some(directory)) => Some(directory.join(uri)),
                    (false, None) => Some(PathBuf::from(uri)).filter(|p| p.is_absolute()),
                };
                let folder = folder.filter(|f| f.is_dir());
                folder.ok_or_else(|| self.report.error(include, why))?
            }
        };
        let manifest = ["model.config", "manifest.xml"].map(|name| path.join(name));
        let found = match manifest.iter().find(|m| m.is_file()) {
            Some(manifest) => model_of_manifest(manifest).map(|name| path.join(name)),
            None => Ok(path.join("model.sdf")),
        };
        match found {
            Ok(file) if file.is_file() => Ok(file),
            Ok(file) => {
                let message = format!(
                    "'{uri}' is the directory '{}', whose model file '{}' does not exist",
                    path.display(),
                    file.display()
                );
                Err(self.report.error(include, message))
            }
            Err(why) => Err(self.report.error(include, format!("'{uri}': {why}"))),
        }
    }

    /// Reads a file, and expands it if it is xacro.
    fn source(&self, path: &Path, format: ModelFormat, include: &Element) -> Parsed<ModelSource> {
        let mut diagnostics = vec![];
        let source = ModelSource::read(path, format, self.target, &mut diagnostics);
        self.report.extend(diagnostics);
        let source = source.map_err(|why| self.report.error(include, why))?;
        source.ok_or(Reported)
    }

    /// Reads the model of a file and applies the settings of the include.
    fn model(
        &mut self,
        path: &Path,
        uri: &str,
        include: &Element,
        content: ModelSource,
    ) -> Parsed<Element> {
        let source = SourceFile {
            name: path.display().to_string(),
            directory: path.parent().map(Path::to_path_buf),
        };
        let mut root = document::read(
            source,
            &content.bytes,
            content.origins.as_ref(),
            self.report,
        )?;
        self.open.push(canonical(path));
        self.expand(&mut root);
        self.open.pop();
        let model = root.children.iter().position(|c| c.tag == "model");
        let Some(model) = model else {
            let message = format!("'{uri}' must have a <model> at the top to be included");
            return Err(self.report.error(include, message));
        };
        let mut model = root.children.swap_remove(model);
        if let Some(name) = include.child_text("name") {
            if name.contains("::") {
                let message = format!("a name must not contain '::', got '{name}'");
                return Err(self.report.error(include, message));
            }
            model.set_attribute("name", name);
        }
        for tag in ["static", "pose"] {
            if let Some(child) = include.child(tag) {
                model.children.retain(|c| c.tag != tag);
                model.children.push(child.clone());
            }
        }
        if let Some(frame) = include.child_text("placement_frame") {
            model.set_attribute("placement_frame", frame);
        }
        model.children.extend(include.all("plugin").cloned());
        Ok(model)
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Returns the file of the newest SDFormat version that a `model.config` lists.
fn model_of_manifest(path: &Path) -> Result<String, String> {
    let file = path.display().to_string();
    let bytes = read_file(path).map_err(|e| format!("{file} cannot be read: {e}"))?;
    let (text, _) = decode(&file, &bytes);
    let prepared = PreparedXml::new(&text);
    let document = prepared.parse(&file).map_err(|e| e.to_string())?;
    let reader = XmlReader::new(&file, &prepared);
    let minor = |version: &str| {
        version
            .strip_prefix("1.")
            .and_then(|m| m.parse::<u32>().ok())
    };
    let files = reader.children(document.root_element(), "sdf");
    let newest = files
        .filter_map(|n| Some((n.attribute("version").and_then(minor), n.text()?.trim())))
        .max_by_key(|(version, _)| *version);
    match newest {
        Some((_, name)) if !name.is_empty() => Ok(name.into()),
        _ => Err(format!("{file} names no SDFormat file")),
    }
}
