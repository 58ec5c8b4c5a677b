//! `drake:collision_filter_group`.

use super::builder::UrdfBuilder;
use std::collections::BTreeMap;
use tarragon_documents::names::scoped;
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_multibody::CollisionFilterGroupSpec;

impl UrdfBuilder<'_, '_> {
    pub(super) fn read_filter_groups(&mut self, root: XmlNode<'_>) -> Parsed<()> {
        const GROUP: &str = "drake:collision_filter_group";
        let nodes = self.reader.children(root, GROUP);
        let nodes: Vec<_> = nodes.filter(|node| !self.is_ignored(*node)).collect();
        if nodes.is_empty() {
            return Ok(());
        }
        let mut names = BTreeMap::new();
        for node in &nodes {
            let name = self.reader.required(*node, "name")?;
            if name.contains("::") {
                let message = format!(
                    "the name of a collision filter group must not contain '::', got \
                             '{name}'"
                );
                return Err(self.reader.error_at(*node, "name", message));
            }
            if names.insert(name.to_string(), *node).is_some() {
                let message = format!(
                    "names of collision filter groups must be unique, got \
                                       '{name}' twice"
                );
                return Err(self.reader.error_at(*node, "name", message));
            }
        }
        let model = self.target.plant.model_instance_name(self.instance);
        let model = self.check(root, model)?.to_string();
        let group_named = |node: XmlNode<'_>| -> Parsed<String> {
            let name = self.reader.required(node, "name")?;
            if names.contains_key(name) {
                return Ok(scoped(&model, name));
            }
            let known = names.keys().map(String::as_str);
            let error = tarragon_documents::names::unknown("collision filter group", name, known);
            Err(self.reader.error_at(node, "name", error))
        };
        let mut groups = vec![];
        for node in nodes {
            let mut group = CollisionFilterGroupSpec {
                name: scoped(&model, self.reader.required(node, "name")?),
                ..CollisionFilterGroupSpec::default()
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
            if group.members.is_empty() && group.member_groups.is_empty() {
                let message = format!(
                    "collision filter group '{}' must have at least one member",
                    group.name
                );
                return Err(self.reader.error(node, message));
            }
            groups.push(group);
        }
        for group in groups {
            self.target.add_collision_filter_group(group);
        }
        Ok(())
    }

    /// Returns true if attribute `ignore` is `true`, the only value that removes a group, as in
    /// Drake.
    fn is_ignored(&self, group: XmlNode<'_>) -> bool {
        let ignore = group.attribute("ignore");
        if let Some(text) = ignore.filter(|text| !matches!(*text, "true" | "false")) {
            let message = format!(
                "attribute 'ignore' of <{}> must be true or false, got '{text}'; the group is not ignored",
                self.reader.tag(group)
            );
            self.reader.warning_at(group, "ignore", message);
        }
        ignore == Some("true")
    }
}
