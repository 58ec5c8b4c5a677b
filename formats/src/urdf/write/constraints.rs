//! Constraints other than couplers, and force elements.

use super::UrdfWriter;
use crate::writing::subjects;
use crate::writing::xml::XmlText;
use nalgebra::Vector3;
use tarragon_multibody::{
    BallConstraint, Constraint, DistanceConstraint, ForceElement, TendonConstraint, WeldConstraint,
};

impl UrdfWriter<'_> {
    pub(super) fn write_constraints(&mut self) {
        let plant = self.document.plant;
        for element in plant.force_elements() {
            self.write_force_element(element);
        }
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let (what, a, b) = match constraint {
                // Written as `<mimic>`.
                Constraint::Coupler(_) => continue,
                Constraint::Tendon(tendon) => {
                    self.write_tendon(tendon);
                    continue;
                }
                Constraint::SpatialTendon(_) | Constraint::Polynomial(_) => {
                    let (what, names) = subjects::of_constraint(plant, constraint);
                    self.document.leave_out(what, &names);
                    self.document.lost_constraints.insert(number);
                    continue;
                }
                Constraint::Ball(ball) => match ball.p_bq {
                    Some(p_bq) => {
                        self.write_ball(ball, &p_bq);
                        continue;
                    }
                    None => (
                        "ball constraint without a point on body B",
                        ball.body_a,
                        ball.body_b,
                    ),
                },
                Constraint::Weld(WeldConstraint { body_a, body_b, .. }) => {
                    ("weld constraint", *body_a, *body_b)
                }
                Constraint::Distance(DistanceConstraint { body_a, body_b, .. }) => {
                    ("distance constraint", *body_a, *body_b)
                }
            };
            let [a, b] = [a, b].map(|body| &self.links[body.index()]);
            let message =
                format!("{what} of '{a}' and '{b}': left out, because URDF has no element for it");
            self.document.warn(message);
            self.document.lost_constraints.insert(number);
        }
    }

    fn write_ball(&mut self, ball: &BallConstraint, p_bq: &Vector3<f64>) {
        if [ball.body_a, ball.body_b].contains(&tarragon_multibody::BodyIndex::WORLD) {
            let bodies = [ball.body_a, ball.body_b].map(|body| &*self.links[body.index()]);
            let message = format!(
                "ball constraint of '{}' and '{}': Drake refuses constraints to the world",
                bodies[0], bodies[1]
            );
            self.document.warn(message);
        }
        let [a, b] = [ball.body_a, ball.body_b].map(|body| &self.links[body.index()]);
        let xml = &mut self.document.xml;
        xml.start("drake:ball_constraint");
        xml.start("drake:ball_constraint_body_A")
            .attribute("name", a)
            .end();
        xml.start("drake:ball_constraint_body_B")
            .attribute("name", b)
            .end();
        value(xml, "drake:ball_constraint_p_AP", ball.p_ap.as_slice());
        value(xml, "drake:ball_constraint_p_BQ", p_bq.as_slice());
        xml.end();
    }

    fn write_tendon(&mut self, tendon: &TendonConstraint) {
        let limits = [tendon.lower, tendon.upper, tendon.stiffness];
        if limits.iter().any(|x| x.is_infinite()) {
            let names = tendon
                .joints
                .iter()
                .map(|j| self.joints[j.index()].as_deref());
            let names: Vec<&str> = names.map(Option::unwrap_or_default).collect();
            let names = names.join("', '");
            self.document.warn(format!(
                "tendon constraint of joints '{names}': Drake refuses infinite limits and stiffness \
                 in URDF; it reads them in SDFormat"
            ));
        }
        let xml = &mut self.document.xml;
        xml.start("drake:tendon_constraint");
        for (joint, a) in tendon.joints.iter().zip(&tendon.coefficients) {
            // A joint with one position is never left out.
            let name = self.joints[joint.index()].as_deref().unwrap_or_default();
            xml.start("drake:tendon_constraint_joint")
                .attribute("name", name);
            xml.numbers("a", &[*a]).end();
        }
        value(xml, "drake:tendon_constraint_offset", &[tendon.offset]);
        value(xml, "drake:tendon_constraint_lower_limit", &[tendon.lower]);
        value(xml, "drake:tendon_constraint_upper_limit", &[tendon.upper]);
        value(
            xml,
            "drake:tendon_constraint_stiffness",
            &[tendon.stiffness],
        );
        value(xml, "drake:tendon_constraint_damping", &[tendon.damping]);
        xml.end();
    }

    fn write_force_element(&mut self, element: &ForceElement) {
        let xml = &mut self.document.xml;
        match element {
            ForceElement::LinearSpringDamper {
                body_a,
                p_ap,
                body_b,
                p_bq,
                free_length,
                stiffness,
                damping,
            } => {
                let [a, b] = [body_a, body_b].map(|body| &self.links[body.index()]);
                xml.start("drake:linear_spring_damper");
                xml.start("drake:linear_spring_damper_body_A")
                    .attribute("name", a)
                    .end();
                xml.start("drake:linear_spring_damper_body_B")
                    .attribute("name", b)
                    .end();
                value(xml, "drake:linear_spring_damper_p_AP", p_ap.as_slice());
                value(xml, "drake:linear_spring_damper_p_BQ", p_bq.as_slice());
                value(
                    xml,
                    "drake:linear_spring_damper_free_length",
                    &[*free_length],
                );
                value(xml, "drake:linear_spring_damper_stiffness", &[*stiffness]);
                value(xml, "drake:linear_spring_damper_damping", &[*damping]);
                xml.end();
            }
            ForceElement::LinearBushingRollPitchYaw {
                frame_a,
                frame_c,
                torque_stiffness,
                torque_damping,
                force_stiffness,
                force_damping,
            } => {
                // Frames that building the plant added are not written.
                let frames = [frame_a, frame_c].map(|frame| self.frames.get(frame));
                let [Some(a), Some(c)] = frames else {
                    let plant = self.document.plant;
                    let bodies = [frame_a, frame_c].map(|f| plant[*f].body());
                    let names = bodies.map(|b| self.links[b.index()].as_str());
                    self.document.leave_out("bushing between", &names);
                    return;
                };
                xml.start("drake:linear_bushing_rpy");
                xml.start("drake:bushing_frameA").attribute("name", a).end();
                xml.start("drake:bushing_frameC").attribute("name", c).end();
                value(
                    xml,
                    "drake:bushing_torque_stiffness",
                    torque_stiffness.as_slice(),
                );
                value(
                    xml,
                    "drake:bushing_torque_damping",
                    torque_damping.as_slice(),
                );
                value(
                    xml,
                    "drake:bushing_force_stiffness",
                    force_stiffness.as_slice(),
                );
                value(xml, "drake:bushing_force_damping", force_damping.as_slice());
                xml.end();
            }
            ForceElement::TendonSpring { .. } => {
                let names = subjects::of_force(self.document.plant, element);
                self.document.leave_out("tendon spring on joints", &names);
            }
            ForceElement::SpatialTendon { .. } => {
                let names = subjects::of_force(self.document.plant, element);
                self.document.leave_out("spatial tendon on bodies", &names);
            }
            ForceElement::RevoluteSpring { joint, .. }
            | ForceElement::PrismaticSpring { joint, .. }
            | ForceElement::DoorHinge { joint, .. } => {
                let joint = self.document.plant[*joint].name();
                self.document.warn(format!(
                    "{} on joint '{joint}': left out, because URDF has no element for it",
                    element.type_name()
                ));
            }
        }
    }
}

fn value(xml: &mut XmlText, tag: &'static str, numbers: &[f64]) {
    xml.start(tag).numbers("value", numbers).end();
}
