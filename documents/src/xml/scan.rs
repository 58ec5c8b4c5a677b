//! A fast reader of the XML that nearly all model files consist of.

use super::tree::{XmlAttribute, XmlElement, XmlTree};
use memchr::memchr_iter;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Well-formed declarations of most files.
pub(super) const USUAL_DECLARATIONS: [&str; 4] = [
    "<?xml version=\"1.0\"?>",
    "<?xml version=\"1.0\" ?>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
];

/// Reads a document of elements, attributes, texts and comments.
///
/// Returns `None` for everything else, and for every document with a mistake: references, CDATA
/// sections, processing instructions, document types, carriage returns, names that are not ASCII,
/// and prefixes declared inside the outermost element. The general parser reads all of these and
/// words the errors.
pub(super) fn scan(text: &str) -> Option<XmlTree<'_>> {
    // Without a way out of the loop, it takes many bytes at a time.
    let unusual = text.bytes().fold(false, |found, b| found | is_unusual(b));
    if unusual {
        return None;
    }
    let scanner = XmlScanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        tree: XmlTree {
            elements: Vec::with_capacity(memchr_iter(b'<', text.as_bytes()).count()),
            attributes: Vec::with_capacity(memchr_iter(b'=', text.as_bytes()).count()),
        },
        prefixes: SmallVec::new(),
        used: SmallVec::new(),
    };
    scanner.document()
}

/// Returns true for bytes that start a reference, and for those that are or may be part of a
/// character that XML forbids or replaces.
fn is_unusual(byte: u8) -> bool {
    (byte < b' ' && byte != b'\t' && byte != b'\n') || byte == b'&' || byte == 0xef
}

fn is_start_of_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// The bytes that names consist of.
const IS_IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        byte += 1;
    }
    table
};

/// Returns the first offset, from a given one, of two bytes in a row.
pub(super) fn find_pair(text: &[u8], from: usize, [first, second]: [u8; 2]) -> Option<usize> {
    // The second byte of markup is the rarer one.
    let after = from + 1;
    let mut found = memchr_iter(second, text.get(after..)?).map(|i| after + i);
    found.find(|i| text[i - 1] == first).map(|i| i - 1)
}

struct XmlScanner<'i> {
    text: &'i str,
    bytes: &'i [u8],
    at: usize,
    tree: XmlTree<'i>,
    /// Prefixes that the outermost element declares.
    prefixes: SmallVec<[&'i str; 4]>,
    /// Prefixes in the current start tag.
    used: SmallVec<[&'i str; 4]>,
}

impl<'i> XmlScanner<'i> {
    fn document(mut self) -> Option<XmlTree<'i>> {
        if self.text.starts_with("<?xml") {
            let is_start = |d: &&&str| self.text.starts_with(**d);
            self.at = USUAL_DECLARATIONS.iter().find(is_start)?.len();
        }
        self.comments()?;
        self.element(None)?;
        self.comments()?;
        (self.at == self.bytes.len()).then_some(self.tree)
    }

    /// Skips white space and comments.
    fn comments(&mut self) -> Option<()> {
        self.spaces();
        while self.bytes[self.at..].starts_with(b"<!") {
            self.comment()?;
            self.spaces();
        }
        Some(())
    }

    fn comment(&mut self) -> Option<()> {
        let inside = self.bytes[self.at..].starts_with(b"<!--").then_some(4)?;
        let end = find_pair(self.bytes, self.at + inside, *b"--")?;
        self.at = end + 3;
        (self.bytes.get(end + 2) == Some(&b'>')).then_some(())
    }

    /// Skips white space; returns true if there was any.
    fn spaces(&mut self) -> bool {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\t')) {
            self.at += 1;
        }
        self.at > start
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += 1;
        found.then_some(())
    }

    /// Reads an element and everything inside it.
    fn element(&mut self, mut parent: Option<usize>) -> Option<()> {
        loop {
            // At the `<` of some markup inside `parent`.
            let mut opened = false;
            match (self.bytes.get(self.at + 1)?, parent) {
                (b'!', Some(_)) => self.comment()?,
                (b'/', Some(index)) => {
                    self.end_tag(index)?;
                    parent = self.tree.elements[index].parent;
                }
                _ => {
                    let index = self.start_tag(parent)?;
                    opened = self.tree.elements[index].end == 0;
                    if opened {
                        parent = Some(index);
                    }
                }
            }
            let Some(parent) = parent else {
                return Some(());
            };
            self.content(parent, opened)?;
        }
    }

    /// Reads the text up to the next markup.
    fn content(&mut self, parent: usize, is_first: bool) -> Option<()> {
        let start = self.at;
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(|b| matches!(b, b'<' | b'>'))?;
        // Certain sequences with this character are mistakes.
        if self.bytes[self.at] == b'>' {
            return None;
        }
        let text = &self.text[start..self.at];
        let parent = &mut self.tree.elements[parent];
        if parent.text.is_none() && !text.is_empty() {
            parent.text = Some(Cow::Borrowed(text));
            parent.starts_with_text = is_first;
        }
        Some(())
    }

    /// Reads a start tag; returns its element, which has no end if it is open.
    fn start_tag(&mut self, parent: Option<usize>) -> Option<usize> {
        let start = self.at;
        self.byte(b'<')?;
        self.used.clear();
        let (prefix, _) = self.name()?;
        prefix.into_iter().for_each(|prefix| self.used.push(prefix));
        let tag = &self.text[start + 1..self.at];
        let first = self.tree.attributes.len();
        let index = self.tree.elements.len();
        let end = loop {
            let spaced = self.spaces();
            match self.bytes.get(self.at)? {
                b'>' => break 0,
                b'/' => {
                    self.at += 1;
                    break index + 1;
                }
                _ if spaced => self.attribute(first, parent.is_none())?,
                _ => return None,
            }
        };
        self.byte(b'>')?;
        if self
            .used
            .iter()
            .any(|prefix| !self.prefixes.contains(prefix))
        {
            return None;
        }
        self.tree.elements.push(XmlElement {
            tag,
            start,
            parent,
            end,
            attributes: first..self.tree.attributes.len(),
            text: None,
            starts_with_text: false,
        });
        Some(index)
    }

    fn end_tag(&mut self, index: usize) -> Option<()> {
        self.at += 2;
        let element = &mut self.tree.elements[index];
        if !self.bytes[self.at..].starts_with(element.tag.as_bytes()) {
            return None;
        }
        self.at += element.tag.len();
        self.tree.elements[index].end = self.tree.elements.len();
        self.spaces();
        self.byte(b'>')
    }

    /// Reads a name; returns its prefix and the rest.
    fn name(&mut self) -> Option<(Option<&'i str>, &'i str)> {
        let first = self.part_of_name()?;
        if self.bytes.get(self.at) != Some(&b':') {
            return Some((None, first));
        }
        self.at += 1;
        let second = self.part_of_name()?;
        Some((Some(first), second))
    }

    fn part_of_name(&mut self) -> Option<&'i str> {
        let start = self.at;
        if !is_start_of_name(*self.bytes.get(start)?) {
            return None;
        }
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|b| !IS_IN_NAME[usize::from(*b)]);
        self.at += length.unwrap_or(rest.len());
        Some(&self.text[start..self.at])
    }

    /// Reads an attribute of an element whose attributes start at `first`.
    fn attribute(&mut self, first: usize, is_root: bool) -> Option<()> {
        let start = self.at;
        let (prefix, name) = self.name()?;
        self.spaces();
        self.byte(b'=')?;
        self.spaces();
        let quote = *self.bytes.get(self.at)?;
        if !matches!(quote, b'"' | b'\'') {
            return None;
        }
        self.at += 1;
        let rest = &self.bytes[self.at..];
        let is_end = |b: u8| b == quote || b == b'<';
        let plain = rest.iter().position(|b| is_end(*b) || *b < b' ')?;
        let (value, length) = if is_end(rest[plain]) {
            (Cow::Borrowed(&self.text[self.at..self.at + plain]), plain)
        } else {
            let length = rest.iter().position(|b| is_end(*b))?;
            let value = &self.text[self.at..self.at + length];
            (Cow::Owned(value.replace(['\n', '\t'], " ")), length)
        };
        self.at += length;
        self.byte(quote)?;
        if prefix == Some("xmlns") {
            // Some addresses must not be declared.
            let plain = is_root && !value.is_empty() && !value.contains("w3.org");
            let new = name != "xml" && name != "xmlns" && !self.prefixes.contains(&name);
            self.prefixes.push(name);
            return (plain && new).then_some(());
        }
        let has_prefix = prefix.is_some();
        let known = &self.tree.attributes[first..];
        let is_known = |a: &XmlAttribute<'_>| a.name == name && a.has_prefix == has_prefix;
        if name == "xmlns" || known.iter().any(is_known) {
            return None;
        }
        prefix.into_iter().for_each(|prefix| self.used.push(prefix));
        self.tree.attributes.push(XmlAttribute {
            name,
            has_prefix,
            value,
            start,
        });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use roxmltree::Document;

    /// Checks that a text is read as by the general parser, or not at all; returns whether it was
    /// read.
    fn check(text: &str) -> bool {
        let Some(scanned) = scan(text) else {
            return false;
        };
        let document = Document::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(
            scanned,
            XmlTree::of_document(&document, |at| &text[at..]),
            "{text}"
        );
        true
    }

    #[test]
    fn usual_documents_are_read() {
        for text in [
            "<a/>",
            "<?xml version=\"1.0\"?>\n<!-- c -->\n<a>\n</a >\n<!----> ",
            "<r xmlns:d='u' d:x='1' x=\"2\" y = '\u{e4}>\n\t'><d:a/>t<b>u<!-- - --></b></r>",
            "<a>\u{1f916}<b><c x='/'/></b>x</a>",
            "<a><!-- --> x<b/></a>",
        ] {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn other_documents_are_left_to_the_general_parser() {
        for text in [
            "",
            "x",
            "<a>",
            "<a/><b/>",
            "<a></b>",
            "<a></ab>",
            "<a x='1' x='2'/>",
            "<a x='1'y='2'/>",
            "<a x=1/>",
            "<a x='<'/>",
            "<a>&amp;</a>",
            "<a>]]></a>",
            "<a><![CDATA[x]]></a>",
            "<a><?p?></a>",
            "<a>\r</a>",
            "<a>\u{fffe}</a>",
            "<a><!-- -- --></a>",
            "<a><!-- ---></a>",
            "<!DOCTYPE a><a/>",
            "<\u{e4}/>",
            "<a \u{e4}='1'/>",
            "<d:a/>",
            "<a xmlns='u'/>",
            "<a xmlns:d='u'><b xmlns:e='v'/></a>",
            "<a xmlns:d='u' xmlns:e='u' d:x='1' e:x='2'/>",
            "<a xmlns:xml='u'/>",
            "<a xmlns:d='http://www.w3.org/2000/xmlns/'/>",
            "<a xml:space='preserve'/>",
            "<a:b:c/>",
            "<a",
            "<a x",
            "<a x='",
            "</a>",
            "<",
            "<!",
            "<a><",
            "<1/>",
        ] {
            assert!(!check(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn random_documents_are_read_as_by_the_general_parser(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "<a>", "</a>", "<b", "/>", ">", " ", "\n", "x='1'", "y=\"2\"", "d:z='\t'", "<!--",
                    "-->", "-", "t", "<c/>", "<d:e>", "</d:e>", "xmlns:d='u'", "]]", "\u{e4}", "</",
                    "<", "'", "=", "a", ":",
                ]),
                0..24,
            )
        ) {
            let inside = pieces.concat();
            check(&inside);
            check(&format!("<r xmlns:d='u'>{inside}</r>"));
        }
    }
}
