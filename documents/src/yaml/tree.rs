//! The nodes of a YAML text, with their places and the paths of keys that lead to them.

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use std::collections::BTreeMap;

/// Most lists and maps around a node.
const MAX_DEPTH: usize = 200;

/// Kind of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Scalar(ScalarStyle),
    List(Vec<usize>),
    /// Keys and their values.
    Map(Vec<(usize, usize)>),
    /// Stands for the node of an anchor.
    Alias(usize),
}

/// A node of a text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Keys and indices that lead to the node, such as `cameras.left.fps` or `directives[2]`. That
    /// of a key includes itself.
    pub(super) path: String,
    /// Text of a scalar; empty for a missing value.
    pub(super) text: String,
    /// Tag as it is written, such as `!Rpy` or `!!str`.
    pub(super) tag: Option<String>,
    /// Line and column, from 1.
    pub(super) place: (u32, u32),
}

impl Node {
    pub(super) fn is_plain(&self) -> bool {
        self.kind == NodeKind::Scalar(ScalarStyle::Plain)
    }
    /// Returns true for a missing value and for what YAML writes in place of one.
    pub(super) fn is_null(&self) -> bool {
        let is_text = matches!(self.tag.as_deref(), Some("!!str" | "!"));
        let text = matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL");
        (self.is_plain() && text && !is_text) || self.tag.as_deref() == Some("!!null")
    }
}

/// Why the rest of a text could not be read.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) place: (u32, u32),
    pub(super) kind: FailureKind,
}

#[derive(Clone, Debug)]
pub(super) enum FailureKind {
    Syntax(String),
    UnknownAnchor,
    /// An alias to a list or map around it.
    Recursion,
    Depth,
}

/// All nodes of a text up to its first failure, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The node of each document.
    pub(super) documents: Vec<usize>,
    pub(super) failure: Option<Failure>,
}

/// A list or a map that is being read, with the key whose value comes next.
struct OpenNode {
    node: usize,
    key: Option<usize>,
}

impl Tree {
    pub(super) fn of(text: &str) -> Self {
        let mut tree = Self::default();
        let mut open = vec![];
        let mut anchors = BTreeMap::new();
        for event in Parser::new_from_str(text) {
            let failed = match event {
                Ok((event, span)) => tree.add(event, span, &mut open, &mut anchors),
                Err(error) => {
                    let at = error.marker();
                    let place = (at.line() as u32, at.col() as u32 + 1);
                    let message = error.info();
                    let kind = match message {
                        m if m.contains("unknown anchor") => FailureKind::UnknownAnchor,
                        m if m.contains("recursion limit") => FailureKind::Depth,
                        m => FailureKind::Syntax(m),
                    };
                    Err(Failure { place, kind })
                }
            };
            if let Err(failure) = failed {
                tree.failure = Some(failure);
                break;
            }
        }
        tree
    }

    /// Adds the node of an event.
    fn add(
        &mut self,
        event: Event<'_>,
        span: Span,
        open: &mut Vec<OpenNode>,
        anchors: &mut BTreeMap<usize, usize>,
    ) -> Result<(), Failure> {
        let place = (span.start.line() as u32, span.start.col() as u32 + 1);
        let fail = |kind| Err(Failure { place, kind });
        let (kind, text, anchor, tag) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                // The parser gives a null for a missing value.
                let is_empty = span.start.index() == span.end.index();
                let text = if is_empty { String::new() } else { text.into() };
                (NodeKind::Scalar(style), text, anchor, tag)
            }
            Event::SequenceStart(_, anchor, tag) => {
                (NodeKind::List(vec![]), String::new(), anchor, tag)
            }
            Event::MappingStart(_, anchor, tag) => {
                (NodeKind::Map(vec![]), String::new(), anchor, tag)
            }
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(node) if open.iter().any(|o| o.node == *node) => {
                    return fail(FailureKind::Recursion);
                }
                Some(node) => (NodeKind::Alias(*node), String::new(), 0, None),
                None => return fail(FailureKind::UnknownAnchor),
            },
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop();
                return Ok(());
            }
            _ => return Ok(()),
        };
        let is_open = matches!(kind, NodeKind::List(_) | NodeKind::Map(_));
        let index = self.nodes.len();
        if anchor > 0 {
            anchors.insert(anchor, index);
        }
        let tag = tag.as_deref().map(written);
        let path = self.next_path(open.last(), &kind, &text);
        self.nodes.push(Node {
            kind,
            path,
            text,
            tag,
            place,
        });
        self.attach(index, open.last_mut());
        if is_open {
            if open.len() == MAX_DEPTH {
                return fail(FailureKind::Depth);
            }
            open.push(OpenNode {
                node: index,
                key: None,
            });
        }
        Ok(())
    }

    /// Puts a node into the list or map around it.
    fn attach(&mut self, index: usize, parent: Option<&mut OpenNode>) {
        let Some(parent) = parent else {
            self.documents.push(index);
            return;
        };
        match &mut self.nodes[parent.node].kind {
            NodeKind::List(items) => items.push(index),
            NodeKind::Map(entries) => match parent.key.take() {
                Some(key) => entries.push((key, index)),
                None => parent.key = Some(index),
            },
            _ => {}
        }
    }

    /// Path of the next node in a list or map. A key that is no scalar has the path of its map.
    fn next_path(&self, parent: Option<&OpenNode>, kind: &NodeKind, text: &str) -> String {
        let Some(OpenNode { node, key }) = parent else {
            return String::new();
        };
        let parent = &self.nodes[*node];
        match (&parent.kind, key) {
            (NodeKind::List(items), _) => format!("{}[{}]", parent.path, items.len()),
            (_, Some(key)) => self.nodes[*key].path.clone(),
            (_, None) if !matches!(kind, NodeKind::Scalar(_)) => parent.path.clone(),
            (_, None) => {
                let plain = |c: char| c.is_alphanumeric() || "_-:/".contains(c);
                let key = if !text.is_empty() && text.chars().all(plain) {
                    text.to_owned()
                } else {
                    format!("'{}'", text.escape_debug())
                };
                let dot = if parent.path.is_empty() { "" } else { "." };
                format!("{}{dot}{key}", parent.path)
            }
        }
    }

    /// Returns the node that an alias stands for, or the node itself.
    pub(super) fn resolved(&self, mut node: usize) -> usize {
        while let NodeKind::Alias(of) = self.nodes[node].kind {
            node = of;
        }
        node
    }
}

/// A tag as it is written.
fn written(tag: &Tag) -> String {
    match (tag.handle(), tag.suffix()) {
        ("tag:yaml.org,2002:", suffix) => format!("!!{suffix}"),
        (handle, suffix) => format!("{handle}{suffix}"),
    }
}
