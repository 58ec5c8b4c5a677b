//! XML with positions: elements as the file spells them, numbers, and reports about both.

use super::diagnostic::{Diagnostic, Severity};
use roxmltree::{Document, Node};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::ops::Range;

/// An error was reported; the thing that has it is left out, parsing goes on to find more.
#[derive(Debug)]
pub(crate) struct Reported;

/// A value, or an error that was reported.
pub(crate) type Parsed<V> = Result<V, Reported>;

/// At most this many namespace prefixes are declared on behalf of a file.
const MAX_PREFIXES: usize = 16;

/// Text made acceptable to a strict XML parser.
pub(crate) struct Prepared<'a> {
    original: &'a str,
    text: Cow<'a, str>,
    /// What was put into `text` that is not in `original`.
    inserted: Range<usize>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        let mut text = blank_late_declaration(original);
        blank_hyphens_in_comments(&mut text);
        let mut prepared = Self {
            original,
            text,
            inserted: 0..0,
        };
        prepared.declare_prefixes();
        prepared
    }

    /// Many URDF files use `drake:` and other prefixes without `xmlns:drake="..."`, which Drake's
    /// XML parser accepts.
    fn declare_prefixes(&mut self) {
        for _ in 0..MAX_PREFIXES {
            let prefix = match Document::parse(&self.text) {
                Err(roxmltree::Error::UnknownNamespace(prefix, _)) => prefix,
                _ => return,
            };
            let Some(at) = end_of_root_name(&self.text) else {
                return;
            };
            let declaration = format!(" xmlns:{prefix}=\"undeclared:{prefix}\"");
            let end = self.inserted.end.max(at) + declaration.len();
            self.text.to_mut().insert_str(at, &declaration);
            self.inserted = at..end;
        }
    }

    /// The document, or the place and message of what is wrong with it.
    pub(crate) fn parse(&self, file: &str) -> Result<Document<'_>, Diagnostic> {
        Document::parse(&self.text).map_err(|error| {
            let pos = error.pos();
            let message = error.to_string();
            let suffix = format!(" at {pos}");
            let message = message.strip_suffix(&suffix).unwrap_or(&message);
            let empty = self.original.trim().is_empty();
            Diagnostic {
                severity: Severity::Error,
                file: file.into(),
                line: pos.row,
                column: pos.col,
                message: match empty {
                    true => "the file is empty, an XML document is expected".into(),
                    false => format!("malformed XML: {message}"),
                },
            }
        })
    }
}

/// Turns an XML declaration that is not at the very start, where XML forbids it, into spaces.
fn blank_late_declaration(text: &str) -> Cow<'_, str> {
    let start = text.len() - text.trim_start().len();
    let declaration = text[start..].starts_with("<?xml ");
    match text[start..].find("?>") {
        Some(length) if start > 0 && declaration => {
            let end = start + length + 2;
            let blank: String = text[start..end]
                .chars()
                .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
                .collect();
            Cow::Owned([&text[..start], &blank, &text[end..]].concat())
        }
        _ => Cow::Borrowed(text),
    }
}

/// Turns hyphens in comments, where XML forbids two in a row but published files have them, into
/// spaces.
fn blank_hyphens_in_comments(text: &mut Cow<'_, str>) {
    let mut at = 0;
    while let Some(start) = text[at..].find("<!").map(|i| at + i) {
        let rest = &text[start..];
        if rest.starts_with("<![CDATA[") {
            at = start + rest.find("]]>").unwrap_or(rest.len());
        } else if let Some(body) = rest.strip_prefix("<!--") {
            let Some(length) = body.find("-->") else {
                return;
            };
            let range = start + 4..start + 4 + length;
            if body[..length].contains("--") || body[..length].ends_with('-') {
                let blank = text[range.clone()].replace('-', " ");
                text.to_mut().replace_range(range.clone(), &blank);
            }
            at = range.end + 3;
        } else {
            at = start + 2;
        }
    }
}

/// Offset behind the name of the first element.
fn end_of_root_name(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        let skip = if rest.starts_with("<!--") {
            rest.find("-->")? + 3
        } else if rest.starts_with("<?") {
            rest.find("?>")? + 2
        } else if rest.starts_with("<!") {
            rest.find('>')? + 1
        } else {
            return Some(at + 1 + name_length(&rest[1..]));
        };
        at += skip;
    }
}

fn name_length(text: &str) -> usize {
    let end = |c: char| c.is_whitespace() || c == '/' || c == '>';
    text.find(end).unwrap_or(text.len())
}

/// The numbers of an attribute, none of them NaN, or what is wrong with them.
pub(crate) fn parse_numbers(attribute: &str, text: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| match word.parse::<f64>() {
        Ok(x) if !x.is_nan() => Ok(x),
        _ => Err(format!(
            "'{word}' in attribute '{attribute}' is not a number"
        )),
    };
    text.split_whitespace().map(number).collect()
}

/// N finite numbers, or what is wrong with them.
pub(crate) fn exactly<const N: usize>(
    attribute: &str,
    numbers: Vec<f64>,
) -> Result<[f64; N], String> {
    let finite = numbers.iter().all(|x| x.is_finite());
    let expected = if N == 1 { "number" } else { "numbers" };
    match <[f64; N]>::try_from(numbers) {
        Ok(vector) if finite => Ok(vector),
        Ok(_) => Err(format!("attribute '{attribute}' is not finite")),
        Err(found) => Err(format!(
            "attribute '{attribute}' has {} numbers, {N} {expected} expected",
            found.len()
        )),
    }
}

/// Reads one document and collects what there is to say about it.
pub(crate) struct Reader<'a> {
    file: &'a str,
    prepared: &'a Prepared<'a>,
    /// Offsets of the starts of lines in the original text.
    lines: Vec<usize>,
    /// Start of line, offset and column of the place asked for last.
    last: Cell<(usize, usize, usize)>,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(file: &'a str, prepared: &'a Prepared<'a>) -> Self {
        let text = prepared.original;
        let after_breaks = text.match_indices('\n').map(|(i, _)| i + 1);
        Self {
            file,
            prepared,
            lines: std::iter::once(0).chain(after_breaks).collect(),
            last: Cell::default(),
            diagnostics: RefCell::default(),
        }
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics.into_inner()
    }

    /// The name of an element as the file spells it, with its prefix.
    pub(crate) fn tag<'n>(&'n self, node: Node<'n, '_>) -> &'n str {
        let rest = self.prepared.text.get(node.range().start + 1..);
        rest.map_or("", |rest| &rest[..name_length(rest)])
    }
    /// Children that are elements.
    pub(crate) fn elements<'n, 'i>(
        &self,
        node: Node<'n, 'i>,
    ) -> impl Iterator<Item = Node<'n, 'i>> + use<'n, 'i> {
        node.children().filter(Node::is_element)
    }
    /// The first child of a name.
    pub(crate) fn child<'n, 'i>(&self, node: Node<'n, 'i>, tag: &str) -> Option<Node<'n, 'i>> {
        self.elements(node).find(|c| self.tag(*c) == tag)
    }
    /// All children of a name.
    pub(crate) fn children<'n, 'i>(&self, node: Node<'n, 'i>, tag: &str) -> Vec<Node<'n, 'i>> {
        let named = |c: &Node<'n, 'i>| self.tag(*c) == tag;
        self.elements(node).filter(named).collect()
    }

    /// Line and column, from 1, of an offset into the parsed text.
    fn position(&self, offset: usize) -> (u32, u32) {
        let inserted = &self.prepared.inserted;
        let offset = match offset {
            o if o >= inserted.end => o - inserted.len(),
            o => o.min(inserted.start),
        };
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let column = self.column(self.lines[line], offset);
        (line as u32 + 1, column as u32 + 1)
    }

    /// Characters between the start of a line and an offset in it. Counts from the place asked for last, so
    /// that a file whose elements are all in one line does not take the square of its length.
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

    /// Line and column of an element, from 1.
    pub(crate) fn place(&self, node: Node<'_, '_>) -> (u32, u32) {
        self.position(node.range().start)
    }

    /// Names, values and places of the attributes of an element.
    pub(crate) fn attributes<'n>(
        &'n self,
        node: Node<'n, '_>,
    ) -> impl Iterator<Item = (&'n str, &'n str, (u32, u32))> {
        node.attributes()
            .map(|a| (a.name(), a.value(), self.position(a.range().start)))
    }

    fn report(&self, severity: Severity, offset: usize, message: impl Display) {
        let (line, column) = self.position(offset);
        self.diagnostics.borrow_mut().push(Diagnostic {
            severity,
            file: self.file.into(),
            line,
            column,
            message: message.to_string(),
        });
    }
    /// Reports an error at an element.
    pub(crate) fn error(&self, node: Node<'_, '_>, message: impl Display) -> Reported {
        self.report(Severity::Error, node.range().start, message);
        Reported
    }
    /// Reports a warning at an element.
    pub(crate) fn warning(&self, node: Node<'_, '_>, message: impl Display) {
        self.report(Severity::Warning, node.range().start, message);
    }
    /// Reports an error at an attribute.
    pub(crate) fn error_at(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
        message: impl Display,
    ) -> Reported {
        let found = node.attributes().find(|a| a.name() == attribute);
        let offset = found.map_or(node.range().start, |a| a.range().start);
        self.report(Severity::Error, offset, message);
        Reported
    }
    /// True if an error was reported.
    #[cfg(test)]
    pub(crate) fn failed(&self) -> bool {
        let diagnostics = self.diagnostics.borrow();
        diagnostics.iter().any(|d| d.severity == Severity::Error)
    }

    /// An attribute that must be there and not be blank.
    pub(crate) fn required<'n>(&self, node: Node<'n, '_>, attribute: &str) -> Parsed<&'n str> {
        match node.attribute(attribute).map(str::trim) {
            Some(value) if !value.is_empty() => Ok(value),
            Some(_) => Err(self.error_at(
                node,
                attribute,
                format!("attribute '{attribute}' of <{}> is empty", self.tag(node)),
            )),
            None => Err(self.error(
                node,
                format!("<{}> has no attribute '{attribute}'", self.tag(node)),
            )),
        }
    }

    /// The numbers of an attribute, none of them NaN; `None` when the attribute is absent.
    fn numbers(&self, node: Node<'_, '_>, attribute: &str) -> Parsed<Option<Vec<f64>>> {
        let Some(text) = node.attribute(attribute) else {
            return Ok(None);
        };
        let numbers = parse_numbers(attribute, text);
        let numbers = numbers.map_err(|why| self.error_at(node, attribute, why));
        numbers.map(Some)
    }

    /// N finite numbers; `None` when the attribute is absent.
    pub(crate) fn vector<const N: usize>(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
    ) -> Parsed<Option<[f64; N]>> {
        let Some(numbers) = self.numbers(node, attribute)? else {
            return Ok(None);
        };
        let vector = exactly(attribute, numbers).map(Some);
        vector.map_err(|why| self.error_at(node, attribute, why))
    }
    /// Three finite numbers, or one that stands for all three.
    pub(crate) fn vector3_or_uniform(
        &self,
        node: Node<'_, '_>,
        attribute: &str,
    ) -> Parsed<Option<[f64; 3]>> {
        let one = |t: &str| t.split_whitespace().count() == 1;
        if node.attribute(attribute).is_some_and(one) {
            return Ok(self.vector::<1>(node, attribute)?.map(|[x]| [x; 3]));
        }
        self.vector::<3>(node, attribute)
    }
    /// A finite number; `None` when the attribute is absent.
    pub(crate) fn number(&self, node: Node<'_, '_>, attribute: &str) -> Parsed<Option<f64>> {
        Ok(self.vector::<1>(node, attribute)?.map(|[x]| x))
    }
    /// A finite number that must be there.
    pub(crate) fn required_number(&self, node: Node<'_, '_>, attribute: &str) -> Parsed<f64> {
        self.required(node, attribute)?;
        self.number(node, attribute)?.ok_or(Reported)
    }
    /// A number that may be infinite; `None` when the attribute is absent.
    pub(crate) fn limit(&self, node: Node<'_, '_>, attribute: &str) -> Parsed<Option<f64>> {
        match self.numbers(node, attribute)?.as_deref() {
            None => Ok(None),
            Some([x]) => Ok(Some(*x)),
            Some(list) => Err(self.error_at(
                node,
                attribute,
                format!(
                    "attribute '{attribute}' has {} numbers, 1 number expected",
                    list.len()
                ),
            )),
        }
    }
    /// The finite number in attribute `value` of the first child of a name.
    pub(crate) fn child_value(&self, node: Node<'_, '_>, tag: &str) -> Parsed<Option<f64>> {
        let child = self.child(node, tag);
        child.map(|c| self.required_number(c, "value")).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_file() {
        let text =
            "\n <?xml version='1.0'?>\n<!-- <x> -->\n<robot name='r'><drake:a/>\n<b:c/></robot>";
        let prepared = Prepared::new(text);
        let document = prepared.parse("f").unwrap();
        let reader = Reader::new("f", &prepared);
        let root = document.root_element();
        let nodes: Vec<_> = reader.elements(root).collect();
        assert_eq!(reader.tag(nodes[0]), "drake:a");
        reader.warning(root, "r");
        reader.warning(nodes[0], "a");
        reader.warning(nodes[1], "c");
        let places: Vec<_> = reader
            .into_diagnostics()
            .iter()
            .map(|d| (d.line, d.column))
            .collect();
        assert_eq!(places, [(4, 1), (4, 17), (5, 1)]);
    }

    #[test]
    fn malformed_xml_has_a_place() {
        let prepared = Prepared::new("<robot>\n  <link>\n</robot>");
        let error = prepared.parse("f.urdf").unwrap_err();
        assert!(error.to_string().starts_with("f.urdf:3:"), "{error}");
        let error = Prepared::new(" \n").parse("f").unwrap_err();
        assert!(error.to_string().contains("empty"), "{error}");
    }

    #[test]
    fn comments_may_have_hyphens() {
        let text = "<a><!-- x -- y ---><![CDATA[<!-- -- -->]]></a>";
        let prepared = Prepared::new(text);
        let document = prepared.parse("f").unwrap();
        let texts = document.root_element().children();
        let texts: String = texts
            .filter_map(|n| n.is_text().then(|| n.text())?)
            .collect();
        assert_eq!(texts, "<!-- -- -->");
        for open in ["<a><!-- --", "<a><!--->", "<a><![CDATA[ <!-- --", "<!"] {
            assert!(Prepared::new(open).parse("f").is_err(), "{open}");
        }
    }

    #[test]
    fn numbers_are_checked() {
        let text = "<a one='1' nan='nan' inf='inf' bad='1 x' three=' 1 2\n3 ' none=''/>";
        let prepared = Prepared::new(text);
        let document = prepared.parse("f").unwrap();
        let reader = Reader::new("f", &prepared);
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

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let n = 100_000;
        let text = "<a>".repeat(n) + &"</a>".repeat(n);
        let _ = Prepared::new(&text).parse("f");
    }
}
