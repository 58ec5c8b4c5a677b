//! Fixed tendons, which are sums of joint positions, and spatial ones.

use super::MjcfWriter;
use super::constraints::EqualityEnd;
use super::tables::{PathOwner, SpatialPart, TendonPath, TendonText};
use crate::writing::subjects;
use crate::writing::xml::XmlText;
use tarragon_multibody::{
    ForceElement, JointIndex, PolynomialConstraint, SpatialTendonConstraint, Tendon,
    TendonConstraint,
};

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
        if let TendonPath::Spatial(_) = &path {
            let key = format!("{path:?}");
            self.tendons_by_path
                .entry(key)
                .or_insert_with(|| name.clone());
        }
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

    /// Adds the tendon of a path and returns its name.
    fn add_path(&mut self, owner: PathOwner) -> Option<String> {
        let parts = self.sites.paths.get(&owner)?.parts.clone();
        Some(self.add_tendon(TendonPath::Spatial(parts)))
    }

    /// Returns the name of a tendon with the path of an element, which is added if there is none.
    pub(super) fn path_tendon(&mut self, owner: PathOwner) -> Option<String> {
        let parts = self.sites.paths.get(&owner)?.parts.clone();
        let path = TendonPath::Spatial(parts);
        let key = format!("{path:?}");
        let known = self.tendons_by_path.get(&key).cloned();
        Some(known.unwrap_or_else(|| self.add_tendon(path)))
    }

    /// Adds a tendon of a constraint and returns its name with its length in the file; `None` if
    /// MJCF has none for it.
    fn add_tendon_of(&mut self, tendon: &Tendon, owner: PathOwner) -> Option<(String, f64)> {
        match tendon {
            Tendon::Fixed(joints) => {
                let name = self.add_fixed_tendon(joints)?;
                Some((name, self.fixed_length(joints)))
            }
            Tendon::Spatial(_) => {
                let name = self.path_tendon(owner)?;
                Some((name, self.sites.paths.get(&owner)?.length))
            }
        }
    }

    /// Returns the length of a fixed tendon at the reference positions.
    fn fixed_length(&self, joints: &[(JointIndex, f64)]) -> f64 {
        let at_reference =
            |(joint, coefficient): &(JointIndex, f64)| coefficient * self.reference_of(*joint);
        joints.iter().map(at_reference).sum()
    }

    /// Adds a limited tendon, or an equality that keeps its length; returns false if MJCF has
    /// neither.
    pub(super) fn add_tendon_constraint(
        &mut self,
        tendon: &TendonConstraint,
        end: EqualityEnd,
    ) -> bool {
        let coefficients = tendon.coefficients.iter().copied();
        let joints: Vec<_> = tendon.joints.iter().copied().zip(coefficients).collect();
        let offset = tendon.offset;
        let limits = [tendon.lower - offset, tendon.upper - offset];
        let is_rigid = tendon.stiffness.is_infinite();
        self.add_limits((is_rigid, end), limits, |writer| {
            Some((
                writer.add_fixed_tendon(&joints)?,
                writer.fixed_length(&joints),
            ))
        })
    }

    /// Same as [`Self::add_tendon_constraint`] for the constraint of a path.
    pub(super) fn add_spatial_constraint(
        &mut self,
        number: usize,
        tendon: &SpatialTendonConstraint,
        end: EqualityEnd,
    ) -> bool {
        let is_rigid = tendon.stiffness.is_infinite();
        let owner = PathOwner::Constraint(number, 0);
        self.add_limits((is_rigid, end), [tendon.lower, tendon.upper], |writer| {
            let length = writer.sites.paths.get(&owner)?.length;
            Some((writer.add_path(owner)?, length))
        })
    }

    /// Adds limits of a length, which `add` adds the tendon of; it returns the tendon's name and
    /// its length in the file.
    fn add_limits(
        &mut self,
        (is_rigid, end): (bool, EqualityEnd),
        [lower, upper]: [f64; 2],
        add: impl FnOnce(&mut Self) -> Option<(String, f64)>,
    ) -> bool {
        let is_fixed = lower == upper;
        if !is_rigid || !(is_fixed || (lower < upper && end.is_active)) {
            return false;
        }
        let Some((name, length)) = add(self) else {
            return false;
        };
        if !is_fixed {
            self.set_numbers(vec![("range", vec![lower, upper])]);
            return true;
        }
        let xml = &mut self.document.xml;
        xml.start("tendon").attribute("tendon1", &name);
        xml.numbers("polycoef", &[lower - length, 0.0, 0.0, 0.0, 0.0]);
        end.write(xml);
        true
    }

    /// Writes a polynomial between tendons, or joints; returns false if MJCF has none for it.
    pub(super) fn write_polynomial(
        &mut self,
        number: usize,
        c: &PolynomialConstraint,
        end: EqualityEnd,
    ) -> bool {
        let single = |tendon: &Tendon| match tendon {
            Tendon::Fixed(joints) => match &**joints {
                [(joint, 1.0)] => Some(*joint),
                _ => None,
            },
            Tendon::Spatial(_) => None,
        };
        let (tag, named) = match c.tendons.each_ref().map(single) {
            [Some(first), Some(second)] if first != second => {
                let named = [first, second].map(|joint| {
                    let name = self.joints[joint.index()].clone()?;
                    Some((name, self.reference_of(joint)))
                });
                ("joint", named)
            }
            _ => {
                let owners = [0, 1].map(|which| PathOwner::Constraint(number, which));
                let [first, second] = &c.tendons;
                let first = self.add_tendon_of(first, owners[0]);
                let mut second = first
                    .is_some()
                    .then(|| self.add_tendon_of(second, owners[1]))
                    .flatten();
                // Readers refuse the same tendon twice.
                if let (Some((one, _)), Some((two, length))) = (&first, &second)
                    && one == two
                {
                    second = self.add_path(owners[1]).zip(Some(*length));
                }
                ("tendon", [first, second])
            }
        };
        let [Some((first, length0)), Some((second, length1))] = named else {
            return false;
        };
        // MJCF counts from the lengths in the file.
        let mut coefficients = shifted(c.coefficients, length1 - c.references[1]);
        coefficients[0] += c.references[0] - length0;
        let names = match tag {
            "joint" => ["joint1", "joint2"],
            _ => ["tendon1", "tendon2"],
        };
        let xml = &mut self.document.xml;
        xml.start(tag).attribute(names[0], &first);
        xml.attribute(names[1], &second);
        xml.numbers("polycoef", &coefficients);
        end.write(xml);
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
        if !acts || self.add_path(PathOwner::Force(number)).is_none() {
            return false;
        }
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

/// Returns the coefficients of the polynomial p(x + shift) for those of p(x).
fn shifted(mut coefficients: [f64; 5], shift: f64) -> [f64; 5] {
    // Horner's scheme, again for each derivative.
    for first in 0..4 {
        for k in (first..4).rev() {
            coefficients[k] += shift * coefficients[k + 1];
        }
    }
    coefficients
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
