//! A Collada document: references, numbers, and messages with positions.

use crate::error::short;
use crate::error::{Error, Result};
use crate::mesh::import::origin::FileOrigin;
use roxmltree::{Document as Xml, Node, TextPos};
use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;
use tarragon_framework::FileLocation;
use tarragon_framework::counted;
use tarragon_framework::warnings::warn;

fn location(path: &Path, pos: TextPos) -> FileLocation {
    FileLocation {
        file: path.display().to_string(),
        line: pos.row,
        column: pos.col,
    }
}

/// Parses a text as an XML document.
pub(super) fn parse_xml<'a>(path: &Path, text: &'a str) -> Result<Xml<'a>> {
    Xml::parse(text).map_err(|error| {
        let pos = error.pos();
        let message = error.to_string();
        let suffix = format!(" at {pos}");
        let message = message.strip_suffix(&suffix).unwrap_or(&message);
        let message = format!("malformed XML: {message}");
        Error::parse(location(path, pos), message)
    })
}

/// DaeDocument with an index of elements by id.
pub(super) struct DaeDocument<'x> {
    pub(super) origin: FileOrigin<'x>,
    root: Node<'x, 'x>,
    ids: HashMap<&'x str, Node<'x, 'x>>,
}

impl<'x> DaeDocument<'x> {
    pub(super) fn new(origin: FileOrigin<'x>, xml: &'x Xml<'x>) -> Result<Self> {
        let root = xml.root_element();
        let mut ids = HashMap::new();
        for node in root.descendants() {
            if let Some(id) = node.attribute("id") {
                // Of equal ids the first wins, as in a search.
                ids.entry(id).or_insert(node);
            }
        }
        let document = Self { origin, root, ids };
        if root.has_tag_name("COLLADA") {
            Ok(document)
        } else {
            Err(document.error(
                root,
                format!(
                    "the root element must be <COLLADA>, got <{}>",
                    short(root.tag_name().name())
                ),
            ))
        }
    }

    pub(super) fn root(&self) -> Node<'x, 'x> {
        self.root
    }

    /// Returns the position of an element.
    fn location(&self, at: Node<'x, 'x>) -> FileLocation {
        let pos = at.document().text_pos_at(at.range().start);
        location(self.origin.path, pos)
    }
    #[cold]
    pub(super) fn error(&self, at: Node<'x, 'x>, message: impl Display) -> Error {
        Error::parse(self.location(at), message.to_string())
    }
    #[cold]
    pub(super) fn warn(&self, at: Node<'x, 'x>, message: impl Display) {
        warn(format!("{}: {message}", self.location(at)));
    }

    /// Returns the element that an attribute of the form `#id` refers to, which must have one of
    /// the given names.
    pub(super) fn referred(
        &self,
        at: Node<'x, 'x>,
        attribute: &str,
        names: &[&str],
    ) -> Result<Node<'x, 'x>> {
        let tag = at.tag_name().name();
        let expected = || format!("'#' and the id of a <{}>", names.join("> or <"));
        let Some(url) = at.attribute(attribute) else {
            return Err(self.error(
                at,
                format!(
                    "<{tag}> must have the attribute '{attribute}' with {}, got none",
                    expected()
                ),
            ));
        };
        let found = url.strip_prefix('#').and_then(|id| self.ids.get(id));
        match found {
            Some(node) if names.contains(&node.tag_name().name()) => Ok(*node),
            Some(node) => Err(self.error(
                at,
                format!(
                    "{attribute} must be {2}, got '{0}', a <{1}>",
                    short(url),
                    short(node.tag_name().name()),
                    expected()
                ),
            )),
            None => Err(self.error(
                at,
                format!(
                    "{attribute} must be {1}, got '{0}', which is not in this file",
                    short(url),
                    expected()
                ),
            )),
        }
    }

    /// Returns the element with the given id if it has the given name.
    pub(super) fn with_id(&self, id: &str, name: &str) -> Option<Node<'x, 'x>> {
        let node = self.ids.get(id).copied();
        node.filter(|n| n.has_tag_name(name))
    }

    /// Returns the finite numbers of an element, which must be exactly `N`.
    pub(super) fn numbers<const N: usize>(&self, at: Node<'x, 'x>) -> Result<[f64; N]> {
        let mut numbers = [0.0; N];
        let mut words = words(at);
        for number in &mut numbers {
            let word = words.next().ok_or_else(|| self.count_of(at, N))?;
            *number = self.finite(at, word)?;
        }
        match words.next() {
            None => Ok(numbers),
            Some(_) => Err(self.count_of(at, N)),
        }
    }

    fn count_of(&self, at: Node<'x, 'x>, expected: usize) -> Error {
        let tag = at.tag_name().name();
        let found = words(at).count();
        self.error(
            at,
            format!(
                "<{tag}> must have {numbers}, got {found}",
                numbers = counted(expected, "number")
            ),
        )
    }

    pub(super) fn finite(&self, at: Node<'x, 'x>, word: &str) -> Result<f64> {
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.error(
                at,
                format!(
                    "<{}> must have finite numbers, got '{}'",
                    at.tag_name().name(),
                    short(word)
                ),
            )),
        }
    }

    /// Returns the whole number in an attribute, or a default.
    pub(super) fn whole(
        &self,
        at: Node<'x, 'x>,
        attribute: &str,
        default: Option<usize>,
    ) -> Result<usize> {
        let found = at.attribute(attribute);
        let number = found.map_or(default, |text| text.trim().parse().ok());
        number.ok_or_else(|| {
            self.error(
                at,
                format!(
                    "<{}>: {attribute} must be a whole number from 0 on, got '{}'",
                    at.tag_name().name(),
                    short(found.unwrap_or_default())
                ),
            )
        })
    }
}

/// Returns the words in the text of an element; there may be comments between them.
pub(super) fn words<'x>(at: Node<'x, 'x>) -> impl Iterator<Item = &'x str> {
    let texts = at.children().filter(Node::is_text);
    texts.flat_map(|t| t.text().unwrap_or_default().split_ascii_whitespace())
}

/// Returns the children of an element that have the given name.
pub(super) fn children<'x>(
    at: Node<'x, 'x>,
    name: &'static str,
) -> impl Iterator<Item = Node<'x, 'x>> {
    at.children().filter(move |c| c.has_tag_name(name))
}

/// Returns the first descendant along a path of names.
pub(super) fn child<'x>(at: Node<'x, 'x>, path: &[&'static str]) -> Option<Node<'x, 'x>> {
    let mut names = path.iter();
    names.try_fold(at, |at, name| children(at, name).next())
}
