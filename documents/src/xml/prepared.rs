//! Text of model files made acceptable to a strict XML parser.

use super::scan::{USUAL_DECLARATIONS, find_pair, scan};
use super::tree::{XmlTree, name_length};
use crate::diagnostic::{Diagnostic, Severity};
use memchr::memchr_iter;
use roxmltree::Document;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of namespace prefixes that are declared on behalf of a file.
const MAX_PREFIXES: usize = 16;

/// Text made acceptable to a strict XML parser.
pub struct PreparedXml<'a> {
    pub(super) original: &'a str,
    /// The text that a strict parser accepts.
    pub text: Cow<'a, str>,
    /// Range of `text` that was inserted and is not in `original`.
    pub(super) inserted: Range<usize>,
    /// Offsets and texts of the XML declarations that are malformed or not the first.
    pub(super) declarations: Vec<(usize, &'a str)>,
    /// Whether colons in names were replaced, so that `original` has other names than `text`.
    renamed: bool,
}

/// Elements of xacro without calls of macros, which some files have left over.
const XACRO_ELEMENTS: [&str; 10] = [
    "xacro:arg",
    "xacro:attribute",
    "xacro:call",
    "xacro:element",
    "xacro:if",
    "xacro:include",
    "xacro:insert_block",
    "xacro:macro",
    "xacro:property",
    "xacro:unless",
];

impl<'a> PreparedXml<'a> {
    /// Prepares a text. An [`XmlReader`](super::XmlReader) warns about each change.
    pub fn new(original: &'a str) -> Self {
        let mut text = Cow::Borrowed(original);
        let declarations = blank_declarations(&mut text, original);
        blank_hyphens_in_comments(&mut text);
        let mut prepared = Self {
            original,
            text,
            inserted: 0..0,
            declarations,
            renamed: false,
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
                Err(roxmltree::Error::UnknownNamespace(prefix, _)) => Some(prefix),
                Err(_) if !self.renamed => None,
                _ => return,
            };
            let Some(prefix) = prefix else {
                // Names such as `gz::system_priority`, which Drake's XML parser accepts.
                self.renamed = replace_stray_colons(&mut self.text);
                if self.renamed { continue } else { return }
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
    pub fn tag_at(&self, offset: usize) -> &'a str {
        let rest = self.rest_at(offset + 1);
        &rest[..name_length(rest)]
    }

    /// Returns the text of the file from an offset into `text` on. Outside of what was inserted,
    /// it differs from `text` only in blanked comments and declarations and in replaced colons.
    pub fn rest_at(&self, offset: usize) -> &'a str {
        let original = self.original;
        original
            .get(self.original_offset(offset)..)
            .unwrap_or_default()
    }

    /// Returns the offset in the file of an offset into `text`.
    pub(super) fn original_offset(&self, offset: usize) -> usize {
        match offset {
            o if o >= self.inserted.end => o - self.inserted.len(),
            o => o.min(self.inserted.start),
        }
    }

    /// Parses the elements of the text; the error has its place in the file. Elements that only
    /// the expansion of xacro files understands are an error.
    pub fn parse(&self, file: &str) -> Result<XmlTree<'_>, Diagnostic> {
        // The scanner takes names from the text that it reads.
        let scanned = (!self.renamed).then(|| scan(&self.text)).flatten();
        let tree = match scanned {
            Some(tree) => tree,
            None => {
                let document = self.parse_all(file)?;
                XmlTree::of_document(&document, |at| self.rest_at(at))
            }
        };
        match tree.find(|tag| XACRO_ELEMENTS.contains(&tag)) {
            Some((tag, start)) => Err(self.is_xacro(file, tag, start)),
            None => Ok(tree),
        }
    }

    /// Creates the error for an element of a xacro file.
    fn is_xacro(&self, file: &str, tag: &str, start: usize) -> Diagnostic {
        let before = &self.original[..self.original_offset(start)];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Diagnostic {
            severity: Severity::Error,
            file: file.into(),
            line: 1 + before.matches('\n').count() as u32,
            column: 1 + before[line_start..].chars().count() as u32,
            message: format!(
                "<{tag}> is a xacro element, but the name of the file does not end in .xacro; \
                 rename the file so that it is expanded, or load the output of 'tarragon xacro'"
            ),
        }
    }

    /// Parses the text including comments and processing instructions; the error has its place in
    /// the file.
    pub fn parse_all(&self, file: &str) -> Result<Document<'_>, Diagnostic> {
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
                message: if empty {
                    "the file must hold an XML document, got an empty file".into()
                } else {
                    format!("malformed XML: {message}")
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
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte) || *byte > 127;
    memchr_iter(b':', bytes).any(|colon| {
        let (before, after) = (&bytes[..colon], &bytes[colon + 1..]);
        let inside = before.last().is_some_and(is_in_name) && after.first().is_some_and(is_in_name);
        // A name that starts or ends with the colon.
        let at_start = before.ends_with(b"<") || before.ends_with(b"</");
        let at_end = [&b"="[..], b">", b"/>"]
            .iter()
            .any(|end| after.starts_with(end));
        inside || at_start || at_end
    })
}

/// Replaces, in the names of elements and attributes, the colons that cannot end a prefix with
/// underscores: XML with namespaces forbids them, but vendors write `gz::name`. Returns false if
/// there are none.
fn replace_stray_colons(text: &mut Cow<'_, str>) -> bool {
    let mut stray = vec![];
    for name in names(text) {
        let bytes = &text.as_bytes()[name.clone()];
        let mut has_prefix = false;
        for at in memchr_iter(b':', bytes) {
            let starts = |b: &u8| b.is_ascii_alphabetic() || *b == b'_' || *b > 127;
            let ends_prefix = !has_prefix && at > 0 && bytes.get(at + 1).is_some_and(starts);
            if ends_prefix {
                has_prefix = true
            } else {
                stray.push(name.start + at)
            }
        }
    }
    for at in &stray {
        text.to_mut().replace_range(*at..at + 1, "_");
    }
    !stray.is_empty()
}

/// Returns the ranges of the names of all elements and attributes; of a malformed tag, only the
/// names before the mistake.
fn names(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut names = vec![];
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'<', &bytes[at..]).map(|i| at + i) {
        let rest = &text[start..];
        let skipped = [
            ("<!--", "-->"),
            ("<![CDATA[", "]]>"),
            ("<?", "?>"),
            ("<!", ">"),
        ];
        if let Some((open, close)) = skipped.iter().find(|(open, _)| rest.starts_with(open)) {
            let length = rest[open.len()..].find(close);
            at = length.map_or(text.len(), |l| start + open.len() + l + close.len());
            continue;
        }
        at = start + if rest.starts_with("</") { 2 } else { 1 };
        loop {
            let end = |b: &u8| b.is_ascii_whitespace() || b"=/><\"'".contains(b);
            let rest = &bytes[at..];
            let length = rest.iter().position(end).unwrap_or(rest.len());
            if length > 0 {
                names.push(at..at + length);
            }
            at += length;
            let quoted = match bytes.get(at) {
                None | Some(b'>' | b'<') => break,
                Some(b'"') => memchr::memchr(b'"', &bytes[at + 1..]),
                Some(b'\'') => memchr::memchr(b'\'', &bytes[at + 1..]),
                Some(_) => {
                    at += 1;
                    continue;
                }
            };
            at = quoted.map_or(text.len(), |length| at + length + 2);
        }
    }
    names
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
    fn xacro_files_with_another_suffix_say_so() {
        let text = "<robot name='r'>\n é<xacro:property name='a' value='1'/></robot>";
        let declared = text.replacen(" name", " xmlns:xacro='http://ros.org/wiki/xacro' name", 1);
        for text in [text, &declared] {
            let error = PreparedXml::new(text)
                .parse("f.urdf")
                .unwrap_err()
                .to_string();
            let start = "f.urdf:2:3: error: <xacro:property> is a xacro element";
            assert!(
                error.starts_with(start) && error.contains(".xacro"),
                "{error}"
            );
        }
        // Generated files have calls of macros left over, which are ignored, as in Drake.
        for rest in ["<xacro:leg/>", "<!-- <xacro:property/> -->"] {
            let text = format!("<robot xmlns:xacro='x'>{rest}</robot>");
            assert!(PreparedXml::new(&text).parse("f.urdf").is_ok(), "{rest}");
        }
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
    fn names_may_have_colons_anywhere() {
        let names = |text: &str| {
            let prepared = PreparedXml::new(text);
            let tree = prepared.parse("f").map_err(|e| e.to_string());
            let tree = tree.unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut waiting = vec![tree.root_element()];
            let mut names = vec![];
            while let Some(node) = waiting.pop() {
                names.push(node.tag().to_string());
                names.extend(node.attributes().map(|a| {
                    let mark = if a.has_prefix() { "+" } else { "" };
                    format!("{mark}{}={}", a.name(), a.value())
                }));
                waiting.extend(node.elements());
            }
            names.join(" ")
        };
        for (text, expected) in [
            ("<a><gz::b/></a>", "a gz::b"),
            ("<a><gz::b>::1</gz::b></a >", "a gz::b"),
            ("<a><x:y:z gz::k='::' d:e=':'/></a>", "a x:y:z +:k=:: +e=:"),
            ("<:a b:='1'/>", ":a +=1"),
            ("<a><gz:1b/><c: x='<gz::d'/></a>", ""),
            ("<a><gz:1b/><c: x='>gz::d'/></a>", "a c: x=>gz::d gz:1b"),
            (
                "<a><!-- <gz::c> --><gz::b/><![CDATA[<gz::d>]]><?gz::e?></a>",
                "a gz::b",
            ),
            (
                "<\u{e4}><gz::\u{f6} x::\u{fc}='1'/></\u{e4}>",
                "\u{e4} gz::\u{f6} +:\u{fc}=1",
            ),
        ] {
            if expected.is_empty() {
                assert!(PreparedXml::new(text).parse("f").is_err(), "{text}");
            } else {
                assert_eq!(names(text), expected, "{text}");
            }
        }
        for open in [
            "<gz::a",
            "<gz::a x='",
            "<gz::a><",
            "<gz::a></gz::b>",
            "<gz::a <gz::b/>",
        ] {
            assert!(PreparedXml::new(open).parse("f").is_err(), "{open}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let n = 100_000;
        let text = "<a>".repeat(n) + &"</a>".repeat(n);
        let _ = PreparedXml::new(&text).parse("f");
    }
}
