//! Joints with their actuators.

use super::{UrdfWriter, write_origin};
use crate::writing::document::TakenNames;
use crate::writing::limits::{has_limits, limits_of};
use crate::writing::poses::{is_identity, same_pose};
use nalgebra::{Isometry3, Vector3};
use std::collections::BTreeMap;
use tarragon_framework::math;
use tarragon_framework::trajectories::PiecewiseConstantCurvatureTrajectory;
use tarragon_multibody::{
    Constraint, CouplerConstraint, Joint, JointActuator, JointIndex, JointKind,
};

/// Placement of a joint whose child frame is the child's own frame.
struct UrdfPlacement {
    origin: Isometry3<f64>,
    axis: Option<Vector3<f64>>,
    /// Pose of the child in the joint's child frame if a link between them is needed.
    behind: Option<Isometry3<f64>>,
}

impl UrdfWriter<'_> {
    pub(super) fn write_joints(&mut self) {
        let plant = self.document.plant;
        let mut mimics: BTreeMap<JointIndex, &CouplerConstraint> = BTreeMap::new();
        for (number, constraint) in plant.constraints().iter().enumerate() {
            let Constraint::Coupler(coupler) = constraint else {
                continue;
            };
            let mut mimic = None;
            if coupler.joint0 != coupler.joint1 {
                mimic = Some(mimics.entry(coupler.joint0).or_insert(coupler));
            }
            if mimic.is_none_or(|kept| !std::ptr::eq(*kept, coupler)) {
                let joint = plant[coupler.joint0].name();
                self.document.warn(format!(
                    "coupler of joint '{joint}': left out, because a joint of URDF can mimic one \
                     other joint"
                ));
                self.document.lost_constraints.insert(number);
            }
        }
        let mut drives: BTreeMap<JointIndex, Vec<&JointActuator>> = BTreeMap::new();
        for actuator in plant.actuators() {
            match actuator.joint() {
                Some(joint) => drives.entry(joint).or_default().push(actuator),
                None => self.document.leave_out("actuator", &[actuator.name()]),
            }
        }
        for (index, joint) in plant.joints() {
            if joint.is_ephemeral() {
                continue;
            }
            let Some(name) = self.joints[index.index()].clone() else {
                let kind = joint.kind().type_name();
                let why = format!("readers of URDF ignore joints of kind {kind}");
                self.document.leave_joint_out(joint, &self.links, &why);
                continue;
            };
            let effort = drives.get(&index).map_or(f64::INFINITY, |drives| {
                self.effort_limit(&name, joint.kind(), drives)
            });
            self.write_joint(&name, joint, effort, mimics.get(&index).copied());
        }
        self.write_transmissions();
    }

    fn write_joint(
        &mut self,
        name: &str,
        joint: &Joint,
        effort: f64,
        mimic: Option<&CouplerConstraint>,
    ) {
        let placed = place(joint);
        let parent = self.links[joint.parent_body().index()].clone();
        let child = self.links[joint.child_body().index()].clone();
        let between = placed
            .behind
            .map(|x_mb| (self.add_link_between(name, joint, &child), x_mb));
        let moved = between.as_ref().map_or(&child, |((link, _), _)| link);
        let on_parent = match joint.kind() {
            // The reader turns the frames of a planar joint.
            JointKind::Planar => placed.origin * turn_of(&placed),
            _ => placed.origin,
        };
        let frame = format!("{name}_parent");
        self.joint_frames
            .insert(frame, Some((joint.parent_body(), on_parent)));
        if *joint.kind() == JointKind::Planar {
            let frame = format!("{name}_child");
            self.joint_frames.insert(
                frame,
                placed
                    .behind
                    .is_none()
                    .then(|| (joint.child_body(), turn_of(&placed))),
            );
        }
        let (tag, kind) = element_of(joint);
        let xml = &mut self.document.xml;
        xml.start(tag).attribute("name", name);
        xml.attribute("type", kind);
        write_origin(xml, &placed.origin);
        xml.start("parent").attribute("link", &parent).end();
        xml.start("child").attribute("link", moved).end();
        if let Some(axis) = placed.axis {
            xml.start("axis").numbers("xyz", axis.as_slice()).end();
        }
        match joint.kind() {
            JointKind::Screw { pitch, .. } => {
                xml.start("drake:screw_thread_pitch")
                    .numbers("value", &[*pitch])
                    .end();
            }
            JointKind::Curvilinear { path } => self.write_curves(path),
            _ => {}
        }
        self.write_limits(name, joint, effort);
        self.write_damping(name, joint);
        self.document.report_ball(name, joint);
        if let Some(coupler) = mimic {
            self.write_mimic(name, coupler);
        }
        self.document.xml.end();
        if let Some(((link, weld), x_mb)) = &between {
            let xml = &mut self.document.xml;
            xml.start("joint")
                .attribute("name", weld)
                .attribute("type", "fixed");
            write_origin(xml, x_mb);
            xml.start("parent").attribute("link", link).end();
            xml.start("child").attribute("link", &child).end();
            xml.end();
        }
    }

    /// Writes a massless link that carries the child's frame of a joint. Returns its name and that
    /// of the fixed joint between it and the child.
    fn add_link_between(&mut self, name: &str, joint: &Joint, child: &str) -> (String, String) {
        let link = self.taken_links.take(&format!("{name}_link"));
        let weld = self.taken_joints.take(&format!("{name}_to_{child}"));
        self.joint_frames.insert(format!("{weld}_parent"), None);
        self.document.warn(format!(
            "joint '{name}': its frame in link '{child}' is not the link's own; massless link \
             '{link}' and fixed joint '{weld}' are added between them"
        ));
        self.document
            .xml
            .start("link")
            .attribute("name", &link)
            .end();
        let (parent, child) = (joint.parent_body(), joint.child_body());
        let on_world = parent.index() == 0 || child.index() == 0;
        if self.document.plant.filters_adjacent_bodies() && !on_world {
            self.excluded.push((parent, child));
        }
        (link, weld)
    }

    fn write_curves(&mut self, path: &PiecewiseConstantCurvatureTrajectory) {
        let start = path.pose(0.0).rotation;
        let xml = &mut self.document.xml;
        for (tag, direction) in [
            ("drake:initial_tangent", Vector3::x()),
            ("drake:plane_normal", Vector3::z()),
        ] {
            let direction = start * direction;
            xml.start(tag).numbers("xyz", direction.as_slice()).end();
        }
        let periodic = if path.is_periodic() { "true" } else { "false" };
        xml.start("drake:is_periodic")
            .attribute("value", periodic)
            .end();
        xml.start("drake:curves");
        for (ends, rate) in path.breaks().windows(2).zip(path.turning_rates()) {
            let length = ends[1] - ends[0];
            if *rate == 0.0 {
                xml.start("drake:line_segment")
                    .numbers("length", &[length])
                    .end()
            } else {
                let (radius, angle) = (1.0 / rate.abs(), length * rate);
                xml.start("drake:circular_arc").numbers("radius", &[radius]);
                xml.numbers("angle", &[angle]).end();
            }
        }
        xml.end();
    }

    fn write_limits(&mut self, name: &str, joint: &Joint, effort: f64) {
        self.document.report_limits(name, joint);
        if !has_limits(joint.kind()) {
            return;
        }
        let mut attributes = vec![];
        for limits in limits_of(joint) {
            let (lower, upper) = (limits.lower[0], limits.upper[0]);
            match limits.name {
                "position" => attributes.extend([("lower", lower), ("upper", upper)]),
                "velocity" => attributes.push(("velocity", upper.max(-lower))),
                _ => attributes.push(("drake:acceleration", upper.max(-lower))),
            }
        }
        attributes.push(("effort", effort));
        attributes.retain(|(_, x)| x.is_finite());
        if !attributes.is_empty() {
            let xml = &mut self.document.xml;
            xml.start("limit");
            for (name, value) in attributes {
                xml.numbers(name, &[value]);
            }
            xml.end();
        }
    }

    fn write_damping(&mut self, name: &str, joint: &Joint) {
        let damping = joint.damping();
        if damping.iter().all(|d| *d == 0.0) {
            return;
        }
        let all = match joint.kind() {
            JointKind::Planar => damping,
            _ => &damping[..1],
        };
        self.document.report_damping(name, joint);
        self.document
            .xml
            .start("dynamics")
            .numbers("damping", all)
            .end();
    }

    fn write_mimic(&mut self, name: &str, coupler: &CouplerConstraint) {
        // A joint with one position is never left out.
        let Some(followed) = &self.joints[coupler.joint1.index()] else {
            self.document.warn(format!(
                "coupler of joint '{name}': left out with the other joint"
            ));
            return;
        };
        let xml = &mut self.document.xml;
        xml.start("mimic").attribute("joint", followed);
        xml.numbers("multiplier", &[coupler.gear_ratio]);
        xml.numbers("offset", &[coupler.offset]).end();
    }

    /// Returns the effort limit of a joint's actuators.
    fn effort_limit(&mut self, name: &str, kind: &JointKind, drives: &[&JointActuator]) -> f64 {
        let limit = drives.iter().map(|a| a.effort_limit()).fold(0.0, f64::max);
        let (tag, _) = tag_of(kind);
        let has_limit = tag == "joint";
        for actuator in drives {
            let (own, actuator) = (actuator.effort_limit(), actuator.name());
            if !has_limit && own.is_finite() {
                self.document.warn(format!(
                    "actuator '{actuator}': its effort limit is left out, because joint '{name}' \
                     has none in URDF"
                ));
            } else if own != limit {
                self.document.warn(format!(
                    "actuator '{actuator}': its effort limit becomes {limit:?}, that of joint \
                     '{name}', got {own:?}"
                ));
            }
        }
        limit
    }

    fn write_transmissions(&mut self) {
        let mut taken = TakenNames::default();
        for actuator in self.document.plant.actuators() {
            let (instance, name) = (actuator.model_instance(), actuator.name());
            let joint = actuator.joint();
            let Some(joint) = joint.and_then(|joint| self.joints[joint.index()].as_ref()) else {
                continue;
            };
            let document = &mut self.document;
            let name = document.name(&mut taken, "actuator", instance, name);
            let xml = &mut document.xml;
            xml.start("transmission")
                .attribute("name", &format!("{name}_transmission"));
            xml.text("type", "transmission_interface/SimpleTransmission");
            xml.start("joint").attribute("name", joint);
            xml.text(
                "hardwareInterface",
                "hardware_interface/EffortJointInterface",
            );
            xml.end();
            xml.start("actuator").attribute("name", &name);
            for (tag, value, default) in [
                ("drake:rotor_inertia", actuator.default_rotor_inertia(), 0.0),
                ("drake:gear_ratio", actuator.default_gear_ratio(), 1.0),
            ] {
                if value != default {
                    xml.start(tag).numbers("value", &[value]).end();
                }
            }
            if let Some(gains) = actuator.controller_gains() {
                xml.start("drake:controller_gains").numbers("p", &[gains.p]);
                xml.numbers("d", &[gains.d]).end();
            }
            xml.end();
            xml.end();
        }
    }
}

/// Returns the element and the type of a joint.
fn element_of(joint: &Joint) -> (&'static str, &'static str) {
    let (lower, upper) = (joint.position_lower_limits(), joint.position_upper_limits());
    let limited = lower.iter().chain(upper).all(|x| x.is_finite());
    match tag_of(joint.kind()) {
        (tag, "continuous") if limited => (tag, "revolute"),
        found => found,
    }
}

fn tag_of(kind: &JointKind) -> (&'static str, &'static str) {
    match kind {
        JointKind::Weld { .. } => ("joint", "fixed"),
        JointKind::Revolute { .. } => ("joint", "continuous"),
        JointKind::Prismatic { .. } => ("joint", "prismatic"),
        JointKind::Planar => ("joint", "planar"),
        JointKind::Screw { .. } => ("drake:joint", "screw"),
        JointKind::Curvilinear { .. } => ("drake:joint", "curvilinear"),
        JointKind::Universal => ("drake:joint", "universal"),
        JointKind::BallRpy | JointKind::BallQuaternion => ("drake:joint", "ball"),
        JointKind::RpyFloating | JointKind::QuaternionFloating => ("joint", "floating"),
    }
}

/// Returns the turn from the frames of a planar joint to the link's, as the reader makes it.
fn turn_of(placed: &UrdfPlacement) -> Isometry3<f64> {
    let normal = placed.axis.and_then(|a| nalgebra::Unit::try_new(a, 0.0));
    let normal = normal.unwrap_or(Vector3::z_axis());
    let turn = math::rotation_between(&Vector3::z_axis(), &normal);
    math::pose(turn, Vector3::zeros())
}

/// Finds the placement of a joint. The frame of a revolute joint may move along its axis and turn,
/// that of a prismatic one may move and turn anywhere; other frames need a link in between.
fn place(joint: &Joint) -> UrdfPlacement {
    let (x_pf, x_bm) = (joint.pose_on_parent(), joint.pose_on_child());
    let x_mb = x_bm.inverse();
    let direct = |origin, axis| UrdfPlacement {
        origin,
        axis,
        behind: None,
    };
    let axis = joint.kind().axis().map(|a| a.into_inner());
    let axis = match joint.kind() {
        JointKind::Weld { x_fm } => return direct(x_pf * x_fm * x_mb, None),
        JointKind::Planar => Some(Vector3::z()),
        _ => axis,
    };
    if is_identity(x_bm) {
        return direct(*x_pf, axis);
    }
    match (joint.kind(), axis) {
        (JointKind::Prismatic { .. }, Some(a)) => {
            return direct(x_pf * x_mb, Some(x_bm.rotation * a));
        }
        (JointKind::Revolute { .. } | JointKind::Screw { .. }, Some(a)) => {
            let p = x_mb.translation.vector;
            if (p - a * a.dot(&p)).norm() <= 1e-14 * (1.0 + p.norm()) {
                return direct(x_pf * x_mb, Some(x_bm.rotation * a));
            }
        }
        (JointKind::Planar, _) => {
            let normal = x_bm.rotation * Vector3::z();
            let mut placed = direct(*x_pf, Some(normal));
            let turn = turn_of(&placed);
            if same_pose(&turn, x_bm) {
                placed.origin = x_pf * turn.inverse();
                return placed;
            }
        }
        _ => {}
    }
    UrdfPlacement {
        origin: *x_pf,
        axis,
        behind: Some(x_mb),
    }
}
