//! `<sensor>`: sensors are kept in the plant for callers that make systems from them.

use super::builder::MjcfBuilder;
use super::tree::ElementRef;
use super::vocabulary;
use std::collections::BTreeMap;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{
    BodyIndex, JointActuatorIndex, ModelSensor, SensorSubject, SubjectKind, subject_kind,
};

const NOTHING_NAMED: &str = "it names nothing that it measures";
const IGNORED_IN_SENSOR: [(&str, &str); 1] = [("user", "user data is not supported")];

/// Numbers of the elements that sensors may name, by name.
struct NamedElements<'p> {
    sites: BTreeMap<&'p str, usize>,
    actuators: BTreeMap<&'p str, JointActuatorIndex>,
}

/// Names of the sensors of a model.
struct SensorNames<'d> {
    /// Names in the file, and whether a sensor with it has been read.
    given: BTreeMap<&'d str, bool>,
}

impl<'d> SensorNames<'d> {
    fn of(root: ElementRef<'d>) -> Self {
        let sensors = root.children_named("sensor").flat_map(|s| s.children());
        let names = sensors.filter_map(|node| node.name());
        Self {
            given: names.map(|name| (name, false)).collect(),
        }
    }

    /// Returns the name of a sensor, or a free one with its number. A second sensor of the same
    /// name is left out, which is reported.
    fn of_sensor(&mut self, node: ElementRef<'d>, number: usize) -> Option<String> {
        let Some(name) = node.name() else {
            // Numbers differ, so only names in the file may be taken.
            let mut name = format!("sensor{number}");
            while self.given.contains_key(&*name) {
                name.push('_');
            }
            return Some(name);
        };
        let is_read = self.given.insert(name, true) == Some(true);
        if is_read {
            node.warning_at(
                "name",
                format!("sensor '{name}' is left out: another sensor has this name"),
            );
        }
        (!is_read).then(|| name.to_owned())
    }
}

impl<'d> MjcfBuilder<'d, '_, '_> {
    pub(super) fn add_sensors(&mut self, root: ElementRef<'d>) {
        let sensors = root.children_named("sensor").flat_map(|s| s.children());
        let mut sensors = sensors.enumerate().peekable();
        if sensors.peek().is_none() {
            return;
        }
        let mut read = vec![];
        let named = self.named_elements();
        let mut names = SensorNames::of(root);
        for (number, node) in sensors {
            let Some(name) = names.of_sensor(node, number) else {
                continue;
            };
            // Errors were reported.
            if let Ok(Some(sensor)) = self.read_sensor(node, name, &named) {
                read.push((node, sensor));
            }
        }
        for (node, sensor) in read {
            if let Err(error) = self.target.plant.add_model_sensor(sensor) {
                node.error(error);
            }
        }
    }

    fn named_elements(&self) -> NamedElements<'_> {
        let plant = &*self.target.plant;
        let sites = plant.sites().iter().enumerate();
        let sites = sites.filter(|(_, site)| site.model_instance() == self.instance);
        let actuators = plant.actuators().iter().enumerate();
        let actuators = actuators.filter(|(_, a)| a.model_instance() == self.instance);
        NamedElements {
            sites: sites.map(|(number, site)| (site.name(), number)).collect(),
            actuators: actuators
                .map(|(number, a)| (a.name(), JointActuatorIndex::new(number)))
                .collect(),
        }
    }

    /// Reads a sensor; returns `None` if it is left out.
    fn read_sensor(
        &self,
        node: ElementRef<'_>,
        name: String,
        named: &NamedElements<'_>,
    ) -> Parsed<Option<ModelSensor>> {
        let kind = node.tag();
        let Some((_, subject_kind)) = subject_kind(kind) else {
            // The vocabulary check reports all others.
            if vocabulary::has_element("sensor", kind) {
                node.ignored("the plant has no such sensors");
            }
            return Ok(None);
        };
        node.ignore_attributes(&IGNORED_IN_SENSOR);
        let named_by = |at: &str| node.own_text(at);
        let subject = match subject_kind {
            SubjectKind::Plant => Ok(SensorSubject::Plant),
            SubjectKind::Site => self.subject(named, "site", named_by("site")),
            SubjectKind::Joint => self.subject(named, "joint", named_by("joint")),
            SubjectKind::Actuator => self.subject(named, "actuator", named_by("actuator")),
            SubjectKind::Body => self.subject(named, "xbody", named_by("body")),
            SubjectKind::Frame => self.frame(named, named_by("objtype"), named_by("objname")),
        };
        let reference = match (subject_kind, named_by("refname")) {
            // In MJCF, acceleration sensors have no reference frame.
            (SubjectKind::Frame, name @ Some(_)) if !kind.ends_with("acc") => {
                self.frame(named, named_by("reftype"), name).map(Some)
            }
            _ => Ok(None),
        };
        let (subject, reference) = match (subject, reference) {
            (Ok(subject), Ok(reference)) => (subject, reference),
            (Err(why), _) | (_, Err(why)) => {
                node.warning(format!("sensor '{name}' is left out: {why}"));
                return Ok(None);
            }
        };
        let mut sensor = ModelSensor::new(name, kind, subject);
        sensor.model_instance = self.instance;
        sensor.reference = reference;
        sensor.noise = node.number("noise")?.unwrap_or(0.0);
        if let Some(cutoff) = node.number("cutoff")?.filter(|cutoff| *cutoff != 0.0) {
            sensor.cutoff = cutoff;
        }
        Ok(Some(sensor))
    }

    /// Finds the body or the site that a sensor of a frame names, or says why there is none.
    fn frame(
        &self,
        named: &NamedElements<'_>,
        of_type: Option<&str>,
        name: Option<&str>,
    ) -> Result<SensorSubject, String> {
        match (of_type.unwrap_or_default(), name) {
            (of_type @ ("joint" | "actuator"), Some(name)) => Err(no_frame(of_type, name)),
            (of_type, name) => self.subject(named, of_type, name),
        }
    }

    /// Finds the element that a sensor names, or says why there is none.
    fn subject(
        &self,
        named: &NamedElements<'_>,
        of_type: &str,
        name: Option<&str>,
    ) -> Result<SensorSubject, String> {
        let name = name.ok_or(NOTHING_NAMED)?;
        let body = || match name {
            "world" => Some(BodyIndex::WORLD),
            _ => self.bodies.get(name).copied(),
        };
        let (what, found) = match of_type {
            "site" => {
                let number = named.sites.get(name).copied();
                ("site", number.map(SensorSubject::Site))
            }
            "joint" => {
                let joint = self.joints.get(name).copied();
                ("joint", joint.map(SensorSubject::Joint))
            }
            "actuator" => {
                let actuator = named.actuators.get(name).copied();
                ("actuator", actuator.map(SensorSubject::Actuator))
            }
            "xbody" => ("body", body().map(SensorSubject::Body)),
            "body" => ("body", body().map(SensorSubject::CenterOfMass)),
            _ => return Err(no_frame(of_type, name)),
        };
        found.ok_or_else(|| format!("there is no {what} '{name}'"))
    }
}

fn no_frame(of_type: &str, name: &str) -> String {
    format!("sensors can be attached to bodies and sites, not to '{name}' of type '{of_type}'")
}
