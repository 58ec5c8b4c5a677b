//! Elements of a document, and diagnostics about them.

use super::origins::TextOrigins;
use super::prepared::PreparedXml;
use super::tree::{XmlAttribute, XmlNode};
use crate::diagnostic::{Diagnostic, Misspelling, Severity, WarningGroups};
use crate::names::FormatName;
use crate::numbers::{ParsedNumbers, plain_numbers};
use memchr::memchr_iter;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Display;

/// Maximum number of enclosing elements at which an error may be attributed to a misspelling.
pub const MAX_AROUND: usize = 8;

/// Marker of an error that was reported: the faulty element is left out, and parsing continues to
/// find further errors.
#[derive(Debug)]
pub struct Reported;

/// A value, or the marker of a reported error.
pub type Parsed<V> = Result<V, Reported>;

/// Parses the numbers of an attribute, none of them NaN; the error is a message. Text after the
/// numbers is ignored.
pub fn parse_numbers<'t>(attribute: &str, text: &'t str) -> Result<ParsedNumbers<'t>, String> {
    let reading = ParsedNumbers::of_stream(text, usize::MAX);
    let bad = match &*reading.numbers {
        [] => reading.stray(),
        numbers => numbers.iter().any(|x| x.is_nan()).then_some("nan"),
    };
    match bad {
        Some(word) => Err(no_number(attribute, word)),
        None => Ok(reading),
    }
}

fn no_number(attribute: &str, word: &str) -> String {
    let cure = if word.contains("${") || word.contains("$(") {
        "; it looks like xacro: name the file .xacro, so that it is expanded"
    } else {
        ""
    };
    format!("attribute '{attribute}' must hold numbers, got '{word}'{cure}")
}

/// Returns N finite numbers; the error is a message.
pub fn finite_numbers<const N: usize>(
    attribute: &str,
    reading: &ParsedNumbers<'_>,
) -> Result<[f64; N], String> {
    match n_numbers::<N>(attribute, reading)? {
        vector if vector.iter().all(|x| x.is_finite()) => Ok(vector),
        _ => Err(format!(
            "attribute '{attribute}' must be finite, got {:?}",
            reading.numbers
        )),
    }
}

/// Returns N numbers; the error is a message.
pub fn n_numbers<const N: usize>(
    attribute: &str,
    reading: &ParsedNumbers<'_>,
) -> Result<[f64; N], String> {
    let numbers = &reading.numbers;
    <[f64; N]>::try_from(numbers.as_slice()).map_err(|_| match reading.stray() {
        Some(word) => no_number(attribute, word),
        None => {
            let expected = if N == 1 { "number" } else { "numbers" };
            let found = numbers.len();
            format!("attribute '{attribute}' must have {N} {expected}, got {found}")
        }
    })
}

/// Reader of one document that collects its diagnostics.
pub struct XmlReader<'a> {
    file: &'a str,
    prepared: &'a PreparedXml<'a>,
    origins: Option<&'a TextOrigins>,
    /// Offsets of line starts in the original text.
    lines: OnceCell<Vec<usize>>,
    /// Line start, offset and column of the last lookup.
    last: Cell<(usize, usize, usize)>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    grouped: RefCell<WarningGroups>,
    /// Offsets of attributes that already have a warning about their numbers.
    told: RefCell<BTreeSet<usize>>,
}

impl<'a> XmlReader<'a> {
    /// Creates a reader of a file, whose name begins the messages. It warns about faulty XML
    /// declarations.
    pub fn new(file: &'a str, prepared: &'a PreparedXml<'a>) -> Self {
        let reader = Self {
            file,
            prepared,
            origins: None,
            lines: OnceCell::new(),
            last: Cell::default(),
            diagnostics: RefCell::default(),
            grouped: RefCell::default(),
            told: RefCell::default(),
        };
        for (start, declaration) in &prepared.declarations {
            let message = format!(
                "an XML declaration must be <?xml version=\"1.0\"?>, at the start and once, got \
                 '{declaration}'; it is ignored, as in Drake"
            );
            reader.report(Severity::Warning, *start, message);
        }
        reader
    }

    /// Makes diagnostics refer to the files from which the text was generated.
    pub fn with_origins(self, origins: Option<&'a TextOrigins>) -> Self {
        Self { origins, ..self }
    }

    /// Takes the diagnostics reported since the last call.
    pub fn take_diagnostics(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.take();
        self.grouped.borrow_mut().finish(&mut diagnostics);
        diagnostics
    }

    /// Returns the name of an element as the file spells it, with its prefix.
    pub fn tag<'n>(&self, node: XmlNode<'n>) -> &'n str {
        node.tag()
    }
    /// Returns the children that are elements.
    pub fn elements<'n>(&self, node: XmlNode<'n>) -> impl Iterator<Item = XmlNode<'n>> + use<'n> {
        node.elements()
    }
    /// Returns the first child with a given name.
    pub fn child<'n>(&self, node: XmlNode<'n>, tag: &str) -> Option<XmlNode<'n>> {
        node.elements().find(|c| c.tag() == tag)
    }
    /// Returns all children with a given name.
    pub fn children<'n, 's>(
        &self,
        node: XmlNode<'n>,
        tag: &'s str,
    ) -> impl Iterator<Item = XmlNode<'n>> + use<'n, 's> {
        node.elements().filter(move |c| c.tag() == tag)
    }

    /// Returns the line and column, from 1, of an offset into the parsed text.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let offset = self.prepared.original_offset(offset);
        let lines = self.lines.get_or_init(|| {
            let after_breaks = memchr_iter(b'\n', self.prepared.original.as_bytes()).map(|i| i + 1);
            std::iter::once(0).chain(after_breaks).collect()
        });
        let line = lines.partition_point(|start| *start <= offset) - 1;
        let column = self.column(lines[line], offset);
        (line as u32 + 1, column as u32 + 1)
    }

    /// Returns true if an offset into the parsed text is in a part that was inserted.
    pub fn was_inserted(&self, offset: usize) -> bool {
        self.prepared.inserted.contains(&offset)
    }
    /// Returns the file, the line and the column from which an offset was generated, if it was.
    fn generated_from(&self, offset: usize) -> Option<(&str, u32, u32)> {
        self.origins?.at(self.prepared.original_offset(offset))
    }
    /// Returns the file, the line and the column from which an offset was generated, or that it
    /// has.
    fn origin(&self, offset: usize) -> (&str, u32, u32) {
        self.generated_from(offset).unwrap_or_else(|| {
            let (line, column) = self.position(offset);
            (self.file, line, column)
        })
    }

    /// Returns the number of characters between the start of a line and an offset in it. Counts
    /// from the last lookup, so that a file with all elements on one line does not take quadratic
    /// time.
    fn column(&self, start: usize, offset: usize) -> usize {
        let text = self.prepared.original;
        let count = |from: usize, to: usize| text.get(from..to).map_or(0, |t| t.chars().count());
        let (last_start, last, last_column) = self.last.get();
        let column = if last_start == start && last <= offset {
            last_column + count(last, offset)
        } else if last_start == start && last - offset < offset - start {
            last_column - count(offset, last)
        } else {
            count(start, offset)
        };
        if text.is_char_boundary(offset) {
            self.last.set((start, offset, column));
        }
        column
    }

    /// Returns the line and column of an element, from 1.
    pub fn place(&self, node: XmlNode<'_>) -> (u32, u32) {
        let (_, line, column) = self.origin(node.start());
        (line, column)
    }
    /// Returns the file of an element.
    pub fn file_of(&self, node: XmlNode<'_>) -> &str {
        let origin = self.generated_from(node.start());
        origin.map_or(self.file, |(file, ..)| file)
    }

    /// Returns the names, values and places of the attributes of an element.
    pub fn attributes<'n>(
        &'n self,
        node: XmlNode<'n>,
    ) -> impl Iterator<Item = (&'n str, &'n str, (u32, u32))> {
        node.attributes().map(|a| {
            let (_, line, column) = self.origin(a.start());
            (a.name(), a.value(), (line, column))
        })
    }

    fn report(&self, severity: Severity, offset: usize, message: impl Display) {
        let diagnostic = self.diagnostic(severity, offset, message);
        self.diagnostics.borrow_mut().push(diagnostic);
    }
    fn diagnostic(&self, severity: Severity, offset: usize, message: impl Display) -> Diagnostic {
        let (file, line, column) = self.origin(offset);
        Diagnostic {
            severity,
            file: file.into(),
            line,
            column,
            message: message.to_string(),
        }
    }
    /// Reports an error at an element.
    pub fn error(&self, node: XmlNode<'_>, message: impl Display) -> Reported {
        self.report(Severity::Error, node.start(), message);
        Reported
    }
    /// Reports a warning at an element.
    pub fn warning(&self, node: XmlNode<'_>, message: impl Display) {
        self.report(Severity::Warning, node.start(), message);
    }
    /// Reports an error at an attribute.
    pub fn error_at(&self, node: XmlNode<'_>, attribute: &str, message: impl Display) -> Reported {
        self.report(Severity::Error, offset_of(node, attribute), message);
        Reported
    }
    /// Reports a warning at an attribute.
    pub fn warning_at(&self, node: XmlNode<'_>, attribute: &str, message: impl Display) {
        self.report(Severity::Warning, offset_of(node, attribute), message);
    }
    /// Returns true if an error was reported.
    #[cfg(test)]
    pub fn failed(&self) -> bool {
        let diagnostics = self.diagnostics.borrow();
        diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
    /// Reports a warning at an element, once for all places of the file with the same warning.
    pub fn warning_grouped(&self, node: XmlNode<'_>, message: impl Display) {
        let warning = self.diagnostic(Severity::Warning, node.start(), message);
        let mut grouped = self.grouped.borrow_mut();
        grouped.add(warning, &mut self.diagnostics.borrow_mut());
    }

    /// Warns that the name of an element, or of one of its attributes, is probably misspelt; see
    /// [`WarningGroups::add_misspelling`]. The warning is at the child, or at the element with the
    /// attribute.
    pub fn warning_of_misspelling(
        &self,
        node: XmlNode<'_>,
        written: FormatName<'_>,
        meant: FormatName<'_>,
        message: impl Display,
    ) {
        let warning = self.diagnostic(Severity::Warning, node.start(), message);
        let is_element = matches!(written, FormatName::Element(_));
        let (mut names, mut waiting) = (vec![], vec![]);
        waiting.extend(is_element.then_some(node));
        while let Some(node) = waiting.pop() {
            names.extend(node.attribute("name"));
            waiting.extend(node.elements());
        }
        let owner = if is_element {
            node.parent()
        } else {
            Some(node)
        };
        let around = std::iter::successors(owner, XmlNode::parent);
        let around = around.take(MAX_AROUND).map(|node| self.place(node));
        let misspelling = Misspelling {
            written,
            meant,
            around: around.collect(),
            names,
        };
        let mut grouped = self.grouped.borrow_mut();
        grouped.add_misspelling(warning, &misspelling, &mut self.diagnostics.borrow_mut());
    }

    /// Returns the value of a required attribute, which must not be blank.
    pub fn required<'n>(&self, node: XmlNode<'n>, attribute: &str) -> Parsed<&'n str> {
        match node.attribute(attribute).map(str::trim) {
            Some(value) if !value.is_empty() => Ok(value),
            Some(_) => Err(self.error_at(
                node,
                attribute,
                format!(
                    "attribute '{attribute}' of <{}> must not be empty",
                    self.tag(node)
                ),
            )),
            None => Err(self.error(
                node,
                format!("<{}> has no attribute '{attribute}'", self.tag(node)),
            )),
        }
    }

    /// Applies `check` to the numbers of an attribute; `None` if the attribute is absent. Warns
    /// about text after the numbers.
    fn numbers<V>(
        &self,
        node: XmlNode<'_>,
        attribute: &str,
        check: impl FnOnce(&ParsedNumbers<'_>) -> Result<V, String>,
    ) -> Parsed<Option<V>> {
        let found = node.attributes().find(|a| a.name() == attribute);
        found.map_or(Ok(None), |a| self.numbers_in(a, check).map(Some))
    }
    fn numbers_in<V>(
        &self,
        attribute: &XmlAttribute<'_>,
        check: impl FnOnce(&ParsedNumbers<'_>) -> Result<V, String>,
    ) -> Parsed<V> {
        let (name, text, at) = (attribute.name(), attribute.value(), attribute.start());
        let reading = parse_numbers(name, text);
        let found = reading.and_then(|reading| Ok((check(&reading)?, reading)));
        let (value, reading) = found.map_err(|why| {
            self.report(Severity::Error, at, why);
            Reported
        })?;
        if let Some(warning) = reading.warning(format_args!("attribute '{name}'"))
            // An attribute may be read twice, but must be warned about once.
            && self.told.borrow_mut().insert(at)
        {
            self.report(Severity::Warning, at, warning);
        }
        Ok(value)
    }

    /// Reads N finite numbers; `None` if the attribute is absent.
    pub fn vector<const N: usize>(
        &self,
        node: XmlNode<'_>,
        attribute: &str,
    ) -> Parsed<Option<[f64; N]>> {
        let found = node.attributes().find(|a| a.name() == attribute);
        let Some(found) = found else {
            return Ok(None);
        };
        let numbers = match plain_numbers(found.value()) {
            Some(numbers) => numbers,
            None => self.numbers_in(found, |reading| finite_numbers(attribute, reading))?,
        };
        Ok(Some(numbers))
    }
    /// Reads three finite numbers, or one that is used for all three.
    pub fn vector3_or_uniform(
        &self,
        node: XmlNode<'_>,
        attribute: &str,
    ) -> Parsed<Option<[f64; 3]>> {
        let one = |t: &str| t.split_whitespace().count() == 1;
        if node.attribute(attribute).is_some_and(one) {
            return Ok(self.vector::<1>(node, attribute)?.map(|[x]| [x; 3]));
        }
        self.vector::<3>(node, attribute)
    }
    /// Reads a finite number; `None` if the attribute is absent.
    pub fn number(&self, node: XmlNode<'_>, attribute: &str) -> Parsed<Option<f64>> {
        Ok(self.vector::<1>(node, attribute)?.map(|[x]| x))
    }
    /// Reads a finite number from a required attribute.
    pub fn required_number(&self, node: XmlNode<'_>, attribute: &str) -> Parsed<f64> {
        self.required(node, attribute)?;
        self.number(node, attribute)?.ok_or(Reported)
    }
    /// Reads a number that may be infinite; `None` if the attribute is absent.
    pub fn limit(&self, node: XmlNode<'_>, attribute: &str) -> Parsed<Option<f64>> {
        self.numbers(node, attribute, |reading| limit_of(attribute, reading))
    }
    /// Reads a number that may be infinite from an attribute.
    pub fn limit_in(&self, attribute: &XmlAttribute<'_>) -> Parsed<f64> {
        self.numbers_in(attribute, |reading| limit_of(attribute.name(), reading))
    }
    /// Reads the finite number in attribute `value` of the first child with a given name.
    pub fn child_value(&self, node: XmlNode<'_>, tag: &str) -> Parsed<Option<f64>> {
        let child = self.child(node, tag);
        child.map(|c| self.required_number(c, "value")).transpose()
    }
}

fn limit_of(attribute: &str, reading: &ParsedNumbers<'_>) -> Result<f64, String> {
    n_numbers::<1>(attribute, reading).map(|[x]| x)
}

/// Returns the offset of an attribute, or of its element if the attribute is absent.
fn offset_of(node: XmlNode<'_>, attribute: &str) -> usize {
    let found = node.attributes().find(|a| a.name() == attribute);
    found.map_or(node.start(), |a| a.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_refer_to_the_original_text() {
        let text =
            "\n <?xml version='1.0'?>\n<!-- <x> -->\n<robot name='r'><drake:a/>\n<b:c/></robot>";
        let prepared = PreparedXml::new(text);
        let document = prepared.parse("f").unwrap();
        let reader = XmlReader::new("f", &prepared);
        let root = document.root_element();
        let nodes: Vec<_> = reader.elements(root).collect();
        assert_eq!(reader.tag(nodes[0]), "drake:a");
        reader.warning(root, "r");
        reader.warning(nodes[0], "a");
        reader.warning(nodes[1], "c");
        let places: Vec<_> = reader
            .take_diagnostics()
            .iter()
            .map(|d| (d.line, d.column))
            .collect();
        assert_eq!(places, [(4, 1), (4, 17), (5, 1)]);
    }

    #[test]
    fn numbers_are_checked() {
        let text = "<a one='1' nan='nan' inf='inf' bad='x 1' three=' 1 2\n3 ' none=''/>";
        let prepared = PreparedXml::new(text);
        let document = prepared.parse("f").unwrap();
        let reader = XmlReader::new("f", &prepared);
        let a = document.root_element();
        assert_eq!(reader.number(a, "one").unwrap(), Some(1.0));
        assert_eq!(
            reader.vector::<3>(a, "three").unwrap(),
            Some([1.0, 2.0, 3.0])
        );
        assert_eq!(reader.vector3_or_uniform(a, "one").unwrap(), Some([1.0; 3]));
        assert_eq!(reader.limit(a, "inf").unwrap(), Some(f64::INFINITY));
        assert_eq!(reader.number(a, "absent").unwrap(), None);
        for bad in ["nan", "inf", "bad", "three", "none"] {
            assert!(reader.number(a, bad).is_err(), "{bad}");
        }
        assert!(reader.failed());
    }
}
