//! Writing a tree as text, with the origin of each element and attribute.

use super::tree::{NodeContent, TreeIndex, XacroTree};
use crate::document::origins::TextOrigins;

/// Maximum size of an expanded document (bytes).
const MAX_BYTES: usize = 256 << 20;

/// Writes a document with indentation, as `xacro` writes it, and records the origins of its parts.
/// `None` if it is too large.
pub(super) fn write(
    document: TreeIndex,
    tree: &XacroTree,
    files: Vec<String>,
) -> Option<(String, TextOrigins)> {
    let mut writer = XacroWriter {
        tree,
        text: "<?xml version=\"1.0\" ?>\n".into(),
        origins: TextOrigins {
            files,
            parts: vec![],
        },
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
            return None;
        }
        if is_end {
            writer.indent(depth);
            writer.text.push_str(&format!("</{}>\n", tree.tag(node)));
        } else if writer.open(node, depth) {
            waiting.push((node, depth, true));
            push_all(&mut waiting, node, depth + 1);
        }
    }
    Some((writer.text, writer.origins))
}

struct XacroWriter<'a> {
    tree: &'a XacroTree,
    text: String,
    origins: TextOrigins,
}

impl XacroWriter<'_> {
    fn indent(&mut self, depth: usize) {
        self.text.extend(std::iter::repeat_n("  ", depth));
    }
    fn mark(&mut self, node: TreeIndex) {
        let place = self.tree.place(node);
        self.origins.parts.push((self.text.len(), place));
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
                        self.origins.parts.push((self.text.len(), attribute.place));
                    }
                    self.text.push_str(&attribute.name);
                    self.text.push_str("=\"");
                    self.escaped(&attribute.value.text, true);
                    self.text.push('"');
                }
                let mut children = self.tree.children(node);
                let (first, second) = (children.next(), children.next());
                let Some(first) = first else {
                    self.text.push_str("/>\n");
                    return false;
                };
                self.text.push('>');
                if let (NodeContent::Text(text), None) = (self.tree.content(first), second) {
                    self.escaped(&text.text, false);
                    self.text.push_str(&format!("</{tag}>\n"));
                    return false;
                }
                self.text.push('\n');
                return true;
            }
            NodeContent::Text(text) => {
                if !text.text.chars().all(char::is_whitespace) {
                    self.indent(depth);
                    self.escaped(&text.text, false);
                    self.text.push('\n');
                }
            }
            NodeContent::Verbatim(text) => {
                self.indent(depth);
                self.text.push_str(&format!("<![CDATA[{text}]]>\n"));
            }
            NodeContent::Comment(text) => {
                self.indent(depth);
                // XML forbids two hyphens in a row, which an evaluated comment may hold.
                let text = match text.text.contains("--") || text.text.ends_with('-') {
                    true => text.text.replace('-', " "),
                    false => text.text.clone(),
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
                // XML has no place for other control characters.
                c if (c as u32) < 0x20 && !matches!(c, '\n' | '\t') => self.text.push(' '),
                '\u{fffe}' | '\u{ffff}' => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
    }
}
