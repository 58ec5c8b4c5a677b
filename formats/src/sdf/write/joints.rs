//! Joints with their actuators, springs and couplings.

use super::{SdfWriter, write_pose};
use crate::writing::limits::{has_limits, limits_of};
use crate::writing::xml::{number, numbers};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_multibody::{
    BodyIndex, Constraint, CouplerConstraint, ForceElement, FrameIndex, Joint, JointActuator,
    JointIndex, JointKind,
};

/// The actuator, the spring and the coupler of one joint.
#[derive(Default)]
struct OnJoint<'a> {
    actuator: Option<&'a JointActuator>,
    /// Reference and stiffness.
    spring: Option<(f64, f64)>,
    coupler: Option<&'a CouplerConstraint>,
}

/// A joint as SDFormat states it.
struct SdfJoint<'a> {
    joint: &'a Joint,
    parent: BodyIndex,
    child: BodyIndex,
    /// Pose of the joint in its child.
    x_bm: Isometry3<f64>,
    axis: Option<Vector3<f64>>,
}

impl<'a> SdfWriter<'a> {
    pub(super) fn write_joints(&mut self) {
        let mut acting = self.collect_what_acts();
        let plant = self.document.plant;
        for of_drake in [false, true] {
            for (index, joint) in plant.joints().filter(|(_, j)| !j.is_ephemeral()) {
                if is_of_drake(joint.kind()) != of_drake {
                    continue;
                }
                let Some(name) = self.joints[index.index()].clone() else {
                    continue;
                };
                let acting = acting.remove(&index).unwrap_or_default();
                if of_drake {
                    self.write_drake_joint(&name, joint)
                } else {
                    self.write_joint(&name, joint, &acting)
                }
            }
        }
    }

    /// Returns the actuator, the spring and the coupler of each joint. Reports those that a joint
    /// cannot have.
    fn collect_what_acts(&mut self) -> BTreeMap<JointIndex, OnJoint<'a>> {
        let plant = self.document.plant;
        let mut all: BTreeMap<JointIndex, OnJoint<'a>> = BTreeMap::new();
        let mut left: Vec<(&str, String)> = vec![];
        let joints = &self.joints;
        let can_act = |joint: JointIndex| {
            joints[joint.index()].is_some() && !is_of_drake(plant[joint].kind())
        };
        for actuator in plant.actuators() {
            let name = actuator.name();
            let Some(joint) = actuator.joint() else {
                left.push(("actuator", name.into()));
                continue;
            };
            let on = all.entry(joint).or_default();
            if on.actuator.is_some() || !can_act(joint) {
                left.push(("actuator", name.into()));
                continue;
            }
            on.actuator = Some(actuator);
            let written = self.joints[joint.index()].as_deref().unwrap_or_default();
            if written != name {
                self.document.warn(format!(
                    "actuator '{name}' is renamed to '{written}': actuators of SDFormat have the \
                     name of their joint"
                ));
            }
        }
        for element in plant.force_elements() {
            let (joint, reference, stiffness) = match element {
                ForceElement::RevoluteSpring {
                    joint,
                    nominal_angle,
                    stiffness,
                } => (*joint, *nominal_angle, *stiffness),
                ForceElement::PrismaticSpring {
                    joint,
                    nominal_position,
                    stiffness,
                } => (*joint, *nominal_position, *stiffness),
                _ => continue,
            };
            let on = all.entry(joint).or_default();
            // A stiffness of 0 is no spring to readers.
            if on.spring.is_none() && stiffness != 0.0 {
                on.spring = Some((reference, stiffness))
            } else {
                left.push(("spring on joint", plant[joint].name().into()))
            }
        }
        for (number, constraint) in plant.constraints().iter().enumerate() {
            if let Constraint::Coupler(coupler) = constraint {
                let on = all.entry(coupler.joint0).or_default();
                let possible = can_act(coupler.joint0) && can_act(coupler.joint1);
                if on.coupler.is_none() && possible && coupler.joint0 != coupler.joint1 {
                    on.coupler = Some(coupler)
                } else {
                    let name = plant[coupler.joint0].name();
                    left.push(("coupler of joint", name.into()));
                    self.document.lost_constraints.insert(number);
                }
            }
        }
        for (what, name) in left {
            self.document.leave_out(what, &[&name]);
        }
        all
    }

    fn write_joint(&mut self, name: &str, joint: &'a Joint, acting: &OnJoint<'_>) {
        let placed = place(joint);
        if placed.child != joint.child_body() {
            self.document.warn(format!(
                "joint '{name}': parent and child are swapped, because the child must not be the \
                 world"
            ));
        }
        let parent = self.links[placed.parent.index()].clone();
        let child = self.links[placed.child.index()].clone();
        self.document.report_limits(name, joint);
        self.document.report_damping(name, joint);
        self.document.report_ball(name, joint);
        let xml = &mut self.document.xml;
        xml.start("joint").attribute("name", name);
        xml.attribute("type", type_of(joint));
        write_pose(xml, &placed.x_bm, None);
        xml.text("parent", &parent);
        xml.text("child", &child);
        if let JointKind::Screw { pitch, .. } = joint.kind() {
            xml.text("screw_thread_pitch", &number(*pitch));
        }
        match (joint.kind(), placed.axis) {
            (JointKind::Weld { .. }, _) => {}
            (_, Some(axis)) => self.write_axis("axis", &placed, &axis, acting),
            (JointKind::Universal, None) => {
                self.write_axis("axis", &placed, &Vector3::x(), acting);
                self.write_axis("axis2", &placed, &Vector3::y(), acting);
            }
            (_, None) => {
                if joint.damping().iter().any(|d| *d != 0.0) {
                    self.write_axis("axis", &placed, &Vector3::z(), acting);
                }
            }
        }
        if let Some(actuator) = acting.actuator {
            self.write_rotor(actuator);
        }
        if let Some(coupler) = acting.coupler {
            let followed = self.joints[coupler.joint1.index()].as_deref();
            let xml = &mut self.document.xml;
            xml.start("drake:mimic");
            xml.attribute("joint", followed.unwrap_or_default());
            xml.numbers("multiplier", &[coupler.gear_ratio]);
            xml.numbers("offset", &[coupler.offset]).end();
        }
        self.document.xml.end();
    }

    fn write_axis(
        &mut self,
        tag: &'static str,
        placed: &SdfJoint<'_>,
        axis: &Vector3<f64>,
        acting: &OnJoint<'_>,
    ) {
        let joint = placed.joint;
        let xml = &mut self.document.xml;
        xml.start(tag);
        xml.text("xyz", &numbers(axis.as_slice()));
        let effort = acting.actuator.map_or(0.0, JointActuator::effort_limit);
        let mut limits = vec![("effort", effort)];
        if has_limits(joint.kind()) {
            for found in limits_of(joint) {
                let (lower, upper) = (found.lower[0], found.upper[0]);
                match found.name {
                    "position" => limits.extend([("lower", lower), ("upper", upper)]),
                    "velocity" => limits.push(("velocity", upper.max(-lower))),
                    _ => limits.push(("drake:acceleration", upper.max(-lower))),
                }
            }
        }
        limits.retain(|(_, x)| x.is_finite());
        if !limits.is_empty() {
            xml.start("limit");
            for (tag, value) in limits {
                xml.text(tag, &number(value));
            }
            xml.end();
        }
        let damping = joint.damping().first().copied().unwrap_or_default();
        let spring = acting.spring.filter(|_| has_limits(joint.kind()));
        if damping != 0.0 || spring.is_some() {
            xml.start("dynamics");
            if damping != 0.0 {
                xml.text("damping", &number(damping));
            }
            if let Some((reference, stiffness)) = spring {
                xml.text("spring_reference", &number(reference));
                xml.text("spring_stiffness", &number(stiffness));
            }
            xml.end();
        }
        xml.end();
    }

    fn write_rotor(&mut self, actuator: &JointActuator) {
        let xml = &mut self.document.xml;
        for (tag, value, default) in [
            ("drake:rotor_inertia", actuator.default_rotor_inertia(), 0.0),
            ("drake:gear_ratio", actuator.default_gear_ratio(), 1.0),
        ] {
            if value != default {
                xml.text(tag, &number(value));
            }
        }
        if let Some(gains) = actuator.controller_gains() {
            xml.start("drake:controller_gains").numbers("p", &[gains.p]);
            xml.numbers("d", &[gains.d]).end();
        }
    }

    /// Writes a planar or a curvilinear joint, which connects two frames.
    fn write_drake_joint(&mut self, name: &str, joint: &Joint) {
        let ends = [
            (joint.parent_body(), joint.frame_on_parent()),
            (joint.child_body(), joint.frame_on_child()),
        ];
        let [parent, child] = ends.map(|(body, frame)| self.frame_of_joint(body, frame));
        self.document.report_limits(name, joint);
        self.document.report_damping(name, joint);
        let kind = match joint.kind() {
            JointKind::Planar => "planar",
            _ => "curvilinear",
        };
        let xml = &mut self.document.xml;
        xml.start("drake:joint").attribute("name", name);
        xml.attribute("type", kind);
        xml.text("drake:parent", &parent);
        xml.text("drake:child", &child);
        xml.text("drake:damping", &numbers(joint.damping()));
        if let JointKind::Curvilinear { path } = joint.kind() {
            self.write_curves(path);
        }
        self.document.xml.end();
    }

    /// Returns the name of a frame of a joint, which is written if it is not yet.
    fn frame_of_joint(&mut self, body: BodyIndex, frame: Option<FrameIndex>) -> String {
        // A joint of a plant has frames.
        let Some(index) = frame else {
            return self.links[body.index()].clone();
        };
        if let Some(name) = self.frames.get(&index) {
            return name.clone();
        }
        let frame = &self.document.plant[index];
        let (instance, name) = (frame.model_instance(), frame.name());
        let name = self.document.name(&mut self.taken, "frame", instance, name);
        let x_bf = *frame.pose_in_body();
        self.write_frame(&name, body, &x_bf);
        self.frames.insert(index, name.clone());
        name
    }

    fn write_curves(&mut self, path: &PiecewiseConstantCurvatureTrajectory) {
        let start = path.pose(0.0).rotation;
        let xml = &mut self.document.xml;
        for (tag, direction) in [
            ("drake:initial_tangent", Vector3::x()),
            ("drake:plane_normal", Vector3::z()),
        ] {
            let direction = start * direction;
            xml.start(tag).start("xyz");
            xml.end_with_text(&numbers(direction.as_slice()));
            xml.end();
        }
        let periodic = if path.is_periodic() { "true" } else { "false" };
        xml.text("drake:is_periodic", periodic);
        xml.start("drake:curves");
        for (ends, rate) in path.breaks().windows(2).zip(path.turning_rates()) {
            let length = ends[1] - ends[0];
            if *rate == 0.0 {
                xml.start("drake:line_segment");
                xml.text("drake:length", &number(length));
            } else {
                xml.start("drake:circular_arc");
                xml.text("drake:radius", &number(1.0 / rate.abs()));
                xml.text("drake:angle", &number(length * rate));
            }
            xml.end();
        }
        xml.end();
    }
}

fn is_of_drake(kind: &JointKind) -> bool {
    matches!(kind, JointKind::Planar | JointKind::Curvilinear { .. })
}

fn type_of(joint: &Joint) -> &'static str {
    match joint.kind() {
        JointKind::Weld { .. } => "fixed",
        JointKind::Revolute { .. } => {
            let limits = [joint.position_lower_limits(), joint.position_upper_limits()];
            if limits.concat().iter().any(|x| x.is_finite()) {
                "revolute"
            } else {
                "continuous"
            }
        }
        JointKind::Prismatic { .. } => "prismatic",
        JointKind::Screw { .. } => "screw",
        JointKind::Universal => "universal",
        _ => "ball",
    }
}

/// Returns the reason for which a joint cannot be written.
pub(super) fn refusal(joint: &Joint) -> Option<String> {
    let kind = joint.kind().type_name();
    let [on_parent, on_child] =
        [joint.parent_body(), joint.child_body()].map(|body| body == BodyIndex::WORLD);
    let has_swap = matches!(joint.kind(), JointKind::Weld { .. }) || joint.kind().axis().is_some();
    if joint.kind().is_floating() {
        Some(format!("SDFormat has no joints of kind {kind}"))
    } else if is_of_drake(joint.kind()) && (on_parent || on_child) {
        Some(format!(
            "joints of kind {kind} of SDFormat cannot connect the world"
        ))
    } else if on_child && !has_swap {
        Some(format!(
            "the child of a joint of kind {kind} of SDFormat must not be the world"
        ))
    } else {
        None
    }
}

/// Finds the two links of a joint and its pose in the child. The child must not be the world: then
/// parent and child are swapped, and the axis is reversed.
fn place(joint: &Joint) -> SdfJoint<'_> {
    let axis = joint.kind().axis().map(|a| a.into_inner());
    if joint.child_body() != BodyIndex::WORLD {
        SdfJoint {
            joint,
            parent: joint.parent_body(),
            child: joint.child_body(),
            x_bm: *joint.pose_on_child(),
            axis,
        }
    } else {
        SdfJoint {
            joint,
            parent: joint.child_body(),
            child: joint.parent_body(),
            x_bm: *joint.pose_on_parent(),
            axis: axis.map(|a| -a),
        }
    }
}
