//! Reading a document into a tree.

use super::tree::{NodeContent, PlacedAttribute, PlacedText, TreeIndex, XacroTree};
use crate::diagnostic::Diagnostic;
use crate::xml::OriginPlace;
use crate::xml::{PreparedXml, XmlReader};
use roxmltree::Node;

/// Addresses that stand for xacro, today's first.
const ADDRESSES: [&str; 8] = [
    "http://www.ros.org/wiki/xacro",
    "http://ros.org/wiki/xacro",
    "http://wiki.ros.org/xacro",
    "http://www.ros.org/xacro",
    "http://ros.org/xacro",
    "http://www.ros.org/xacro#interface",
    "https://www.ros.org/wiki/xacro",
    "https://wiki.ros.org/xacro",
];

/// Reads a text into a tree with room for a number of nodes. Returns the document and the notes
/// about it.
///
/// # Errors
/// Returns an error if the text is no XML, or uses the prefix `xacro` without a declaration.
pub(super) fn read(
    text: &str,
    name: &str,
    file: u32,
    tree: &mut XacroTree,
    room: usize,
) -> Result<(TreeIndex, Vec<String>), Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let prepared = PreparedXml::new(text);
    let document = prepared.parse_all(name)?;
    let reader = XmlReader::new(name, &prepared);
    let mut builder = TreeBuilder {
        reader: &reader,
        prepared: &prepared,
        text: &prepared.text,
        file,
        most: tree.len() + room,
        tree,
    };
    let top = builder
        .tree
        .add(NodeContent::Document, OriginPlace::default());
    let mut waiting = vec![(document.root(), top)];
    while let Some((node, parent)) = waiting.pop() {
        for child in node.children() {
            if builder.is_full() {
                let message = "the file and all included ones have too many elements and texts";
                return Err(Diagnostic::of_file(name, message));
            }
            if child.is_text() {
                builder.add_texts(child, parent);
                continue;
            }
            let copy = builder.node(child);
            builder.tree.append(parent, copy);
            if child.is_element() {
                waiting.push((child, copy));
            }
        }
    }
    let root = document.root_element();
    let prefix = root.namespaces().find(|n| n.name() == Some("xacro"));
    let address = prefix.map_or("", |n| n.uri());
    if address == "undeclared:xacro" {
        let (line, column) = reader.position(root.range().start);
        return Err(Diagnostic {
            line,
            column,
            ..Diagnostic::of_file(
                name,
                format!(
                    "the prefix 'xacro' must be declared, got none; add xmlns:xacro=\"{}\" to <{}>",
                    ADDRESSES[0],
                    prepared.tag_at(root.range().start)
                ),
            )
        });
    }
    let mut notes = vec![];
    if prefix.is_some() && !ADDRESSES.contains(&address) {
        notes.push(format!(
            "the prefix 'xacro' should stand for \"{}\", got \"{address}\"; it is read as xacro",
            ADDRESSES[0]
        ));
    }
    for other in root.namespaces() {
        if let Some(name) = other.name().filter(|n| *n != "xacro")
            && ADDRESSES.contains(&other.uri())
        {
            notes.push(format!(
                "the prefix of xacro must be 'xacro', got '{name}'; its elements are left as they \
                 are"
            ));
        }
    }
    Ok((top, notes))
}

struct TreeBuilder<'a> {
    reader: &'a XmlReader<'a>,
    prepared: &'a PreparedXml<'a>,
    /// The text that the nodes refer to.
    text: &'a str,
    file: u32,
    tree: &'a mut XacroTree,
    /// Maximum number of nodes in the tree.
    most: usize,
}

impl TreeBuilder<'_> {
    fn place(&self, offset: usize) -> OriginPlace {
        let (line, column) = self.reader.position(offset);
        OriginPlace {
            file: self.file,
            line,
            column,
        }
    }

    fn is_full(&self) -> bool {
        self.tree.len() > self.most
    }

    fn placed(&self, text: &str, start: usize, end: usize) -> PlacedText {
        PlacedText {
            text: text.into(),
            place: self.place(start),
            exact: self.text.get(start..end) == Some(text),
        }
    }

    fn node(&mut self, node: Node<'_, '_>) -> TreeIndex {
        let range = node.range();
        let content = if node.is_element() {
            NodeContent::Element {
                tag: self.prepared.tag_at(range.start).into(),
                attributes: self.attributes(node),
            }
        } else if node.is_comment() {
            let text = node.text().unwrap_or("");
            NodeContent::Comment(self.placed(text, range.start + 4, range.end - 3))
        } else {
            let text = self.text.get(range.start + 2..range.end - 2);
            NodeContent::Instruction(text.unwrap_or("").into())
        };
        self.tree.add(content, self.place(range.start))
    }

    /// Adds a text and the CDATA sections in it, which the parser has joined.
    fn add_texts(&mut self, node: Node<'_, '_>, parent: TreeIndex) {
        const OPEN: &str = "<![CDATA[";
        const CLOSE: &str = "]]>";
        const EMPTY: &str = "<![CDATA[]]>";
        // The range of the node ends with the first of the joined parts.
        let mut at = node.range().start;
        let end = match (node.next_sibling(), node.parent()) {
            (Some(next), _) => next.range().start,
            (None, Some(parent)) => {
                let rest = self.text.get(at..parent.range().end).unwrap_or("");
                at + rest.rfind("</").unwrap_or(rest.len())
            }
            (None, None) => node.range().end,
        };
        let whole = self.text.get(at..end).unwrap_or("");
        if !whole.contains(OPEN) {
            let content = NodeContent::Text(self.placed(node.text().unwrap_or(""), at, end));
            self.append(content, at, parent);
            return;
        }
        // An empty section does not end the text around it.
        let is_section = |rest: &str| rest.starts_with(OPEN) && !rest.starts_with(EMPTY);
        let mut rest = whole;
        while !rest.is_empty() && !self.is_full() {
            let length = if is_section(rest) {
                let inner = &rest[OPEN.len()..];
                let end = inner.find(CLOSE).unwrap_or(inner.len());
                let text = inner[..end].replace("\r\n", "\n").replace('\r', "\n");
                self.append(NodeContent::Verbatim(text), at, parent);
                (OPEN.len() + end + CLOSE.len()).min(rest.len())
            } else {
                let mut opened = rest.match_indices(OPEN).map(|(i, _)| i);
                let next = opened.find(|i| is_section(&rest[*i..]));
                let length = next.unwrap_or(rest.len());
                let text = without_references(&rest[..length]);
                if !text.is_empty() {
                    let text = self.placed(&text, at, at + length);
                    self.append(NodeContent::Text(text), at, parent);
                }
                length
            };
            at += length;
            rest = &rest[length..];
        }
    }

    fn append(&mut self, content: NodeContent, at: usize, parent: TreeIndex) {
        let node = self.tree.add(content, self.place(at));
        self.tree.append(parent, node);
    }

    /// Returns the attributes of an element with their prefixes, declarations of prefixes among
    /// them.
    fn attributes(&self, node: Node<'_, '_>) -> Vec<PlacedAttribute> {
        let mut plain = node.attributes();
        let mut attributes = vec![];
        let mut at = node.range().start + 1 + self.prepared.tag_at(node.range().start).len();
        loop {
            let rest = self.text.get(at..).unwrap_or("");
            at += rest.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            // Without this, an element without attributes would go through the rest of the text.
            if rest.starts_with(['>', '/']) {
                return attributes;
            }
            let Some(equals) = rest.find('=') else {
                return attributes;
            };
            // As the file spells it.
            let name = rest[..equals].trim_end().len();
            let name = self.prepared.rest_at(at).get(..name).unwrap_or_default();
            let Some(quote) = rest[equals..].find(['"', '\'']).map(|i| equals + i) else {
                return attributes;
            };
            let mark = &rest[quote..quote + 1];
            let Some(length) = rest[quote + 1..].find(mark) else {
                return attributes;
            };
            let (start, end) = (at + quote + 1, at + quote + 1 + length);
            // Prefixes are declared with addresses, of which the parser keeps the values apart.
            let declared = match (name, name.strip_prefix("xmlns:")) {
                ("xmlns", _) => Some(node.default_namespace()),
                (_, Some(prefix)) => Some(node.lookup_namespace_uri(Some(prefix))),
                _ => None,
            };
            let (inserted, place) = (self.reader.was_inserted(at), self.place(at));
            at = end + 1;
            let value = match (declared, plain.len()) {
                (Some(address), _) => self.placed(address.unwrap_or(""), start, end),
                (None, 0) => return attributes,
                (None, _) => {
                    let value = plain.next().map_or("", |attribute| attribute.value());
                    self.placed(value, start, end)
                }
            };
            if !inserted {
                attributes.push(PlacedAttribute {
                    name: name.into(),
                    place,
                    value,
                });
            }
        }
    }
}

/// Replaces the references to characters and entities in a text of XML that was parsed already.
fn without_references(text: &str) -> String {
    let document = format!("<t>{text}</t>");
    let parsed = roxmltree::Document::parse(&document).ok();
    let root = parsed.as_ref().map(|parsed| parsed.root_element());
    root.map_or(text, |root| root.text().unwrap_or("")).into()
}
