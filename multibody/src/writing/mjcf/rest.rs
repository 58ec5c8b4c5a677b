//! Actuators, excluded pairs and equalities, and reports of everything that MJCF does not have.

use super::MjcfWriter;
use crate::model::{
    BodyIndex, Constraint, EqualityKind, FrameIndex, JointActuator, JointIndex, ModelEquality,
};
use crate::writing::document::TakenNames;
use std::collections::{BTreeMap, BTreeSet};

impl MjcfWriter<'_> {
    /// Returns the inertia that the actuators of a joint reflect.
    pub(super) fn armature(&self, joint: JointIndex) -> f64 {
        let all = self.document.plant.actuators().iter();
        let mut own = all.filter(|a| a.joint() == joint);
        own.next()
            .map_or(0.0, JointActuator::calc_reflected_inertia)
    }

    pub(super) fn write_actuators(&mut self) {
        let plant = self.document.plant;
        if plant.actuators().is_empty() {
            return;
        }
        let mut taken = TakenNames::default();
        self.document.xml.start("actuator");
        for actuator in plant.actuators() {
            let name = actuator.name();
            let Some(joint) = self.joints[actuator.joint().index()].clone() else {
                self.document.leave_out("actuator", &[name]);
                continue;
            };
            let (rotor, gear) = (
                actuator.default_rotor_inertia(),
                actuator.default_gear_ratio(),
            );
            if gear != 1.0 || rotor != self.armature(actuator.joint()) {
                self.document.warn(format!(
                    "actuator '{name}': rotor inertia and gear ratio become the armature of joint \
                     '{joint}'"
                ));
            }
            let instance = actuator.model_instance();
            let name = self.document.name(&mut taken, "actuator", instance, name);
            let limit = actuator.effort_limit();
            let gains = actuator.controller_gains();
            let gains = gains.filter(|g| (g.p, g.d) != (0.0, 0.0));
            if actuator.controller_gains().is_some() && gains.is_none() {
                self.document
                    .warn(format!("actuator '{name}': gains of 0 are left out"));
            }
            let xml = &mut self.document.xml;
            match gains {
                Some(gains) => {
                    xml.start("position").attribute("name", &name);
                    xml.attribute("joint", &joint);
                    xml.numbers("kp", &[gains.p]).numbers("kv", &[gains.d]);
                    if limit.is_finite() {
                        xml.numbers("forcerange", &[-limit, limit]);
                    }
                }
                None => {
                    xml.start("motor").attribute("name", &name);
                    xml.attribute("joint", &joint);
                    if limit.is_finite() {
                        xml.numbers("ctrlrange", &[-limit, limit]);
                    }
                }
            }
            xml.end();
        }
        self.document.xml.end();
    }

    /// Writes the pairs of bodies that are not tested against each other; filter groups become
    /// pairs.
    pub(super) fn write_contact(&mut self) {
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
        if pairs.is_empty() {
            return;
        }
        let xml = &mut self.document.xml;
        xml.start("contact");
        for (a, b) in pairs {
            let [a, b] = [a, b].map(|body| &self.bodies[body.index()]);
            xml.start("exclude").attribute("body1", a);
            xml.attribute("body2", b).end();
        }
        xml.end();
    }

    /// Writes balls without a point on body B, and the equalities that the plant keeps.
    pub(super) fn write_equalities(&mut self) {
        let plant = self.document.plant;
        self.document.xml.start("equality");
        for constraint in plant.constraints() {
            let (what, names) = match constraint {
                Constraint::Ball(ball) if ball.p_bq.is_none() => {
                    let bodies = [ball.body_a, ball.body_b];
                    let [a, b] = bodies.map(|body| &self.bodies[body.index()]);
                    let xml = &mut self.document.xml;
                    xml.start("connect").attribute("body1", a);
                    xml.attribute("body2", b);
                    xml.numbers("anchor", ball.p_ap.as_slice()).end();
                    continue;
                }
                Constraint::Ball(c) => ("ball constraint", self.body_pair(c.body_a, c.body_b)),
                Constraint::Weld(c) => ("weld constraint", self.body_pair(c.body_a, c.body_b)),
                Constraint::Distance(c) => {
                    ("distance constraint", self.body_pair(c.body_a, c.body_b))
                }
                Constraint::Coupler(c) => ("coupler of joint", self.joint_list(&[c.joint0])),
                Constraint::Tendon(c) => ("tendon over joint", self.joint_list(&c.joints)),
            };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.document.leave_out(what, &names);
        }
        for equality in plant.model_equalities() {
            self.write_equality(equality);
        }
        self.document.xml.end();
    }

    fn body_pair(&self, a: BodyIndex, b: BodyIndex) -> Vec<String> {
        [a, b].map(|body| self.bodies[body.index()].clone()).into()
    }
    fn joint_list(&self, joints: &[JointIndex]) -> Vec<String> {
        let plant = self.document.plant;
        let names = joints.iter().map(|j| plant.joint_at(*j).name().to_string());
        names.collect()
    }

    fn write_equality(&mut self, equality: &ModelEquality) {
        let name = &equality.name;
        let (tag, attributes, numbers) = match &equality.kind {
            EqualityKind::Weld(weld) => {
                let x = weld.x_ap * weld.x_bq.inverse();
                let (p, q) = (x.translation.vector, x.rotation);
                let [a, b] = [weld.body_a, weld.body_b].map(|b| self.bodies[b.index()].clone());
                let pose = vec![p.x, p.y, p.z, q.w, q.i, q.j, q.k];
                let bodies = vec![("body1", a), ("body2", b)];
                ("weld", bodies, ("relpose", pose))
            }
            EqualityKind::Joint {
                joint0,
                joint1,
                coefficients,
            } => {
                let joint = |j: &JointIndex| self.joints[j.index()].clone();
                let Some(first) = joint(joint0) else {
                    self.document.leave_out("equality", &[name]);
                    return;
                };
                let mut joints = vec![("joint1", first)];
                if let Some(index) = joint1 {
                    let Some(second) = joint(index) else {
                        self.document.leave_out("equality", &[name]);
                        return;
                    };
                    joints.push(("joint2", second));
                }
                ("joint", joints, ("polycoef", coefficients.to_vec()))
            }
        };
        let xml = &mut self.document.xml;
        xml.start(tag);
        if !name.is_empty() {
            xml.attribute("name", name);
        }
        for (attribute, value) in attributes {
            xml.attribute(attribute, &value);
        }
        xml.numbers(numbers.0, &numbers.1);
        if !equality.active {
            xml.attribute("active", "false");
        }
        xml.end();
    }

    pub(super) fn report_what_is_left(&mut self) {
        let plant = self.document.plant;
        let mut of_joints: BTreeSet<FrameIndex> = BTreeSet::new();
        for (_, joint) in plant.joints() {
            of_joints.extend(joint.frame_on_parent());
            of_joints.extend(joint.frame_on_child());
        }
        let lost = plant.declared_frames().filter(|(index, frame)| {
            let usual = frame.name().ends_with("_parent") || frame.name().ends_with("_child");
            let is_body = plant.body_at(frame.body()).body_frame() == *index;
            let is_of_joint = usual && of_joints.contains(index);
            !(is_body || is_of_joint)
        });
        let names: Vec<&str> = lost.map(|(_, f)| f.name()).collect();
        self.document.leave_out("frame", &names);
        for element in plant.force_elements() {
            let names = self.names_of(element);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.document
                .leave_out(&format!("{} of", element.type_name()), &names);
        }
        let names: Vec<&str> = plant.deformable_bodies().iter().map(|b| b.name()).collect();
        self.document.leave_out("deformable body", &names);
        let names: Vec<&str> = plant.keyframes().iter().map(|k| &*k.name).collect();
        self.document.leave_out("keyframe", &names);
        self.document.report_weightless();
    }

    fn names_of(&self, element: &crate::model::ForceElement) -> Vec<String> {
        use crate::model::ForceElement as Force;
        match element {
            Force::RevoluteSpring { joint, .. }
            | Force::PrismaticSpring { joint, .. }
            | Force::DoorHinge { joint, .. } => self.joint_list(&[*joint]),
            Force::LinearSpringDamper { body_a, body_b, .. } => self.body_pair(*body_a, *body_b),
            Force::LinearBushingRollPitchYaw {
                frame_a, frame_c, ..
            } => {
                let plant = self.document.plant;
                let [a, c] = [frame_a, frame_c].map(|f| plant.frame_at(*f).body());
                self.body_pair(a, c)
            }
        }
    }
}
