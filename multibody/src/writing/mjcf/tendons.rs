//! Fixed tendons, which are sums of joint positions, and spatial ones.

use super::MjcfWriter;
use super::tables::{SpatialPart, TendonPath, TendonText};
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
            } => self.add_spatial_tendon(number, &[*free_length], [*stiffness, *damping]),
            ForceElement::SpatialTendon {
                free_lengths,
                stiffness,
                damping,
                ..
            } if *free_lengths != [LENGTH_AT_REST; 2] => {
                self.add_spatial_tendon(number, free_lengths, [*stiffness, *damping])
            }
            _ => false,
        }
    }

    /// Adds the tendon of a force element with a path; returns false if it does not act.
    fn add_spatial_tendon(
        &mut self,
        number: usize,
        free_lengths: &[f64],
        [stiffness, damping]: [f64; 2],
    ) -> bool {
        let acts = stiffness != 0.0 || damping != 0.0;
        let Some(path) = self.sites.of_element(number).filter(|_| acts) else {
            return false;
        };
        self.add_tendon(TendonPath::Spatial(path));
        self.set_numbers(vec![
            ("springlength", free_lengths.to_vec()),
            ("stiffness", vec![stiffness]),
            ("damping", vec![damping]),
        ]);
        true
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
    xml.start(match &tendon.path {
        TendonPath::Fixed(_) => "fixed",
        TendonPath::Spatial(_) => "spatial",
    });
    xml.attribute("name", &tendon.name);
    for (name, values) in &tendon.numbers {
        xml.numbers(name, values);
    }
    match &tendon.path {
        TendonPath::Fixed(joints) => {
            for (name, coefficient) in joints {
                xml.start("joint").attribute("joint", name);
                xml.numbers("coef", &[*coefficient]).end();
            }
        }
        TendonPath::Spatial(parts) => parts.iter().for_each(|part| write_part(xml, part)),
    }
    xml.end();
}

fn write_part(xml: &mut XmlText, part: &SpatialPart) {
    match part {
        SpatialPart::Site(name) => xml.start("site").attribute("site", name),
        SpatialPart::Pulley(divisor) => xml.start("pulley").numbers("divisor", &[*divisor]),
        SpatialPart::Geom(name, side) => {
            let xml = xml.start("geom").attribute("geom", name);
            match side {
                Some(site) => xml.attribute("sidesite", site),
                None => xml,
            }
        }
    }
    .end();
}
