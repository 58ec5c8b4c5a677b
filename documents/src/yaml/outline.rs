//! The nodes of a YAML text with their positions and their paths of keys.

use granit_parser::{Event, Parser, ScalarStyle, Span};
use std::ops::Range;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YamlKind {
    /// A key of a map. Its path includes itself.
    Key,
    Scalar(ScalarStyle),
    List,
    Map,
    Alias,
}

/// A node of a text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: YamlKind,
    /// Keys and indices that lead to the node, such as `cameras.left.fps` or `directives[2]`.
    pub(super) path: String,
    /// Text of a key or a scalar.
    pub(super) text: String,
    /// Line and column, from 1.
    pub(super) place: (u32, u32),
    /// Bytes of the text that the node takes, up to the end of its first event.
    pub(super) bytes: Range<usize>,
}

impl Node {
    pub(super) fn is_plain(&self) -> bool {
        self.kind == YamlKind::Scalar(ScalarStyle::Plain)
    }
}

/// All nodes of a text up to its first mistake, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    pub(super) nodes: Vec<Node>,
}

/// A list or a map that is being read.
enum OpenNode {
    List { path: String, index: usize },
    Map { path: String, key: Option<String> },
}

impl Outline {
    pub(super) fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let mut open: Vec<OpenNode> = vec![];
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else {
                break;
            };
            let (kind, text) = match event {
                Event::Scalar(text, style, ..) => (YamlKind::Scalar(style), text.into_owned()),
                Event::SequenceStart(..) => (YamlKind::List, String::new()),
                Event::MappingStart(..) => (YamlKind::Map, String::new()),
                Event::Alias(..) | Event::UnresolvedAlias(..) => (YamlKind::Alias, String::new()),
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                    advance(open.last_mut(), None);
                    continue;
                }
                _ => continue,
            };
            let (path, is_key) = next_path(open.last(), &text);
            let kind = match kind {
                YamlKind::Scalar(_) | YamlKind::Alias if is_key => YamlKind::Key,
                kind => kind,
            };
            outline.add(kind, &path, &text, span);
            match kind {
                YamlKind::List => open.push(OpenNode::List { path, index: 0 }),
                YamlKind::Map => open.push(OpenNode::Map { path, key: None }),
                YamlKind::Key => advance(open.last_mut(), Some(path)),
                YamlKind::Scalar(_) | YamlKind::Alias => advance(open.last_mut(), None),
            }
        }
        outline
    }

    fn add(&mut self, kind: YamlKind, path: &str, text: &str, span: Span) {
        let (start, end) = (span.start, span.end);
        let bytes = start.byte_offset().unwrap_or(0)..end.byte_offset().unwrap_or(0);
        // The parser gives a null for a missing value.
        let text = if bytes.is_empty() { "" } else { text };
        self.nodes.push(Node {
            kind,
            path: path.into(),
            text: text.into(),
            place: (start.line() as u32, start.col() as u32 + 1),
            bytes,
        });
    }

    /// Returns the last node that starts at a place and suits, else the last that suits before it.
    pub(super) fn find(&self, place: (u32, u32), suits: impl Fn(&Node) -> bool) -> Option<&Node> {
        let mut before = self.nodes.iter().rev().filter(|n| n.place <= place);
        before.find(|node| suits(node))
    }
}

/// Path of the next node in a collection, and whether it is a key. A key that is no scalar counts
/// as a value.
fn next_path(parent: Option<&OpenNode>, text: &str) -> (String, bool) {
    match parent {
        None => (String::new(), false),
        Some(OpenNode::List { path, index }) => (format!("{path}[{index}]"), false),
        Some(OpenNode::Map { key: Some(key), .. }) => (key.clone(), false),
        Some(OpenNode::Map { path, key: None }) => {
            let plain = |c: char| c.is_alphanumeric() || "_-:/".contains(c);
            let key = if !text.is_empty() && text.chars().all(plain) {
                text.to_owned()
            } else {
                format!("'{}'", text.escape_debug())
            };
            let dot = if path.is_empty() { "" } else { "." };
            (format!("{path}{dot}{key}"), true)
        }
    }
}

/// Steps to the next element of a collection after one is complete: from the key of a map with
/// this path to its value, or to the next key or element.
fn advance(parent: Option<&mut OpenNode>, key_path: Option<String>) {
    match parent {
        Some(OpenNode::List { index, .. }) => *index += 1,
        Some(OpenNode::Map { key, .. }) => *key = key_path,
        None => {}
    }
}
