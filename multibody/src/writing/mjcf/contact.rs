//! Pairs that are excluded from or added to the collision tests.

use super::MjcfWriter;
use crate::model::{BodyIndex, MujocoContact};
use crate::writing::xml::XmlText;
use std::collections::{BTreeMap, BTreeSet};

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

impl MjcfWriter<'_> {
    pub(super) fn write_contact(&mut self) {
        let excluded = self.excluded_bodies();
        self.document.xml.start("contact");
        for (a, b) in excluded {
            let [a, b] = [a, b].map(|body| &self.bodies[body.index()]);
            let xml = &mut self.document.xml;
            xml.start("exclude").attribute("body1", a);
            xml.attribute("body2", b).end();
        }
        self.write_pairs();
        self.document.xml.end();
    }

    /// Returns the pairs of bodies that are not tested against each other; filter groups become
    /// pairs.
    fn excluded_bodies(&mut self) -> BTreeSet<(BodyIndex, BodyIndex)> {
        let plant = self.document.plant;
        let groups = plant.filter_groups();
        let members: BTreeMap<&str, &[BodyIndex]> =
            groups.iter().map(|g| (&*g.name, &*g.members)).collect();
        let mut pairs: BTreeSet<(BodyIndex, BodyIndex)> = BTreeSet::new();
        let mut add = |a: BodyIndex, b: BodyIndex| {
            pairs.insert((a.min(b), a.max(b)));
        };
        for (a, b) in plant.excluded_pairs().iter().chain(&self.excluded) {
            add(*a, *b);
        }
        let mut with_deformables = vec![];
        for group in groups {
            if !group.deformables.is_empty() {
                with_deformables.push(group.name.as_str());
            }
            for other in group.ignored.iter().filter_map(|n| members.get(&**n)) {
                for a in &group.members {
                    other.iter().for_each(|b| add(*a, *b));
                }
            }
        }
        self.document
            .leave_out("deformable bodies of filter group", &with_deformables);
        pairs
    }

    /// Writes the pairs of geometries with their own properties.
    fn write_pairs(&mut self) {
        let plant = self.document.plant;
        for ([a, b], properties) in plant.contact_pairs() {
            let names = [a, b].map(|id| self.names_of_geoms.get(id));
            let [Some(a), Some(b)] = names else {
                let known: Vec<&str> = names.into_iter().flatten().map(|n| &**n).collect();
                let known = known.first().unwrap_or(&"").to_string();
                self.document.warn(format!(
                    "pair with geometry '{known}': left out, because a geometry of it is"
                ));
                continue;
            };
            let xml = &mut self.document.xml;
            xml.start("pair").attribute("geom1", a);
            xml.attribute("geom2", b);
            match properties.friction.map(|mu| mu.dynamic_friction()) {
                // Directions of sliding have their own coefficients.
                Some(mu) => xml.numbers("friction", &[mu, mu]),
                None => xml,
            };
            if let Some(contact) = &properties.solver_parameters {
                solver_attributes(xml, contact);
            }
            xml.end();
            if properties.friction.is_none() || properties.solver_parameters.is_none() {
                let (a, b) = (a.clone(), b.clone());
                self.document.warn(format!(
                    "pair of geometry '{a}' and '{b}': what the geometries determine in the plant \
                     becomes MuJoCo's default"
                ));
            }
        }
    }
}
