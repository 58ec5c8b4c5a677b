//! Transmissions, which are added as actuators.

use super::builder::UrdfBuilder;
use std::collections::HashMap;
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_multibody::PdControllerGains;

impl UrdfBuilder<'_, '_> {
    /// Reads a transmission as an actuator. As in Drake, only simple transmissions are supported,
    /// and an effort limit of 0 means that there is no motor. `joint_nodes` are the `<joint>`
    /// elements by name.
    pub(super) fn read_transmission(
        &mut self,
        node: XmlNode<'_>,
        joint_nodes: &HashMap<&str, XmlNode<'_>>,
    ) -> Parsed<()> {
        let by_child = self.reader.child(node, "type").and_then(|t| t.text());
        let kind = by_child.or_else(|| node.attribute("type"));
        let Some(kind) = kind.map(str::trim) else {
            return Err(self.reader.error(node, "<transmission> has no type"));
        };
        if !kind.contains("SimpleTransmission") {
            let message = format!(
                "the transmission type must be SimpleTransmission, got '{kind}'; the transmission \
                 is ignored"
            );
            self.reader.warning(node, message);
            return Ok(());
        }
        self.check_transmission(node);
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
                    "joint '{joint_name}' does not exist in the plant; the transmission is ignored"
                );
                self.reader.warning(joint_node, message);
                return Ok(());
            }
            None => {
                let known = self.joints.keys().map(String::as_str);
                let error = tarragon_documents::names::unknown("joint", joint_name, known);
                return Err(self.reader.error_at(joint_node, "name", error));
            }
        };
        let joint = self.check(joint_node, self.target.plant.joint(index))?;
        if joint.num_velocities() != 1 {
            let message = format!(
                "joint '{joint_name}' must have one degree of freedom; the transmission is ignored"
            );
            self.reader.warning(joint_node, message);
            return Ok(());
        }
        let effort_limit = match joint_nodes.get(joint_name) {
            Some(joint) => self.effort_limit(*joint)?,
            None => f64::INFINITY,
        };
        if effort_limit < 0.0 {
            let message = format!(
                "joint '{joint_name}': the effort limit must be at least 0, got {effort_limit:?}"
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
        let number = |tag: &str, default: f64| {
            let value = self.reader.child_value(actuator, tag)?;
            Parsed::Ok(value.unwrap_or(default))
        };
        let rotor_inertia = number("drake:rotor_inertia", 0.0)?;
        let gear_ratio = number("drake:gear_ratio", 1.0)?;
        let gains = match self.reader.child(actuator, "drake:controller_gains") {
            Some(gains) => Some(PdControllerGains {
                p: self.reader.required_number(gains, "p")?,
                d: self.reader.required_number(gains, "d")?,
            }),
            None => None,
        };
        let plant = &mut *self.target.plant;
        let added = plant.add_joint_actuator(name, index, effort_limit);
        let added = added.and_then(|motor| {
            plant.set_default_rotor(motor, rotor_inertia, gear_ratio)?;
            gains.map_or(Ok(()), |gains| plant.set_controller_gains(motor, gains))
        });
        self.check(actuator, added)
    }
}
