//! Drake's constraints, springs and bushings.

use super::builder::UrdfBuilder;
use nalgebra::Vector3;
use tarragon_documents::xml::Parsed;
use tarragon_documents::xml::XmlNode;
use tarragon_multibody::{BallConstraint, BodyIndex, ForceElement, FrameIndex, TendonConstraint};

impl UrdfBuilder<'_, '_> {
    /// Reads a constraint, spring or bushing; other elements are skipped.
    pub(super) fn read_constraint(&mut self, node: XmlNode<'_>) -> Parsed<()> {
        let added = match self.reader.tag(node) {
            "drake:linear_bushing_rpy" => {
                let bushing = self.read_bushing(node)?;
                self.target.plant.add_force_element(bushing)
            }
            "drake:linear_spring_damper" => {
                let spring = self.read_spring(node)?;
                self.target.plant.add_force_element(spring)
            }
            "drake:ball_constraint" => {
                let ball = BallConstraint {
                    body_a: self.body_of(node, "drake:ball_constraint_body_A")?,
                    p_ap: self.vector_of(node, "drake:ball_constraint_p_AP")?,
                    body_b: self.body_of(node, "drake:ball_constraint_body_B")?,
                    p_bq: Some(self.vector_of(node, "drake:ball_constraint_p_BQ")?),
                };
                self.target.plant.add_ball_constraint(ball)
            }
            "drake:tendon_constraint" => {
                let tendon = self.read_tendon(node)?;
                self.target.plant.add_tendon_constraint(tendon)
            }
            "loop_joint" => {
                let message = "loop joints are not supported; use <drake:linear_bushing_rpy> or \
                               <drake:ball_constraint>";
                return Err(self.reader.error(node, message));
            }
            _ => return Ok(()),
        };
        self.check(node, added)
    }

    fn part<'n>(&self, node: XmlNode<'n>, tag: &str) -> Parsed<XmlNode<'n>> {
        self.reader.child(node, tag).ok_or_else(|| {
            let message = format!("<{}> has no <{tag}>", self.reader.tag(node));
            self.reader.error(node, message)
        })
    }
    fn body_of(&self, node: XmlNode<'_>, tag: &str) -> Parsed<BodyIndex> {
        self.link_named(self.part(node, tag)?, "name")
    }
    fn frame_of(&self, node: XmlNode<'_>, tag: &str) -> Parsed<FrameIndex> {
        let part = self.part(node, tag)?;
        let name = self.reader.required(part, "name")?;
        let found = self.target.plant.frame_by_name_in(name, self.instance);
        found.map_err(|e| self.reader.error_at(part, "name", e))
    }
    fn vector_of(&self, node: XmlNode<'_>, tag: &str) -> Parsed<Vector3<f64>> {
        let part = self.part(node, tag)?;
        self.reader.required(part, "value")?;
        let value = self.reader.vector::<3>(part, "value")?;
        Ok(value.unwrap_or_default().into())
    }
    fn number_of(&self, node: XmlNode<'_>, tag: &str) -> Parsed<f64> {
        let part = self.part(node, tag)?;
        self.reader.required(part, "value")?;
        Ok(self.reader.limit(part, "value")?.unwrap_or(0.0))
    }
    fn number_or(&self, node: XmlNode<'_>, tag: &str, default: f64) -> Parsed<f64> {
        match self.reader.child(node, tag) {
            Some(_) => self.number_of(node, tag),
            None => Ok(default),
        }
    }

    fn read_bushing(&self, node: XmlNode<'_>) -> Parsed<ForceElement> {
        Ok(ForceElement::LinearBushingRollPitchYaw {
            frame_a: self.frame_of(node, "drake:bushing_frameA")?,
            frame_c: self.frame_of(node, "drake:bushing_frameC")?,
            torque_stiffness: self.vector_of(node, "drake:bushing_torque_stiffness")?,
            torque_damping: self.vector_of(node, "drake:bushing_torque_damping")?,
            force_stiffness: self.vector_of(node, "drake:bushing_force_stiffness")?,
            force_damping: self.vector_of(node, "drake:bushing_force_damping")?,
        })
    }

    fn read_spring(&self, node: XmlNode<'_>) -> Parsed<ForceElement> {
        Ok(ForceElement::LinearSpringDamper {
            body_a: self.body_of(node, "drake:linear_spring_damper_body_A")?,
            p_ap: self.vector_of(node, "drake:linear_spring_damper_p_AP")?,
            body_b: self.body_of(node, "drake:linear_spring_damper_body_B")?,
            p_bq: self.vector_of(node, "drake:linear_spring_damper_p_BQ")?,
            free_length: self.number_of(node, "drake:linear_spring_damper_free_length")?,
            stiffness: self.number_of(node, "drake:linear_spring_damper_stiffness")?,
            damping: self.number_of(node, "drake:linear_spring_damper_damping")?,
        })
    }

    fn read_tendon(&self, node: XmlNode<'_>) -> Parsed<TendonConstraint> {
        let (mut joints, mut coefficients) = (vec![], vec![]);
        for part in self.reader.children(node, "drake:tendon_constraint_joint") {
            let name = self.reader.required(part, "name")?;
            match self.joints.get(name) {
                Some(Some(joint)) => joints.push(*joint),
                // The error in that joint was reported.
                Some(None) => continue,
                None => {
                    let known = self.joints.keys().map(String::as_str);
                    let error = tarragon_documents::names::unknown("joint", name, known);
                    return Err(self.reader.error_at(part, "name", error));
                }
            }
            coefficients.push(self.reader.required_number(part, "a")?);
        }
        Ok(TendonConstraint {
            joints,
            coefficients,
            offset: self.number_of(node, "drake:tendon_constraint_offset")?,
            lower: self.number_of(node, "drake:tendon_constraint_lower_limit")?,
            upper: self.number_of(node, "drake:tendon_constraint_upper_limit")?,
            stiffness: self.number_or(node, "drake:tendon_constraint_stiffness", f64::INFINITY)?,
            damping: self.number_or(node, "drake:tendon_constraint_damping", 0.0)?,
        })
    }
}
