//! Joints.

use super::Robot;
use crate::constraint::CouplerConstraint;
use crate::error::Result;
use crate::index::{BodyIndex, JointIndex};
use crate::joint::Joint;
use crate::parsing::xml::Parsed;
use nalgebra::{Isometry3, Vector3};
use roxmltree::Node;

/// Joints of Drake that this crate does not have yet.
const NOT_YET: [&str; 6] = [
    "planar",
    "ball",
    "universal",
    "screw",
    "rpy_floating",
    "curvilinear",
];

/// `<limit>` of a joint; infinite where absent.
struct Limits {
    lower: f64,
    upper: f64,
    velocity: f64,
    acceleration: f64,
}

impl Robot<'_> {
    pub(super) fn read_joint(&mut self, node: Node<'_, '_>) -> Parsed<()> {
        let name = self.reader.required(node, "name")?.to_string();
        if self.joints.contains_key(&name) {
            let message = format!("joint '{name}' is there twice; names of joints are unique");
            return Err(self.reader.error_at(node, "name", message));
        }
        let kind = self.reader.required(node, "type")?;
        let standard = matches!(
            kind,
            "fixed" | "revolute" | "continuous" | "prismatic" | "floating"
        );
        if !standard {
            let message = match NOT_YET.contains(&kind) {
                true => format!("joint '{name}': joint type '{kind}' is not supported yet"),
                false => format!(
                    "joint '{name}': there is no joint type '{kind}'; fixed, revolute, continuous, \
                     prismatic or floating is expected"
                ),
            };
            return Err(self.reader.error_at(node, "type", message));
        }
        if self.reader.tag(node) != "joint" {
            let message =
                format!("joint '{name}': '{kind}' is a standard joint type, <joint> is expected");
            return Err(self.reader.error(node, message));
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
            let message = format!(
                "joint '{name}' of type floating is ignored: link '{}' is left as a free body",
                self.model.bodies[child.index()].name
            );
            self.reader.warning(node, message);
            self.joints.insert(name, None);
            return Ok(());
        }
        self.check_tree(node, &name, parent, child)?;
        self.parents[child.index()] = Some((parent, name.clone()));
        let joint = self.make_joint(node, kind, &name, parent, child)?;
        self.joints.insert(name, Some(self.model.joints.len()));
        self.model.joints.push(joint.with_pose_on_parent(x_pf));
        Ok(())
    }

    fn check_tree(
        &self,
        node: Node<'_, '_>,
        name: &str,
        parent: BodyIndex,
        child: BodyIndex,
    ) -> Parsed<()> {
        let link = |body: BodyIndex| &*self.model.bodies[body.index()].name;
        let message = if child == BodyIndex::WORLD {
            format!("joint '{name}' has the world as its child; swap parent and child")
        } else if child == parent {
            format!("joint '{name}' connects link '{}' with itself", link(child))
        } else if let Some((other, by)) = &self.parents[child.index()] {
            format!(
                "joint '{name}': link '{}' has two parents, '{}' by joint '{by}' and '{}' by this one; \
                 loops of joints are not supported yet",
                link(child),
                link(*other),
                link(parent)
            )
        } else {
            return Ok(());
        };
        Err(self.reader.error(node, message))
    }

    fn make_joint(
        &self,
        node: Node<'_, '_>,
        kind: &str,
        name: &str,
        parent: BodyIndex,
        child: BodyIndex,
    ) -> Parsed<Joint> {
        if kind == "fixed" {
            return Ok(Joint::weld(name, parent, child, Isometry3::identity()));
        }
        let axis_node = self.reader.child(node, "axis");
        let axis = match axis_node {
            Some(axis) => {
                self.reader.required(axis, "xyz")?;
                self.reader.vector::<3>(axis, "xyz")?
            }
            None => None,
        };
        let axis = Vector3::from(axis.unwrap_or([1.0, 0.0, 0.0]));
        let joint = match kind {
            "prismatic" => Joint::prismatic(name, parent, child, axis),
            _ => Joint::revolute(name, parent, child, axis),
        };
        let joint = joint.map_err(|e| self.reader.error(axis_node.unwrap_or(node), e))?;
        // Also a continuous joint keeps the limits that the file gives it, as in Drake.
        let limits = self.read_limits(node)?;
        let joint = limits.apply(joint).map_err(|e| {
            let at = self.reader.child(node, "limit").unwrap_or(node);
            self.reader.error(at, e)
        })?;
        match self.reader.child(node, "dynamics") {
            None => Ok(joint),
            Some(dynamics) => {
                if self
                    .reader
                    .number(dynamics, "friction")?
                    .is_some_and(|f| f != 0.0)
                {
                    let message =
                        format!("joint '{name}': friction is not supported and is ignored");
                    self.reader.warning(dynamics, message);
                }
                let damping = self.reader.number(dynamics, "damping")?.unwrap_or(0.0);
                joint
                    .with_damping(damping)
                    .map_err(|e| self.reader.error(dynamics, e))
            }
        }
    }

    fn read_limits(&self, node: Node<'_, '_>) -> Parsed<Limits> {
        let limit = self.reader.child(node, "limit");
        let value = |attribute: &str, default: f64| -> Parsed<f64> {
            let found = limit.map(|l| self.reader.limit(l, attribute)).transpose()?;
            Ok(found.flatten().unwrap_or(default))
        };
        Ok(Limits {
            lower: value("lower", f64::NEG_INFINITY)?,
            upper: value("upper", f64::INFINITY)?,
            velocity: value("velocity", f64::INFINITY)?,
            acceleration: self.drake_acceleration(limit)?,
        })
    }

    /// The attribute `drake:acceleration`, whatever namespace the prefix stands for.
    fn drake_acceleration(&self, limit: Option<Node<'_, '_>>) -> Parsed<f64> {
        let attributes = limit.into_iter().flat_map(|l| l.attributes());
        let found = attributes
            .into_iter()
            .find(|a| a.name() == "acceleration" && a.namespace().is_some());
        let (Some(limit), Some(attribute)) = (limit, found) else {
            return Ok(f64::INFINITY);
        };
        match attribute.value().trim().parse::<f64>() {
            Ok(x) if x >= 0.0 => Ok(x),
            _ => {
                let message = format!(
                    "'{}' in attribute 'drake:acceleration' is not a number of at least 0",
                    attribute.value()
                );
                Err(self.reader.error(limit, message))
            }
        }
    }

    /// `effort` of a joint's `<limit>`; infinite where absent.
    pub(super) fn effort_limit(&self, joint: Node<'_, '_>) -> Parsed<f64> {
        let limit = self.reader.child(joint, "limit");
        let effort = limit.map(|l| self.reader.limit(l, "effort")).transpose()?;
        Ok(effort.flatten().unwrap_or(f64::INFINITY))
    }

    pub(super) fn read_mimic(&mut self, node: Node<'_, '_>) -> Parsed<()> {
        let Some(mimic) = self.reader.child(node, "mimic") else {
            return Ok(());
        };
        let followed = self.reader.required(mimic, "joint")?;
        let gear_ratio = self.reader.number(mimic, "multiplier")?.unwrap_or(1.0);
        let offset = self.reader.number(mimic, "offset")?.unwrap_or(0.0);
        let Some(joint1) = self.joints.get(followed) else {
            let known = self.joints.keys().map(String::as_str);
            let error = crate::names::unknown("joint", followed, known);
            return Err(self.reader.error_at(mimic, "joint", error));
        };
        let name = node.attribute("name").map(str::trim).unwrap_or_default();
        let one_dof =
            |joint: &Option<usize>| joint.filter(|j| self.model.joints[*j].num_positions() == 1);
        let joint0 = self.joints.get(name).and_then(one_dof);
        match (joint0, one_dof(joint1)) {
            (Some(joint0), Some(joint1)) if joint0 != joint1 => {
                self.model.couplers.push(CouplerConstraint {
                    joint0: JointIndex::new(joint0),
                    joint1: JointIndex::new(joint1),
                    gear_ratio,
                    offset,
                });
            }
            _ => self.reader.warning(
                mimic,
                "<mimic> needs two different joints with one degree of freedom; it is ignored",
            ),
        }
        Ok(())
    }
}

impl Limits {
    fn apply(&self, joint: Joint) -> Result<Joint> {
        joint
            .with_position_limits(vec![self.lower], vec![self.upper])?
            .with_velocity_limits(vec![-self.velocity], vec![self.velocity])?
            .with_acceleration_limits(vec![-self.acceleration], vec![self.acceleration])
    }
}
