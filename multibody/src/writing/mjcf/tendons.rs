//! Fixed tendons, which are sums of joint positions, and springs between two sites.

use super::MjcfWriter;
use super::tables::{TendonPath, TendonText};
use crate::model::{ForceElement, JointIndex, TendonConstraint};
use crate::writing::subjects;
use crate::writing::xml::XmlText;

/// Length of a spring by which MJCF asks for that at the default positions.
const LENGTH_AT_REST: f64 = -1.0;

impl MjcfWriter<'_> {
    /// Adds a tendon and returns its name; `None` if one of its joints is left out.
    pub(super) fn add_fixed_tendon(&mut self, joints: &[(JointIndex, f64)]) -> Option<String> {
        let named = joints.iter().filter(|(_, coefficient)| *coefficient != 0.0);
        let named =
            named.map(|(j, coefficient)| Some((self.joints[j.index()].clone()?, *coefficient)));
        let named = named.collect::<Option<Vec<_>>>()?;
        (!named.is_empty()).then(|| self.add_tendon(TendonPath::Fixed(named)))
    }

    fn add_tendon(&mut self, path: TendonPath) -> String {
        let name = self.names.tendons.take("tendon");
        self.tendons.push(TendonText {
            name: name.clone(),
            path,
            numbers: vec![],
        });
        name
    }

    /// Adds attributes to the tendon that was added last.
    fn set_numbers(&mut self, numbers: Vec<(&'static str, Vec<f64>)>) {
        if let Some(tendon) = self.tendons.last_mut() {
            tendon.numbers = numbers;
        }
    }

    /// Adds a limited tendon, or an equality that keeps its length; returns false if MJCF has
    /// neither.
    pub(super) fn add_tendon_constraint(
        &mut self,
        tendon: &TendonConstraint,
        is_active: bool,
    ) -> bool {
        let TendonConstraint {
            lower,
            upper,
            offset,
            ..
        } = *tendon;
        let is_fixed = lower == upper;
        if tendon.stiffness.is_finite() || !(is_fixed || (lower < upper && is_active)) {
            return false;
        }
        let coefficients = tendon.coefficients.iter().copied();
        let joints: Vec<_> = tendon.joints.iter().copied().zip(coefficients).collect();
        let Some(name) = self.add_fixed_tendon(&joints) else {
            return false;
        };
        if !is_fixed {
            self.set_numbers(vec![("range", vec![lower - offset, upper - offset])]);
            return true;
        }
        let at_reference =
            |(joint, coefficient): &(JointIndex, f64)| coefficient * self.reference_of(*joint);
        let reference: f64 = joints.iter().map(at_reference).sum();
        let xml = &mut self.document.xml;
        xml.start("tendon").attribute("tendon1", &name);
        xml.numbers(
            "polycoef",
            &[lower - offset - reference, 0.0, 0.0, 0.0, 0.0],
        );
        super::constraints::end_equality(xml, is_active);
        true
    }

    /// Adds the tendons of force elements, and reports elements that MJCF does not have.
    pub(super) fn add_springs(&mut self) {
        let plant = self.document.plant;
        for (number, element) in plant.force_elements().iter().enumerate() {
            if self.written_elements.contains(&number) || self.add_spring(element, number) {
                continue;
            }
            let names = subjects::of_force(plant, element);
            self.document
                .leave_out(&format!("{} of", element.type_name()), &names);
        }
    }

    /// Adds the tendon of a force element; returns false if MJCF has none for it.
    fn add_spring(&mut self, element: &ForceElement, number: usize) -> bool {
        match element {
            ForceElement::TendonSpring {
                joints,
                free_lengths,
                stiffness,
                damping,
            } => {
                let acts = *stiffness != 0.0 || *damping != 0.0;
                let known = *free_lengths != [LENGTH_AT_REST; 2];
                if !(acts && known) || self.add_fixed_tendon(joints).is_none() {
                    return false;
                }
                self.set_numbers(vec![
                    ("springlength", free_lengths.to_vec()),
                    ("stiffness", vec![*stiffness]),
                    ("damping", vec![*damping]),
                ]);
                true
            }
            ForceElement::LinearSpringDamper {
                free_length,
                stiffness,
                damping,
                ..
            } if *stiffness != 0.0 || *damping != 0.0 => {
                let Some(sites) = self.sites.of_element(number) else {
                    return false;
                };
                self.add_tendon(TendonPath::Spatial(sites));
                self.set_numbers(vec![
                    ("springlength", vec![*free_length]),
                    ("stiffness", vec![*stiffness]),
                    ("damping", vec![*damping]),
                ]);
                true
            }
            _ => false,
        }
    }

    /// Writes all tendons.
    pub(super) fn write_tendons(&mut self) {
        if self.tendons.is_empty() {
            return;
        }
        let xml = &mut self.document.xml;
        xml.start("tendon");
        for tendon in &self.tendons {
            write_tendon(xml, tendon);
        }
        xml.end();
    }
}

fn write_tendon(xml: &mut XmlText, tendon: &TendonText) {
    let (tag, parts) = match &tendon.path {
        TendonPath::Fixed(joints) => {
            let parts = joints.iter().map(|(name, x)| ("joint", name, Some(*x)));
            ("fixed", parts.collect::<Vec<_>>())
        }
        TendonPath::Spatial(sites) => {
            let parts = sites.iter().map(|name| ("site", name, None));
            ("spatial", parts.collect())
        }
    };
    xml.start(tag).attribute("name", &tendon.name);
    for (name, values) in &tendon.numbers {
        xml.numbers(name, values);
    }
    for (tag, name, coefficient) in parts {
        xml.start(tag).attribute(tag, name);
        if let Some(x) = coefficient {
            xml.numbers("coef", &[x]);
        }
        xml.end();
    }
    xml.end();
}
