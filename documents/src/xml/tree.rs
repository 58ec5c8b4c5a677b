//! Elements of an XML document with their places in the text.

use roxmltree::{Document, StringStorage};
use std::borrow::Cow;
use std::ops::Range;

/// The elements of a document in the order of the text.
///
/// Comments and processing instructions are left out; of the texts in an element, only the first is
/// kept.
#[derive(Debug, Default, PartialEq)]
pub struct XmlTree<'i> {
    pub(super) elements: Vec<XmlElement<'i>>,
    pub(super) attributes: Vec<XmlAttribute<'i>>,
}

/// An element of a tree.
#[derive(Debug, PartialEq)]
pub(super) struct XmlElement<'i> {
    /// The name as the file spells it, with its prefix.
    pub(super) tag: &'i str,
    /// Offset of the start tag.
    pub(super) start: usize,
    pub(super) parent: Option<usize>,
    /// Index after the last element inside.
    pub(super) end: usize,
    /// Range in the attributes of the tree.
    pub(super) attributes: Range<usize>,
    /// The first text inside, with the CDATA sections that it has.
    pub(super) text: Option<Cow<'i, str>>,
    /// Whether that text is the first thing inside.
    pub(super) starts_with_text: bool,
}

/// An attribute of an element. Declarations of prefixes are no attributes.
#[derive(Debug, PartialEq)]
pub struct XmlAttribute<'i> {
    /// The name without its prefix.
    pub(super) name: &'i str,
    pub(super) has_prefix: bool,
    pub(super) value: Cow<'i, str>,
    /// Offset of the attribute.
    pub(super) start: usize,
}

/// A reference to an element of a tree.
#[derive(Clone, Copy, Debug)]
pub struct XmlNode<'t> {
    tree: &'t XmlTree<'t>,
    index: usize,
}

impl<'i> XmlTree<'i> {
    /// Returns the first element with a tag of a kind, and its offset.
    pub(super) fn find(&self, is_wanted: impl Fn(&str) -> bool) -> Option<(&'i str, usize)> {
        let found = self.elements.iter().find(|e| is_wanted(e.tag))?;
        Some((found.tag, found.start))
    }
    /// Copies the elements of a document. `rest_at` returns the text from an offset on, in which
    /// names are spelled as in the file.
    pub(super) fn of_document(document: &Document<'i>, rest_at: impl Fn(usize) -> &'i str) -> Self {
        let mut tree = Self::default();
        // Elements around the current one.
        let mut around = vec![];
        for node in document.descendants() {
            let parent = node.parent().map(|parent| parent.id());
            while let Some((id, index)) = around.last()
                && Some(*id) != parent
            {
                let index: usize = *index;
                tree.elements[index].end = tree.elements.len();
                around.pop();
            }
            let parent = around.last().map(|(_, index)| *index);
            if let (Some(parent), Some(storage)) = (parent, node.text_storage())
                && node.is_text()
            {
                let parent = &mut tree.elements[parent];
                if parent.text.is_none() {
                    parent.text = Some(copy(storage));
                    parent.starts_with_text = node.prev_sibling().is_none();
                }
            }
            if node.is_element() {
                let first = tree.attributes.len();
                tree.attributes.extend(node.attributes().map(|a| {
                    let name = a.range_qname();
                    let spelled = rest_at(name.start).get(..name.len()).unwrap_or_default();
                    let parts = spelled.split_once(':');
                    XmlAttribute {
                        name: parts.map_or(spelled, |(_, local)| local),
                        has_prefix: parts.is_some(),
                        value: copy(a.value_storage()),
                        start: a.range().start,
                    }
                }));
                let start = node.range().start;
                let rest = rest_at(start + 1);
                around.push((node.id(), tree.elements.len()));
                tree.elements.push(XmlElement {
                    tag: &rest[..name_length(rest)],
                    start,
                    parent,
                    end: 0,
                    attributes: first..tree.attributes.len(),
                    text: None,
                    starts_with_text: false,
                });
            }
        }
        for (_, index) in around {
            tree.elements[index].end = tree.elements.len();
        }
        tree
    }

    /// Returns the outermost element.
    pub fn root_element(&self) -> XmlNode<'_> {
        XmlNode {
            tree: self,
            index: 0,
        }
    }
}

impl<'t> XmlNode<'t> {
    fn element(&self) -> &'t XmlElement<'t> {
        &self.tree.elements[self.index]
    }
    /// Returns the name as the file spells it, with its prefix.
    pub fn tag(&self) -> &'t str {
        self.element().tag
    }
    /// Returns the offset of the start tag.
    pub fn start(&self) -> usize {
        self.element().start
    }
    /// Returns the element around this one; `None` for the outermost.
    pub fn parent(&self) -> Option<Self> {
        let index = self.element().parent?;
        Some(Self { index, ..*self })
    }
    /// Returns the elements directly inside.
    pub fn elements(&self) -> impl Iterator<Item = XmlNode<'t>> + use<'t> {
        let (tree, end) = (self.tree, self.element().end);
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            let index = next;
            let inside = index < end;
            inside.then(|| {
                next = tree.elements[index].end;
                XmlNode { tree, index }
            })
        })
    }
    /// Returns the attributes.
    pub fn attributes(&self) -> std::slice::Iter<'t, XmlAttribute<'t>> {
        self.tree.attributes[self.element().attributes.clone()].iter()
    }
    /// Returns the value of an attribute without a prefix.
    pub fn attribute(&self, name: &str) -> Option<&'t str> {
        let found = self.attributes().find(|a| a.name == name && !a.has_prefix);
        found.map(XmlAttribute::value)
    }
    /// Returns the text at the start of the element, before any element or comment.
    pub fn text(&self) -> Option<&'t str> {
        let element = self.element();
        self.first_text().filter(|_| element.starts_with_text)
    }
    /// Returns the first text directly inside the element.
    pub fn first_text(&self) -> Option<&'t str> {
        self.element().text.as_deref()
    }
}

impl XmlAttribute<'_> {
    /// Returns the name without its prefix.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Returns true if the name has a prefix (`xlink:href`).
    pub fn has_prefix(&self) -> bool {
        self.has_prefix
    }

    /// Returns the value, without references such as `&lt;`.
    pub fn value(&self) -> &str {
        &self.value
    }
    /// Returns the offset of the attribute.
    pub fn start(&self) -> usize {
        self.start
    }
}

fn copy<'i>(text: &StringStorage<'i>) -> Cow<'i, str> {
    match text {
        StringStorage::Borrowed(text) => Cow::Borrowed(text),
        StringStorage::Owned(text) => Cow::Owned(text.to_string()),
    }
}

/// Returns the number of bytes up to the end of a name.
pub(super) fn name_length(text: &str) -> usize {
    // Names have no other white space.
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    let end = text.as_bytes().iter().position(is_end);
    end.unwrap_or(text.len())
}
