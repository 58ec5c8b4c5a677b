//! Xacro: XML with macros, properties and expressions, from which URDF, SDFormat and other models
//! are made.
//!
//! [`expand`](fn@expand) does what the program `xacro` of ROS 2 does
//! (<https://github.com/ros/xacro/wiki>). Parsers of models read files whose names end with
//! `.xacro` through it. A document is read into a tree (`read`), of which elements are replaced in
//! place (`elements`, `macros`, `properties`, `include`), and written (`write`) with the place that
//! each element and attribute comes from.

mod character_set;
mod characters;
mod command;
mod elements;
mod evaluation;
mod expander;
mod functions;
mod glob;
mod include;
mod interpolation;
mod macros;
mod parameters;
mod properties;
mod read;
mod scopes;
mod symbols;
#[cfg(test)]
mod tests;
mod tree;
mod write;
mod yaml;
mod yaml_scalar;

use crate::diagnostic::Diagnostic;
use crate::input::read_file;
use crate::packages::PackageMap;
use crate::xml::TextOrigins;
use crate::{Error, Result};
use expander::XacroExpander;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tarragon_framework::warnings::{collect, warn};

/// Size of the stack on which documents are expanded (bytes): enough for elements, macro calls and
/// evaluations at their greatest depths, also without optimization.
const STACK: usize = 256 << 20;

/// The XML that a xacro file stands for.
///
/// ```
/// use std::collections::BTreeMap;
/// use tarragon_documents::{PackageMap, xacro};
/// let folder = tempfile::tempdir().unwrap();
/// let file = folder.path().join("arm.urdf.xacro");
/// std::fs::write(
///     &file,
///     r#"<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
///          <xacro:arg name="side" default="left"/>
///          <link name="$(arg side)_${1 + 1}"/>
///        </robot>"#,
/// )
/// .unwrap();
/// let arguments = BTreeMap::from([("side".to_string(), "right".to_string())]);
/// let expanded = xacro::expand(&file, &arguments, &PackageMap::new())?;
/// assert!(expanded.text.contains(r#"<link name="right_2"/>"#));
/// assert_eq!(expanded.files, [file]);
/// # Ok::<(), tarragon_documents::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct XacroExpansion {
    /// The XML, indented as `xacro` does it.
    pub text: String,
    /// All files that were read: the xacro file, the included files, and YAML files.
    pub files: Vec<PathBuf>,
    /// Warnings, also those of the file itself (`xacro.warning(...)`).
    pub diagnostics: Vec<Diagnostic>,
    /// Messages of the file itself (`xacro.message(...)`, `xacro.print_location()`).
    pub messages: Vec<String>,
}

/// Files, warnings and messages of an expansion, also of one that has failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct XacroReport {
    /// All files that were read; after an error, also one that could not be read.
    pub files: Vec<PathBuf>,
    /// Warnings, also those of the file itself (`xacro.warning(...)`).
    pub diagnostics: Vec<Diagnostic>,
    /// Messages of the file itself (`xacro.message(...)`, `xacro.print_location()`).
    pub messages: Vec<String>,
}

/// An expanded document.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandedText {
    /// The XML, indented as `xacro` does it.
    pub text: String,
    /// Name of the root element, without a prefix.
    pub root: String,
    /// Places of the xacro files that the parts of the text come from.
    pub origins: TextOrigins,
}

/// Expands a xacro file (the program `xacro` of ROS 2). `arguments` are values of `$(arg name)`;
/// `$(find package)` is looked up in `packages` and in the package that the file belongs to.
///
/// Unlike `xacro`, it resolves `$(dirname)` to the directory of the file at hand, accepts numbers
/// as values of `<xacro:attribute>`, refuses what would not be XML, and writes no banner at the
/// top. Expressions are those of Python 3.11 without lambdas, f-strings, complex numbers, `vars()`
/// and whole numbers of more than 127 bits; `math.erf`, `erfc`, `gamma` and `lgamma` may differ in
/// the last digits. Sets of texts keep the order of insertion, since their order in Python differs
/// from run to run, as does `hash()` of texts, which is an error. Generators make all their members
/// at once, and `yield`, `await`, starred targets and nested fields of formats are errors. In YAML
/// files, dates are texts, and tags other than units and those of numbers and texts are errors.
/// Depth, size and work are bounded, and so is the number of files that a pattern matches (1000).
///
/// # Errors
/// Returns an error with file, line and column if the file cannot be read, is no XML, refers to
/// something undefined, or exceeds a bound; within a macro, the message lists the calls.
pub fn expand(
    path: impl AsRef<Path>,
    arguments: &BTreeMap<String, String>,
    packages: &PackageMap,
) -> Result<XacroExpansion> {
    let mut report = XacroReport::default();
    let text = expand_reporting(path, arguments, packages, &mut report)?;
    Ok(XacroExpansion {
        text,
        files: report.files,
        diagnostics: report.diagnostics,
        messages: report.messages,
    })
}

/// Same as [`expand`](fn@expand), but returns the XML alone, and adds the rest to a report, also
/// after an error.
///
/// # Errors
/// Same as [`expand`](fn@expand).
pub fn expand_reporting(
    path: impl AsRef<Path>,
    arguments: &BTreeMap<String, String>,
    packages: &PackageMap,
    report: &mut XacroReport,
) -> Result<String> {
    let path = path.as_ref();
    let bytes = read_file(path).map_err(|e| {
        report.files.push(path.into());
        Error::io(path, e)
    })?;
    let mut packages = packages.clone();
    packages.populate_upstream(path);
    let expanded = expand_bytes(path, &bytes, arguments, &packages, report);
    let expanded = expanded.map_err(Diagnostic::into_error)?;
    Ok(expanded.text)
}

/// Expands the bytes of a xacro file.
pub fn expand_bytes(
    path: &Path,
    bytes: &[u8],
    arguments: &BTreeMap<String, String>,
    packages: &PackageMap,
    report: &mut XacroReport,
) -> std::result::Result<ExpandedText, Diagnostic> {
    let work = || collect(|| expand_here(path, bytes, arguments, packages, report));
    let spawned = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let handle = thread.spawn_scoped(scope, work).ok()?;
        match handle.join() {
            Ok(done) => Some(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    let Some((expanded, warnings)) = spawned else {
        let message = "the file cannot be expanded, because no thread can be started for it; end \
                       other programs, or raise the limits on threads and memory";
        return Err(Diagnostic::of_file(&path.display().to_string(), message));
    };
    warnings.into_iter().for_each(warn);
    expanded
}

fn expand_here(
    path: &Path,
    bytes: &[u8],
    arguments: &BTreeMap<String, String>,
    packages: &PackageMap,
    report: &mut XacroReport,
) -> std::result::Result<ExpandedText, Diagnostic> {
    let mut expander = XacroExpander::new(arguments, packages);
    let expanded = expander.expand_document(path, bytes);
    let written = expanded.and_then(|document| {
        let root = expander.tree.first_element(document);
        let root = root.map_or("", |root| expander.tree.tag(root));
        let root = root.rsplit(':').next().unwrap_or("").to_string();
        let (text, parts) = expander.write(path, document)?;
        Ok((text, parts, root))
    });
    report.files.extend(expander.dependencies);
    report.diagnostics.extend(expander.diagnostics);
    report.messages.extend(expander.messages);
    let (text, parts, root) = written.map_err(|e| e.diagnostic)?;
    let files = expander.files;
    Ok(ExpandedText {
        text,
        root,
        origins: TextOrigins { files, parts },
    })
}
