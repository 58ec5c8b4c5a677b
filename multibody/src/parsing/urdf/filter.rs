//! `drake:collision_filter_group`.

use super::Robot;
use crate::parsing::input::scoped;
use crate::parsing::target::FilterGroup;
use crate::parsing::xml::Parsed;
use roxmltree::Node;
use std::collections::BTreeMap;

impl Robot<'_, '_> {
    pub(super) fn read_filter_groups(&mut self, root: Node<'_, '_>) -> Parsed<()> {
        const GROUP: &str = "drake:collision_filter_group";
        let nodes = self.reader.children(root, GROUP);
        let mut names = BTreeMap::new();
        for node in &nodes {
            let name = self.reader.required(*node, "name")?;
            if names.insert(name.to_string(), *node).is_some() {
                let message = format!("collision filter group '{name}' is there twice");
                return Err(self.reader.error_at(*node, "name", message));
            }
        }
        let model = self.target.plant.model_instance_name(self.instance);
        let model = self.check(root, model)?.to_string();
        let group_named = |node: Node<'_, '_>| -> Parsed<String> {
            let name = self.reader.required(node, "name")?;
            if names.contains_key(name) {
                return Ok(scoped(&model, name));
            }
            let known = names.keys().map(String::as_str);
            let error = crate::names::unknown("collision filter group", name, known);
            Err(self.reader.error_at(node, "name", error))
        };
        let mut groups = vec![];
        for node in nodes {
            let mut group = FilterGroup {
                name: scoped(&model, self.reader.required(node, "name")?),
                ..FilterGroup::default()
            };
            for child in self.reader.elements(node) {
                match self.reader.tag(child) {
                    "drake:member" => group.members.push(self.link_named(child, "link")?),
                    "drake:ignored_collision_filter_group" => {
                        group.ignored.push(group_named(child)?);
                    }
                    "drake:member_group" => group.member_groups.push(group_named(child)?),
                    _ => {}
                }
            }
            groups.push(group);
        }
        for group in groups {
            self.target.add_collision_filter_group(group);
        }
        Ok(())
    }
}
