//! Drake's own elements of models: joints, springs, constraints and collision filter groups.

use super::builder::{CurrentModel, SdfBuilder};
use super::element::{Element, truth};
use crate::reading::curve_builder::CurveBuilder;
use nalgebra::Vector3;
use std::collections::BTreeSet;
use tarragon_documents::names::scoped;
use tarragon_documents::xml::Parsed;
use tarragon_multibody::{
    BallConstraint, CollisionFilterGroupSpec, ForceElement, FrameIndex, Joint, TendonConstraint,
};

/// Known children of Drake's elements, without the prefix `drake:`.
const PLANAR: [&str; 3] = ["parent", "child", "damping"];
const CURVILINEAR: [&str; 7] = [
    "parent",
    "child",
    "damping",
    "initial_tangent",
    "plane_normal",
    "is_periodic",
    "curves",
];
const BUSHING: [&str; 6] = [
    "bushing_frameA",
    "bushing_frameC",
    "bushing_torque_stiffness",
    "bushing_torque_damping",
    "bushing_force_stiffness",
    "bushing_force_damping",
];
const SPRING_DAMPER: [&str; 7] = [
    "linear_spring_damper_body_A",
    "linear_spring_damper_body_B",
    "linear_spring_damper_p_AP",
    "linear_spring_damper_p_BQ",
    "linear_spring_damper_free_length",
    "linear_spring_damper_stiffness",
    "linear_spring_damper_damping",
];
const BALL_CONSTRAINT: [&str; 4] = [
    "ball_constraint_body_A",
    "ball_constraint_body_B",
    "ball_constraint_p_AP",
    "ball_constraint_p_BQ",
];
const TENDON_CONSTRAINT: [&str; 6] = [
    "tendon_constraint_joint",
    "tendon_constraint_offset",
    "tendon_constraint_lower_limit",
    "tendon_constraint_upper_limit",
    "tendon_constraint_stiffness",
    "tendon_constraint_damping",
];

impl SdfBuilder<'_, '_> {
    /// Adds all of Drake's own elements of a model, kind by kind.
    pub(super) fn drake_elements(&mut self, model: &Element, current: CurrentModel<'_>) {
        // Here and below: errors were reported, and the rest is still read.
        for element in model.all("drake:joint") {
            let _ = self.drake_joint(element, current);
        }
        for element in model.all("drake:linear_bushing_rpy") {
            let _ = self.bushing(element, current);
        }
        for element in model.all("drake:linear_spring_damper") {
            let _ = self.spring_damper(element, current);
        }
        for element in model.all("drake:ball_constraint") {
            let _ = self.ball_constraint(element, current);
        }
        for element in model.all("drake:tendon_constraint") {
            let _ = self.tendon_constraint(element, current);
        }
        let mut names = BTreeSet::new();
        for element in model.all("drake:collision_filter_group") {
            if self.is_ignored(element) {
                continue;
            }
            let name = element.name();
            if name.contains("::") {
                let message = format!(
                    "the name of a collision filter group must not contain '::', got \
                             '{name}'"
                );
                self.report.error(element, message);
                continue;
            }
            if !names.insert(name) || self.graph.find(current.scope, name).is_some() {
                let message = format!("the name '{name}' of the collision filter group is taken");
                self.report.error(element, message);
                continue;
            }
            let _ = self.filter_group(element, current);
        }
    }

    /// Returns the frame of the model that a child names.
    fn frame_in(
        &self,
        element: &Element,
        tag: &str,
        current: CurrentModel<'_>,
    ) -> Parsed<FrameIndex> {
        let report = self.report;
        let name = report.required_text(element, tag)?;
        let child = report.required_child(element, tag)?;
        let node = self.find(current.scope, name, &format!("<{tag}>"), child)?;
        self.graph.frame(node).ok_or_else(|| {
            let message = format!("<{tag}> must name a frame of the plant, got '{name}'");
            report.error(child, message)
        })
    }

    fn drake_joint(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        let name = report.required(element, "name")?;
        let kind = report.required(element, "type")?;
        let known: &[&str] = match kind {
            "planar" => &PLANAR,
            "curvilinear" => &CURVILINEAR,
            _ => {
                let message = format!(
                    "joint '{name}': the type of a <drake:joint> must be planar or curvilinear, got '{kind}'"
                );
                return Err(report.error(element, message));
            }
        };
        report.check_drake_children(element, known);
        if let Some(pose) = element.child("pose") {
            let message = "<drake:joint> must not have a <pose>; it connects two frames, which \
                           have their own poses";
            return Err(report.error(pose, message));
        }
        if self.graph.find(current.scope, name).is_some() {
            let message = format!("the name '{name}' of the joint is taken");
            return Err(report.error(element, message));
        }
        let parent = self.frame_in(element, "drake:parent", current)?;
        let child = self.frame_in(element, "drake:child", current)?;
        let body = |frame: FrameIndex| self.target.plant[frame].body();
        let (on_parent, on_child) = (body(parent), body(child));
        let (joint, damping) = if kind == "planar" {
            let damping = report.required_numbers::<3>(element, "drake:damping")?;
            (Joint::planar(name, on_parent, on_child), damping.to_vec())
        } else {
            let damping = report.optional_number(element, "drake:damping")?;
            let joint = self.curves(element)?.joint(name, on_parent, on_child);
            let joint = joint.map_err(|why| report.error(element, why))?;
            (joint, vec![damping.unwrap_or(0.0)])
        };
        let joint = joint
            .with_frame_on_parent(parent)
            .with_frame_on_child(child)
            .with_dampings(damping);
        let added = joint.and_then(|joint| self.target.plant.add_joint(joint));
        added.map(|_| ()).map_err(|e| report.error(element, e))
    }

    /// Reads the path of a curvilinear joint.
    fn curves(&self, joint: &Element) -> Parsed<CurveBuilder> {
        let report = self.report;
        let mut curves = CurveBuilder::new();
        if let Some(tangent) = joint.child("drake:initial_tangent") {
            curves.initial_tangent = report.required_numbers(tangent, "xyz")?;
        }
        if let Some(normal) = joint.child("drake:plane_normal") {
            curves.plane_normal = report.required_numbers(normal, "xyz")?;
        }
        if let Some(periodic) = joint.child("drake:is_periodic") {
            curves.is_periodic = match periodic.text.as_str() {
                "true" => true,
                "false" => false,
                other => {
                    let message =
                        format!("<{}> must be true or false, got '{other}'", periodic.tag);
                    return Err(report.error(periodic, message));
                }
            };
        }
        let list = report.required_child(joint, "drake:curves")?;
        for curve in &list.children {
            let number = |tag: &str| report.required_numbers::<1>(curve, tag).map(|[x]| x);
            let pushed = match curve.tag.as_str() {
                "drake:line_segment" => curves.push_line(number("drake:length")?),
                "drake:circular_arc" => {
                    curves.push_arc(number("drake:radius")?, number("drake:angle")?)
                }
                other => Err(format!(
                    "<{}> must hold only <drake:line_segment> and <drake:circular_arc>, got \
                     <{other}>",
                    list.tag
                )),
            };
            pushed.map_err(|why| report.error(curve, why))?;
        }
        Ok(curves)
    }

    fn bushing(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        report.check_drake_children(element, &BUSHING);
        let vector = |name: &str| {
            let tag = format!("drake:bushing_{name}");
            report
                .required_numbers::<3>(element, &tag)
                .map(Vector3::from)
        };
        let bushing = ForceElement::LinearBushingRollPitchYaw {
            frame_a: self.frame_in(element, "drake:bushing_frameA", current)?,
            frame_c: self.frame_in(element, "drake:bushing_frameC", current)?,
            torque_stiffness: vector("torque_stiffness")?,
            torque_damping: vector("torque_damping")?,
            force_stiffness: vector("force_stiffness")?,
            force_damping: vector("force_damping")?,
        };
        let added = self.target.plant.add_force_element(bushing);
        added.map_err(|e| report.error(element, e))
    }

    fn spring_damper(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        report.check_drake_children(element, &SPRING_DAMPER);
        let tag = |name: &str| format!("drake:linear_spring_damper_{name}");
        let number = |name: &str| {
            let found = report.required_numbers::<1>(element, &tag(name));
            found.map(|[x]| x)
        };
        let point = |name: &str| {
            let found = report.required_numbers::<3>(element, &tag(name));
            found.map(Vector3::from)
        };
        let body = |name: &str| {
            let child = report.required_child(element, &tag(name))?;
            self.link_named(current.scope, &child.text, child)
        };
        let spring = ForceElement::LinearSpringDamper {
            body_a: body("body_A")?,
            p_ap: point("p_AP")?,
            body_b: body("body_B")?,
            p_bq: point("p_BQ")?,
            free_length: number("free_length")?,
            stiffness: number("stiffness")?,
            damping: number("damping")?,
        };
        let added = self.target.plant.add_force_element(spring);
        added.map_err(|e| report.error(element, e))
    }

    fn ball_constraint(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        report.check_drake_children(element, &BALL_CONSTRAINT);
        let tag = |name: &str| format!("drake:ball_constraint_{name}");
        let point = |name: &str| {
            let found = report.required_numbers::<3>(element, &tag(name));
            found.map(Vector3::from)
        };
        let body = |name: &str| {
            let child = report.required_child(element, &tag(name))?;
            self.link_named(current.scope, &child.text, child)
        };
        let ball = BallConstraint {
            body_a: body("body_A")?,
            p_ap: point("p_AP")?,
            body_b: body("body_B")?,
            p_bq: Some(point("p_BQ")?),
        };
        let added = self.target.plant.add_ball_constraint(ball);
        added.map_err(|e| report.error(element, e))
    }

    fn tendon_constraint(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        report.check_drake_children(element, &TENDON_CONSTRAINT);
        let number = |name: &str, default: f64| {
            let tag = format!("drake:tendon_constraint_{name}");
            // Limits and stiffness may be infinite.
            let Some(child) = element.child(&tag) else {
                return Ok(default);
            };
            report.limits::<1>(child).map(|[x]| x)
        };
        let (mut joints, mut coefficients) = (vec![], vec![]);
        for child in element.all("drake:tendon_constraint_joint") {
            let name = report.required(child, "name")?;
            coefficients.push(report.number_attribute(child, "a")?);
            joints.push(self.joint_named(current, name, child)?);
        }
        report.required_child(element, "drake:tendon_constraint_offset")?;
        let tendon = TendonConstraint {
            joints,
            coefficients,
            offset: number("offset", 0.0)?,
            lower: number("lower_limit", f64::NEG_INFINITY)?,
            upper: number("upper_limit", f64::INFINITY)?,
            stiffness: number("stiffness", f64::INFINITY)?,
            damping: number("damping", 0.0)?,
        };
        let added = self.target.plant.add_tendon_constraint(tendon);
        added.map_err(|e| report.error(element, e))
    }

    /// Returns true if attribute `ignore` removes a group.
    fn is_ignored(&self, group: &Element) -> bool {
        let Some(text) = group.attribute("ignore") else {
            return false;
        };
        truth(text).unwrap_or_else(|| {
            let message = format!(
                "attribute 'ignore' of <{}> must be true or false, got '{text}'; the group is not ignored",
                group.tag
            );
            self.report.warning(group, message);
            false
        })
    }

    fn filter_group(&mut self, element: &Element, current: CurrentModel<'_>) -> Parsed<()> {
        let report = self.report;
        let known = ["member", "member_group", "ignored_collision_filter_group"];
        report.check_children(element, &[], &known);
        let mut group = CollisionFilterGroupSpec {
            name: scoped(current.name, report.required(element, "name")?),
            ..CollisionFilterGroupSpec::default()
        };
        for child in &element.children {
            let full = || scoped(current.name, &child.text);
            match child.tag.as_str() {
                "drake:member" => {
                    let node = self.graph.find(current.scope, &child.text);
                    match node.and_then(|node| self.deformables.get(&node)) {
                        Some(deformable) => group.deformables.extend(*deformable),
                        None => {
                            let body = self.link_named(current.scope, &child.text, child)?;
                            group.members.push(body);
                        }
                    }
                }
                "drake:member_group" => group.member_groups.push(full()),
                "drake:ignored_collision_filter_group" => group.ignored.push(full()),
                _ => {}
            }
        }
        let is_member = |c: &Element| ["drake:member", "drake:member_group"].contains(&&*c.tag);
        if !element.children.iter().any(is_member) {
            let message = format!(
                "collision filter group '{}' must have at least one member",
                element.name()
            );
            return Err(report.error(element, message));
        }
        self.target.add_collision_filter_group(group);
        Ok(())
    }
}
