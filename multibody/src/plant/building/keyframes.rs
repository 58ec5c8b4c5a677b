//! Keyframes of a plant.

use crate::error::{Error, Result};
use crate::model::checks::{check_finite, check_pose};
use crate::model::{Keyframe, KeyframeLoss, KeyframePart};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use crate::plant::multibody_plant::MultibodyPlant;

impl MultibodyPlantBuilder {
    /// Adds a keyframe.
    ///
    /// # Errors
    /// Returns an error if a joint, a body or an actuator is unknown, if the number of positions or
    /// velocities of a joint is wrong, if a position, a pose, or a velocity or an input is not
    /// finite.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) -> Result<()> {
        self.check_instance(keyframe.model_instance)?;
        for (joint, q) in &keyframe.positions {
            let checked = self.joint(*joint)?.check_default_positions(q);
            checked.map_err(|why| self.joint_error(*joint, &why))?;
        }
        for (body, x_wb) in &keyframe.free_poses {
            self.body(*body)?;
            let name = self.scoped_body_name(*body);
            check_pose(
                || format!("keyframe '{}': pose of body '{name}'", keyframe.name),
                x_wb,
            )?;
        }
        for (joint, v) in &keyframe.velocities {
            let expected = self.joint(*joint)?.num_velocities();
            if v.len() != expected {
                let message = format!("number of velocities must be {expected}, got {}", v.len());
                return Err(self.joint_error(*joint, &message));
            }
            check_finite(&format!("keyframe '{}'", keyframe.name), v.iter())?;
        }
        for (body, v_wb) in &keyframe.free_velocities {
            self.body(*body)?;
            let numbers = v_wb.rotational.iter().chain(&v_wb.translational);
            check_finite(&format!("keyframe '{}'", keyframe.name), numbers)?;
        }
        for (actuator, input) in &keyframe.controls {
            self.joint_actuator(*actuator)?;
            check_finite(
                &format!("keyframe '{}'", keyframe.name),
                [input].into_iter(),
            )?;
        }
        self.model.keyframes.push(keyframe);
        Ok(())
    }
    /// Records that a part of a keyframe is missing, so that asking for it returns an error.
    pub fn add_keyframe_loss(&mut self, loss: KeyframeLoss) {
        self.model.keyframe_losses.push(loss);
    }

    /// Takes the default positions of all joints, and the default poses of free bodies, from the
    /// keyframe `name`, plain or scoped (`model::name`).
    ///
    /// # Errors
    /// Returns an error if no keyframe or more than one has this name, or if its positions could
    /// not be read. Nothing changes in that case.
    pub fn set_default_positions_to_keyframe(&mut self, name: &str) -> Result<()> {
        // All of these were checked when the keyframe was added.
        let keyframe = self.keyframe_by_name(name)?.clone();
        for (joint, q) in &keyframe.positions {
            self.set_default_joint_positions(*joint, q)?;
        }
        for (body, x_wb) in &keyframe.free_poses {
            self.set_default_free_body_pose(*body, *x_wb)?;
        }
        Ok(())
    }
}

impl MultibodyModel {
    /// Returns all keyframes, in order of addition.
    pub fn keyframes(&self) -> &[Keyframe] {
        &self.keyframes
    }

    /// Returns the keyframe `name`, plain or scoped (`model::name`).
    fn keyframe_by_name(&self, name: &str) -> Result<&Keyframe> {
        let all = self.keyframes.iter().enumerate();
        let all = all.map(|(i, k)| (i, k.model_instance, &*k.name));
        let unknown = match self.by_name("keyframe", name, all) {
            Ok(index) => return Ok(&self.keyframes[index]),
            Err(unknown) => unknown,
        };
        let lost = self.keyframe_losses.iter().enumerate();
        let lost = lost.filter(|(_, loss)| loss.part == KeyframePart::All);
        let lost = lost.map(|(i, loss)| (i, loss.model_instance, &*loss.keyframe));
        Err(match self.by_name("keyframe", name, lost) {
            Ok(index) => {
                let why = &self.keyframe_losses[index].why;
                Error::invalid(format!("keyframe '{name}' was left out: {why}"))
            }
            Err(_) => unknown,
        })
    }

    /// Returns the keyframe `name`, or an error if `part` of it is missing.
    fn keyframe_with(&self, name: &str, part: KeyframePart) -> Result<&Keyframe> {
        let keyframe = self.keyframe_by_name(name)?;
        let owner = (keyframe.model_instance, &keyframe.name);
        let mut losses = self.keyframe_losses.iter();
        let loss = losses.find(|l| (l.model_instance, &l.keyframe) == owner && l.part == part);
        match loss {
            None => Ok(keyframe),
            Some(loss) => Err(Error::invalid(format!("keyframe '{name}': {}", loss.why))),
        }
    }
}

impl MultibodyPlant {
    /// Returns the default positions q, overridden by the keyframe `name`, plain or scoped
    /// (`model::name`).
    ///
    /// # Errors
    /// Returns an error if no keyframe or more than one has this name, or if its positions could
    /// not be read.
    pub fn keyframe_positions(&self, name: &str) -> Result<Vec<f64>> {
        let keyframe = self.keyframe_by_name(name)?;
        let topology = &self.topology;
        let mut q = self.default_positions();
        for (joint, positions) in &keyframe.positions {
            let start = topology.starts[joint.index()].0;
            q[start..start + positions.len()].copy_from_slice(positions);
        }
        for (body, x_wb) in &keyframe.free_poses {
            // A body that has been given a joint since then keeps the default positions of that
            // joint.
            let joint = self.inboard_joint(*body);
            if let Some(joint) = joint.filter(|_| self.is_floating_base(*body)) {
                let start = topology.starts[joint.index()].0;
                let positions = self.joints[joint.index()].floating_positions(x_wb);
                q[start..start + positions.len()].copy_from_slice(&positions);
            }
        }
        Ok(q)
    }

    /// Returns the velocities v at the keyframe `name`, plain or scoped (`model::name`); 0 for
    /// joints that the keyframe omits.
    ///
    /// # Errors
    /// Returns an error if no keyframe or more than one has this name, or if its velocities could
    /// not be read.
    pub fn keyframe_velocities(&self, name: &str) -> Result<Vec<f64>> {
        let keyframe = self.keyframe_with(name, KeyframePart::Velocities)?;
        let topology = &self.topology;
        let mut v = vec![0.0; self.num_velocities()];
        for (joint, velocities) in &keyframe.velocities {
            let start = topology.starts[joint.index()].1;
            v[start..start + velocities.len()].copy_from_slice(velocities);
        }
        for (body, v_wb) in &keyframe.free_velocities {
            let joint = self.inboard_joint(*body);
            if let Some(joint) = joint.filter(|_| self.is_floating_base(*body)) {
                let start = topology.starts[joint.index()].1;
                let own = v_wb.rotational.iter().chain(&v_wb.translational);
                for (place, value) in v[start..start + 6].iter_mut().zip(own) {
                    *place = *value;
                }
            }
        }
        Ok(v)
    }

    /// Returns the inputs of all actuators at the keyframe `name`, plain or scoped (`model::name`),
    /// for the port `actuation`; 0 for actuators that the keyframe omits.
    ///
    /// # Errors
    /// Returns an error if no keyframe or more than one has this name, or if its controls could not
    /// be read: their number is wrong, or the MJCF file is read as by Drake, where inputs are
    /// efforts.
    pub fn keyframe_actuation(&self, name: &str) -> Result<Vec<f64>> {
        let keyframe = self.keyframe_with(name, KeyframePart::Controls)?;
        let mut actuation = vec![0.0; self.actuators.len()];
        for (actuator, input) in &keyframe.controls {
            actuation[actuator.index()] = *input;
        }
        Ok(actuation)
    }
}
