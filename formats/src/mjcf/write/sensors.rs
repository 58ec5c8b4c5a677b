//! Sensors.

use super::MjcfWriter;
use crate::writing::document::TakenNames;
use tarragon_multibody::{BodyIndex, ModelSensor, SensorSubject, SubjectKind, subject_kind};

/// Attributes that name what a sensor is attached to, with their values.
type Attributes = Vec<(&'static str, String)>;

impl MjcfWriter<'_> {
    pub(super) fn write_sensors(&mut self) {
        let plant = self.document.plant;
        if plant.model_sensors().is_empty() {
            return;
        }
        let mut taken = TakenNames::default();
        self.document.xml.start("sensor");
        for sensor in plant.model_sensors() {
            let Some((element, attributes)) = self.element_of(sensor) else {
                self.document.leave_out("sensor", &[&sensor.name]);
                continue;
            };
            let (instance, name) = (sensor.model_instance, &sensor.name);
            let name = self.document.name(&mut taken, "sensor", instance, name);
            let xml = &mut self.document.xml;
            xml.start(element).attribute("name", &name);
            for (attribute, value) in attributes {
                xml.attribute(attribute, &value);
            }
            if sensor.noise != 0.0 {
                xml.numbers("noise", &[sensor.noise]);
            }
            if sensor.cutoff.is_finite() {
                xml.numbers("cutoff", &[sensor.cutoff]);
            }
            xml.end();
        }
        self.document.xml.end();
    }

    /// Returns the element of a sensor, with the attributes of what it is attached to; `None` if
    /// MJCF has no such sensor or the document lacks what it is attached to.
    fn element_of(&self, sensor: &ModelSensor) -> Option<(&'static str, Attributes)> {
        let (element, kind) = subject_kind(&sensor.kind)?;
        let of_frame = kind == SubjectKind::Frame;
        // MuJoCo refuses a reference of accelerations.
        let has_reference = of_frame && !element.ends_with("acc");
        if sensor.reference.is_some() && !has_reference {
            return None;
        }
        let (of_type, name) = match (kind, sensor.subject) {
            (SubjectKind::Plant, SensorSubject::Plant) => return Some((element, vec![])),
            (SubjectKind::Body, SensorSubject::Body(_))
            | (SubjectKind::Site, SensorSubject::Site(_))
            | (SubjectKind::Joint, SensorSubject::Joint(_))
            | (SubjectKind::Actuator, SensorSubject::Actuator(_)) => self.named(sensor.subject)?,
            (SubjectKind::Frame, subject) => self.named_frame(subject)?,
            _ => return None,
        };
        let mut attributes = match (of_frame, of_type) {
            (true, _) => vec![("objtype", of_type.into()), ("objname", name)],
            (false, "xbody") => vec![("body", name)],
            (false, _) => vec![(of_type, name)],
        };
        if let Some(reference) = sensor.reference {
            let (of_type, name) = self.named_frame(reference)?;
            attributes.extend([("reftype", of_type.into()), ("refname", name)]);
        }
        Some((element, attributes))
    }

    fn named_frame(&self, subject: SensorSubject) -> Option<(&'static str, String)> {
        match subject {
            SensorSubject::Body(_) | SensorSubject::CenterOfMass(_) | SensorSubject::Site(_) => {
                self.named(subject)
            }
            _ => None,
        }
    }

    /// Returns MJCF's type and the name of an element.
    fn named(&self, subject: SensorSubject) -> Option<(&'static str, String)> {
        let body = |body: BodyIndex| match body {
            BodyIndex::WORLD => Some("world".into()),
            _ => self.bodies.get(body.index()).cloned(),
        };
        Some(match subject {
            SensorSubject::Plant => return None,
            SensorSubject::Body(b) => ("xbody", body(b)?),
            SensorSubject::CenterOfMass(b) => ("body", body(b)?),
            SensorSubject::Site(number) => ("site", self.sites.name(number)?.into()),
            SensorSubject::Joint(joint) => ("joint", self.joints[joint.index()].clone()?),
            SensorSubject::Actuator(actuator) => {
                ("actuator", self.actuators.get(&actuator.index())?.clone())
            }
        })
    }
}
