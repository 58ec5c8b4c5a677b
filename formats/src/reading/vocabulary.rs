//! Vocabulary of a format: the attributes and children of its elements, so that everything else can
//! be reported.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use tarragon_documents::names::{self, FormatName};

/// Elements that are described, by the names of their parents and their own names.
///
/// The notation has one line per element: `parent|parent/name|name @attribute ... >child ...`.
/// `...` stands for any children. Lines that start with `#` are comments.
pub(crate) struct FormatVocabulary {
    rules: Vec<ElementVocabulary>,
    /// Indices of rules by the names of parents and elements.
    of_element: HashMap<(&'static str, &'static str), usize, FixedState>,
}

/// Attributes and children of an element.
#[derive(Clone, Default)]
pub(crate) struct ElementVocabulary {
    name: &'static str,
    attributes: Vec<&'static str>,
    /// Names, each with the index of its rule if it is described.
    children: Vec<(&'static str, Option<usize>)>,
    open: bool,
}

/// Returns the reason why an unknown name is ignored, with the name that is probably meant.
pub(crate) fn reason(why: &str, meant: Option<FormatName<'_>>) -> String {
    match meant {
        Some(meant) => format!("{why}; did you mean {meant}?"),
        None => why.into(),
    }
}

impl FormatVocabulary {
    /// Reads a table.
    pub(crate) fn read(table: &'static str) -> Self {
        let mut rules: Vec<ElementVocabulary> = vec![];
        let mut of_element = HashMap::<_, _, FixedState>::default();
        for line in table.lines().filter(|l| !l.starts_with('#')) {
            let mut words = line.split_whitespace();
            let Some((parents, names)) = words.next().and_then(|head| head.split_once('/')) else {
                continue;
            };
            let mut rule = ElementVocabulary::default();
            for word in words {
                if let Some(attribute) = word.strip_prefix('@') {
                    rule.attributes.push(attribute);
                } else if let Some(child) = word.strip_prefix('>') {
                    rule.children.push((child, None));
                } else {
                    rule.open = true;
                }
            }
            for parent in parents.split('|') {
                for name in names.split('|') {
                    of_element.insert((parent, name), rules.len());
                    rules.push(ElementVocabulary {
                        name,
                        ..rule.clone()
                    });
                }
            }
        }
        for rule in &mut rules {
            for (child, described) in &mut rule.children {
                *described = of_element.get(&(rule.name, *child)).copied();
            }
        }
        Self { rules, of_element }
    }

    /// Returns the description of an element below a parent; `None` if it is not described.
    pub(crate) fn element<'a>(
        &'a self,
        parent: &'a str,
        name: &'a str,
    ) -> Option<&'a ElementVocabulary> {
        let index = self.of_element.get(&(parent, name))?;
        self.rules.get(*index)
    }

    /// Returns the description of a child of an element; `None` if it is not described, or if the
    /// element does not list it.
    pub(crate) fn child(
        &self,
        element: &ElementVocabulary,
        name: &str,
    ) -> Option<&ElementVocabulary> {
        let (_, index) = element.children.iter().find(|(child, _)| *child == name)?;
        self.rules.get((*index)?)
    }
}

impl ElementVocabulary {
    /// Returns the child that an unknown child probably stands for, or else the attribute of its
    /// name.
    pub(crate) fn meant_by_child(&self, name: &str) -> Option<FormatName<'static>> {
        names::meant_among(name, self.child_names(), self.attribute_names())
    }
    /// Returns the attribute that an unknown attribute probably stands for, or else the child of
    /// its name.
    pub(crate) fn meant_by_attribute(&self, name: &str) -> Option<FormatName<'static>> {
        names::meant_among(name, self.attribute_names(), self.child_names())
    }
    fn attribute_names(&self) -> impl Iterator<Item = FormatName<'static>> {
        self.attributes
            .iter()
            .map(|name| FormatName::Attribute(name))
    }
    fn child_names(&self) -> impl Iterator<Item = FormatName<'static>> {
        let names = self.children.iter();
        names.map(|(name, _)| FormatName::Element(name))
    }
    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains(&name)
    }
    pub(crate) fn has_child(&self, name: &str) -> bool {
        self.open || self.children.iter().any(|(child, _)| *child == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_and_after_the_slash_multiply() {
        let table = "# comment\n\na|b/c|d @x >e >g\na/f ...\nc|d/g @y";
        let vocabulary = FormatVocabulary::read(table);
        for (parent, name) in [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")] {
            let rule = vocabulary.element(parent, name).unwrap();
            assert!(rule.has_attribute("x") && !rule.has_attribute("e"));
            assert!(rule.has_child("e") && !rule.has_child("x"));
            assert!(vocabulary.child(rule, "e").is_none());
        }
        let child = vocabulary.element("b", "c").unwrap();
        let child = vocabulary.child(child, "g").unwrap();
        assert!(child.has_attribute("y"));
        assert!(vocabulary.element("a", "f").unwrap().has_child("anything"));
        assert!(vocabulary.element("b", "f").is_none());
    }
}
