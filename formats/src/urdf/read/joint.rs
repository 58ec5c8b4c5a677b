//! Joints.

use super::builder::UrdfBuilder;
use crate::Result;
use crate::reading::curve_builder::CurveBuilder;
use nalgebra::{Isometry3, Vector3};
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_framework::math::direction;
use tarragon_framework::{counted, math};
use tarragon_multibody::{BodyIndex, CouplerConstraint, Joint, JointKind};

/// Minimum length of an axis that has a direction.
const MIN_AXIS: f64 = 1e-10;

/// Joint types of URDF.
const STANDARD: [&str; 6] = [
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "planar",
    "floating",
];
/// Joint types that Drake adds, written as `<drake:joint>`.
const CUSTOM: [&str; 4] = ["ball", "universal", "screw", "curvilinear"];

/// Limits of a joint from its `<limit>`; infinite where absent.
struct JointLimits {
    lower: f64,
    upper: f64,
    velocity: f64,
    acceleration: f64,
}

impl UrdfBuilder<'_, '_> {
    pub(super) fn read_joint(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?.to_string();
        if self.joints.contains_key(&name) {
            let message = format!("names of joints must be unique, got '{name}' twice");
            return Err(self.reader.error_at(node, "name", message));
        }
        let kind = self.reader.required(node, "type")?;
        let tag = self.reader.tag(node);
        let message = match (STANDARD.contains(&kind), CUSTOM.contains(&kind), tag) {
            // Drake accepts a planar joint under either tag.
            (true, _, "joint") | (_, true, "drake:joint") => None,
            (true, ..) if kind == "planar" => None,
            (true, ..) => Some(format!(
                "'{kind}' is a standard joint type and must be in a <joint>"
            )),
            (_, true, _) => Some(format!(
                "'{kind}' is a joint type of Drake and must be in a <drake:joint>"
            )),
            _ => Some(format!(
                "the type must be one of {}, got '{kind}'",
                [&STANDARD[..], &CUSTOM].concat().join(", ")
            )),
        };
        // A faulty joint is also registered by name, so that references to it cause no further
        // errors.
        self.joints.insert(name.clone(), None);
        if let Some(message) = message {
            let message = format!("joint '{name}': {message}");
            return Err(self.reader.error_at(node, "type", message));
        }
        let link = |tag: &str| match self.reader.child(node, tag) {
            Some(child) => self.link_named(child, "link"),
            None => {
                let message = format!("joint '{name}' has no <{tag}>");
                Err(self.reader.error(node, message))
            }
        };
        let (parent, child) = (link("parent"), link("child"));
        let (parent, child) = (parent?, child?);
        let x_pf = self.origin(node)?;
        if kind == "floating" {
            let child = self
                .reader
                .child(node, "child")
                .and_then(|c| c.attribute("link"));
            let placed = if x_pf == Isometry3::identity() {
                ""
            } else {
                ", whose default pose is not the <origin>"
            };
            let message = format!(
                "joint '{name}' of type floating is ignored: link '{}' stays a free body{placed}",
                child.unwrap_or_default()
            );
            self.reader.warning(node, message);
            return Ok(());
        }
        for tag in ["safety_controller", "calibration"] {
            if let Some(child) = self.reader.child(node, tag) {
                self.reader
                    .warning_grouped(child, format!("<{tag}> is not supported and is ignored"));
            }
        }
        let joint = self.make_joint(node, kind, &name, parent, child, x_pf)?;
        let joint = joint.with_model_instance(self.instance);
        let added = self.target.plant.add_joint(joint);
        let index = self.check(node, added)?;
        self.joints.insert(name, Some(index));
        Ok(())
    }

    fn make_joint(
        &self,
        node: XmlNode<'_>,
        kind: &str,
        name: &str,
        parent: BodyIndex,
        child: BodyIndex,
        x_pf: Isometry3<f64>,
    ) -> Parsed<Joint> {
        let placed = |joint: Joint| joint.with_pose_on_parent(x_pf);
        if kind == "fixed" {
            return Ok(placed(Joint::weld(
                name,
                parent,
                child,
                Isometry3::identity(),
            )));
        }
        let axis_node = self.reader.child(node, "axis");
        let axis = match axis_node {
            Some(axis) => {
                let given = self.reader.vector::<3>(axis, "xyz")?;
                if given.is_none() {
                    let message = format!(
                        "<axis> of joint '{name}' has no attribute 'xyz'; the axis is 1 0 0, as \
                         without <axis>"
                    );
                    self.reader.warning(axis, message);
                }
                given
            }
            None => None,
        };
        let axis = Vector3::from(axis.unwrap_or([1.0, 0.0, 0.0]));
        let axis_at = axis_node.unwrap_or(node);
        let joint = match kind {
            "ball" => Joint::ball_rpy(name, parent, child),
            "universal" => Joint::universal(name, parent, child),
            "curvilinear" => {
                let joint = self.read_curves(node)?.joint(name, parent, child);
                joint.map_err(|why| self.reader.error(node, why))?
            }
            "prismatic" => self.check(axis_at, Joint::prismatic(name, parent, child, axis))?,
            "screw" => {
                // In metres per turn.
                let pitch = self.reader.child_value(node, "drake:screw_thread_pitch")?;
                let Some(pitch) = pitch else {
                    let message = format!("screw joint '{name}' has no <drake:screw_thread_pitch>");
                    return Err(self.reader.error(node, message));
                };
                self.check(axis_at, Joint::screw(name, parent, child, axis, pitch))?
            }
            "planar" => {
                // The joint moves in the plane normal to the axis.
                let Some(normal) = direction(axis, MIN_AXIS) else {
                    let message = format!("joint '{name}': the axis must not be zero");
                    return Err(self.reader.error(axis_at, message));
                };
                let turn = math::rotation_between(&Vector3::z_axis(), &normal);
                let turn = math::pose(turn, Vector3::zeros());
                let joint = Joint::planar(name, parent, child);
                let joint = joint
                    .with_pose_on_parent(x_pf * turn)
                    .with_pose_on_child(turn);
                self.ignore_limits(node, kind);
                return self.with_damping(node, joint);
            }
            _ => self.check(axis_at, Joint::revolute(name, parent, child, axis))?,
        };
        let mut joint = placed(joint);
        // A continuous joint also keeps the limits that the file gives, as in Drake. Drake's own
        // joint types have no limits.
        if !CUSTOM.contains(&kind) {
            let limits = self.read_limits(node)?;
            let at = self.reader.child(node, "limit").unwrap_or(node);
            // Exporters write the largest number for what has no limit.
            let is_limit = |limit: f64| limit.abs() < f64::MAX;
            if kind == "continuous" && is_limit(limits.lower) && is_limit(limits.upper) {
                let message = format!(
                    "joint '{name}' of type continuous must have no lower and upper limits, got \
                     {:?} and {:?}; they act, as in Drake; use the type revolute, or remove them",
                    limits.lower, limits.upper
                );
                self.reader.warning(at, message);
            }
            joint = self.check(at, limits.apply(joint))?;
        } else {
            self.ignore_limits(node, kind);
        }
        self.with_damping(node, joint)
    }

    /// Warns about the limits of a joint type that has none in Drake.
    fn ignore_limits(&self, node: XmlNode<'_>, kind: &str) {
        if let Some(limit) = self.reader.child(node, "limit") {
            let message =
                format!("<limit> is ignored: joints of type {kind} have no limits, as in Drake");
            self.reader.warning_grouped(limit, message);
        }
    }

    /// Reads the path of a curvilinear joint.
    fn read_curves(&self, node: XmlNode<'_>) -> Parsed<CurveBuilder> {
        let reader = self.reader;
        let mut curves = CurveBuilder::new();
        for (tag, vector) in [
            ("drake:initial_tangent", &mut curves.initial_tangent),
            ("drake:plane_normal", &mut curves.plane_normal),
        ] {
            if let Some(child) = reader.child(node, tag) {
                *vector = reader.vector::<3>(child, "xyz")?.unwrap_or(*vector);
            }
        }
        if let Some(child) = reader.child(node, "drake:is_periodic") {
            // As in Drake, every value other than `true` means false.
            let value = child.attribute("value").unwrap_or_default();
            curves.is_periodic = value == "true";
            if !matches!(value, "true" | "false") {
                let message = format!(
                    "attribute 'value' of <{}> must be true or false, got '{value}'; the path is not periodic",
                    reader.tag(child)
                );
                reader.warning_at(child, "value", message);
            }
        }
        let Some(list) = reader.child(node, "drake:curves") else {
            return Err(reader.error(node, "a curvilinear joint must have <drake:curves>"));
        };
        for curve in reader.elements(list) {
            let number = |attribute: &str| reader.required_number(curve, attribute);
            let pushed = match reader.tag(curve) {
                "drake:line_segment" => curves.push_line(number("length")?),
                "drake:circular_arc" => curves.push_arc(number("radius")?, number("angle")?),
                other => Err(format!(
                    "<drake:curves> must hold only <drake:line_segment> and <drake:circular_arc>, \
                     got <{other}>"
                )),
            };
            pushed.map_err(|why| reader.error(curve, why))?;
        }
        Ok(curves)
    }

    /// Applies `<dynamics>` to a joint: one damping, or one per velocity of a planar joint.
    fn with_damping(&self, node: XmlNode<'_>, joint: Joint) -> Parsed<Joint> {
        let Some(dynamics) = self.reader.child(node, "dynamics") else {
            return Ok(joint);
        };
        if self
            .reader
            .number(dynamics, "friction")?
            .is_some_and(|f| f != 0.0)
        {
            let message =
                "attribute 'friction' of <dynamics> is ignored: no dry friction is read from URDF";
            self.reader.warning_grouped(dynamics, message);
        }
        if *joint.kind() == JointKind::Planar {
            let damping = self
                .reader
                .vector::<3>(dynamics, "damping")?
                .unwrap_or_default();
            return self.check(dynamics, joint.with_dampings(damping.to_vec()));
        }
        let damping = self.reader.number(dynamics, "damping")?.unwrap_or(0.0);
        self.check(dynamics, joint.with_damping(damping))
    }

    fn read_limits(&self, node: XmlNode<'_>) -> Parsed<JointLimits> {
        let limit = self.reader.child(node, "limit");
        let value = |attribute: &str, default: f64| -> Parsed<f64> {
            let found = limit.map(|l| self.reader.limit(l, attribute)).transpose()?;
            Ok(found.flatten().unwrap_or(default))
        };
        Ok(JointLimits {
            lower: value("lower", f64::NEG_INFINITY)?,
            upper: value("upper", f64::INFINITY)?,
            velocity: value("velocity", f64::INFINITY)?,
            acceleration: self.drake_acceleration(limit)?,
        })
    }

    /// Reads the attribute `drake:acceleration`, whatever namespace the prefix is bound to.
    fn drake_acceleration(&self, limit: Option<XmlNode<'_>>) -> Parsed<f64> {
        let attributes = limit.into_iter().flat_map(|l| l.attributes());
        let found = attributes
            .into_iter()
            .find(|a| a.name() == "acceleration" && a.has_prefix());
        let (Some(limit), Some(attribute)) = (limit, found) else {
            return Ok(f64::INFINITY);
        };
        let acceleration = self.reader.limit_in(attribute)?;
        if acceleration >= 0.0 {
            Ok(acceleration)
        } else {
            let message =
                format!("attribute 'drake:acceleration' must be at least 0, got {acceleration:?}");
            Err(self.reader.error(limit, message))
        }
    }

    /// Reads `effort` of a joint's `<limit>`; infinite if absent.
    pub(super) fn effort_limit(&self, joint: XmlNode<'_>) -> Parsed<f64> {
        let limit = self.reader.child(joint, "limit");
        let effort = limit.map(|l| self.reader.limit(l, "effort")).transpose()?;
        Ok(effort.flatten().unwrap_or(f64::INFINITY))
    }

    pub(super) fn read_mimic(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        let Some(mimic) = self.reader.child(node, "mimic") else {
            return Ok(());
        };
        let followed = self.reader.required(mimic, "joint")?;
        let gear_ratio = self.reader.number(mimic, "multiplier")?.unwrap_or(1.0);
        let offset = self.reader.number(mimic, "offset")?.unwrap_or(0.0);
        let Some(joint1) = self.joints.get(followed) else {
            let known = self.joints.keys().map(String::as_str);
            let error = tarragon_documents::names::unknown("joint", followed, known);
            return Err(self.reader.error_at(mimic, "joint", error));
        };
        let name = node.attribute("name").map(str::trim).unwrap_or_default();
        let joint0 = self.joints.get(name).copied().flatten();
        let (Some(joint0), Some(joint1)) = (joint0, *joint1) else {
            // One of the joints has an error that was reported, or leaves its child free.
            return Ok(());
        };
        let mut dofs = vec![];
        for joint in [joint0, joint1] {
            dofs.push(
                self.check(mimic, self.target.plant.joint(joint))?
                    .num_positions(),
            );
        }
        if dofs[0] != dofs[1] || joint0 == joint1 {
            let message = format!(
                "joint '{name}' with {} cannot mimic joint '{followed}' with \
                 {}; they must be two different joints with equally many degrees of freedom",
                counted(dofs[0] as u64, "degree of freedom"),
                dofs[1]
            );
            return Err(self.reader.error(mimic, message));
        }
        if dofs[0] != 1 {
            let message =
                "<mimic> is only supported for joints with one degree of freedom; it is ignored";
            self.reader.warning(mimic, message);
            return Ok(());
        }
        let added = self.target.plant.add_coupler_constraint(CouplerConstraint {
            joint0,
            joint1,
            gear_ratio,
            offset,
        });
        self.check(mimic, added)
    }
}

impl JointLimits {
    fn apply(&self, joint: Joint) -> Result<Joint> {
        joint
            .with_position_limits(vec![self.lower], vec![self.upper])?
            .with_velocity_limits(vec![-self.velocity], vec![self.velocity])?
            .with_acceleration_limits(vec![-self.acceleration], vec![self.acceleration])
    }
}
