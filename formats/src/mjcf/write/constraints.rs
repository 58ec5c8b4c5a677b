//! Equalities: constraints, and the equalities that a plant keeps.

use super::MjcfWriter;
use crate::writing::subjects;
use crate::writing::xml::XmlText;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use tarragon_multibody::{
    Constraint, CouplerConstraint, EqualityKind, JointIndex, ModelEquality, MujocoContact,
    WeldConstraint,
};

/// The attributes that end every element of an equality.
#[derive(Clone, Copy)]
pub(super) struct EqualityEnd {
    pub(super) is_active: bool,
    /// `solref` and `solimp`, if the constraint has them; MuJoCo's defaults are not written.
    parameters: Option<([f64; 2], [f64; 5])>,
}

impl EqualityEnd {
    /// Ends the element of an equality.
    pub(super) fn write(self, xml: &mut XmlText) {
        let default = MujocoContact::default();
        if let Some((solref, solimp)) = self.parameters {
            if solref != default.solref {
                xml.numbers("solref", &solref);
            }
            if solimp != default.solimp {
                xml.numbers("solimp", &solimp);
            }
        }
        if !self.is_active {
            xml.attribute("active", "false");
        }
        xml.end();
    }
}

impl MjcfWriter<'_> {
    pub(super) fn write_equalities(&mut self) {
        let plant = self.document.plant;
        self.document.xml.start("equality");
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let is_active = plant.is_default_constraint_active(number).unwrap_or(true);
            let end = EqualityEnd {
                is_active,
                parameters: plant.constraint_solver_parameters(number).unwrap_or(None),
            };
            if !self.write_constraint(number, constraint, end) {
                let (what, names) = subjects::of_constraint(plant, constraint);
                self.document.leave_out(what, &names);
            }
        }
        for equality in plant.model_equalities() {
            if !self.write_equality(equality) {
                self.document.leave_out("equality", &[&equality.name]);
            }
        }
        self.document.xml.end();
    }

    /// Writes a constraint; returns false if MJCF has none of its kind.
    fn write_constraint(
        &mut self,
        number: usize,
        constraint: &Constraint,
        end: EqualityEnd,
    ) -> bool {
        match constraint {
            Constraint::Ball(ball) => {
                let sites = self.sites.of_constraint(number);
                let xml = &mut self.document.xml;
                xml.start("connect");
                match sites {
                    Some([a, b]) => {
                        xml.attribute("site1", &a).attribute("site2", &b);
                    }
                    None => {
                        let bodies = [ball.body_a, ball.body_b];
                        let [a, b] = bodies.map(|body| &self.bodies[body.index()]);
                        xml.attribute("body1", a).attribute("body2", b);
                        xml.numbers("anchor", ball.p_ap.as_slice());
                    }
                }
                end.write(xml);
                true
            }
            Constraint::Weld(weld) => {
                self.write_weld("", weld, end);
                true
            }
            Constraint::Coupler(coupler) => self.write_coupler(coupler, end),
            Constraint::Tendon(tendon) => self.add_tendon_constraint(tendon, end),
            Constraint::SpatialTendon(tendon) => self.add_spatial_constraint(number, tendon, end),
            Constraint::Polynomial(c) => self.write_polynomial(number, c, end),
            Constraint::Distance(_) => false,
        }
    }

    fn write_weld(&mut self, name: &str, weld: &WeldConstraint, end: EqualityEnd) {
        // The anchor, at which Q is, has no rotation.
        let is_turned = weld.x_bq.rotation != UnitQuaternion::identity();
        let (x_ap, x_bq) = if is_turned {
            (weld.x_ap * weld.x_bq.inverse(), Isometry3::identity())
        } else {
            (weld.x_ap, weld.x_bq)
        };
        let (p, r, q) = (x_ap.translation.vector, x_ap.rotation, x_bq.translation);
        let [a, b] = [weld.body_a, weld.body_b].map(|body| &self.bodies[body.index()]);
        let xml = &mut self.document.xml;
        xml.start("weld");
        if !name.is_empty() {
            xml.attribute("name", name);
        }
        xml.attribute("body1", a).attribute("body2", b);
        xml.numbers("relpose", &[p.x, p.y, p.z, r.w, r.i, r.j, r.k]);
        if q != Translation3::identity() {
            xml.numbers("anchor", q.vector.as_slice());
        }
        end.write(xml);
    }

    /// Returns the position of a joint with one position at which the file states poses.
    pub(super) fn reference_of(&self, joint: JointIndex) -> f64 {
        let joint = &self.document.plant[joint];
        super::reference(joint.default_positions().first().copied().unwrap_or(0.0))
    }

    fn write_coupler(&mut self, coupler: &CouplerConstraint, end: EqualityEnd) -> bool {
        let joints = [coupler.joint0, coupler.joint1];
        let names = joints.map(|joint| self.joints[joint.index()].clone());
        let [Some(first), Some(second)] = names else {
            return false;
        };
        if first == second {
            return false;
        }
        // MJCF counts from the reference positions.
        let [y, x] = joints.map(|joint| self.reference_of(joint));
        let constant = coupler.gear_ratio * x + coupler.offset - y;
        let xml = &mut self.document.xml;
        xml.start("joint").attribute("joint1", &first);
        xml.attribute("joint2", &second);
        xml.numbers("polycoef", &[constant, coupler.gear_ratio, 0.0, 0.0, 0.0]);
        end.write(xml);
        true
    }

    /// Writes an equality that the plant keeps; returns false if its joints are left out.
    fn write_equality(&mut self, equality: &ModelEquality) -> bool {
        let name = &equality.name;
        let (joint0, joint1, coefficients) = match &equality.kind {
            EqualityKind::Weld(weld) => {
                let end = EqualityEnd {
                    is_active: equality.active,
                    parameters: None,
                };
                self.write_weld(name, weld, end);
                let bodies = [weld.body_a, weld.body_b].map(|b| self.bodies[b.index()].clone());
                self.report_acting(name, bodies.as_slice());
                return true;
            }
            EqualityKind::Joint {
                joint0,
                joint1,
                coefficients,
            } => (joint0, joint1, coefficients),
        };
        let names = [Some(*joint0), *joint1];
        let names = names.map(|joint| joint.map(|joint| self.joints[joint.index()].clone()));
        let [Some(Some(first)), second] = names else {
            return false;
        };
        if second == Some(None) {
            return false;
        }
        let xml = &mut self.document.xml;
        xml.start("joint");
        if !name.is_empty() {
            xml.attribute("name", name);
        }
        xml.attribute("joint1", &first);
        if let Some(Some(second)) = &second {
            xml.attribute("joint2", second);
        }
        xml.numbers("polycoef", coefficients);
        let end = EqualityEnd {
            is_active: equality.active,
            parameters: None,
        };
        end.write(xml);
        let joints: Vec<String> = std::iter::once(first).chain(second.flatten()).collect();
        self.report_acting(name, &joints);
        true
    }

    /// Reports an equality of bodies or joints that the plant only keeps.
    fn report_acting(&mut self, name: &str, subjects: &[String]) {
        let of = subjects.join("' and '");
        self.document.warn(format!(
            "equality '{name}' of '{of}': the plant only keeps it, but it acts when the file is \
             read back"
        ));
    }
}
