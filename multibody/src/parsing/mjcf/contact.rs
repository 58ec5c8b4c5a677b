//! `<contact>`: pairs that are excluded from or added to the collision tests.

use super::builder::MjcfBuilder;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::BodyIndex;

/// Attributes of `<pair>` that are ignored, with the reasons.
const IGNORED_IN_PAIR: [(&str, &str); 7] = [
    ("condim", OF_THE_GEOMS),
    ("friction", OF_THE_GEOMS),
    ("gap", OF_THE_GEOMS),
    ("margin", OF_THE_GEOMS),
    ("solimp", OF_THE_GEOMS),
    ("solref", OF_THE_GEOMS),
    ("solreffriction", OF_THE_GEOMS),
];
const OF_THE_GEOMS: &str = "contact properties are those of the two geoms";

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_contact(&mut self, root: ElementRef<'d>) {
        for node in root.children_named("contact").flat_map(|c| c.children()) {
            let node = self.document.defaults.apply(node, None);
            // Errors were reported.
            let _ = match node.tag() {
                "exclude" => self.add_exclude(node),
                "pair" => {
                    self.check_pair(node);
                    Ok(())
                }
                _ => {
                    node.ignored("the element is unknown");
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

    /// Returns a body of the model or the world by name.
    pub(super) fn body(&self, node: ElementRef<'_>, at: &str, name: &str) -> Parsed<BodyIndex> {
        if let Some(body) = self.bodies.get(name) {
            return Ok(*body);
        }
        // The plant also knows bodies with generated names, and creates the error message.
        match self.target.plant.body_by_name_in(name, self.instance) {
            Ok(body) => Ok(body),
            Err(_) if name == "world" => Ok(BodyIndex::WORLD),
            Err(error) => Err(node.error_at(at, error)),
        }
    }

    /// Checks a `<pair>`, which is tested for contact anyway unless a joint connects its bodies.
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
                "<pair> is ignored: its geoms are on bodies connected by a joint, which are not \
                 tested against each other",
            );
        }
    }
}
