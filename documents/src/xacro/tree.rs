//! The tree of a document that is being expanded.

use crate::xml::OriginPlace;

/// Index of a node in its tree.
pub(super) type TreeIndex = u32;

/// Nodes of all documents, linked to their parents and siblings.
#[derive(Debug, Default)]
pub(super) struct XacroTree {
    nodes: Vec<XacroNode>,
}

/// A node of a document.
#[derive(Clone, Debug)]
pub(super) struct XacroNode {
    pub(super) content: NodeContent,
    pub(super) place: OriginPlace,
    parent: Option<TreeIndex>,
    previous: Option<TreeIndex>,
    next: Option<TreeIndex>,
    first: Option<TreeIndex>,
    last: Option<TreeIndex>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodeContent {
    Element {
        tag: String,
        attributes: Vec<PlacedAttribute>,
    },
    Text(PlacedText),
    Comment(PlacedText),
    /// A CDATA section, which is not evaluated.
    Verbatim(String),
    /// A processing instruction: target and value.
    Instruction(String),
    /// The root of a document, around its element.
    Document,
}

/// Attribute of an element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedAttribute {
    pub(super) name: String,
    /// Place of the name.
    pub(super) place: OriginPlace,
    pub(super) value: PlacedText,
}

/// Text with the place of its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlacedText {
    pub(super) text: String,
    pub(super) place: OriginPlace,
    /// True if the file has the same characters there, so that columns within the text are known.
    pub(super) exact: bool,
}

impl PlacedText {
    /// Returns the place of a character of the text.
    pub(super) fn place_at(&self, character: usize) -> OriginPlace {
        if !self.exact {
            return self.place;
        }
        let before = self.text.chars().take(character);
        before.fold(self.place, |place, c| moved(place, Some(c)))
    }

    /// Returns parts of the text, which are given in order with their offsets in characters.
    pub(super) fn parts<'t>(
        &'t self,
        parts: impl Iterator<Item = (&'t str, usize)> + 't,
    ) -> impl Iterator<Item = Self> + 't {
        // Each part starts from the place of the one before, which takes linear time.
        let mut chars = self.text.chars();
        let (mut at, mut place) = (0, self.place);
        parts.map(move |(text, start)| {
            while at < start && self.exact {
                place = moved(place, chars.next());
                at += 1;
            }
            Self {
                text: text.into(),
                place,
                exact: self.exact,
            }
        })
    }
}

/// Moves a place behind a character.
fn moved(mut place: OriginPlace, c: Option<char>) -> OriginPlace {
    match c {
        Some('\n') => (place.line, place.column) = (place.line + 1, 1),
        Some(_) => place.column += 1,
        None => {}
    }
    place
}

impl XacroTree {
    /// Number of nodes that were ever made.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn add(&mut self, content: NodeContent, place: OriginPlace) -> TreeIndex {
        self.nodes.push(XacroNode {
            content,
            place,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
        });
        self.nodes.len() as TreeIndex - 1
    }
    /// Adds a text that no file has.
    pub(super) fn add_text(&mut self, text: &str) -> TreeIndex {
        let text = PlacedText {
            text: text.into(),
            ..PlacedText::default()
        };
        self.add(NodeContent::Text(text), OriginPlace::default())
    }

    fn node(&self, node: TreeIndex) -> &XacroNode {
        &self.nodes[node as usize]
    }
    fn node_mut(&mut self, node: TreeIndex) -> &mut XacroNode {
        &mut self.nodes[node as usize]
    }
    pub(super) fn content(&self, node: TreeIndex) -> &NodeContent {
        &self.node(node).content
    }
    pub(super) fn content_mut(&mut self, node: TreeIndex) -> &mut NodeContent {
        &mut self.node_mut(node).content
    }
    pub(super) fn place(&self, node: TreeIndex) -> OriginPlace {
        self.node(node).place
    }
    pub(super) fn parent(&self, node: TreeIndex) -> Option<TreeIndex> {
        self.node(node).parent
    }
    /// Returns true if a node lies in a document, outside of all macros that wait, too.
    fn is_read_in_order(&self, node: TreeIndex) -> bool {
        let above = || std::iter::successors(self.parent(node), |n| self.parent(*n));
        above().all(|n| self.tag(n) != "xacro:macro")
            && above().any(|n| *self.content(n) == NodeContent::Document)
    }
    /// Returns the place of the first element of a kind with a name that waits for its expansion.
    /// Expanded ones are no longer in their documents.
    pub(super) fn waiting(&self, tag: &str, name: &str) -> Option<OriginPlace> {
        let nodes = 0..self.nodes.len() as TreeIndex;
        let mut found = nodes.filter(|node| {
            self.tag(*node) == tag
                && self
                    .attribute(*node, "name")
                    .is_some_and(|n| n.text == name)
                && self.is_read_in_order(*node)
        });
        found.next().map(|node| self.place(node))
    }
    pub(super) fn next(&self, node: TreeIndex) -> Option<TreeIndex> {
        self.node(node).next
    }
    pub(super) fn first(&self, node: TreeIndex) -> Option<TreeIndex> {
        self.node(node).first
    }
    pub(super) fn children(&self, node: TreeIndex) -> impl Iterator<Item = TreeIndex> {
        std::iter::successors(self.first(node), |child| self.next(*child))
    }
    /// Returns the first element among the children.
    pub(super) fn first_element(&self, node: TreeIndex) -> Option<TreeIndex> {
        self.children(node).find(|c| self.is_element(*c))
    }
    /// Returns the next element among the siblings.
    pub(super) fn next_element(&self, node: TreeIndex) -> Option<TreeIndex> {
        let mut siblings = std::iter::successors(self.next(node), |n| self.next(*n));
        siblings.find(|n| self.is_element(*n))
    }
    pub(super) fn is_element(&self, node: TreeIndex) -> bool {
        matches!(self.content(node), NodeContent::Element { .. })
    }
    /// Returns whether a node is a text of white space only.
    pub(super) fn is_blank(&self, node: TreeIndex) -> bool {
        match self.content(node) {
            NodeContent::Text(text) => text.text.chars().all(char::is_whitespace),
            _ => false,
        }
    }
    /// Returns the name of an element; empty for other nodes.
    pub(super) fn tag(&self, node: TreeIndex) -> &str {
        match self.content(node) {
            NodeContent::Element { tag, .. } => tag,
            _ => "",
        }
    }
    pub(super) fn attributes(&self, node: TreeIndex) -> &[PlacedAttribute] {
        match self.content(node) {
            NodeContent::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }
    pub(super) fn attribute(&self, node: TreeIndex, name: &str) -> Option<&PlacedText> {
        let mut attributes = self.attributes(node).iter();
        attributes.find(|a| a.name == name).map(|a| &a.value)
    }
    /// Sets an attribute, which keeps its place among the others if it exists.
    pub(super) fn set_attribute(&mut self, node: TreeIndex, name: &str, value: PlacedText) {
        if let NodeContent::Element { attributes, .. } = self.content_mut(node) {
            match attributes.iter_mut().find(|a| a.name == name) {
                Some(attribute) => attribute.value = value,
                None => attributes.push(PlacedAttribute {
                    name: name.into(),
                    place: value.place,
                    value,
                }),
            }
        }
    }
    /// Replaces all attributes of an element.
    pub(super) fn set_attributes(&mut self, node: TreeIndex, new: Vec<PlacedAttribute>) {
        if let NodeContent::Element { attributes, .. } = self.content_mut(node) {
            *attributes = new;
        }
    }
    pub(super) fn remove_attribute(&mut self, node: TreeIndex, name: &str) {
        if let NodeContent::Element { attributes, .. } = self.content_mut(node) {
            attributes.retain(|a| a.name != name);
        }
    }
    pub(super) fn set_tag(&mut self, node: TreeIndex, name: String) {
        if let NodeContent::Element { tag, .. } = self.content_mut(node) {
            *tag = name;
        }
    }

    /// Takes a node out of its parent.
    pub(super) fn detach(&mut self, node: TreeIndex) {
        let XacroNode {
            parent,
            previous,
            next,
            ..
        } = *self.node(node);
        match (previous, parent) {
            (Some(previous), _) => self.node_mut(previous).next = next,
            (None, Some(parent)) => self.node_mut(parent).first = next,
            (None, None) => {}
        }
        match (next, parent) {
            (Some(next), _) => self.node_mut(next).previous = previous,
            (None, Some(parent)) => self.node_mut(parent).last = previous,
            (None, None) => {}
        }
        let node = self.node_mut(node);
        (node.parent, node.previous, node.next) = (None, None, None);
    }
    pub(super) fn append(&mut self, parent: TreeIndex, node: TreeIndex) {
        self.detach(node);
        let last = self.node_mut(parent).last.replace(node);
        match last {
            Some(last) => self.node_mut(last).next = Some(node),
            None => self.node_mut(parent).first = Some(node),
        }
        let node = self.node_mut(node);
        (node.parent, node.previous) = (Some(parent), last);
    }
    pub(super) fn insert_before(&mut self, node: TreeIndex, before: TreeIndex) {
        self.detach(node);
        let XacroNode {
            parent, previous, ..
        } = *self.node(before);
        match (previous, parent) {
            (Some(previous), _) => self.node_mut(previous).next = Some(node),
            (None, Some(parent)) => self.node_mut(parent).first = Some(node),
            (None, None) => {}
        }
        self.node_mut(before).previous = Some(node);
        let node = self.node_mut(node);
        (node.parent, node.previous, node.next) = (parent, previous, Some(before));
    }
    /// Puts the children of `from` in the place of `node`, which is taken out.
    pub(super) fn replace_by_children(&mut self, node: TreeIndex, from: TreeIndex) {
        while let Some(child) = self.first(from) {
            self.insert_before(child, node);
        }
        self.detach(node);
    }

    /// Copies a node and all below it.
    pub(super) fn copy(&mut self, node: TreeIndex) -> TreeIndex {
        let (content, place) = (self.content(node).clone(), self.place(node));
        let top = self.add(content, place);
        let mut waiting = vec![(node, top)];
        while let Some((from, to)) = waiting.pop() {
            let mut child = self.first(from);
            while let Some(from) = child {
                let (content, place) = (self.content(from).clone(), self.place(from));
                let copy = self.add(content, place);
                self.append(to, copy);
                waiting.push((from, copy));
                child = self.next(from);
            }
        }
        top
    }
    /// Number of nodes from a node downwards, and the size of their texts (bytes).
    pub(super) fn size(&self, node: TreeIndex) -> (usize, usize) {
        let (mut nodes, mut bytes) = (0, 0);
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            nodes += 1;
            bytes += match self.content(node) {
                NodeContent::Element { tag, attributes } => {
                    let parts = attributes.iter().map(|a| a.name.len() + a.value.text.len());
                    tag.len() + parts.sum::<usize>()
                }
                NodeContent::Text(text) | NodeContent::Comment(text) => text.text.len(),
                NodeContent::Instruction(text) | NodeContent::Verbatim(text) => text.len(),
                NodeContent::Document => 0,
            };
            waiting.extend(self.children(node));
        }
        (nodes, bytes)
    }

    /// Removes the comments right before a node, up to an empty line. `stop` is the blank text that
    /// marks the end of what has been processed.
    pub(super) fn remove_comments_before(&mut self, node: TreeIndex, stop: TreeIndex) {
        let next = self.next(node);
        let mut previous = self.node(node).previous;
        while let Some(mut before) = previous {
            if let NodeContent::Text(text) = self.content(before)
                && !text.text.is_empty()
                && text.text.chars().all(char::is_whitespace)
                && text.text.matches('\n').count() <= 1
            {
                match self.node(before).previous {
                    Some(node) => before = node,
                    None => return self.mark(next, stop),
                }
            }
            if !matches!(self.content(before), NodeContent::Comment(_)) {
                return self.mark(next, stop);
            }
            previous = self.node(before).previous;
            self.detach(before);
        }
    }
    fn mark(&mut self, next: Option<TreeIndex>, stop: TreeIndex) {
        if let Some(next) = next.filter(|next| *next != stop) {
            self.insert_before(stop, next);
        }
    }
}
