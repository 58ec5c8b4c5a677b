//! Equalities: constraints, and the equalities that a plant keeps.

use super::MjcfWriter;
use crate::model::{
    Constraint, CouplerConstraint, EqualityKind, JointIndex, ModelEquality, MujocoContact,
    WeldConstraint,
};
use crate::writing::subjects;
use crate::writing::xml::XmlText;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

/// Ends the element of an equality.
pub(super) fn end_equality(xml: &mut XmlText, is_active: bool) {
    if !is_active {
        xml.attribute("active", "false");
    }
    xml.end();
}

impl MjcfWriter<'_> {
    pub(super) fn write_equalities(&mut self) {
        let plant = self.document.plant;
        self.document.xml.start("equality");
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let is_active = plant.is_default_constraint_active(number).unwrap_or(true);
            let time = plant.constraint_relaxation_time(number).unwrap_or(0.0);
            if time != 0.0 && time != MujocoContact::default().reference_time() {
                let (what, names) = subjects::of_constraint(plant, constraint);
                self.document.warn(format!(
                    "{what} '{}': its relaxation time of {time:?} s becomes MuJoCo's default",
                    names.join("' and '")
                ));
            }
            if !self.write_constraint(number, constraint, is_active) {
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
        is_active: bool,
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
                end_equality(xml, is_active);
                true
            }
            Constraint::Weld(weld) => {
                self.write_weld("", weld, is_active);
                true
            }
            Constraint::Coupler(coupler) => self.write_coupler(coupler, is_active),
            Constraint::Tendon(tendon) => self.add_tendon_constraint(tendon, is_active),
            Constraint::SpatialTendon(tendon) => {
                self.add_spatial_constraint(number, tendon, is_active)
            }
            Constraint::Polynomial(c) => self.write_polynomial(number, c, is_active),
            Constraint::Distance(_) => false,
        }
    }

    fn write_weld(&mut self, name: &str, weld: &WeldConstraint, is_active: bool) {
        // The anchor, at which Q is, has no rotation.
        let is_turned = weld.x_bq.rotation != UnitQuaternion::identity();
        let (x_ap, x_bq) = match is_turned {
            true => (weld.x_ap * weld.x_bq.inverse(), Isometry3::identity()),
            false => (weld.x_ap, weld.x_bq),
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
        end_equality(xml, is_active);
    }

    /// Returns the position of a joint with one position at which the file states poses.
    pub(super) fn reference_of(&self, joint: JointIndex) -> f64 {
        let joint = self.document.plant.joint_at(joint);
        super::reference(joint.default_positions().first().copied().unwrap_or(0.0))
    }

    fn write_coupler(&mut self, coupler: &CouplerConstraint, is_active: bool) -> bool {
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
        end_equality(xml, is_active);
        true
    }

    /// Writes an equality that the plant keeps; returns false if its joints are left out.
    fn write_equality(&mut self, equality: &ModelEquality) -> bool {
        let name = &equality.name;
        let (joint0, joint1, coefficients) = match &equality.kind {
            EqualityKind::Weld(weld) => {
                self.write_weld(name, weld, equality.active);
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
        end_equality(xml, equality.active);
        let joints: Vec<String> = std::iter::once(first).chain(second.flatten()).collect();
        self.report_acting(name, &joints);
        true
    }

    /// Reports an equality of bodies or joints that the plant only keeps.
    fn report_acting(&mut self, name: &str, subjects: &[String]) {
        let of = subjects.join("' and '");
        self.document.warn(format!(
            "equality '{name}' of '{of}': it does not act in the plant, and does where the file is \
             read"
        ));
    }
}
