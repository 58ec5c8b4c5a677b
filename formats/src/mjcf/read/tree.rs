//! An MJCF document: the elements of all its files in one tree, and the diagnostics about them.

use super::attached_key::AttachedKey;
use nalgebra::Isometry3;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use tarragon_documents::names::FormatName;
use tarragon_documents::xml::{Parsed, Reported, finite_numbers, n_numbers, parse_numbers};
use tarragon_documents::{Diagnostic, Misspelling, ParsedNumbers, Severity, WarningGroups};

/// A place in one of the files; line and column count from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePosition {
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) place: FilePosition,
}

impl Attribute {
    fn asks_for_nothing(&self) -> bool {
        if self.name == "integrator" && self.value.trim().starts_with("implicit") {
            // The plant's step is implicit, too.
            return true;
        }
        let numbers = parse_numbers(&self.name, &self.value);
        NOTHING_IF_ZERO.contains(&&*self.name)
            && numbers.is_ok_and(|n| n.numbers.iter().all(|x| *x == 0.0))
    }
}

#[derive(Clone, Debug)]
pub(super) struct MjcfElement {
    pub(super) tag: String,
    pub(super) attributes: Vec<Attribute>,
    /// Indices of elements, in order.
    pub(super) children: Vec<usize>,
    pub(super) place: FilePosition,
    /// Number of the document: 0, or that of an attached model.
    pub(super) document: usize,
    /// The frames around the element that expansion has removed.
    pub(super) frame: Option<Box<ExpandedFrame>>,
    /// Number of a joint or actuator that keyframes of attached models refer to.
    pub(super) key_number: Option<usize>,
}

/// Frames between an element and the body around it.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpandedFrame {
    /// Pose in the frame of the body.
    pub(super) pose: Isometry3<f64>,
    /// Class of elements that name none, in place of that of the body.
    pub(super) class: Option<String>,
}

/// All elements of a document, with the root first. The list is flat, so that elements may be
/// nested to any depth.
#[derive(Debug, Default)]
pub(super) struct ElementTree {
    pub(super) elements: Vec<MjcfElement>,
    /// Keyframes of attached models, by the index of their element.
    pub(super) attached_keys: BTreeMap<usize, AttachedKey>,
}

/// Diagnostics about the files.
#[derive(Debug, Default)]
pub(super) struct DiagnosticLog {
    /// Names of the files, by index.
    pub(super) files: Vec<String>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    /// Places that already have a warning.
    told: RefCell<BTreeSet<(usize, u32, u32)>>,
    grouped: RefCell<WarningGroups>,
}

impl DiagnosticLog {
    pub(super) fn report(&self, severity: Severity, place: FilePosition, message: impl Display) {
        self.push(Diagnostic {
            severity,
            file: self.files[place.file].clone(),
            line: place.line,
            column: place.column,
            message: message.to_string(),
        });
    }
    pub(super) fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }
    pub(super) fn extend(&self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.borrow_mut().extend(diagnostics);
    }
    /// Reports a warning about an attribute once, although all elements of a class may read it.
    fn warn_once(&self, place: FilePosition, message: impl Display) {
        let key = (place.file, place.line, place.column);
        if self.told.borrow_mut().insert(key) {
            self.report(Severity::Warning, place, message);
        }
    }
    /// Reports a warning once for all places of a file with the same warning.
    fn warn_grouped(&self, place: FilePosition, message: String) {
        let warning = self.warning(place, message);
        let mut grouped = self.grouped.borrow_mut();
        grouped.add(warning, &mut self.diagnostics.borrow_mut());
    }
    fn warning(&self, place: FilePosition, message: String) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            file: self.files[place.file].clone(),
            line: place.line,
            column: place.column,
            message,
        }
    }
    /// Warns about a misspelt name; see [`WarningGroups::add_misspelling`].
    fn misspelt(&self, place: FilePosition, message: String, misspelling: &Misspelling<'_>) {
        let warning = self.warning(place, message);
        let mut grouped = self.grouped.borrow_mut();
        grouped.add_misspelling(warning, misspelling, &mut self.diagnostics.borrow_mut());
    }
    /// Calls `read`, whose errors become warnings.
    fn with_warnings<V>(&self, read: impl FnOnce() -> V) -> V {
        let first = self.diagnostics.borrow().len();
        let result = read();
        for diagnostic in &mut self.diagnostics.borrow_mut()[first..] {
            diagnostic.severity = Severity::Warning;
        }
        result
    }
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.into_inner();
        self.grouped.into_inner().finish(&mut diagnostics);
        diagnostics
    }
}

/// Attributes whose value 0 asks for nothing, so that it needs no warning.
const NOTHING_IF_ZERO: [&str; 12] = [
    "density",
    "frictionloss",
    "gap",
    "gravcomp",
    "margin",
    "noslip_iterations",
    "priority",
    "springdamper",
    "springref",
    "stiffness",
    "viscosity",
    "wind",
];

/// The attributes that give an orientation; an element has at most one of them.
pub(super) const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Returns the `own` attributes and those of `defaults` that they do not override. Any orientation
/// overrides all others; `name` and `class` are never defaults.
pub(super) fn overlay<'a>(
    own: &'a [Attribute],
    defaults: &'a [Attribute],
) -> impl Iterator<Item = &'a Attribute> {
    let turned = own.iter().any(is_orientation);
    let open = move |a: &&Attribute| {
        let named = matches!(&*a.name, "name" | "class");
        let given = own.iter().any(|o| o.name == a.name) || (turned && is_orientation(a));
        !named && !given
    };
    own.iter().chain(defaults.iter().filter(open))
}

fn is_orientation(attribute: &Attribute) -> bool {
    ORIENTATIONS.contains(&&*attribute.name)
}

/// An element with the default attributes of its class.
#[derive(Clone, Copy)]
pub(super) struct ElementRef<'a> {
    tree: &'a ElementTree,
    log: &'a DiagnosticLog,
    index: usize,
    defaults: &'a [Attribute],
    /// Whether warnings are about losses of Drake's reading.
    is_lost: bool,
}

/// End of warnings about losses of Drake's reading.
const CURE: &str =
    "; use MuJoCo's reading to keep it (MjcfSemantics::MuJoCo, --mjcf-semantics mujoco)";

impl<'a> ElementRef<'a> {
    pub(super) fn root(tree: &'a ElementTree, log: &'a DiagnosticLog) -> Self {
        Self {
            tree,
            log,
            index: 0,
            defaults: &[],
            is_lost: false,
        }
    }
    /// Returns another element of the tree by its index.
    pub(super) fn at(self, index: usize) -> Self {
        Self {
            index,
            defaults: &[],
            ..self
        }
    }
    pub(super) fn with_defaults(self, defaults: &'a [Attribute]) -> Self {
        Self { defaults, ..self }
    }
    /// Returns the element with warnings that end with the cure for losses of Drake's reading.
    pub(super) fn lost(self) -> Self {
        self.lost_if(true)
    }
    /// Same as [`Self::lost`], if a condition holds.
    pub(super) fn lost_if(self, is_lost: bool) -> Self {
        Self { is_lost, ..self }
    }
    /// Returns the text of a warning.
    fn warning_text(&self, message: impl Display) -> String {
        let cure = if self.is_lost { CURE } else { "" };
        format!("{message}{cure}")
    }
    fn element(&self) -> &'a MjcfElement {
        &self.tree.elements[self.index]
    }
    /// Returns the index of the element in its tree.
    pub(super) fn index(&self) -> usize {
        self.index
    }
    /// Returns the number of a joint or actuator that keyframes of attached models refer to.
    pub(super) fn key_number(&self) -> Option<usize> {
        self.element().key_number
    }
    /// Returns the values of a `<key>` of an attached model.
    pub(super) fn attached_key(&self) -> Option<&'a AttachedKey> {
        self.tree.attached_keys.get(&self.index)
    }
    /// Returns the number of the document that the element is from.
    pub(super) fn document(&self) -> usize {
        self.element().document
    }
    pub(super) fn place(&self) -> FilePosition {
        self.element().place
    }
    /// Returns the frames around the element within its body.
    pub(super) fn frame(&self) -> Option<&'a ExpandedFrame> {
        self.element().frame.as_deref()
    }
    pub(super) fn tag(&self) -> &'a str {
        &self.element().tag
    }
    /// Returns the children, without the defaults of their classes.
    pub(super) fn children(&self) -> impl DoubleEndedIterator<Item = ElementRef<'a>> + use<'a> {
        let parent = *self;
        self.element()
            .children
            .iter()
            .map(move |&index| ElementRef {
                index,
                defaults: &[],
                ..parent
            })
    }
    /// Returns the children with a given name.
    pub(super) fn children_named(
        &self,
        tag: &'a str,
    ) -> impl Iterator<Item = ElementRef<'a>> + use<'a> {
        self.children().filter(move |c| c.tag() == tag)
    }
    /// Returns the first child with a given name.
    pub(super) fn first(&self, tag: &'a str) -> Option<ElementRef<'a>> {
        self.children().find(|c| c.tag() == tag)
    }

    /// Returns the element's own attributes.
    pub(super) fn own(&self) -> &'a [Attribute] {
        &self.element().attributes
    }
    /// Returns its own attributes and the defaults of its class.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &'a Attribute> + use<'a> {
        overlay(self.own(), self.defaults)
    }
    fn find(&self, name: &str) -> Option<&'a Attribute> {
        self.attributes().find(|a| a.name == name)
    }
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.find(name).map(|a| &*a.value)
    }
    /// Returns one of the element's own attributes, unless it is blank.
    pub(super) fn own_text(&self, name: &str) -> Option<&'a str> {
        let own = self.own().iter().find(|a| a.name == name);
        own.map(|a| a.value.trim()).filter(|v| !v.is_empty())
    }
    pub(super) fn name(&self) -> Option<&'a str> {
        self.own_text("name")
    }

    pub(super) fn error(&self, message: impl Display) -> Reported {
        self.log
            .report(Severity::Error, self.element().place, message);
        Reported
    }
    pub(super) fn warning(&self, message: impl Display) {
        let message = self.warning_text(message);
        self.log
            .report(Severity::Warning, self.element().place, message);
    }
    /// Reports an error at an attribute.
    pub(super) fn error_at(&self, name: &str, message: impl Display) -> Reported {
        let place = self.find(name).map_or(self.element().place, |a| a.place);
        self.log.report(Severity::Error, place, message);
        Reported
    }
    /// Reports a warning at an attribute.
    pub(super) fn warning_at(&self, name: &str, message: impl Display) {
        let place = self.find(name).map_or(self.element().place, |a| a.place);
        let message = self.warning_text(message);
        self.log.report(Severity::Warning, place, message);
    }

    /// Calls `read`, whose errors become warnings: what it reads is left out instead.
    pub(super) fn with_warnings<V>(&self, read: impl FnOnce() -> V) -> V {
        self.log.with_warnings(read)
    }

    /// Warns about attributes without a meaning for the plant; the list holds their names and the
    /// reasons.
    pub(super) fn ignore_attributes(&self, ignored: &[(&str, &str)]) {
        for attribute in self.attributes().filter(|a| !a.asks_for_nothing()) {
            if let Some((name, why)) = ignored.iter().find(|(name, _)| *name == attribute.name) {
                let tag = self.tag();
                let message = format!("attribute '{name}' of <{tag}> is ignored: {why}");
                self.log
                    .warn_grouped(attribute.place, self.warning_text(message));
            }
        }
    }
    /// Reports a warning about an attribute, or about the element if the attribute is absent, once
    /// for all elements of the file with the same warning.
    pub(super) fn warning_grouped(&self, name: &str, message: impl Display) {
        let place = self.find(name).map_or(self.element().place, |a| a.place);
        self.log.warn_grouped(place, self.warning_text(message));
    }
    /// Warns that the element has no meaning for the plant; `why` is the reason.
    pub(super) fn ignored(&self, why: &str) {
        let message = format!("<{}> is ignored: {why}", self.tag());
        self.log
            .warn_grouped(self.element().place, self.warning_text(message));
    }

    /// Warns that a child of the element is ignored because its name is probably misspelt; see
    /// [`WarningGroups::add_misspelling`]. `around` are the places of the elements around the
    /// child, this one first.
    pub(super) fn misspelt_child(
        &self,
        child: ElementRef<'_>,
        meant: FormatName<'_>,
        around: Vec<(u32, u32)>,
        message: String,
    ) {
        let mut names = vec![];
        let mut waiting = vec![child];
        while let Some(node) = waiting.pop() {
            names.extend(node.name());
            waiting.extend(node.children());
        }
        let misspelling = Misspelling {
            written: FormatName::Element(child.tag()),
            meant,
            around,
            names,
        };
        self.log.misspelt(child.place(), message, &misspelling);
    }

    /// Warns that an attribute of the element is ignored because its name is probably misspelt;
    /// see [`Self::misspelt_child`].
    pub(super) fn misspelt_attribute(
        &self,
        attribute: &Attribute,
        meant: FormatName<'_>,
        around: Vec<(u32, u32)>,
        message: String,
    ) {
        let misspelling = Misspelling {
            written: FormatName::Attribute(&attribute.name),
            meant,
            around,
            names: vec![],
        };
        self.log.misspelt(attribute.place, message, &misspelling);
    }

    /// Reads the numbers of an attribute, none of them NaN; `None` if the attribute is absent.
    pub(super) fn numbers(&self, name: &str) -> Parsed<Option<Vec<f64>>> {
        self.checked(name, |reading| Ok(reading.numbers.to_vec()))
    }
    /// Reads the numbers of an attribute; if the element gives fewer of them than its class, the
    /// remaining ones of the class follow.
    pub(super) fn numbers_over_defaults(&self, name: &str) -> Parsed<Vec<f64>> {
        let mut numbers = self.numbers(name)?.unwrap_or_default();
        let is_own = self.own().iter().any(|a| a.name == name);
        let inherited = self.defaults.iter().find(|a| a.name == name && is_own);
        if let Some(inherited) = inherited {
            // Errors of the class are reported where an element uses it.
            let reading = parse_numbers(name, &inherited.value).map(|r| r.numbers);
            let reading = reading.unwrap_or_default();
            numbers.extend(reading.iter().skip(numbers.len()));
        }
        Ok(numbers)
    }
    /// Applies `check` to the numbers of an attribute; `None` if the attribute is absent. Warns
    /// about text after the numbers.
    fn checked<V>(
        &self,
        name: &str,
        check: impl FnOnce(&ParsedNumbers<'_>) -> Result<V, String>,
    ) -> Parsed<Option<V>> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        let reading = parse_numbers(name, &attribute.value);
        let found = reading.and_then(|reading| Ok((check(&reading)?, reading)));
        let (value, reading) = found.map_err(|why| self.error_at(name, why))?;
        if let Some(warning) = reading.warning(format_args!("attribute '{name}'")) {
            self.log.warn_once(attribute.place, warning);
        }
        Ok(Some(value))
    }
    /// Reads N finite numbers; `None` if the attribute is absent.
    pub(super) fn vector<const N: usize>(&self, name: &str) -> Parsed<Option<[f64; N]>> {
        self.checked(name, |reading| finite_numbers(name, reading))
    }
    /// Reads a finite number; `None` if the attribute is absent.
    pub(super) fn number(&self, name: &str) -> Parsed<Option<f64>> {
        Ok(self.vector::<1>(name)?.map(|[x]| x))
    }
    /// Reads `[lower, upper]`, infinite where there is no limit; `None` if the attribute is absent.
    pub(super) fn range(&self, name: &str) -> Parsed<Option<[f64; 2]>> {
        self.checked(name, |reading| n_numbers(name, reading))
    }
    /// Reads one of the given words; `None` if the attribute is absent.
    pub(super) fn choice(
        &self,
        name: &str,
        words: &[&'static str],
    ) -> Parsed<Option<&'static str>> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let word = words.iter().find(|w| **w == text.trim());
        word.map(|w| Some(*w)).ok_or_else(|| {
            let words = words.join("', '");
            self.error_at(
                name,
                format!("attribute '{name}' must be one of '{words}', got '{text}'"),
            )
        })
    }
}
