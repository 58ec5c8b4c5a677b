//! `<contact>`: pairs that are excluded from or added to the collision tests.

use super::builder::MjcfBuilder;
use super::contact_properties::read_condim;
use super::tree::ElementRef;
use crate::document::xml::Parsed;
use crate::model::BodyIndex;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::{CoulombFriction, GeometryId};

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
/// Number of pairs of masks from which on they are ignored, because every two of them may be a
/// collision filter.
const MOST_MASKS: usize = 256;
const OF_THE_GEOMS: &str = "contact properties are those of the two geoms";

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_contact(&mut self, root: ElementRef<'d>) {
        if let Err(error) = self.exclude_masks(root) {
            root.error(error);
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
            let Some((body, _)) = self.collision_geoms.get(name) else {
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

    /// Excludes the pairs of geoms whose `contype` and `conaffinity` do not match, where the file
    /// is read as by MuJoCo.
    fn exclude_masks(&mut self, root: ElementRef<'_>) -> crate::Result<()> {
        let mut groups: BTreeMap<[u32; 2], Vec<GeometryId>> = BTreeMap::new();
        for (id, masks) in &self.collision_masks {
            groups.entry(*masks).or_default().push(*id);
        }
        if groups.len() > MOST_MASKS {
            root.warning(format!(
                "'contype' and 'conaffinity' of <geom> are ignored: there must be at most \
                 {MOST_MASKS} different pairs of them, got {}",
                groups.len()
            ));
            return Ok(());
        }
        for (k, ([type_a, affinity_a], a)) in groups.iter().enumerate() {
            for ([type_b, affinity_b], b) in groups.iter().skip(k) {
                if type_a & affinity_b == 0 && type_b & affinity_a == 0 {
                    let plant = &mut self.target.plant;
                    plant.exclude_collisions_between_geometries(a, b)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a `<pair>` where the file is read as by MuJoCo: it collides whatever the filters are,
    /// and may have its own friction.
    fn add_pair(&mut self, node: ElementRef<'_>) -> Parsed<()> {
        node.ignore_attributes(&IGNORED_IN_PAIR[2..]);
        let mut ids = [None; 2];
        for (at, id) in ["geom1", "geom2"].into_iter().zip(&mut ids) {
            let Some(name) = node.own_text(at) else {
                node.warning("<pair> without 'geom1' and 'geom2' is ignored");
                return Ok(());
            };
            let Some((_, found)) = self.collision_geoms.get(name) else {
                node.warning_at(at, format!("<pair> is ignored: there is no geom '{name}'"));
                return Ok(());
            };
            *id = *found;
        }
        let friction = node.numbers("friction")?;
        let own = friction.as_deref().and_then(<[f64]>::first).copied();
        let mu = match read_condim(node)? {
            Some(1.0) => Some(0.0),
            _ => own,
        };
        let friction = mu.map(|mu| CoulombFriction::new(mu, mu)).transpose();
        let friction = friction.map_err(|e| node.error_at("friction", e))?;
        let [Some(a), Some(b)] = ids else {
            return Ok(());
        };
        let added = self.target.plant.add_contact_pair(a, b, friction);
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
