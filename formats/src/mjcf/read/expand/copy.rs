//! Copies of elements.

use super::expander::Expander;
use crate::mjcf::read::tree::{Attribute, MjcfElement};
use tarragon_documents::xml::Parsed;

impl Expander<'_> {
    /// Copies an element with everything below it; `edit` changes the attributes of the copies.
    pub(super) fn copy_below(
        &mut self,
        element: usize,
        edit: &dyn Fn(&mut Attribute),
    ) -> Parsed<usize> {
        let elements = self.tree.elements.len();
        let copy = self.add(edited(&self.tree.elements[element], edit))?;
        debug_assert_eq!(copy, elements);
        let mut waiting = vec![(element, copy)];
        while let Some((from, to)) = waiting.pop() {
            for child in self.tree.elements[from].children.clone() {
                let copied = self.add(edited(&self.tree.elements[child], edit))?;
                self.tree.elements[to].children.push(copied);
                waiting.push((child, copied));
            }
        }
        Ok(copy)
    }

    /// Adds an element of another tree with everything below it, without `edit`ing that tree.
    pub(super) fn copy_from(
        &mut self,
        source: &[MjcfElement],
        element: usize,
        edit: &dyn Fn(&mut Attribute),
    ) -> Parsed<usize> {
        let copy = self.add(edited(&source[element], edit))?;
        let mut waiting = vec![(element, copy)];
        while let Some((from, to)) = waiting.pop() {
            for &child in &source[from].children {
                let copied = self.add(edited(&source[child], edit))?;
                self.tree.elements[to].children.push(copied);
                waiting.push((child, copied));
            }
        }
        Ok(copy)
    }
}

/// Returns an element without its children.
fn edited(element: &MjcfElement, edit: &dyn Fn(&mut Attribute)) -> MjcfElement {
    let mut attributes = element.attributes.clone();
    attributes.iter_mut().for_each(edit);
    MjcfElement {
        tag: element.tag.clone(),
        attributes,
        children: vec![],
        place: element.place,
        document: element.document,
        frame: element.frame.clone(),
        key_number: element.key_number,
    }
}
