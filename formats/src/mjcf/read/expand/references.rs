//! References between elements by name.

use super::expander::Expander;
use super::renaming::{REFERRING, Renaming};
use std::collections::BTreeSet;
use tarragon_documents::xml::Parsed;

/// Maximum number of comparisons of replicas with elements that may refer to them.
const MAX_LOOKS: usize = 20_000_000;

impl Expander<'_> {
    /// Returns all elements below some, with these.
    fn all_below(&self, elements: &[usize]) -> Vec<usize> {
        let mut all = elements.to_vec();
        let mut next = 0;
        while let Some(&element) = all.get(next) {
            all.extend(&self.tree.elements[element].children);
            next += 1;
        }
        all
    }

    /// Returns the names of elements and of everything below them.
    pub(super) fn names_below(&self, elements: &[usize]) -> BTreeSet<String> {
        let all = self.all_below(elements);
        let names = all.iter().filter_map(|e| self.node(*e).name());
        names.map(String::from).collect()
    }

    /// Hides elements and everything below them from keyframes of attached models.
    pub(super) fn forget_key_numbers(&mut self, elements: &[usize]) {
        for element in self.all_below(elements) {
            self.tree.elements[element].key_number = None;
        }
    }

    /// Copies the elements of other sections that refer to replicated ones, once per replica.
    pub(super) fn copy_references(&mut self) -> Parsed<()> {
        let mut looked_at = 0;
        for renaming in std::mem::take(&mut self.renamings) {
            for tag in REFERRING {
                for section in self.sections(tag) {
                    looked_at += self.tree.elements[section].children.len();
                    if looked_at > MAX_LOOKS {
                        let message = format!(
                            "the number of <replicate> elements times that of the elements that \
                             may refer to them must be at most {MAX_LOOKS}"
                        );
                        return Err(self.node(section).error(message));
                    }
                    self.copy_referring(section, &renaming)?;
                }
            }
        }
        Ok(())
    }

    fn copy_referring(&mut self, section: usize, renaming: &Renaming) -> Parsed<()> {
        let children = self.tree.elements[section].children.clone();
        let (concerned, mut kept): (Vec<usize>, Vec<usize>) = children
            .into_iter()
            .partition(|c| renaming.concerns(&self.tree.elements, &self.all_below(&[*c])));
        for element in concerned {
            let own = self.node(element).name().map(String::from);
            for suffix in &renaming.suffixes {
                let copy = self.copy_below(element, &|attribute| {
                    if attribute.name == "name" && Some(attribute.value.trim()) == own.as_deref() {
                        attribute.value = format!("{}{suffix}", attribute.value.trim());
                    } else if attribute.name != "name" {
                        renaming.renamed_in_place(attribute, suffix);
                    }
                })?;
                // In MuJoCo, keyframes of attached models set no controls of replicated actuators.
                self.forget_key_numbers(&[copy]);
                kept.push(copy);
            }
        }
        self.tree.elements[section].children = kept;
        Ok(())
    }
}
