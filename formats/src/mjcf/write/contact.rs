//! Pairs that are excluded from or added to the collision tests.

use super::MjcfWriter;
use crate::writing::document::ModelDocument;
use crate::writing::xml::XmlText;
use std::collections::{BTreeMap, BTreeSet};
use tarragon_geometry::CoulombFriction;
use tarragon_multibody::{BodyIndex, ContactMargin, MujocoContact, MultibodyPlant};

/// Adds the solver parameters of contact that are not MuJoCo's defaults.
pub(super) fn solver_attributes(xml: &mut XmlText, contact: &MujocoContact) {
    let usual = MujocoContact::default();
    if contact.solref != usual.solref {
        xml.numbers("solref", &contact.solref);
    }
    if contact.solimp != usual.solimp {
        xml.numbers("solimp", &contact.solimp);
    }
}

/// Adds the dimension of contacts unless it is 3.
pub(super) fn condim_attribute(xml: &mut XmlText, contact: &MujocoContact) {
    let condim = match contact.cone_edges {
        _ if contact.is_frictionless => 1,
        0 => 3,
        edges => edges / 2 + 1,
    };
    if condim != 3 {
        xml.attribute("condim", &condim.to_string());
    }
}

/// Properties of all contacts, in `<option>`.
pub(super) struct FrictionCone {
    is_elliptic: bool,
    impratio: f64,
    prevents_slip: bool,
}

impl FrictionCone {
    /// Returns the cone of the geometries, which is elliptic if none has a pyramidal one.
    pub(super) fn of(document: &ModelDocument<'_>) -> Self {
        let plant = document.plant;
        let ids = plant
            .bodies()
            .map(|(body, _)| plant.collision_geometries(body));
        let inspector = document.scene.map(|scene| scene.model_inspector());
        let own = ids.flatten().filter_map(|id| {
            let properties = inspector.as_ref()?.proximity_properties(*id).ok()??;
            let contact = properties.try_get("material", "mujoco_contact");
            contact.ok()?.copied()
        });
        let pairs = plant.contact_pairs().iter();
        let pairs = pairs.filter_map(|(_, properties)| properties.solver_parameters);
        let all: Vec<MujocoContact> = own.chain(pairs).collect();
        let resists = all.iter().any(|contact| !contact.is_frictionless);
        Self {
            is_elliptic: resists && all.iter().all(|contact| contact.cone_edges == 0),
            impratio: all.first().map_or(1.0, |contact| contact.impratio),
            prevents_slip: all.iter().any(|contact| contact.prevents_slip),
        }
    }

    pub(super) fn add_attributes(&self, xml: &mut XmlText) {
        if self.is_elliptic {
            xml.attribute("cone", "elliptic");
        }
        if self.impratio != 1.0 {
            xml.numbers("impratio", &[self.impratio]);
        }
        if self.prevents_slip {
            xml.attribute("noslip_iterations", "3");
        }
    }
}

/// Adds margin and gap (m) unless they are 0.
pub(super) fn margin_attributes(xml: &mut XmlText, [margin, gap]: [f64; 2]) {
    for (name, length) in [("margin", margin), ("gap", gap)] {
        if length != 0.0 {
            xml.numbers(name, &[length]);
        }
    }
}

impl MjcfWriter<'_> {
    pub(super) fn write_contact(&mut self) {
        self.report_deformable_groups();
        self.document.xml.start("contact");
        let mut merged: BTreeSet<&str> = BTreeSet::new();
        for (a, b) in std::mem::take(&mut self.excluded) {
            let bodies = [a, b].into_iter();
            let lost = bodies.filter(|body| self.merged.contains(body));
            let lost: Vec<&str> = lost.map(|body| &*self.bodies[body.index()]).collect();
            if !lost.is_empty() {
                merged.extend(lost);
                continue;
            }
            let [a, b] = [a, b].map(|body| &self.bodies[body.index()]);
            let xml = &mut self.document.xml;
            xml.start("exclude").attribute("body1", a);
            xml.attribute("body2", b).end();
        }
        for name in merged {
            self.document.warn(format!(
                "collision filters of body '{name}': left out, because it has nothing but a joint, \
                 which becomes that of another body"
            ));
        }
        self.write_pairs();
        self.document.xml.end();
    }

    /// Excludes the pairs that joints filter and MuJoCo's own filter of parents does not know.
    /// Returns false if that filter must be off, because it knows pairs that collide.
    pub(super) fn exclude_neighbours(&mut self) -> bool {
        let plant = self.document.plant;
        let ours = plant.adjacent_pairs();
        let in_mujoco = plant.adjacent_pairs_in_mujoco(|body| self.merged.contains(&body));
        let filters_parents = in_mujoco.is_subset(&ours);
        let is_known = |pair: &(BodyIndex, BodyIndex)| filters_parents && in_mujoco.contains(pair);
        let unknown = ours.into_iter().filter(|pair| !is_known(pair));
        self.excluded.extend(unknown);
        filters_parents
    }

    fn report_deformable_groups(&mut self) {
        let groups = self.document.plant.filter_groups().iter();
        let groups = groups.filter(|group| !group.deformables.is_empty());
        let names: Vec<&str> = groups.map(|group| group.name.as_str()).collect();
        self.document
            .leave_out("deformable bodies of filter group", &names);
    }

    /// Writes the pairs of geometries with their own properties, of which the last ones count.
    fn write_pairs(&mut self) {
        let plant = self.document.plant;
        let pairs: BTreeMap<_, _> = plant.contact_pairs().iter().copied().collect();
        for ([a, b], properties) in pairs {
            let geoms = [a, b].map(|id| self.paired_geoms.get(&id).cloned());
            let [Some((a, of_a)), Some((b, of_b))] = geoms else {
                let [a, b] = [a, b].map(|id| self.document.geometry_name(id));
                self.document.warn(format!(
                    "pair of geometry '{a}' and '{b}': left out, because one of them is"
                ));
                continue;
            };
            let xml = &mut self.document.xml;
            xml.start("pair").attribute("geom1", &a);
            xml.attribute("geom2", &b);
            if let Some(mu) = properties.friction.map(|mu| mu.dynamic_friction()) {
                // Directions of sliding have their own coefficients.
                xml.numbers("friction", &[mu, mu]);
            }
            if let Some(contact) = &properties.solver_parameters {
                condim_attribute(xml, contact);
                solver_attributes(xml, contact);
            }
            // In MuJoCo, a pair has none of those of its geoms.
            let own = [of_a.as_ref(), of_b.as_ref()];
            let margin = ContactMargin::new(Some(&properties), own);
            margin_attributes(xml, [margin.margin, margin.gap]);
            xml.end();
            if let Some(mu) = &properties.friction {
                let what = format!("pair of geometry '{a}' and '{b}'");
                self.report_static_friction(&what, mu);
            }
            if properties.friction.is_none() || properties.solver_parameters.is_none() {
                self.document.warn(format!(
                    "pair of geometry '{a}' and '{b}': what the geometries determine in the plant \
                     becomes MuJoCo's default"
                ));
            }
        }
    }

    /// Reports static friction, which MJCF does not have.
    pub(super) fn report_static_friction(&mut self, what: &str, mu: &CoulombFriction) {
        if mu.static_friction() != mu.dynamic_friction() {
            self.document.warn(format!(
                "{what}: static friction becomes that of motion, got {:?} and {:?}",
                mu.static_friction(),
                mu.dynamic_friction()
            ));
        }
    }
}

/// Returns the pairs of bodies that are not tested against each other; filter groups become pairs.
pub(super) fn excluded_bodies(plant: &MultibodyPlant) -> BTreeSet<(BodyIndex, BodyIndex)> {
    let groups = plant.filter_groups();
    let members: BTreeMap<&str, &[BodyIndex]> =
        groups.iter().map(|g| (&*g.name, &*g.members)).collect();
    let mut pairs: BTreeSet<(BodyIndex, BodyIndex)> = BTreeSet::new();
    let mut add = |a: BodyIndex, b: BodyIndex| {
        pairs.insert((a.min(b), a.max(b)));
    };
    for (a, b) in plant.excluded_pairs() {
        add(*a, *b);
    }
    for group in groups {
        for other in group.ignored.iter().filter_map(|n| members.get(&**n)) {
            for a in &group.members {
                other.iter().for_each(|b| add(*a, *b));
            }
        }
    }
    pairs
}
