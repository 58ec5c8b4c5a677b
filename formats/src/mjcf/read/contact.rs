//! `<contact>`: pairs that are excluded from or added to the collision tests.

use super::builder::MjcfBuilder;
use super::contact_properties::read_condim;
use super::tree::ElementRef;
use std::collections::BTreeSet;
use tarragon_documents::names::missing;
use tarragon_documents::xml::Parsed;
use tarragon_geometry::CoulombFriction;
use tarragon_multibody::{BodyIndex, ContactPairProperties};

/// Attributes of `<pair>` that are ignored where a file is read as by Drake, with the reasons.
const IGNORED_IN_PAIR: [(&str, &str); 7] = [
    ("condim", OF_THE_GEOMS),
    ("friction", OF_THE_GEOMS),
    ("gap", OF_THE_GEOMS),
    ("margin", OF_THE_GEOMS),
    ("solimp", OF_THE_GEOMS),
    ("solref", OF_THE_GEOMS),
    ("solreffriction", OF_THE_GEOMS),
];
/// Number of pairs of masks from which on they are ignored, because each of them may be a collision
/// filter of all geoms.
const MOST_MASKS: usize = 256;
const OF_THE_GEOMS: &str = "contact properties are those of the two geoms";

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_contact(&mut self, root: ElementRef<'d>) {
        if !self.document.main_compiler().as_drake() {
            self.set_masks(root);
        }
        for node in root.children_named("contact").flat_map(|c| c.children()) {
            let node = self.document.defaults.apply(node, None);
            // Errors were reported.
            let _ = match node.tag() {
                "exclude" => self.add_exclude(node),
                "pair" if self.document.main_compiler().as_drake() => {
                    self.check_pair(node);
                    Ok(())
                }
                "pair" => self.add_pair(node),
                // The vocabulary check reports all others.
                _ => Ok(()),
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
            let Some((body, _)) = self.collision_geoms.get(name) else {
                let message =
                    format!("<pair> is ignored: there is no geom '{name}' with collision geometry");
                node.warning_at(at, message);
                return;
            };
            bodies.push(*body);
        }
        node.lost().ignore_attributes(&IGNORED_IN_PAIR);
        let (a, b) = (bodies[0].min(bodies[1]), bodies[0].max(bodies[1]));
        if a != BodyIndex::WORLD && self.target.plant.are_joined(a, b) {
            node.lost().warning(
                "<pair> is ignored: its geoms are on bodies connected by a joint, which are not \
                 tested against each other",
            );
        }
    }

    /// Adds `contype` and `conaffinity` of all geoms.
    fn set_masks(&mut self, root: ElementRef<'_>) {
        if !self.document.flags.contact {
            self.collision_masks
                .iter_mut()
                .for_each(|(_, m)| *m = [0; 2]);
        }
        let masks = self.collision_masks.iter().map(|(_, masks)| *masks);
        let different: BTreeSet<[u32; 2]> = masks.collect();
        let are_many = different.len() > MOST_MASKS;
        if are_many {
            root.warning(format!(
                "'contype' and 'conaffinity' of <geom> are ignored: there must be at most \
                 {MOST_MASKS} different pairs of them, got {}",
                different.len()
            ));
        }
        let plant = &mut self.target.plant;
        // Geoms that collide in pairs alone need one filter.
        let masks = self.collision_masks.iter();
        for (id, masks) in masks.filter(|(_, masks)| !are_many || *masks == [0; 2]) {
            plant.set_collision_masks(*id, masks[0], masks[1]);
        }
    }

    /// Adds a `<pair>` where the file is read as by MuJoCo: it collides whatever the filters are,
    /// and nothing but its own attributes determines friction, compliance and margin.
    fn add_pair(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        node.ignore_attributes(&[("solreffriction", "friction is as stiff as the step allows")]);
        let mut ids = [None; 2];
        for (at, id) in ["geom1", "geom2"].into_iter().zip(&mut ids) {
            let Some(name) = node.own_text(at) else {
                node.warning("<pair> without 'geom1' and 'geom2' is ignored");
                return Ok(());
            };
            let Some((_, found)) = self.collision_geoms.get(name) else {
                let known = self.collision_geoms.keys().map(|k| &**k);
                let missing = missing("geom", name, known);
                node.warning_at(at, format!("<pair> is ignored: {missing}"));
                return Ok(());
            };
            *id = *found;
        }
        let friction = node.numbers_over_defaults("friction")?;
        let [first, second] = [0, 1].map(|k| friction.get(k).copied().unwrap_or(1.0));
        let mu = match read_condim(node)? {
            Some(1.0) => 0.0,
            _ => first,
        };
        if mu > 0.0 && first != second {
            let message = format!(
                "'friction' of <pair> acts as {first:?} in all directions: its first two numbers \
                 must be equal, got {first:?} and {second:?}"
            );
            node.warning_grouped("friction", message);
        }
        let friction = CoulombFriction::new(mu, mu);
        let properties = ContactPairProperties {
            friction: Some(friction.map_err(|e| node.error_at("friction", e))?),
            solver_parameters: Some(self.document.read_solver_parameters(node)?),
            margin: Some(node.number("margin")?.unwrap_or(0.0)),
            gap: Some(node.number("gap")?.unwrap_or(0.0)),
        };
        let [Some(a), Some(b)] = ids else {
            return Ok(());
        };
        let added = self.target.plant.add_contact_pair(a, b, properties);
        added.map_err(|e| node.error(e))
    }
}

/// Returns the names of all geoms in `<pair>` elements.
pub(super) fn paired_geoms(root: ElementRef<'_>) -> BTreeSet<String> {
    let contact = root.children_named("contact");
    let pairs = contact.flat_map(|c| c.children_named("pair"));
    let names = pairs.flat_map(|pair| ["geom1", "geom2"].map(|at| pair.own_text(at)));
    names.flatten().map(String::from).collect()
}
