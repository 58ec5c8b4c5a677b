//! State of an expansion: documents, scopes, the chain of macro calls, and bounds.

use super::scopes::{MacroDefinition, ScopeArena, ScopeIndex};
use super::tree::{PlacedText, TreeIndex, XacroTree};
use crate::diagnostic::{Diagnostic, Severity};
use crate::expression::{PyError, PyResult, PyValue, parse_float, parse_int};
use crate::packages::PackageMap;
use crate::xml::OriginPlace;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tarragon_framework::counted;

/// Maximum depth of nested elements, macro calls and lazy properties.
const MAX_DEPTH: usize = 1000;
/// Maximum depth of nested files.
const MAX_OPEN: usize = 64;
/// Maximum number of elements, texts and comments, including those that are replaced again.
const MAX_NODES: usize = 2_000_000;
/// Maximum work of all expressions and of reading included files.
const MAX_WORK: usize = 10_000_000;
/// Maximum size of all copied elements together (bytes).
const MAX_COPIED: usize = 256 << 20;
/// Maximum depth of properties that refer to each other.
const MAX_CHAIN: usize = 200;
/// Maximum number of macro calls in a message.
const SHOWN_CALLS: usize = 4;

/// An error of an expansion.
#[derive(Debug)]
pub(super) struct XacroError {
    pub(super) diagnostic: Diagnostic,
    /// True if a file could not be opened, which an optional include may ignore.
    pub(super) is_missing_file: bool,
}

/// A value, or an error of an expansion.
pub(super) type XacroResult<V> = Result<V, Box<XacroError>>;

/// Expands a document.
pub(super) struct XacroExpander<'a> {
    pub(super) tree: XacroTree,
    pub(super) scopes: ScopeArena,
    pub(super) macros: Vec<Rc<MacroDefinition>>,
    pub(super) arguments: BTreeMap<String, String>,
    pub(super) packages: &'a PackageMap,
    /// Names of all files, for messages.
    pub(super) files: Vec<String>,
    /// Files that were read, each once.
    pub(super) dependencies: Vec<PathBuf>,
    /// Files that are being read, outermost first.
    pub(super) open: Vec<PathBuf>,
    /// Macro calls that are being expanded, outermost first, with their places.
    pub(super) calls: Vec<(Rc<MacroDefinition>, OriginPlace)>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Place and text of each diagnostic, which is reported once.
    reported: HashSet<(OriginPlace, String)>,
    /// Messages of the file (`xacro.message(...)`).
    pub(super) messages: Vec<String>,
    /// Properties that are being evaluated, outermost first.
    pub(super) evaluating: Vec<String>,
    /// The blank text that ends the removal of comments.
    pub(super) stop: TreeIndex,
    /// Depth of all evaluations that wait for each other.
    pub(super) evaluation_depth: usize,
    work: usize,
    copied: usize,
    depth: usize,
}

impl<'a> XacroExpander<'a> {
    pub(super) fn new(arguments: &BTreeMap<String, String>, packages: &'a PackageMap) -> Self {
        let mut tree = XacroTree::default();
        let stop = tree.add_text("\n\n");
        Self {
            tree,
            scopes: ScopeArena::default(),
            macros: vec![],
            arguments: arguments.clone(),
            packages,
            files: vec![],
            dependencies: vec![],
            open: vec![],
            calls: vec![],
            diagnostics: vec![],
            reported: HashSet::new(),
            messages: vec![],
            evaluating: vec![],
            stop,
            evaluation_depth: 0,
            work: 0,
            copied: 0,
            depth: 0,
        }
    }

    /// Returns a message if one more file must not be opened within those that are open.
    pub(super) fn nested_too_deep(&self, file: &Path) -> Option<String> {
        if self.open.len() < MAX_OPEN {
            return None;
        }
        let cycle = if !self.open.iter().any(|open| open == file) {
            ""
        } else {
            ", and this one includes itself"
        };
        let file = file.display();
        Some(format!(
            "'{file}': files are nested deeper than {MAX_OPEN}{cycle}"
        ))
    }

    /// Returns the index of a file, for places.
    pub(super) fn file_index(&mut self, name: String) -> u32 {
        let known = self.files.iter().position(|f| *f == name);
        let index = known.unwrap_or_else(|| {
            self.files.push(name);
            self.files.len() - 1
        });
        index as u32
    }

    /// Adds a file to those that were read.
    pub(super) fn add_dependency(&mut self, path: &Path) {
        if !self.dependencies.iter().any(|known| known == path) {
            self.dependencies.push(path.into());
        }
    }

    /// Returns a path, relative to the file that is being read, as an absolute one or as it is.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        let folder = self.open.last().and_then(|file| file.parent());
        folder.unwrap_or(Path::new("")).join(path)
    }

    fn diagnostic(
        &self,
        severity: Severity,
        place: OriginPlace,
        message: impl Display,
    ) -> Diagnostic {
        let file = self.files.get(place.file as usize);
        Diagnostic {
            severity,
            file: file.cloned().unwrap_or_default(),
            line: place.line,
            column: place.column,
            message: format!("{message}{}", self.chain()),
        }
    }

    /// Describes a place and the macro calls that lead to it.
    pub(super) fn location(&self, place: OriginPlace) -> String {
        let here = self.diagnostic(Severity::Warning, place, "");
        format!(
            "at {}:{}:{}{}",
            here.file, here.line, here.column, here.message
        )
    }

    /// Describes the macro calls that lead to the current place.
    fn chain(&self) -> String {
        let calls = self.calls.iter().rev().take(SHOWN_CALLS);
        let calls: Vec<String> = calls
            .map(|(called, place)| {
                let name = &called.name;
                let file = self
                    .files
                    .get(place.file as usize)
                    .map_or("", String::as_str);
                format!(
                    "in macro '{name}', called at {file}:{}:{}",
                    place.line, place.column
                )
            })
            .collect();
        let more = match self.calls.len().saturating_sub(SHOWN_CALLS) {
            0 => String::new(),
            n => format!(", and {}", counted(n, "more call")),
        };
        if calls.is_empty() {
            String::new()
        } else {
            format!(" ({}{more})", calls.join(", "))
        }
    }

    /// Message of an error without the macro calls that lead to it.
    pub(super) fn reason(&self, error: &XacroError) -> String {
        let message = &error.diagnostic.message;
        message
            .strip_suffix(&self.chain())
            .unwrap_or(message)
            .into()
    }

    pub(super) fn error(&self, place: OriginPlace, message: impl Display) -> Box<XacroError> {
        Box::new(XacroError {
            diagnostic: self.diagnostic(Severity::Error, place, message),
            is_missing_file: false,
        })
    }
    /// Creates an error at an element.
    pub(super) fn error_at(&self, node: TreeIndex, message: impl Display) -> Box<XacroError> {
        self.error(self.tree.place(node), message)
    }
    pub(super) fn warn(&mut self, place: OriginPlace, message: impl Display) {
        let warning = self.diagnostic(Severity::Warning, place, message);
        if self.reported.insert((place, warning.message.clone())) {
            self.diagnostics.push(warning);
        }
    }

    /// Runs `work` one level deeper.
    pub(super) fn nested<V>(
        &mut self,
        place: OriginPlace,
        work: impl FnOnce(&mut Self) -> XacroResult<V>,
    ) -> XacroResult<V> {
        if self.depth == MAX_DEPTH {
            let message = format!(
                "elements, macro calls and properties are nested deeper than {MAX_DEPTH}; a macro \
                 that calls itself needs an <xacro:if> that ends it"
            );
            return Err(self.error(place, message));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// Copies an element, within the bounds.
    pub(super) fn copy(&mut self, node: TreeIndex, place: OriginPlace) -> XacroResult<TreeIndex> {
        let (nodes, bytes) = self.tree.size(node);
        self.check_room(nodes, place)?;
        self.copied += bytes;
        if self.copied <= MAX_COPIED {
            Ok(self.tree.copy(node))
        } else {
            Err(self.error(
                place,
                format!("macros and blocks must make at most {MAX_COPIED} bytes of text"),
            ))
        }
    }
    /// Number of nodes that can still be added.
    pub(super) fn room(&self) -> usize {
        MAX_NODES.saturating_sub(self.tree.len())
    }
    /// Checks that one more property can be evaluated for the sake of another.
    pub(super) fn check_chain(&self, place: OriginPlace) -> XacroResult<()> {
        if self.evaluating.len() < MAX_CHAIN {
            Ok(())
        } else {
            Err(self.error(
                place,
                format!(
                    "properties that refer to each other must be at most {MAX_CHAIN} in a row; set \
                 lazy_eval=\"false\""
                ),
            ))
        }
    }
    /// Checks that a number of nodes can be added.
    pub(super) fn check_room(&self, count: usize, place: OriginPlace) -> XacroResult<()> {
        if self.tree.len() + count <= MAX_NODES {
            Ok(())
        } else {
            Err(self.error(
                place,
                format!("the expansion must make at most {MAX_NODES} elements, texts and comments"),
            ))
        }
    }

    /// Counts the work of expressions and of reading files.
    pub(super) fn spend(&mut self, work: usize) -> PyResult<()> {
        self.work = self.work.saturating_add(work);
        if self.work <= MAX_WORK {
            Ok(())
        } else {
            Err(PyError::limit(format!(
                "all expressions and included files together must take at most {MAX_WORK} steps"
            )))
        }
    }

    /// Returns the cure for a name that only an element further down defines.
    pub(super) fn defined_later(&self, tag: &str, name: &str, at: OriginPlace) -> Option<String> {
        let place = self.tree.waiting(tag, name)?;
        let file = match self.files.get(place.file as usize) {
            Some(file) if place.file != at.file => format!(" of {file}"),
            _ => String::new(),
        };
        let line = place.line;
        Some(format!(
            "<{tag} name=\"{name}\"> comes later, in line {line}{file}; move it up, before its first \
             use"
        ))
    }

    /// Returns a required attribute.
    pub(super) fn required(&self, node: TreeIndex, name: &str) -> XacroResult<PlacedText> {
        let found = self.tree.attribute(node, name).cloned();
        found.ok_or_else(|| {
            let tag = self.tree.tag(node);
            self.error_at(node, format!("<{tag}> has no attribute '{name}'"))
        })
    }

    /// Warns about attributes that an element of xacro does not have.
    pub(super) fn check_attributes(&mut self, node: TreeIndex, known: &[&str]) {
        let attributes = self.tree.attributes(node).iter();
        let extra = attributes.filter(|a| {
            !known.contains(&&*a.name) && !a.name.starts_with("xmlns:") && a.name != "xmlns"
        });
        let extra: Vec<_> = extra.map(|a| (a.name.clone(), a.value.place)).collect();
        for (name, place) in extra {
            let tag = self.tree.tag(node).to_string();
            let known = known.join("', '");
            let message =
                format!("attribute '{name}' of <{tag}> must be one of '{known}'; it is ignored");
            self.warn(place, message);
        }
    }
}

/// Converts the text of a property to a number or a truth value if it is one, and removes single
/// quotes around it.
pub(super) fn literal_value(value: PyValue) -> PyResult {
    let PyValue::Str(text) = &value else {
        return Ok(value);
    };
    if text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') {
        return Ok(PyValue::str(&text[1..text.len() - 1]));
    }
    // Python would read underscores between digits as part of a number.
    if text.contains('_') {
        return Ok(value);
    }
    if let Some(whole) = parse_int(text) {
        return whole.map(PyValue::Int);
    }
    if let Some(real) = parse_float(text) {
        return Ok(PyValue::Float(real));
    }
    Ok(match &**text {
        "true" | "True" => PyValue::Bool(true),
        "false" | "False" => PyValue::Bool(false),
        _ => value,
    })
}

/// Interprets a value as a condition; `None` if it is none.
pub(super) fn condition(value: &PyValue) -> Option<bool> {
    match value {
        PyValue::Str(text) => match &**text {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            // A number that is too large for a value is not zero.
            text => Some(!matches!(parse_int(text)?, Ok(0))),
        },
        value => Some(value.truth()),
    }
}

/// Index of the outermost scope.
pub(super) const OUTERMOST: ScopeIndex = 0;
