//! Transmissions, which become actuators.

use super::Robot;
use crate::index::JointIndex;
use crate::parsing::model::Actuator;
use crate::parsing::xml::Parsed;
use roxmltree::Node;

impl Robot<'_> {
    /// As in Drake, only simple transmissions count, and an effort limit of 0 means that there is no
    /// motor.
    pub(super) fn read_transmission(&mut self, node: Node<'_, '_>) -> Parsed<()> {
        let by_child = self.reader.child(node, "type").and_then(|t| t.text());
        let kind = by_child.or_else(|| node.attribute("type"));
        let Some(kind) = kind.map(str::trim) else {
            return Err(self.reader.error(node, "<transmission> has no type"));
        };
        if !kind.contains("SimpleTransmission") {
            let message = format!(
                "transmission type '{kind}' is not supported, only SimpleTransmission; it is ignored"
            );
            self.reader.warning(node, message);
            return Ok(());
        }
        let part = |tag: &str| {
            let child = self.reader.child(node, tag);
            child.ok_or_else(|| {
                let message = format!("<transmission> has no <{tag}>");
                self.reader.error(node, message)
            })
        };
        let (actuator, joint_node) = (part("actuator")?, part("joint")?);
        let name = self.reader.required(actuator, "name")?;
        let joint_name = self.reader.required(joint_node, "name")?;
        let index = match self.joints.get(joint_name) {
            Some(Some(index)) => *index,
            Some(None) => {
                let message = format!(
                    "joint '{joint_name}' does not exist in the plant; the \
                                       transmission is ignored"
                );
                self.reader.warning(joint_node, message);
                return Ok(());
            }
            None => {
                let known = self.joints.keys().map(String::as_str);
                let error = crate::names::unknown("joint", joint_name, known);
                return Err(self.reader.error_at(joint_node, "name", error));
            }
        };
        if self.model.joints[index].num_velocities() != 1 {
            let message = format!(
                "joint '{joint_name}' does not have one degree of freedom; the transmission is ignored"
            );
            self.reader.warning(joint_node, message);
            return Ok(());
        }
        let urdf_joint = node.parent().and_then(|robot| {
            let mut joints = self.reader.children(robot, "joint").into_iter();
            joints.find(|j| j.attribute("name").map(str::trim) == Some(joint_name))
        });
        let effort_limit = match urdf_joint {
            Some(joint) => self.effort_limit(joint)?,
            None => f64::INFINITY,
        };
        if effort_limit < 0.0 {
            let message = format!(
                "joint '{joint_name}': the effort limit is {effort_limit}, at least 0 is expected"
            );
            return Err(self.reader.error(joint_node, message));
        }
        if effort_limit == 0.0 {
            let message = format!(
                "joint '{joint_name}' has an effort limit of 0; the transmission is ignored"
            );
            self.reader.warning(node, message);
            return Ok(());
        }
        if self.model.actuators.iter().any(|a| a.name == name) {
            let message =
                format!("actuator '{name}' is there twice; names of actuators are unique");
            return Err(self.reader.error_at(actuator, "name", message));
        }
        let actuator = Actuator {
            name: name.into(),
            joint: JointIndex::new(index),
            effort_limit,
            rotor_inertia: self
                .reader
                .child_value(actuator, "drake:rotor_inertia")?
                .unwrap_or(0.0),
            gear_ratio: self
                .reader
                .child_value(actuator, "drake:gear_ratio")?
                .unwrap_or(1.0),
        };
        self.model.actuators.push(actuator);
        Ok(())
    }
}
