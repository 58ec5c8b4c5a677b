//! `<contact>`: which geometry is tested against which.

use super::builder::MjcfBuilder;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::BodyIndex;

/// What a pair could say about its contacts.
const IGNORED_IN_PAIR: [(&str, &str); 2] = [
    ("condim", "contacts are those of the two geoms"),
    ("friction", "contacts are those of the two geoms"),
];

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_contact(&mut self, root: ElementRef<'d>) {
        for node in root.children_named("contact").flat_map(|c| c.children()) {
            // What went wrong was reported.
            let _ = match node.tag() {
                "exclude" => self.add_exclude(node),
                "pair" => {
                    self.check_pair(node);
                    Ok(())
                }
                _ => {
                    node.ignored("the element is not known here");
                    Ok(())
                }
            };
        }
    }

    fn add_exclude(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        let names = ["body1", "body2"].map(|name| (name, node.own_text(name)));
        let [(_, Some(_)), (_, Some(_))] = names else {
            node.warning("<exclude> without 'body1' and 'body2' is ignored");
            return Ok(());
        };
        let [a, b] = names.map(|(at, name)| self.body(node, at, name.unwrap_or_default()));
        let excluded = self.target.plant.exclude_collisions_between(a?, b?);
        excluded.map_err(|e| node.error(e))
    }

    /// A body of the model, or the world.
    pub(super) fn body(&self, node: ElementRef<'_>, at: &str, name: &str) -> Parsed<BodyIndex> {
        if let Some(body) = self.bodies.get(name) {
            return Ok(*body);
        }
        // Bodies whose names were made, and the message.
        match self.target.plant.body_by_name_in(name, self.instance) {
            Ok(body) => Ok(body),
            Err(_) if name == "world" => Ok(BodyIndex::WORLD),
            Err(error) => Err(node.error_at(at, error)),
        }
    }

    /// A pair is tested anyway, unless its bodies are connected by a joint.
    fn check_pair(&self, node: ElementRef<'_>) {
        let mut bodies = vec![];
        for at in ["geom1", "geom2"] {
            let Some(name) = node.own_text(at) else {
                node.warning("<pair> without 'geom1' and 'geom2' is ignored");
                return;
            };
            let Some(body) = self.collision_bodies.get(name) else {
                let message =
                    format!("<pair> is ignored: there is no geom '{name}' with collision geometry");
                node.warning_at(at, message);
                return;
            };
            bodies.push(*body);
        }
        node.ignore_attributes(&IGNORED_IN_PAIR);
        let (a, b) = (bodies[0].min(bodies[1]), bodies[0].max(bodies[1]));
        if a != BodyIndex::WORLD && self.target.plant.are_joined(a, b) {
            node.warning(
                "<pair> is ignored: its geoms are on bodies that a joint connects, whose geometry is not \
                 tested against each other",
            );
        }
    }
}
