//! Collision filter groups, as all formats of Drake's elements see them.

use super::document::{ModelDocument, TakenNames};
use std::collections::BTreeMap;
use tarragon_multibody::{BodyIndex, CollisionFilterGroup};

/// A group with the names of its links and of the groups that it ignores.
pub(crate) struct FilterGroup {
    pub(crate) name: String,
    pub(crate) members: Vec<BodyIndex>,
    pub(crate) ignored: Vec<String>,
}

impl ModelDocument<'_> {
    /// Returns the groups of the plant, and the pairs of excluded bodies, with `more` of them, as
    /// groups of one body each. `links` are the names of the bodies.
    pub(crate) fn filter_groups(
        &mut self,
        model: &str,
        links: &[String],
        taken: &mut TakenNames,
        more: &[(BodyIndex, BodyIndex)],
    ) -> Vec<FilterGroup> {
        let plant = self.plant;
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let kept = |g: &&CollisionFilterGroup| !g.members.is_empty();
        for group in plant.filter_groups() {
            if !group.deformables.is_empty() {
                self.warn(format!(
                    "collision filter group '{}': its deformable bodies are left out",
                    group.name
                ));
            }
            if kept(&group) {
                let own = group.name.strip_prefix(model);
                let own = own.and_then(|rest| rest.strip_prefix("::"));
                let own = own.unwrap_or(&group.name).replace("::", "_");
                let instance = tarragon_multibody::ModelInstanceIndex::DEFAULT;
                let kind = "collision filter group";
                let name = self.name(taken, kind, instance, &own);
                names.insert(&group.name, name);
            }
        }
        let mut groups: Vec<FilterGroup> = vec![];
        for group in plant.filter_groups().iter().filter(kept) {
            let ignored = group.ignored.iter().filter_map(|n| names.get(n.as_str()));
            groups.push(FilterGroup {
                name: names[group.name.as_str()].clone(),
                members: group.members.clone(),
                ignored: ignored.cloned().collect(),
            });
        }
        let pairs = plant.excluded_pairs().iter().chain(more);
        let mut of_body: BTreeMap<BodyIndex, usize> = BTreeMap::new();
        for (a, b) in pairs {
            let [a, b] = [*a, *b].map(|body| {
                *of_body.entry(body).or_insert_with(|| {
                    let link = &links[body.index()];
                    groups.push(FilterGroup {
                        name: taken.take(&format!("only_{}", link.replace("::", "_"))),
                        members: vec![body],
                        ignored: vec![],
                    });
                    groups.len() - 1
                })
            });
            let name = groups[b].name.clone();
            groups[a].ignored.push(name);
        }
        groups
    }
}
