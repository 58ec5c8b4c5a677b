//! Drake's elements: constraints, force elements and collision filter groups.

use super::SdfWriter;
use crate::writing::subjects;
use crate::writing::xml::{XmlText, number, numbers};
use nalgebra::Vector3;
use tarragon_multibody::{BallConstraint, BodyIndex, Constraint, ForceElement, TendonConstraint};

impl SdfWriter<'_> {
    pub(super) fn write_drake_elements(&mut self, model: &str) {
        let plant = self.document.plant;
        for element in plant.force_elements() {
            self.write_force_element(element);
        }
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let is_written = match constraint {
                // Written with the joint.
                Constraint::Coupler(_) => true,
                Constraint::Tendon(tendon) => self.write_tendon(tendon),
                Constraint::SpatialTendon(_) | Constraint::Polynomial(_) => {
                    let (what, names) = subjects::of_constraint(plant, constraint);
                    self.document.leave_out(what, &names);
                    false
                }
                Constraint::Ball(ball) => match ball.p_bq {
                    Some(p_bq) => self.write_ball(ball, &p_bq),
                    None => self.leave_pair("ball constraint", ball.body_a, ball.body_b),
                },
                Constraint::Weld(weld) => {
                    self.leave_pair("weld constraint", weld.body_a, weld.body_b)
                }
                Constraint::Distance(rod) => {
                    self.leave_pair("distance constraint", rod.body_a, rod.body_b)
                }
            };
            if !is_written {
                self.document.lost_constraints.insert(number);
            }
        }
        self.write_filter_groups(model);
    }

    /// Reports what connects two links and is left out; returns false.
    fn leave_pair(&mut self, what: &str, a: BodyIndex, b: BodyIndex) -> bool {
        let names = [a, b].map(|body| self.links[body.index()].as_str());
        self.document.leave_out(&format!("{what} of"), &names);
        false
    }

    /// Returns the names of two links; reports the world, which is no link, and returns nothing.
    fn pair(&mut self, what: &str, a: BodyIndex, b: BodyIndex) -> Option<[String; 2]> {
        if a == BodyIndex::WORLD || b == BodyIndex::WORLD {
            self.leave_pair(what, a, b);
            return None;
        }
        Some([a, b].map(|body| self.links[body.index()].clone()))
    }

    /// Writes a constraint; returns false if it is left out.
    fn write_ball(&mut self, ball: &BallConstraint, p_bq: &Vector3<f64>) -> bool {
        let Some([a, b]) = self.pair("ball constraint", ball.body_a, ball.body_b) else {
            return false;
        };
        let xml = &mut self.document.xml;
        xml.start("drake:ball_constraint");
        xml.text("drake:ball_constraint_body_A", &a);
        xml.text("drake:ball_constraint_body_B", &b);
        vector(xml, "drake:ball_constraint_p_AP", &ball.p_ap);
        vector(xml, "drake:ball_constraint_p_BQ", p_bq);
        xml.end();
        true
    }

    /// Writes a constraint; returns false if it is left out.
    fn write_tendon(&mut self, tendon: &TendonConstraint) -> bool {
        if tendon
            .joints
            .iter()
            .any(|j| self.joints[j.index()].is_none())
        {
            let plant = self.document.plant;
            let names = tendon.joints.iter().map(|j| plant[*j].name());
            let names: Vec<&str> = names.collect();
            self.document.leave_out("tendon over joints", &names);
            return false;
        }
        let xml = &mut self.document.xml;
        xml.start("drake:tendon_constraint");
        for (joint, a) in tendon.joints.iter().zip(&tendon.coefficients) {
            let name = self.joints[joint.index()].as_deref().unwrap_or_default();
            xml.start("drake:tendon_constraint_joint");
            xml.attribute("name", name).numbers("a", &[*a]).end();
        }
        for (tag, value) in [
            ("drake:tendon_constraint_offset", tendon.offset),
            ("drake:tendon_constraint_lower_limit", tendon.lower),
            ("drake:tendon_constraint_upper_limit", tendon.upper),
            ("drake:tendon_constraint_stiffness", tendon.stiffness),
            ("drake:tendon_constraint_damping", tendon.damping),
        ] {
            // Drake requires all of them, and reads `inf`.
            xml.text(tag, &number(value));
        }
        xml.end();
        true
    }

    fn write_force_element(&mut self, element: &ForceElement) {
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
                let Some([a, b]) = self.pair("linear spring damper", *body_a, *body_b) else {
                    return;
                };
                let xml = &mut self.document.xml;
                xml.start("drake:linear_spring_damper");
                xml.text("drake:linear_spring_damper_body_A", &a);
                xml.text("drake:linear_spring_damper_body_B", &b);
                vector(xml, "drake:linear_spring_damper_p_AP", p_ap);
                vector(xml, "drake:linear_spring_damper_p_BQ", p_bq);
                for (tag, value) in [
                    ("drake:linear_spring_damper_free_length", free_length),
                    ("drake:linear_spring_damper_stiffness", stiffness),
                    ("drake:linear_spring_damper_damping", damping),
                ] {
                    xml.text(tag, &number(*value));
                }
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
                let frames = [frame_a, frame_c].map(|frame| self.frames.get(frame));
                let [Some(a), Some(c)] = frames else {
                    let plant = self.document.plant;
                    let bodies = [frame_a, frame_c].map(|f| plant[*f].body());
                    let names = bodies.map(|b| self.links[b.index()].as_str());
                    self.document.leave_out("bushing between", &names);
                    return;
                };
                let xml = &mut self.document.xml;
                xml.start("drake:linear_bushing_rpy");
                xml.text("drake:bushing_frameA", a);
                xml.text("drake:bushing_frameC", c);
                vector(xml, "drake:bushing_torque_stiffness", torque_stiffness);
                vector(xml, "drake:bushing_torque_damping", torque_damping);
                vector(xml, "drake:bushing_force_stiffness", force_stiffness);
                vector(xml, "drake:bushing_force_damping", force_damping);
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
            ForceElement::DoorHinge { joint, .. } => {
                let joint = self.document.plant[*joint].name();
                self.document.leave_out("door hinge on joint", &[joint]);
            }
            // Written with their joints.
            ForceElement::RevoluteSpring { .. } | ForceElement::PrismaticSpring { .. } => {}
        }
    }

    fn write_filter_groups(&mut self, model: &str) {
        let groups = self
            .document
            .filter_groups(model, &self.links, &mut self.taken, &[]);
        let is_link = |b: &&BodyIndex| **b != BodyIndex::WORLD;
        // A group without links would be an error.
        let empty = groups
            .iter()
            .filter(|g| !g.members.iter().any(|b| is_link(&b)));
        let empty: Vec<String> = empty.map(|g| g.name.clone()).collect();
        for mut group in groups {
            let name = &group.name;
            if group.members.contains(&BodyIndex::WORLD) {
                self.document.warn(format!(
                    "collision filter group '{name}': the 'world', which is no link of SDFormat, \
                     is left out"
                ));
            }
            if empty.contains(name) {
                continue;
            }
            group.ignored.retain(|name| !empty.contains(name));
            let members = group.members.iter().filter(is_link);
            let members: Vec<&String> = members.map(|b| &self.links[b.index()]).collect();
            let xml = &mut self.document.xml;
            xml.start("drake:collision_filter_group")
                .attribute("name", name);
            for link in members {
                xml.text("drake:member", link);
            }
            for ignored in &group.ignored {
                xml.text("drake:ignored_collision_filter_group", ignored);
            }
            xml.end();
        }
    }
}

fn vector(xml: &mut XmlText, tag: &'static str, value: &Vector3<f64>) {
    xml.text(tag, &numbers(value.as_slice()));
}
