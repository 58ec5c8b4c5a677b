//! Elements of a plant by name, so that finding one does not grow with their number.

use crate::model::{BodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// All names of a plant.
#[derive(Clone, Debug, Default)]
pub(super) struct ElementNames {
    pub(super) instances: InstanceNames,
    pub(super) bodies: NameIndex<BodyIndex>,
    pub(super) frames: NameIndex<FrameIndex>,
    pub(super) joints: NameIndex<JointIndex>,
    pub(super) actuators: NameIndex<JointActuatorIndex>,
    /// Pairs of bodies with a joint between them, the lower index first.
    pub(super) joined: BTreeSet<(BodyIndex, BodyIndex)>,
    /// The actuators of every joint that has one.
    pub(super) driven: BTreeSet<(JointIndex, JointActuatorIndex)>,
}

/// Elements of one kind, whose names are unique within a model instance.
#[derive(Clone, Debug)]
pub(super) struct NameIndex<I> {
    /// The elements of a name by their model instances, in ascending order.
    elements: BTreeMap<String, SmallVec<[(ModelInstanceIndex, I); 1]>>,
}

impl<I> Default for NameIndex<I> {
    fn default() -> Self {
        Self {
            elements: BTreeMap::new(),
        }
    }
}

impl<I: Copy> NameIndex<I> {
    pub(super) fn insert(&mut self, instance: ModelInstanceIndex, name: &str, index: I) {
        let of_name = self.elements.entry(name.into()).or_default();
        match of_name.binary_search_by_key(&instance, |(i, _)| *i) {
            Ok(at) => of_name[at].1 = index,
            Err(at) => of_name.insert(at, (instance, index)),
        }
    }
    pub(super) fn remove(&mut self, instance: ModelInstanceIndex, name: &str) {
        if let Some(of_name) = self.elements.get_mut(name) {
            of_name.retain(|(i, _)| *i != instance);
            if of_name.is_empty() {
                self.elements.remove(name);
            }
        }
    }
    pub(super) fn get(&self, instance: ModelInstanceIndex, name: &str) -> Option<I> {
        let of_name = self.elements.get(name)?;
        let at = of_name.binary_search_by_key(&instance, |(i, _)| *i);
        at.ok().map(|at| of_name[at].1)
    }
    pub(super) fn contains(&self, instance: ModelInstanceIndex, name: &str) -> bool {
        self.get(instance, name).is_some()
    }
    /// The elements of a name in all model instances.
    pub(super) fn of_name(&self, name: &str) -> impl Iterator<Item = (ModelInstanceIndex, I)> {
        let found = self.elements.get(name).into_iter().flatten();
        found.copied()
    }
}

/// Model instances by name.
#[derive(Clone, Default)]
pub(super) struct InstanceNames {
    instances: BTreeMap<String, ModelInstanceIndex>,
    /// Per name the number k such that `name_1` to `name_k` are known to be taken.
    numbered: BTreeMap<String, usize>,
}

impl fmt::Debug for InstanceNames {
    /// Without `numbered`, which only saves work.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InstanceNames")
            .field(&self.instances)
            .finish()
    }
}

impl InstanceNames {
    pub(super) fn insert(&mut self, name: &str, index: ModelInstanceIndex) {
        self.instances.insert(name.into(), index);
    }
    pub(super) fn remove(&mut self, name: &str) {
        self.instances.remove(name);
        let parts = name.rsplit_once('_');
        let numbered = parts.and_then(|(base, number)| {
            let number: usize = number.parse().ok()?;
            Some((self.numbered.get_mut(base)?, number))
        });
        if let Some((taken, number)) = numbered {
            *taken = (*taken).min(number.saturating_sub(1));
        }
    }
    pub(super) fn get(&self, name: &str) -> Option<ModelInstanceIndex> {
        self.instances.get(name).copied()
    }

    /// `base`, or `base_1`, `base_2`, ... where it is taken.
    pub(super) fn free_name(&mut self, base: String) -> String {
        if !self.instances.contains_key(&base) {
            return base;
        }
        let taken = self.numbered.entry(base.clone()).or_default();
        loop {
            let name = format!("{base}_{}", *taken + 1);
            if !self.instances.contains_key(&name) {
                return name;
            }
            *taken += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_names_have_the_least_number() {
        let mut names = InstanceNames::default();
        let add = |names: &mut InstanceNames| {
            let name = names.free_name("r".into());
            names.insert(&name, ModelInstanceIndex::DEFAULT);
            name
        };
        let added: Vec<String> = (0..4).map(|_| add(&mut names)).collect();
        assert_eq!(added, ["r", "r_1", "r_2", "r_3"]);
        names.remove("r_2");
        assert_eq!(add(&mut names), "r_2");
        assert_eq!(add(&mut names), "r_4");
        names.remove("r");
        assert_eq!(add(&mut names), "r");
    }

    #[test]
    fn elements_are_found_by_instance_and_name() {
        let (a, b) = (ModelInstanceIndex::new(2), ModelInstanceIndex::new(3));
        let mut index = NameIndex::default();
        index.insert(a, "link", 1);
        index.insert(b, "link", 2);
        assert_eq!(
            (index.get(a, "link"), index.get(b, "link")),
            (Some(1), Some(2))
        );
        let all: Vec<_> = index.of_name("link").collect();
        assert_eq!(all, [(a, 1), (b, 2)]);
        index.remove(a, "link");
        assert!(!index.contains(a, "link") && index.contains(b, "link"));
    }
}
