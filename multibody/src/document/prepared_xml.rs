//! Text of model files made acceptable to a strict XML parser.

use super::xml_scan::{USUAL_DECLARATIONS, find_pair, scan};
use super::xml_tree::{XmlTree, name_length};
use crate::diagnostic::{Diagnostic, Severity};
use memchr::memchr_iter;
use roxmltree::Document;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of namespace prefixes that are declared on behalf of a file.
const MAX_PREFIXES: usize = 16;

/// Text made acceptable to a strict XML parser.
pub(crate) struct PreparedXml<'a> {
    pub(super) original: &'a str,
    pub(crate) text: Cow<'a, str>,
    /// Range of `text` that was inserted and is not in `original`.
    pub(super) inserted: Range<usize>,
    /// Offsets and texts of the XML declarations that are malformed or not the first.
    pub(super) declarations: Vec<(usize, &'a str)>,
}

impl<'a> PreparedXml<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        let mut text = Cow::Borrowed(original);
        let declarations = blank_declarations(&mut text, original);
        blank_hyphens_in_comments(&mut text);
        let mut prepared = Self {
            original,
            text,
            inserted: 0..0,
            declarations,
        };
        prepared.declare_prefixes();
        prepared
    }

    /// Declares the prefixes that a file uses without a declaration. Many URDF files use `drake:`
    /// and other prefixes without `xmlns:drake="..."`, which Drake's XML parser accepts.
    fn declare_prefixes(&mut self) {
        if !may_have_prefixes(&self.text) {
            return;
        }
        for _ in 0..MAX_PREFIXES {
            if scan(&self.text).is_some() {
                return;
            }
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

    /// Returns the name, in the spelling of the file, of the element that starts at an offset.
    pub(crate) fn tag_at(&self, offset: usize) -> &str {
        let rest = self.text.get(offset + 1..).unwrap_or_default();
        &rest[..name_length(rest)]
    }

    /// Parses the elements of the text; the error has its place in the file.
    pub(crate) fn parse(&self, file: &str) -> Result<XmlTree<'_>, Diagnostic> {
        match scan(&self.text) {
            Some(tree) => Ok(tree),
            None => self.parse_all(file).map(|d| XmlTree::of_document(&d)),
        }
    }

    /// Parses the text including comments and processing instructions; the error has its place in
    /// the file.
    pub(crate) fn parse_all(&self, file: &str) -> Result<Document<'_>, Diagnostic> {
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
                    true => "the file must hold an XML document, got an empty file".into(),
                    false => format!("malformed XML: {message}"),
                },
            }
        })
    }
}

/// Returns false if no name in a text has a prefix, certainly: that spares most files from being
/// parsed twice.
fn may_have_prefixes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_in_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte) || *byte > 127;
    memchr_iter(b':', bytes).any(|colon| {
        let (before, after) = (&bytes[..colon], &bytes[colon + 1..]);
        before.last().is_some_and(is_in_name) && after.first().is_some_and(is_in_name)
    })
}

/// Replaces XML declarations that a strict parser refuses with spaces: those that are not at the
/// very start, and malformed ones. Returns the offsets and texts of the declarations that are
/// malformed or not the first.
fn blank_declarations<'a>(text: &mut Cow<'a, str>, original: &'a str) -> Vec<(usize, &'a str)> {
    let mut bad = vec![];
    let mut end = 0;
    for turn in 0.. {
        let start = original.len() - original[end..].trim_start().len();
        let rest = &original[start..];
        let is_declaration = rest
            .strip_prefix("<?xml")
            .is_some_and(|r| r.starts_with('?') || r.starts_with(char::is_whitespace));
        if !is_declaration {
            break;
        }
        let Some(length) = rest.find("?>") else {
            break;
        };
        end = start + length + 2;
        let declaration = &original[start..end];
        let good = USUAL_DECLARATIONS.contains(&declaration) || is_well_formed(declaration);
        if !good || turn > 0 {
            bad.push((start, declaration));
        }
        if !good || start > 0 {
            let blank: String = declaration
                .chars()
                .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
                .collect();
            text.to_mut().replace_range(start..end, &blank);
        }
    }
    bad
}

fn is_well_formed(declaration: &str) -> bool {
    let single = format!("{declaration}<a/>");
    declaration.contains("version") && Document::parse(&single).is_ok()
}

/// Replaces hyphens in comments with spaces: XML forbids two in a row, but published files have
/// them.
fn blank_hyphens_in_comments(text: &mut Cow<'_, str>) {
    let mut at = 0;
    while let Some(start) = find_pair(text.as_bytes(), at, *b"<!") {
        let rest = &text[start..];
        if rest.starts_with("<![CDATA[") {
            at = start + rest.find("]]>").unwrap_or(rest.len());
        } else if let Some(body) = rest.strip_prefix("<!--") {
            let first = find_pair(body.as_bytes(), 0, *b"--");
            let end = first.and_then(|first| Some(first + body[first..].find("-->")?));
            let (Some(first), Some(length)) = (first, end) else {
                return;
            };
            let range = start + 4..start + 4 + length;
            if first < length {
                let blank = text[range.clone()].replace('-', " ");
                text.to_mut().replace_range(range.clone(), &blank);
            }
            at = range.end + 3;
        } else {
            at = start + 2;
        }
    }
}

/// Returns the offset just after the name of the first element.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_xml_is_reported_with_its_place() {
        let prepared = PreparedXml::new("<robot>\n  <link>\n</robot>");
        let error = prepared.parse("f.urdf").unwrap_err();
        assert!(error.to_string().starts_with("f.urdf:3:"), "{error}");
        let error = PreparedXml::new(" \n").parse("f").unwrap_err();
        assert!(error.to_string().contains("empty"), "{error}");
    }

    #[test]
    fn comments_may_have_hyphens() {
        let text = "<a><!-- x -- y ---><![CDATA[<!-- -- -->]]></a>";
        let prepared = PreparedXml::new(text);
        let document = prepared.parse_all("f").unwrap();
        let texts = document.root_element().children();
        let texts: String = texts
            .filter_map(|n| n.is_text().then(|| n.text())?)
            .collect();
        assert_eq!(texts, "<!-- -- -->");
        for open in ["<a><!-- --", "<a><!--->", "<a><![CDATA[ <!-- --", "<!"] {
            assert!(PreparedXml::new(open).parse("f").is_err(), "{open}");
        }
    }

    #[test]
    fn prefixes_are_found_before_the_text_is_parsed() {
        for with in [
            "<a drake:b='1'/>",
            "<drake:a/>",
            "<a xmlns:x='u'/>",
            "<a ä:ö='1'/>",
        ] {
            assert!(may_have_prefixes(with), "{with}");
        }
        let without = "<mesh filename='package://arm/a.obj'/><!-- mass: 1 --> 10: x :y";
        assert!(!may_have_prefixes(without));
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let n = 100_000;
        let text = "<a>".repeat(n) + &"</a>".repeat(n);
        let _ = PreparedXml::new(&text).parse("f");
    }
}
