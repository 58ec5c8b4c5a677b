//! Collision filter groups.

use super::UrdfWriter;
use crate::model::{BodyIndex, CollisionFilterGroup};
use crate::writing::document::TakenNames;
use std::collections::BTreeMap;

/// A group with the names of its links and of the groups that it ignores.
struct WrittenGroup {
    name: String,
    members: Vec<BodyIndex>,
    ignored: Vec<String>,
}

impl UrdfWriter<'_> {
    /// Writes the groups of the plant, and pairs of excluded bodies as groups of one body each.
    pub(super) fn write_filter_groups(&mut self, robot: &str) {
        let plant = self.document.plant;
        let mut taken = TakenNames::default();
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let kept = |g: &&CollisionFilterGroup| !g.members.is_empty();
        for group in plant.filter_groups() {
            if !group.deformables.is_empty() {
                self.document.warn(format!(
                    "collision filter group '{}': its deformable bodies are left out",
                    group.name
                ));
            }
            if kept(&group) {
                let own = group.name.strip_prefix(robot);
                let own = own.and_then(|rest| rest.strip_prefix("::"));
                let own = own.unwrap_or(&group.name).replace("::", "_");
                let instance = crate::model::ModelInstanceIndex::DEFAULT;
                let kind = "collision filter group";
                let name = self.document.name(&mut taken, kind, instance, &own, &[]);
                names.insert(&group.name, name);
            }
        }
        let mut groups: Vec<WrittenGroup> = vec![];
        for group in plant.filter_groups().iter().filter(kept) {
            let ignored = group.ignored.iter().filter_map(|n| names.get(n.as_str()));
            groups.push(WrittenGroup {
                name: names[group.name.as_str()].clone(),
                members: group.members.clone(),
                ignored: ignored.cloned().collect(),
            });
        }
        let pairs = plant.excluded_pairs().iter().chain(&self.excluded);
        let mut of_body: BTreeMap<BodyIndex, usize> = BTreeMap::new();
        for (a, b) in pairs {
            let [a, b] = [*a, *b].map(|body| {
                *of_body.entry(body).or_insert_with(|| {
                    let link = &self.links[body.index()];
                    groups.push(WrittenGroup {
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
        let xml = &mut self.document.xml;
        for group in groups {
            xml.start("drake:collision_filter_group")
                .attribute("name", &group.name);
            for body in group.members {
                let link = &self.links[body.index()];
                xml.start("drake:member").attribute("link", link).end();
            }
            for name in group.ignored {
                xml.start("drake:ignored_collision_filter_group");
                xml.attribute("name", &name).end();
            }
            xml.end();
        }
    }
}
