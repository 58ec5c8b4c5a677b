//! Expansion of `<include>`, which is replaced by the children of the root of the file that it
//! names.

use super::tree::{Attribute, DiagnosticLog, ElementTree, FilePosition, MjcfElement};
use std::path::{Path, PathBuf};
use tarragon_documents::xml::TextOrigins;
use tarragon_documents::xml::{Parsed, PreparedXml, Reported, XmlReader};
use tarragon_documents::{ModelInput, Severity, decode, read_file};

/// Maximum depth of nested `<include>` elements.
const MAX_DEPTH: usize = 32;
/// Maximum number of `<include>` elements.
const MAX_INCLUDES: usize = 1000;
/// Maximum number of attributes of an element; about thirty have a meaning.
const MAX_ATTRIBUTES: usize = 200;
/// Maximum number of elements; the largest published models have about ten thousand.
const MAX_ELEMENTS: usize = 4_000_000;

/// Reads a file and all files that it includes; the log may hold diagnostics of other files.
pub(super) fn read(input: &ModelInput<'_>, log: DiagnosticLog) -> (ElementTree, DiagnosticLog) {
    let mut loader = IncludeLoader {
        tree: ElementTree::default(),
        log,
        directory: input.directory,
        open: vec![],
        includes: 0,
    };
    let file = loader.open_file(input.file.into(), PathBuf::from(input.file));
    // Errors were reported.
    let _ = loader.add_document(input.bytes, input.origins, file, None);
    (loader.tree, loader.log)
}

struct IncludeLoader<'a> {
    tree: ElementTree,
    log: DiagnosticLog,
    /// Directory of relative file names: that of the main file, as in MuJoCo.
    directory: Option<&'a Path>,
    /// The files that are being read, each included by the one before.
    open: Vec<PathBuf>,
    includes: usize,
}

impl IncludeLoader<'_> {
    fn open_file(&mut self, name: String, path: PathBuf) -> usize {
        self.log.files.push(name);
        self.open.push(path.canonicalize().unwrap_or(path));
        self.log.files.len() - 1
    }

    /// Returns the index of a file from which elements were generated.
    fn file_index(&mut self, name: &str) -> usize {
        let known = self.log.files.iter().position(|f| f == name);
        known.unwrap_or_else(|| {
            self.log.files.push(name.into());
            self.log.files.len() - 1
        })
    }

    /// Adds the root of a document or, if there is a parent, the children of the root.
    ///
    /// `origins` are the places from which the bytes were generated, if any.
    fn add_document(
        &mut self,
        bytes: &[u8],
        origins: Option<&TextOrigins>,
        file: usize,
        parent: Option<usize>,
    ) -> Parsed<()> {
        let name = self.log.files[file].clone();
        let (text, warning) = decode(&name, bytes);
        warning.into_iter().for_each(|w| self.log.push(w));
        let prepared = PreparedXml::new(&text);
        let document = prepared.parse(&name).map_err(|error| {
            self.log.push(error);
            Reported
        })?;
        let reader = XmlReader::new(&name, &prepared).with_origins(origins);
        self.log.extend(reader.take_diagnostics());
        let root = document.root_element();
        let mut waiting = match parent {
            None => vec![(root, None)],
            Some(_) => reader.elements(root).map(|c| (c, parent)).collect(),
        };
        waiting.reverse();
        while let Some((node, parent)) = waiting.pop() {
            let file = match origins {
                Some(_) => self.file_index(reader.file_of(node)),
                None => file,
            };
            let place = |(line, column)| FilePosition { file, line, column };
            let element = MjcfElement {
                tag: reader.tag(node).into(),
                attributes: reader
                    .attributes(node)
                    .map(|(name, value, at)| Attribute {
                        name: name.into(),
                        value: value.into(),
                        place: place(at),
                    })
                    .collect(),
                children: vec![],
                place: place(reader.place(node)),
                document: 0,
                frame: None,
                key_number: None,
            };
            if let (Some(parent), "include") = (parent, &*element.tag) {
                self.include(&element, parent)?;
                continue;
            }
            if element.attributes.len() > MAX_ATTRIBUTES {
                let message = format!("the element has more than {MAX_ATTRIBUTES} attributes");
                return Err(self.error(element.place, message));
            }
            let index = self.tree.elements.len();
            if index == MAX_ELEMENTS {
                let message = format!("the model has more than {MAX_ELEMENTS} elements");
                return Err(self.error(element.place, message));
            }
            self.tree.elements.push(element);
            if let Some(parent) = parent {
                self.tree.elements[parent].children.push(index);
            }
            let children: Vec<_> = reader.elements(node).map(|c| (c, Some(index))).collect();
            waiting.extend(children.into_iter().rev());
        }
        Ok(())
    }

    fn error(&self, place: FilePosition, message: impl std::fmt::Display) -> Reported {
        self.log.report(Severity::Error, place, message);
        Reported
    }

    fn include(&mut self, element: &MjcfElement, parent: usize) -> Parsed<()> {
        let at = element.place;
        let file = element.attributes.iter().find(|a| a.name == "file");
        let Some(file) = file.filter(|a| !a.value.trim().is_empty()) else {
            return Err(self.error(at, "<include> has no attribute 'file'"));
        };
        let (name, at) = (file.value.trim(), file.place);
        self.includes += 1;
        if self.includes > MAX_INCLUDES || self.open.len() > MAX_DEPTH {
            let message = format!(
                "<include> of '{name}': there are more than {MAX_INCLUDES} files, or they are \
                 nested deeper than {MAX_DEPTH}"
            );
            return Err(self.error(at, message));
        }
        let path = self.find(name).map_err(|why| self.error(at, why))?;
        let canonical = path.canonicalize().unwrap_or(path.clone());
        if self.open.contains(&canonical) {
            let message = format!("<include> of '{name}': the file includes itself");
            return Err(self.error(at, message));
        }
        let bytes = read_file(&path).map_err(|error| {
            let message = format!("<include> of '{}': {error}", path.display());
            self.error(at, message)
        })?;
        let file = self.open_file(path.display().to_string(), path);
        let result = self.add_document(&bytes, None, file, Some(parent));
        self.open.pop();
        result
    }

    /// Finds an included file, relative to the main file or else to the file that includes it.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        if Path::new(name).is_absolute() {
            return Ok(name.into());
        }
        let Some(directory) = self.directory else {
            return Err(format!(
                "<include> of '{name}': the name is relative to the model file, but the model was given \
                 as text; give an absolute name or load the model from a file"
            ));
        };
        let path = directory.join(name);
        if path.is_file() {
            return Ok(path);
        }
        let including = self.open.last().and_then(|p| p.parent());
        match including.map(|d| d.join(name)).filter(|p| p.is_file()) {
            Some(path) => Ok(path),
            None => Err(format!(
                "<include> of '{name}': '{}' does not exist; names are relative to the directory of the \
                 main file",
                path.display()
            )),
        }
    }
}
