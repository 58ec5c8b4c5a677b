//! Joints with their limits, actuators, springs and couplings.

use super::axis::{JointAxis, NO_LIMIT};
use super::builder::{CurrentModel, SdfBuilder};
use super::element::Element;
use super::frames::{FrameGraph, NodeId, ScopeId};
use super::pose::Pose;
use crate::Result;
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::f64::consts::TAU;
use tarragon_documents::names;
use tarragon_documents::xml::Parsed;
use tarragon_framework::{counted, math};
use tarragon_multibody::{
    BodyIndex, CouplerConstraint, ForceElement, Joint, JointIndex, PdControllerGains,
};

const IGNORED: [&str; 4] = [
    "gearbox_ratio",
    "gearbox_reference_body",
    "physics",
    "sensor",
];
const DRAKE: [&str; 5] = [
    "rotor_inertia",
    "gear_ratio",
    "controller_gains",
    "mimic",
    "screw_thread_pitch",
];
const TYPES: [&str; 9] = [
    "ball",
    "continuous",
    "fixed",
    "gearbox",
    "prismatic",
    "revolute",
    "revolute2",
    "screw",
    "universal",
];

/// Children of a joint that describe its actuator.
const OF_THE_ACTUATOR: [&str; 3] = [
    "drake:rotor_inertia",
    "drake:gear_ratio",
    "drake:controller_gains",
];

/// Maximum cosine of the angle between perpendicular axes.
const PERPENDICULAR: f64 = 1e-14;

/// Bodies that a joint connects, and the poses of the joint in their frames.
struct JointEnds {
    parent: BodyIndex,
    child: BodyIndex,
    x_pj: Pose,
    x_cj: Pose,
}

impl SdfBuilder<'_, '_> {
    pub(super) fn joint(&mut self, node: NodeId, element: &Element, scope: ScopeId) -> Parsed<()> {
        let report = self.report;
        report.check_children(element, &IGNORED, &DRAKE);
        let kind = report.required(element, "type")?;
        let name = element.name();
        if !TYPES.contains(&kind) || matches!(kind, "gearbox" | "revolute2") {
            let message = format!(
                "joint '{name}': type must be fixed, revolute, continuous, prismatic, universal, \
                 ball or screw, got '{kind}'"
            );
            return Err(report.error(element, message));
        }
        if let Some(pitch) = element.child("drake:screw_thread_pitch") {
            let message = "<drake:screw_thread_pitch> is ignored: SDFormat has \
                           <screw_thread_pitch>";
            report.warning(pitch, message);
        }
        if let Some(pitch) = element.child("thread_pitch")
            && (kind != "screw" || element.child("screw_thread_pitch").is_some())
        {
            report.ignored(pitch, "joint");
        }
        let ends = self.ends(node, element, scope)?;
        let (parent, child) = (ends.parent, ends.child);
        if kind == "universal" {
            return self.universal(node, element, scope, &ends);
        }
        let joint = match kind {
            "fixed" => {
                self.ignore_actuator(element);
                Ok(Joint::weld(name, parent, child, Isometry3::identity()))
            }
            "ball" => return self.ball(node, element, scope, &ends),
            kind => {
                if let Some(second) = element.child("axis2") {
                    let message = format!("joint '{name}' has one axis; <axis2> is ignored");
                    report.warning(second, message);
                }
                let axis = self.required_axis(node, element, "axis", scope)?;
                return self.one_axis(node, element, kind, &axis, &ends);
            }
        };
        self.add_joint(node, element, joint, &ends).map(|_| ())
    }

    fn ends(&self, node: NodeId, element: &Element, scope: ScopeId) -> Parsed<JointEnds> {
        let report = self.report;
        let name = element.name();
        let parent = report.required_text(element, "parent")?;
        let child = report.required_text(element, "child")?;
        if parent == child {
            let message = format!("joint '{name}' connects '{child}' with itself");
            return Err(report.error(element, message));
        }
        let end = |what: &str, end: &str| {
            if end == "world" {
                return Ok(FrameGraph::WORLD);
            }
            let what = format!("<{what}> of joint '{name}'");
            self.find(scope, end, &what, element)
        };
        let (parent, child) = (end("parent", parent)?, end("child", child)?);
        let (parent_link, parent_body) = self.body_under(parent, element)?;
        let (child_link, child_body) = self.body_under(child, element)?;
        if child_link == FrameGraph::WORLD {
            let message =
                format!("<child> of joint '{name}' is fixed to the world; swap parent and child");
            return Err(report.error(element, message));
        }
        if parent_link == child_link {
            let message = format!(
                "joint '{name}': parent and child are both on link '{}'",
                self.graph.name(child_link)
            );
            return Err(report.error(element, message));
        }
        Ok(JointEnds {
            parent: parent_body,
            child: child_body,
            x_pj: self.graph.placed(parent_link, node),
            x_cj: self.graph.placed(child_link, node),
        })
    }

    /// Adds a joint to the plant; it uses the frame of the parent itself if its frame on the parent
    /// is equal to that.
    fn add_joint(
        &mut self,
        node: NodeId,
        element: &Element,
        joint: Result<Joint>,
        ends: &JointEnds,
    ) -> Parsed<JointIndex> {
        let added = joint.and_then(|joint| {
            let joint = joint.with_pose_on_child(ends.x_cj.isometry());
            let joint = if ends.x_pj.is_identity() {
                joint
            } else {
                joint.with_pose_on_parent(ends.x_pj.isometry())
            };
            self.target.plant.add_joint(joint)
        });
        let index = added.map_err(|e| self.report.error(element, e))?;
        self.joints.insert(node, index);
        Ok(index)
    }

    /// Adds a revolute, continuous, prismatic or screw joint.
    fn one_axis(
        &mut self,
        node: NodeId,
        element: &Element,
        kind: &str,
        axis: &JointAxis,
        ends: &JointEnds,
    ) -> Parsed<()> {
        let (parent, child, name) = (ends.parent, ends.child, element.name());
        let joint = match kind {
            "prismatic" => Joint::prismatic(name, parent, child, axis.direction),
            "screw" => {
                let pitch = self.screw_pitch(element)?;
                Joint::screw(name, parent, child, axis.direction, pitch)
            }
            _ => Joint::revolute(name, parent, child, axis.direction),
        };
        let joint = joint.and_then(|joint| axis.limit(joint, kind)?.with_damping(axis.damping));
        let index = self.add_joint(node, element, joint, ends)?;
        if axis.effort != 0.0 {
            self.actuator(index, element, axis.effort)?;
        } else {
            self.ignore_actuator(element);
        }
        match kind {
            "screw" => self.ignore_limits(element, kind, axis),
            "continuous" if axis.lower.abs() < NO_LIMIT || axis.upper.abs() < NO_LIMIT => {
                let message = "<lower> and <upper> are ignored: continuous joints have no \
                               position limits";
                self.report.warning_grouped(element, message);
            }
            _ => {}
        }
        if axis.spring_stiffness != 0.0 && kind != "screw" {
            let spring = match kind {
                "prismatic" => ForceElement::PrismaticSpring {
                    joint: index,
                    nominal_position: axis.spring_reference,
                    stiffness: axis.spring_stiffness,
                },
                _ => ForceElement::RevoluteSpring {
                    joint: index,
                    nominal_angle: axis.spring_reference,
                    stiffness: axis.spring_stiffness,
                },
            };
            let added = self.target.plant.add_force_element(spring);
            added.map_err(|e| self.report.error(element, format!("joint '{name}': {e}")))?;
        }
        Ok(())
    }

    /// Reads the pitch in metres per turn of a right-handed screw; `<thread_pitch>` is in radians
    /// per metre of a left-handed one.
    fn screw_pitch(&self, element: &Element) -> Parsed<f64> {
        let pitch = match (
            element.number("screw_thread_pitch"),
            element.number("thread_pitch"),
        ) {
            (Some(pitch), _) => pitch,
            (None, Some(thread)) => -TAU / thread,
            (None, None) => 1.0,
        };
        if pitch.is_finite() {
            Ok(pitch)
        } else {
            let message = format!(
                "joint '{}': the thread pitch must be finite, got {pitch:?} m per turn",
                element.name()
            );
            Err(self.report.error(element, message))
        }
    }

    fn ball(
        &mut self,
        node: NodeId,
        element: &Element,
        scope: ScopeId,
        ends: &JointEnds,
    ) -> Parsed<()> {
        let name = element.name();
        let mut joint = Ok(Joint::ball_rpy(name, ends.parent, ends.child));
        if let Some(axis) = self.axis(node, element, "axis", scope)? {
            let message =
                format!("joint '{name}' is a ball joint; only the damping of its <axis> is used");
            self.report.warning(element, message);
            self.warn_of_effort(element, axis.effort);
            joint = joint.and_then(|j: Joint| j.with_damping(axis.damping));
        }
        self.ignore_actuator(element);
        self.add_joint(node, element, joint, ends).map(|_| ())
    }

    /// Adds a universal joint, whose frames have the two axes as x and y.
    fn universal(
        &mut self,
        node: NodeId,
        element: &Element,
        scope: ScopeId,
        ends: &JointEnds,
    ) -> Parsed<()> {
        let name = element.name();
        let first = self.required_axis(node, element, "axis", scope)?;
        let second = self.required_axis(node, element, "axis2", scope)?;
        let (x, y) = (first.direction.normalize(), second.direction.normalize());
        if x.dot(&y).abs() > PERPENDICULAR {
            let message = format!("joint '{name}': <axis> and <axis2> must be perpendicular");
            return Err(self.report.error(element, message));
        }
        if first.damping != second.damping {
            let message = format!(
                "joint '{name}': both axes must have the same damping, got {:?} in <axis> and {:?} \
                 in <axis2>; that of <axis> is used",
                first.damping, second.damping
            );
            self.report.warning(element, message);
        }
        self.warn_of_effort(
            element,
            if first.effort != 0.0 {
                first.effort
            } else {
                second.effort
            },
        );
        self.ignore_actuator(element);
        for axis in [&first, &second] {
            self.ignore_limits(element, "universal", axis);
        }
        let r_ji = math::rotation_from_matrix(&Matrix3::from_columns(&[x, y, x.cross(&y)]));
        let x_ji = math::pose(r_ji, Vector3::zeros());
        let joint = Joint::universal(name, ends.parent, ends.child)
            .with_pose_on_parent(ends.x_pj.isometry() * x_ji)
            .with_pose_on_child(ends.x_cj.isometry() * x_ji)
            .with_damping(first.damping);
        let added = joint.and_then(|joint| self.target.plant.add_joint(joint));
        let index = added.map_err(|e| self.report.error(element, e))?;
        self.joints.insert(node, index);
        Ok(())
    }

    /// Warns about properties of an actuator, for a joint that gets none.
    fn ignore_actuator(&self, element: &Element) {
        for child in OF_THE_ACTUATOR.iter().filter_map(|tag| element.child(tag)) {
            let message = format!("<{}> is ignored: the joint gets no actuator", child.tag);
            self.report.warning_grouped(child, message);
        }
    }

    fn warn_of_effort(&self, element: &Element, effort: f64) {
        if effort != 0.0 {
            let message = format!(
                "joint '{}' has more than one degree of freedom and gets no actuator; set <effort> \
                 to 0 to state that",
                element.name()
            );
            self.report.warning(element, message);
        }
    }

    fn actuator(&mut self, joint: JointIndex, element: &Element, effort: f64) -> Parsed<()> {
        let report = self.report;
        let rotor = report.optional_number(element, "drake:rotor_inertia")?;
        let gear = report.optional_number(element, "drake:gear_ratio")?;
        let gains = match element.child("drake:controller_gains") {
            Some(gains) => Some(PdControllerGains {
                p: report.number_attribute(gains, "p")?,
                d: report.number_attribute(gains, "d")?,
            }),
            None => None,
        };
        let plant = &mut *self.target.plant;
        let mut add = || {
            let actuator = plant.add_joint_actuator(element.name(), joint, effort)?;
            plant.set_default_rotor(actuator, rotor.unwrap_or(0.0), gear.unwrap_or(1.0))?;
            match gains {
                Some(gains) => plant.set_controller_gains(actuator, gains),
                None => Ok(()),
            }
        };
        add().map_err(|e| report.error(element, e))
    }

    /// Adds a `<drake:mimic>`: the joint follows another one.
    pub(super) fn mimic(
        &mut self,
        node: NodeId,
        mimic: &Element,
        current: CurrentModel<'_>,
    ) -> Parsed<()> {
        let report = self.report;
        let followed = report.required(mimic, "joint")?;
        let gear_ratio = report.number_attribute(mimic, "multiplier")?;
        let offset = report.number_attribute(mimic, "offset")?;
        let name = self.graph.name(node);
        let joint1 = self.joint_named(current, followed, mimic)?;
        let Some(joint0) = self.joints.get(&node).copied() else {
            // The joint could not be added, which was reported.
            return Ok(());
        };
        if joint0 == joint1 {
            let message = format!("joint '{name}' cannot follow itself");
            return Err(report.error(mimic, message));
        }
        let plant = &mut *self.target.plant;
        let dofs = |joint: JointIndex| plant[joint].num_velocities();
        if dofs(joint0) != 1 || dofs(joint1) != 1 {
            let message = format!(
                "joint '{name}' with {} cannot follow '{followed}' with {}; \
                 both must have one degree of freedom; <drake:mimic> is ignored",
                counted(dofs(joint0) as u64, "degree of freedom"),
                dofs(joint1)
            );
            report.warning(mimic, message);
            return Ok(());
        }
        let coupler = CouplerConstraint {
            joint0,
            joint1,
            gear_ratio,
            offset,
        };
        let added = plant.add_coupler_constraint(coupler);
        added.map_err(|e| report.error(mimic, e))
    }

    /// Returns a joint of a model by name.
    pub(super) fn joint_named(
        &self,
        current: CurrentModel<'_>,
        name: &str,
        element: &Element,
    ) -> Parsed<JointIndex> {
        let node = self.graph.find(current.scope, name);
        let known = node.and_then(|n| self.joints.get(&n).copied());
        // Joints of Drake's own types and of other formats are not in the graph.
        let plant = &self.target.plant;
        let found = known.or_else(|| plant.joint_by_name_in(name, current.instance).ok());
        found.ok_or_else(|| {
            let known = plant
                .joints()
                .filter(|(_, j)| j.model_instance() == current.instance);
            let error = names::unknown("joint", name, known.map(|(_, j)| j.name()));
            let message = format!("<{}> in model '{}': {error}", element.tag, current.name);
            self.report.error(element, message)
        })
    }
}
