//! Writing a tree as text, with the origin of each element and attribute.

use super::characters;
use super::expander::{XacroExpander, XacroResult};
use super::tree::{NodeContent, TreeIndex, XacroTree};
use crate::xml::OriginPlace;
use std::path::Path;

/// Maximum size of an expanded document (bytes).
const MAX_BYTES: usize = 256 << 20;

/// A text, and the places of its parts.
type WrittenText = (String, Vec<(usize, OriginPlace)>);

impl XacroExpander<'_> {
    /// Writes a document with indentation, as `xacro` writes it, and records the origins of its
    /// parts.
    ///
    /// # Errors
    /// Returns an error if the document is too large or would not be XML.
    pub(super) fn write(&self, path: &Path, document: TreeIndex) -> XacroResult<WrittenText> {
        let tree = &self.tree;
        let mut writer = XacroWriter {
            tree,
            text: "<?xml version=\"1.0\" ?>\n".into(),
            parts: vec![],
        };
        // Elements that are open, with their depths, end with their closing tag.
        let mut waiting: Vec<(TreeIndex, usize, bool)> = vec![];
        let push_all = |waiting: &mut Vec<_>, node, depth| {
            let from = waiting.len();
            waiting.extend(tree.children(node).map(|child| (child, depth, false)));
            waiting[from..].reverse();
        };
        push_all(&mut waiting, document, 0);
        while let Some((node, depth, is_end)) = waiting.pop() {
            if writer.text.len() > MAX_BYTES {
                let message = format!("the expanded text must have at most {MAX_BYTES} bytes");
                return Err(self.error_of_file(path, &message));
            }
            if is_end {
                writer.indent(depth);
                writer.text.push_str(&format!("</{}>\n", tree.tag(node)));
                continue;
            }
            if let Some((c, place)) = writer.forbidden(node) {
                let message = format!("a text must have no control characters, got {c:?}");
                return Err(self.error(place, message));
            }
            if writer.open(node, depth) {
                waiting.push((node, depth, true));
                push_all(&mut waiting, node, depth + 1);
            }
        }
        Ok((writer.text, writer.parts))
    }
}

struct XacroWriter<'a> {
    tree: &'a XacroTree,
    text: String,
    parts: Vec<(usize, OriginPlace)>,
}

impl<'a> XacroWriter<'a> {
    /// Returns a character of a node that XML forbids, and the place of its text.
    fn forbidden(&self, node: TreeIndex) -> Option<(char, OriginPlace)> {
        match self.tree.content(node) {
            NodeContent::Element { attributes, .. } => {
                let texts = attributes.iter().map(|attribute| &attribute.value);
                let inner = match self.only_child(node) {
                    Some(NodeContent::Text(text)) => Some(text),
                    _ => None,
                };
                let mut texts = texts.chain(inner);
                texts.find_map(|text| Some((characters::forbidden(&text.text)?, text.place)))
            }
            NodeContent::Text(text) | NodeContent::Comment(text) => {
                Some((characters::forbidden(&text.text)?, text.place))
            }
            _ => None,
        }
    }

    /// Returns the content of an element's child if there is one alone.
    fn only_child(&self, node: TreeIndex) -> Option<&'a NodeContent> {
        let mut children = self.tree.children(node);
        let first = children.next()?;
        children.next().is_none().then(|| self.tree.content(first))
    }

    fn section(&mut self, text: &str) {
        self.text.push_str(&format!("<![CDATA[{text}]]>"));
    }

    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }
    fn mark(&mut self, node: TreeIndex) {
        let place = self.tree.place(node);
        self.parts.push((self.text.len(), place));
    }

    /// Writes a node; returns true if its children and its end must follow.
    fn open(&mut self, node: TreeIndex, depth: usize) -> bool {
        match self.tree.content(node) {
            NodeContent::Element { tag, attributes } => {
                self.indent(depth);
                self.mark(node);
                self.text.push('<');
                self.text.push_str(tag);
                let mut sorted: Vec<_> = attributes.iter().collect();
                sorted.sort_by(|a, b| a.name.cmp(&b.name));
                for attribute in sorted {
                    self.text.push(' ');
                    if attribute.place.line > 0 {
                        self.parts.push((self.text.len(), attribute.place));
                    }
                    self.text.push_str(&attribute.name);
                    self.text.push_str("=\"");
                    self.escaped(&attribute.value.text, true);
                    self.text.push('"');
                }
                if self.tree.first(node).is_none() {
                    self.text.push_str("/>\n");
                    return false;
                }
                self.text.push('>');
                match self.only_child(node) {
                    Some(NodeContent::Text(text)) => self.escaped(&text.text, false),
                    Some(NodeContent::Verbatim(text)) => self.section(text),
                    _ => {
                        self.text.push('\n');
                        return true;
                    }
                }
                self.text.push_str(&format!("</{tag}>\n"));
            }
            NodeContent::Text(text) => {
                if !text.text.chars().all(char::is_whitespace) {
                    self.indent(depth);
                    self.escaped(&text.text, false);
                    self.text.push('\n');
                }
            }
            // As in Python, no white space is added to a section.
            NodeContent::Verbatim(text) => self.section(text),
            NodeContent::Comment(text) => {
                self.indent(depth);
                // XML forbids two hyphens in a row, which an evaluated comment may hold.
                let text = if text.text.contains("--") || text.text.ends_with('-') {
                    text.text.replace('-', " ")
                } else {
                    text.text.clone()
                };
                self.text.push_str(&format!("<!--{text}-->\n"));
            }
            NodeContent::Instruction(text) => {
                self.indent(depth);
                self.text.push_str(&format!("<?{text}?>\n"));
            }
            NodeContent::Document => {}
        }
        false
    }

    fn escaped(&mut self, text: &str, is_attribute: bool) {
        for c in text.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\n' if is_attribute => self.text.push_str("&#10;"),
                '\t' if is_attribute => self.text.push_str("&#9;"),
                '\r' => self.text.push_str("&#13;"),
                c => self.text.push(c),
            }
        }
    }
}
