//! Vocabulary of a format: the attributes and children of its elements, so that everything else can
//! be reported.

use foldhash::fast::FixedState;
use std::collections::HashMap;

/// Elements that are described, by the names of their parents and their own names.
///
/// The notation has one line per element: `parent|parent/name|name @attribute ... >child ...`.
/// `...` stands for any children. Lines that start with `#` are comments.
pub(crate) struct FormatVocabulary {
    rules: HashMap<(&'static str, &'static str), ElementVocabulary, FixedState>,
}

/// Attributes and children of an element.
#[derive(Clone, Default)]
pub(crate) struct ElementVocabulary {
    attributes: Vec<&'static str>,
    children: Vec<&'static str>,
    open: bool,
}

impl FormatVocabulary {
    /// Reads a table.
    pub(crate) fn read(table: &'static str) -> Self {
        let mut rules = HashMap::default();
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
                    rule.children.push(child);
                } else {
                    rule.open = true;
                }
            }
            for parent in parents.split('|') {
                for name in names.split('|') {
                    rules.insert((parent, name), rule.clone());
                }
            }
        }
        Self { rules }
    }

    /// Returns the description of an element below a parent; `None` if it is not described.
    pub(crate) fn element<'a>(
        &'a self,
        parent: &'a str,
        name: &'a str,
    ) -> Option<&'a ElementVocabulary> {
        self.rules.get(&(parent, name))
    }
}

impl ElementVocabulary {
    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains(&name)
    }
    pub(crate) fn has_child(&self, name: &str) -> bool {
        self.open || self.children.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_and_after_the_slash_multiply() {
        let table = "# comment\n\na|b/c|d @x >e\na/f ...";
        let vocabulary = FormatVocabulary::read(table);
        for (parent, name) in [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")] {
            let rule = vocabulary.element(parent, name).unwrap();
            assert!(rule.has_attribute("x") && !rule.has_attribute("e"));
            assert!(rule.has_child("e") && !rule.has_child("x"));
        }
        assert!(vocabulary.element("a", "f").unwrap().has_child("anything"));
        assert!(vocabulary.element("b", "f").is_none());
    }
}
