//! Elements of SDFormat files, detached from their text: an include puts elements of one file
//! among those of another.

use super::pose::Pose;
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::numbers::ParsedNumbers;
use crate::document::xml::{Parsed, Reported};
use std::cell::RefCell;
use std::fmt::Display;
use std::path::PathBuf;
use std::rc::Rc;

/// Elements deeper than this are refused; robots need about ten.
pub(super) const MAX_DEPTH: usize = 100;

/// A file that elements came from.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// As messages call it.
    pub(super) name: String,
    /// Directory of relative paths; `None` for text.
    pub(super) directory: Option<PathBuf>,
}

/// Where an element is.
#[derive(Clone, Debug)]
pub(super) struct SourceLocation {
    pub(super) source: Rc<SourceFile>,
    /// Line and column, from 1.
    pub(super) at: (u32, u32),
}

/// An element with its attributes, its text and its children.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// As the file spells it, with its prefix.
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    /// The first text in it, without blanks around it.
    pub(super) text: String,
    pub(super) children: Vec<Element>,
    pub(super) place: SourceLocation,
    /// Which of the models of other formats this `<include>` stands for.
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
    /// An attribute that says something.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.attribute(name)
            .map(str::trim)
            .filter(|v| !v.is_empty())
    }
    /// The attribute `name`, without blanks around it.
    pub(super) fn name(&self) -> &str {
        self.attribute("name").map_or("", str::trim)
    }
    pub(super) fn set_attribute(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.into(),
            None => self.attributes.push((name.into(), value.into())),
        }
    }

    /// The first child of a name.
    pub(super) fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.tag == tag)
    }
    pub(super) fn child_mut(&mut self, tag: &str) -> Option<&mut Element> {
        self.children.iter_mut().find(|c| c.tag == tag)
    }
    /// All children of a name.
    pub(super) fn all<'e>(&'e self, tag: &'e str) -> impl Iterator<Item = &'e Element> {
        self.children.iter().filter(move |c| c.tag == tag)
    }
    /// The first child along a path.
    pub(super) fn descendant(&self, path: &[&str]) -> Option<&Element> {
        path.iter().try_fold(self, |e, tag| e.child(tag))
    }
    /// The text of a child that has some.
    pub(super) fn child_text(&self, tag: &str) -> Option<&str> {
        let text = self.child(tag).map(|c| c.text.as_str());
        text.filter(|t| !t.is_empty())
    }
    /// The number in a child; `None` where there is none, and where there was an error.
    pub(super) fn number(&self, tag: &str) -> Option<f64> {
        numbers::<1>(self.child_text(tag)?).ok().map(|[x]| x)
    }
    /// The numbers in a child; `None` where there are none, and where there was an error.
    pub(super) fn vector<const N: usize>(&self, tag: &str) -> Option<[f64; N]> {
        numbers::<N>(self.child_text(tag)?).ok()
    }
    /// The truth value in a child.
    pub(super) fn flag(&self, tag: &str, default: bool) -> bool {
        let text = self.child_text(tag);
        text.and_then(truth).unwrap_or(default)
    }
    /// The pose in the child `<pose>`; the identity where there is none.
    pub(super) fn pose(&self) -> Pose {
        let pose = self.child("pose").map(pose);
        pose.and_then(Result::ok)
            .map_or(Pose::IDENTITY, |(pose, _)| pose)
    }
    /// What the pose in the child `<pose>` is relative to, if that is said.
    pub(super) fn relative_to(&self) -> Option<&str> {
        self.child("pose")?.filled("relative_to")
    }
}

/// `true`, `1`, `false` or `0`.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// The first N numbers of a text; more are ignored, as the format's library does.
pub(super) fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let reading = reading::<N>(text)?;
    Ok(std::array::from_fn(|i| reading.numbers[i]))
}

/// N numbers at the start of a text, and what is behind them.
pub(super) fn reading<const N: usize>(text: &str) -> Result<ParsedNumbers<'_>, String> {
    let reading = match N {
        1 => ParsedNumbers::of_one(text),
        _ => ParsedNumbers::of_stream(text, N),
    };
    let found = reading.numbers.len();
    let expected = if N == 1 { "number is" } else { "numbers are" };
    match reading.stray() {
        _ if found == N => Ok(reading),
        Some(word) => Err(format!("'{word}' is not a number")),
        None => Err(format!(
            "'{text}' has {found} numbers, {N} {expected} expected"
        )),
    }
}

/// Numbers word by word, and what is behind each.
pub(super) fn words(text: &str) -> Result<ParsedNumbers<'_>, String> {
    ParsedNumbers::of_words(text).map_err(|word| format!("'{word}' is not a number"))
}

/// The pose that a `<pose>` holds, and its numbers with what is behind them.
pub(super) fn pose(element: &Element) -> Result<(Pose, ParsedNumbers<'_>), String> {
    let degrees = match element.filled("degrees") {
        None => false,
        Some(text) => truth(text)
            .ok_or_else(|| format!("attribute 'degrees' is '{text}', true or false is expected"))?,
    };
    let quaternion = match element.filled("rotation_format") {
        None | Some("euler_rpy") => false,
        Some("quat_xyzw") => true,
        Some(other) => {
            return Err(format!(
                "rotation_format is '{other}', euler_rpy or quat_xyzw is expected"
            ));
        }
    };
    if degrees && quaternion {
        return Err("a quaternion has no degrees; leave out degrees=\"true\"".into());
    }
    if element.text.is_empty() {
        return Ok((Pose::IDENTITY, ParsedNumbers::default()));
    }
    let reading = words(&element.text)?;
    let values = &reading.numbers;
    let expected = if quaternion { 7 } else { 6 };
    if values.len() != expected {
        return Err(format!(
            "the pose has {} numbers, {expected} are expected",
            values.len()
        ));
    }
    if values.iter().any(|x| !x.is_finite()) {
        return Err("the pose is not finite".into());
    }
    let p = [values[0], values[1], values[2]];
    if quaternion {
        let q = [values[6], values[3], values[4], values[5]];
        return match q.iter().any(|x| *x != 0.0) {
            true => Ok((Pose { p, q: scaled(q) }, reading)),
            false => Err("the quaternion is zero, a rotation is expected".into()),
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

/// The quaternion in unit length where it is more than rounding away from that.
fn scaled(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().fold(0.0_f64, |sum, x| sum.hypot(*x));
    match (length - 1.0).abs() < 1e-3 {
        true => q,
        false => q.map(|x| x / length),
    }
}

/// Collects what there is to say about the files of one model.
#[derive(Default)]
pub(super) struct Report {
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl Report {
    pub(super) fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }
    pub(super) fn extend(&self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.borrow_mut().extend(diagnostics);
    }
    fn report(&self, severity: Severity, place: &SourceLocation, message: impl Display) {
        self.push(Diagnostic {
            severity,
            file: place.source.name.clone(),
            line: place.at.0,
            column: place.at.1,
            message: message.to_string(),
        });
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
    pub(super) fn num_errors(&self) -> usize {
        let diagnostics = self.diagnostics.borrow();
        let errors = diagnostics.iter();
        errors.filter(|d| d.severity == Severity::Error).count()
    }
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics.into_inner()
    }

    /// An attribute that must be there and say something.
    pub(super) fn required<'e>(&self, element: &'e Element, name: &str) -> Parsed<&'e str> {
        element.filled(name).ok_or_else(|| {
            let tag = &element.tag;
            let message = match element.attribute(name) {
                Some(_) => format!("attribute '{name}' of <{tag}> is empty"),
                None => format!("<{tag}> has no attribute '{name}'"),
            };
            self.error(element, message)
        })
    }
    /// A child that must be there.
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
    /// The text of a child that must be there.
    pub(super) fn required_text<'e>(&self, element: &'e Element, tag: &str) -> Parsed<&'e str> {
        let child = self.required_child(element, tag)?;
        match child.text.as_str() {
            "" => Err(self.error(child, format!("<{tag}> is empty"))),
            text => Ok(text),
        }
    }
    /// N finite numbers in an element that the schema does not know.
    pub(super) fn numbers<const N: usize>(&self, element: &Element) -> Parsed<[f64; N]> {
        let values = self.limits::<N>(element)?;
        match values.iter().all(|x| x.is_finite()) {
            true => Ok(values),
            false => {
                let message = format!("<{}>: '{}' is not finite", element.tag, element.text);
                Err(self.error(element, message))
            }
        }
    }
    /// N numbers, infinite or not, in an element that the schema does not know.
    pub(super) fn limits<const N: usize>(&self, element: &Element) -> Parsed<[f64; N]> {
        let what = format!("<{}>", element.tag);
        let reading = reading::<N>(&element.text);
        let reading = reading.map_err(|why| self.error(element, format!("{what}: {why}")))?;
        self.warn_of_rest(element, &reading, &what);
        Ok(std::array::from_fn(|i| reading.numbers[i]))
    }
    /// Warns of what is behind the numbers of `what`.
    pub(super) fn warn_of_rest(&self, element: &Element, reading: &ParsedNumbers<'_>, what: &str) {
        if let Some(warning) = reading.warning(what) {
            self.warning(element, warning);
        }
    }
    /// N finite numbers in a child that must be there.
    pub(super) fn required_numbers<const N: usize>(
        &self,
        element: &Element,
        tag: &str,
    ) -> Parsed<[f64; N]> {
        self.numbers(self.required_child(element, tag)?)
    }
    /// A finite number in a child that may be absent.
    pub(super) fn optional_number(&self, element: &Element, tag: &str) -> Parsed<Option<f64>> {
        let child = element.child(tag);
        child.map(|c| self.numbers::<1>(c).map(|[x]| x)).transpose()
    }
    /// A finite number in an attribute.
    pub(super) fn number_attribute(&self, element: &Element, name: &str) -> Parsed<f64> {
        let text = self.required(element, name)?;
        let reading = ParsedNumbers::of_one(text);
        match reading.numbers.first() {
            Some(x) if x.is_finite() => {
                self.warn_of_rest(element, &reading, &format!("attribute '{name}'"));
                Ok(*x)
            }
            _ => {
                let message =
                    format!("attribute '{name}' is '{text}', a finite number is expected");
                Err(self.error(element, message))
            }
        }
    }

    /// Warns of elements that mean nothing here, and refuses elements of the prefix `drake:` that
    /// nobody knows, as Drake does.
    pub(super) fn check_children(&self, element: &Element, ignored: &[&str], drake: &[&str]) {
        let tag = &element.tag;
        for child in &element.children {
            let name = child.tag.as_str();
            if let Some(own) = name.strip_prefix("drake:") {
                if !drake.contains(&own) {
                    let message = match drake.is_empty() {
                        true => format!("<{name}> is not supported in <{tag}>"),
                        false => format!(
                            "<{name}> is not supported in <{tag}>; these are: drake:{}",
                            drake.join(", drake:")
                        ),
                    };
                    self.error(child, message);
                }
            } else if name.contains(':') || ignored.contains(&name) {
                let message = format!("<{name}> in <{tag}> is not supported and is ignored");
                self.warning(child, message);
            }
        }
    }

    /// The same in an element of Drake, where everything without the prefix is ignored.
    pub(super) fn check_drake_children(&self, element: &Element, drake: &[&str]) {
        let others = element.children.iter().map(|c| c.tag.as_str());
        let others: Vec<&str> = others.filter(|tag| !tag.contains(':')).collect();
        self.check_children(element, &others, drake);
    }
}
