//! Springs, dampers and gravity of a plant.

use crate::error::{Error, Result};
use crate::model::checks::{check_finite, check_numbers};
use crate::model::{ForceElement, JointIndex, JointKind, TendonPart, wrong_tendon_part};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use nalgebra::Vector3;

impl MultibodyPlantBuilder {
    /// Adds a spring, damper or bushing.
    ///
    /// # Errors
    /// Returns an error if a joint, body or frame is unknown, a joint is of the wrong kind, a
    /// stiffness, damping or length is negative, a number is not finite, or the parts of a path are
    /// not in the order that [`TendonPart`] describes.
    pub fn add_force_element(&mut self, element: ForceElement) -> Result<()> {
        let what = element.type_name();
        let (positive, any) = element.numbers();
        check_finite(what, any.iter().chain(&positive))?;
        if let Some(bad) = positive.iter().find(|x| **x < 0.0) {
            return Err(Error::invalid(format!(
                "{what}: stiffness, damping and length must be at least 0, got {bad:?}"
            )));
        }
        match &element {
            ForceElement::RevoluteSpring { joint, .. } | ForceElement::DoorHinge { joint, .. } => {
                self.check_kind(what, *joint, "revolute")?;
            }
            ForceElement::PrismaticSpring { joint, .. } => {
                self.check_kind(what, *joint, "prismatic")?;
            }
            ForceElement::LinearSpringDamper { body_a, body_b, .. } => {
                self.check_pair(what, *body_a, *body_b)?;
            }
            ForceElement::TendonSpring {
                joints,
                free_lengths: [shortest, longest],
                ..
            } => {
                let joints: Vec<JointIndex> = joints.iter().map(|(joint, _)| *joint).collect();
                self.check_single(what, &joints)?;
                check_free_lengths(what, *shortest, *longest)?;
            }
            ForceElement::SpatialTendon {
                path,
                free_lengths: [shortest, longest],
                ..
            } => {
                self.check_path(what, path)?;
                check_free_lengths(what, *shortest, *longest)?;
            }
            ForceElement::LinearBushingRollPitchYaw {
                frame_a, frame_c, ..
            } => {
                self.frame(*frame_a)?;
                self.frame(*frame_c)?;
            }
        }
        self.model.force_elements.push(element);
        Ok(())
    }

    /// Sets gravity (m/s^2), expressed in the world.
    ///
    /// # Errors
    /// Returns an error if a component is not finite.
    pub fn set_gravity(&mut self, gravity: Vector3<f64>) -> Result<()> {
        let [x, y, z] = gravity.into();
        check_numbers("gravity", &[("x", x), ("y", y), ("z", z)])?;
        self.model.gravity = gravity;
        Ok(())
    }
}

impl MultibodyModel {
    /// Checks the path of a spatial tendon.
    pub(in crate::plant) fn check_path(&self, what: &str, path: &[TendonPart]) -> Result<()> {
        if let Some((part, why)) = wrong_tendon_part(path) {
            return Err(Error::invalid(format!(
                "{what}, part {part} of the path: {why}"
            )));
        }
        for body in path.iter().flat_map(TendonPart::bodies) {
            self.body(body)?;
        }
        Ok(())
    }

    fn check_kind(&self, what: &str, joint: JointIndex, expected: &str) -> Result<()> {
        let joint = self.joint(joint)?;
        let kind: &JointKind = joint.kind();
        if kind.type_name() != expected {
            return Err(Error::invalid(format!(
                "{what}: joint '{}' must be of kind {expected}, got {}",
                joint.name(),
                kind.type_name()
            )));
        }
        Ok(())
    }

    /// Returns all springs, dampers and bushings, in order of addition; gravity is
    /// [`Self::gravity`].
    pub fn force_elements(&self) -> &[ForceElement] {
        &self.force_elements
    }

    /// Returns gravity (m/s^2), expressed in the world; `[0, 0, -9.81]` unless it is set.
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }
}

fn check_free_lengths(what: &str, shortest: f64, longest: f64) -> Result<()> {
    if shortest > longest {
        return Err(Error::invalid(format!(
            "{what}: the shorter free length must not be above the longer one, got [{shortest:?}, \
             {longest:?}]"
        )));
    }
    Ok(())
}
