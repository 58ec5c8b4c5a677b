//! Elements of SDFormat files, detached from their text: an include puts elements of one file
//! among those of another.

use super::pose::Pose;
use crate::reading::convex_pieces::CONVEX_PIECES;
use std::cell::RefCell;
use std::fmt::Display;
use std::path::PathBuf;
use std::rc::Rc;
use tarragon_documents::names::{self, FormatName};
use tarragon_documents::xml::{Parsed, Reported};
use tarragon_documents::{Diagnostic, ParsedNumbers, Severity, WarningGroups};
use tarragon_framework::counted;

/// Maximum depth of elements; robots need about ten levels.
pub(super) const MAX_DEPTH: usize = 100;

/// A file that elements came from.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// Name of the file in messages.
    pub(super) name: String,
    /// Directory of relative paths; `None` for a model given as text.
    pub(super) directory: Option<PathBuf>,
}

/// Place of an element in a file.
#[derive(Clone, Debug)]
pub(super) struct SourceLocation {
    pub(super) source: Rc<SourceFile>,
    /// Line and column, from 1.
    pub(super) at: (u32, u32),
}

impl SourceLocation {
    fn diagnostic(&self, severity: Severity, message: impl Display) -> Diagnostic {
        Diagnostic {
            severity,
            file: self.source.name.clone(),
            line: self.at.0,
            column: self.at.1,
            message: message.to_string(),
        }
    }
}

/// An element with its attributes, its text and its children.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Name as the file spells it, with its prefix.
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    /// First text inside the element, without surrounding blanks.
    pub(super) text: String,
    pub(super) children: Vec<Element>,
    pub(super) place: SourceLocation,
    /// Index of the model in another format that this `<include>` stands for.
    pub(super) interface: Option<usize>,
}

impl Element {
    pub(super) fn new(tag: &str, place: SourceLocation) -> Self {
        Self {
            tag: tag.into(),
            attributes: vec![],
            text: String::new(),
            children: vec![],
            place,
            interface: None,
        }
    }

    pub(super) fn with_text(mut self, text: &str) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
    /// Returns an attribute that is not blank, without surrounding blanks.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.attribute(name)
            .map(str::trim)
            .filter(|v| !v.is_empty())
    }
    /// Returns the attribute `name`, without surrounding blanks.
    pub(super) fn name(&self) -> &str {
        self.attribute("name").map_or("", str::trim)
    }
    pub(super) fn set_attribute(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.into(),
            None => self.attributes.push((name.into(), value.into())),
        }
    }

    /// Returns the first child with a given name.
    pub(super) fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.tag == tag)
    }
    pub(super) fn child_mut(&mut self, tag: &str) -> Option<&mut Element> {
        self.children.iter_mut().find(|c| c.tag == tag)
    }
    /// Returns all children with a given name.
    pub(super) fn all<'e>(&'e self, tag: &'e str) -> impl Iterator<Item = &'e Element> {
        self.children.iter().filter(move |c| c.tag == tag)
    }
    /// Returns the first descendant along a path of names.
    pub(super) fn descendant(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |e, tag| e.child(tag))
    }
    /// Returns the text of a child, unless it is empty.
    pub(super) fn child_text(&self, tag: &str) -> Option<&str> {
        let text = self.child(tag).map(|c| c.text.as_str());
        text.filter(|t| !t.is_empty())
    }
    /// Reads the number in a child; `None` if it is absent or invalid.
    pub(super) fn number(&self, tag: &str) -> Option<f64> {
        numbers::<1>(self.child_text(tag)?).ok().map(|[x]| x)
    }
    /// Reads the numbers in a child; `None` if they are absent or invalid.
    pub(super) fn vector<const N: usize>(&self, tag: &str) -> Option<[f64; N]> {
        numbers::<N>(self.child_text(tag)?).ok()
    }
    /// Reads the truth value in a child.
    pub(super) fn flag(&self, tag: &str, default: bool) -> bool {
        let text = self.child_text(tag);
        text.and_then(truth).unwrap_or(default)
    }
    /// Reads the pose in the child `<pose>`; the identity if it is absent or invalid.
    pub(super) fn pose(&self) -> Pose {
        let pose = self.child("pose").map(pose);
        pose.and_then(Result::ok)
            .map_or(Pose::IDENTITY, |(pose, _)| pose)
    }
    /// Returns the name of the frame that the child `<pose>` is relative to, if it is given.
    pub(super) fn relative_to(&self) -> Option<&str> {
        self.child("pose")?.filled("relative_to")
    }
}

/// Parses `true`, `1`, `false` or `0`, in any case.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Parses the first N numbers of a text; further ones are ignored, as in the format's library.
pub(super) fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let reading = reading::<N>(text)?;
    Ok(std::array::from_fn(|i| reading.numbers[i]))
}

/// Parses N numbers at the start of a text, and keeps the text after them.
pub(super) fn reading<const N: usize>(text: &str) -> Result<ParsedNumbers<'_>, String> {
    let reading = match N {
        1 => ParsedNumbers::of_one(text),
        _ => ParsedNumbers::of_stream(text, N),
    };
    let found = reading.numbers.len();
    let expected = if N == 1 { "number" } else { "numbers" };
    match reading.stray() {
        _ if found == N => Ok(reading),
        Some(word) => Err(format!("the text must hold numbers, got '{word}'")),
        None => Err(format!(
            "the text must have {N} {expected}, got {found} in '{text}'"
        )),
    }
}

/// Parses one number per word, and keeps the text after each.
pub(super) fn words(text: &str) -> Result<ParsedNumbers<'_>, String> {
    ParsedNumbers::of_words(text)
        .map_err(|word| format!("the text must hold numbers, got '{word}'"))
}

/// Parses a `<pose>`; returns the pose, and its numbers with the text after them.
pub(super) fn pose(element: &Element) -> Result<(Pose, ParsedNumbers<'_>), String> {
    let degrees = match element.filled("degrees") {
        None => false,
        Some(text) => truth(text)
            .ok_or_else(|| format!("attribute 'degrees' must be true or false, got '{text}'"))?,
    };
    let quaternion = match element.filled("rotation_format") {
        None | Some("euler_rpy") => false,
        Some("quat_xyzw") => true,
        Some(other) => {
            return Err(format!(
                "rotation_format must be euler_rpy or quat_xyzw, got '{other}'"
            ));
        }
    };
    if degrees && quaternion {
        return Err("a quaternion must not be given in degrees; leave out degrees=\"true\"".into());
    }
    if element.text.is_empty() {
        return Ok((Pose::IDENTITY, ParsedNumbers::default()));
    }
    let reading = words(&element.text)?;
    let values = &reading.numbers;
    let expected = if quaternion { 7 } else { 6 };
    if values.len() != expected {
        return Err(format!(
            "the pose must have {numbers}, got {}",
            values.len(),
            numbers = counted(expected, "number")
        ));
    }
    if values.iter().any(|x| !x.is_finite()) {
        return Err("the pose must be finite".into());
    }
    let p = [values[0], values[1], values[2]];
    if quaternion {
        let q = [values[6], values[3], values[4], values[5]];
        return if q.iter().any(|x| *x != 0.0) {
            Ok((Pose { p, q: scaled(q) }, reading))
        } else {
            Err("the quaternion must not be zero".into())
        };
    }
    let unit = if degrees {
        std::f64::consts::PI / 180.0
    } else {
        1.0
    };
    let rpy = [values[3] * unit, values[4] * unit, values[5] * unit];
    Ok((Pose::from_rpy(p, rpy), reading))
}

/// Normalizes a quaternion, unless its length is 1 up to rounding.
fn scaled(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
    if (length - 1.0).abs() < 1e-3 {
        q
    } else {
        q.map(|x| x / length)
    }
}

/// Collector of the diagnostics about the files of one model.
#[derive(Default)]
pub(super) struct Report {
    diagnostics: RefCell<Vec<Diagnostic>>,
    grouped: RefCell<WarningGroups>,
}

impl Report {
    pub(super) fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }
    pub(super) fn extend(&self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.borrow_mut().extend(diagnostics);
    }
    fn report(&self, severity: Severity, place: &SourceLocation, message: impl Display) {
        self.push(place.diagnostic(severity, message));
    }
    pub(super) fn error(&self, element: &Element, message: impl Display) -> Reported {
        self.error_at(&element.place, message)
    }
    pub(super) fn error_at(&self, place: &SourceLocation, message: impl Display) -> Reported {
        self.report(Severity::Error, place, message);
        Reported
    }
    pub(super) fn warning(&self, element: &Element, message: impl Display) {
        self.report(Severity::Warning, &element.place, message);
    }
    /// Reports a warning once for all places of a file with the same warning.
    pub(super) fn warning_grouped(&self, element: &Element, message: impl Display) {
        let warning = element.place.diagnostic(Severity::Warning, message);
        let mut grouped = self.grouped.borrow_mut();
        grouped.add(warning, &mut self.diagnostics.borrow_mut());
    }
    pub(super) fn num_errors(&self) -> usize {
        let diagnostics = self.diagnostics.borrow();
        let errors = diagnostics.iter();
        errors.filter(|d| d.severity == Severity::Error).count()
    }
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.into_inner();
        self.grouped.into_inner().finish(&mut diagnostics);
        diagnostics
    }

    /// Returns a required attribute, which must not be blank.
    pub(super) fn required<'e>(&self, element: &'e Element, name: &str) -> Parsed<&'e str> {
        element.filled(name).ok_or_else(|| {
            let tag = &element.tag;
            let message = match element.attribute(name) {
                Some(_) => format!("attribute '{name}' of <{tag}> must not be empty"),
                None => {
                    let is_it = |(written, _): &&(String, String)| {
                        names::meant(written, [FormatName::Attribute(name)].into_iter()).is_some()
                    };
                    let misspelt = element.attributes.iter().find(is_it);
                    let cause = misspelt.map(|(written, _)| {
                        format!(" ('{written}' is probably a misspelling of '{name}')")
                    });
                    let cause = cause.unwrap_or_default();
                    format!("<{tag}> has no attribute '{name}'{cause}")
                }
            };
            self.error(element, message)
        })
    }
    /// Returns a required child.
    pub(super) fn required_child<'e>(
        &self,
        element: &'e Element,
        tag: &str,
    ) -> Parsed<&'e Element> {
        element.child(tag).ok_or_else(|| {
            let message = format!("<{}> has no <{tag}>", element.tag);
            self.error(element, message)
        })
    }
    /// Returns the text of a required child, which must not be empty.
    pub(super) fn required_text<'e>(&self, element: &'e Element, tag: &str) -> Parsed<&'e str> {
        let child = self.required_child(element, tag)?;
        match child.text.as_str() {
            "" => Err(self.error(child, format!("<{tag}> must not be empty"))),
            text => Ok(text),
        }
    }
    /// Reads N finite numbers in an element that is not in the schema.
    pub(super) fn numbers<const N: usize>(&self, element: &Element) -> Parsed<[f64; N]> {
        let values = self.limits::<N>(element)?;
        if values.iter().all(|x| x.is_finite()) {
            Ok(values)
        } else {
            let message = format!(
                "<{}>: the numbers must be finite, got '{}'",
                element.tag, element.text
            );
            Err(self.error(element, message))
        }
    }
    /// Reads N numbers, finite or infinite, in an element that is not in the schema.
    pub(super) fn limits<const N: usize>(&self, element: &Element) -> Parsed<[f64; N]> {
        let what = format!("<{}>", element.tag);
        let reading = reading::<N>(&element.text);
        let reading = reading.map_err(|why| self.error(element, format!("{what}: {why}")))?;
        self.warn_of_rest(element, &reading, &what);
        Ok(std::array::from_fn(|i| reading.numbers[i]))
    }
    /// Warns about text after the numbers of `what`.
    pub(super) fn warn_of_rest(&self, element: &Element, reading: &ParsedNumbers<'_>, what: &str) {
        if let Some(warning) = reading.warning(what) {
            self.warning(element, warning);
        }
    }
    /// Reads N finite numbers in a required child.
    pub(super) fn required_numbers<const N: usize>(
        &self,
        element: &Element,
        tag: &str,
    ) -> Parsed<[f64; N]> {
        self.numbers(self.required_child(element, tag)?)
    }
    /// Reads a finite number in an optional child.
    pub(super) fn optional_number(&self, element: &Element, tag: &str) -> Parsed<Option<f64>> {
        let child = element.child(tag);
        child.map(|c| self.numbers::<1>(c).map(|[x]| x)).transpose()
    }
    /// Reads a finite number in a required attribute.
    pub(super) fn number_attribute(&self, element: &Element, name: &str) -> Parsed<f64> {
        let text = self.required(element, name)?;
        let reading = ParsedNumbers::of_one(text);
        match reading.numbers.first() {
            Some(x) if x.is_finite() => {
                self.warn_of_rest(element, &reading, &format!("attribute '{name}'"));
                Ok(*x)
            }
            _ => {
                let message = format!("attribute '{name}' must be a finite number, got '{text}'");
                Err(self.error(element, message))
            }
        }
    }

    /// Warns about ignored elements, and refuses unknown elements with the prefix `drake:`, as
    /// Drake does.
    pub(super) fn check_children(&self, element: &Element, ignored: &[&str], drake: &[&str]) {
        let tag = &element.tag;
        for child in &element.children {
            let name = child.tag.as_str();
            if let Some(own) = name.strip_prefix("drake:") {
                if !drake.contains(&own) {
                    let message = if drake.is_empty() {
                        format!("<{name}> is not supported in <{tag}>")
                    } else {
                        format!(
                            "<{name}> is not supported in <{tag}>; supported elements: drake:{}",
                            drake.join(", drake:")
                        )
                    };
                    self.error(child, message);
                }
            } else if name == CONVEX_PIECES && tag == "drake:proximity_properties" {
                // An element of our own.
            } else if name.contains(':') || ignored.contains(&name) {
                self.ignored(child, tag);
            }
        }
    }

    /// Checks the children of one of Drake's elements, where everything without a prefix is
    /// ignored.
    pub(super) fn check_drake_children(&self, element: &Element, drake: &[&str]) {
        let others = element.children.iter().map(|c| c.tag.as_str());
        let others: Vec<&str> = others.filter(|tag| !tag.contains(':')).collect();
        self.check_children(element, &others, drake);
    }
}
