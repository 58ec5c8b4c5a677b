//! Actuators of a plant.

use crate::error::{Error, Result};
use crate::model::{
    AffineControl, JointActuator, JointActuatorIndex, JointIndex, ModelInstanceIndex,
    PdControllerGains, TendonPart, Transmission, check_effort_limit,
};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;
use std::collections::BTreeSet;

impl MultibodyPlantBuilder {
    /// Adds a motor on a joint.
    ///
    /// # Errors
    /// Returns an error if the joint is unknown or does not have exactly one degree of freedom, the
    /// effort limit is not positive, or the name is empty or taken within the joint's instance.
    pub fn add_joint_actuator(
        &mut self,
        name: &str,
        joint: JointIndex,
        effort_limit: f64,
    ) -> Result<JointActuatorIndex> {
        let driven = self.joint(joint)?;
        let instance = driven.model_instance();
        if driven.num_velocities() != 1 {
            return Err(Error::invalid(format!(
                "actuator '{name}': joint '{}' must have one degree of freedom, got {}",
                driven.name,
                driven.num_velocities()
            )));
        }
        let transmission = Transmission::Joints(joint, vec![]);
        let index = self.push_actuator((name, instance), transmission, effort_limit)?;
        self.model.taken.driven.insert((joint, index));
        Ok(index)
    }

    /// Adds a motor on a spatial tendon: its position and its velocity are the length of the path
    /// (m) and its rate, and its effort (N) lengthens the path. A pull is a negative effort.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use tarragon_multibody::*;
    /// let mut plant = MultibodyPlantBuilder::new(0.001)?;
    /// let finger = plant.add_model_instance("finger")?;
    /// let tip = plant.add_rigid_body("tip", finger, SpatialInertia::zero())?;
    /// let path = vec![
    ///     TendonPart::site(BodyIndex::WORLD, Vector3::z()),
    ///     TendonPart::site(tip, Vector3::x()),
    /// ];
    /// let flexor = plant.add_tendon_actuator("flexor", finger, path.clone(), 50.0)?;
    /// assert_eq!(plant.joint_actuator(flexor)?.path(), Some(&*path));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the instance or a body is unknown, the parts of the path are not in the
    /// order that [`TendonPart`] describes, the effort limit is not positive, or the name is empty
    /// or taken within the instance.
    pub fn add_tendon_actuator(
        &mut self,
        name: &str,
        instance: ModelInstanceIndex,
        path: Vec<TendonPart>,
        effort_limit: f64,
    ) -> Result<JointActuatorIndex> {
        self.check_instance(instance)?;
        self.check_path(&format!("actuator '{name}'"), &path)?;
        let transmission = Transmission::Path(path);
        self.push_actuator((name, instance), transmission, effort_limit)
    }

    fn push_actuator(
        &mut self,
        (name, instance): (&str, ModelInstanceIndex),
        transmission: Transmission,
        effort_limit: f64,
    ) -> Result<JointActuatorIndex> {
        check_effort_limit(effort_limit)
            .map_err(|why| Error::invalid(format!("actuator '{name}': {why}")))?;
        self.check_new("actuator", instance, name, &self.model.taken.actuators)?;
        let index = JointActuatorIndex::new(self.model.actuators.len());
        self.model.taken.actuators.insert(instance, name, index);
        self.model.actuators.push(JointActuator {
            name: name.into(),
            transmission,
            model_instance: instance,
            effort_limit,
            rotor_inertia: 0.0,
            gear_ratio: 1.0,
            controller_gains: None,
            affine_control: None,
        });
        Ok(index)
    }

    /// Sets the gains of an actuator's built-in controller, in place of any affine control.
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown or pulls a spatial tendon, which has no desired
    /// state, or a gain is negative or not finite.
    pub fn set_controller_gains(
        &mut self,
        actuator: JointActuatorIndex,
        gains: PdControllerGains,
    ) -> Result<()> {
        if self.joint_actuator(actuator)?.joint().is_none() {
            let why = "controller gains must be those of a joint, got those of a spatial tendon; \
                       set an affine control";
            return Err(self.actuator_error(actuator, why));
        }
        if [gains.p, gains.d]
            .iter()
            .any(|x| !(*x >= 0.0 && x.is_finite()))
        {
            let why = format!(
                "the controller gains must be finite and at least 0, got p = {:?} and d = {:?}",
                gains.p, gains.d
            );
            return Err(self.actuator_error(actuator, &why));
        }
        let found = &mut self.model.actuators[actuator.index()];
        (found.controller_gains, found.affine_control) = (Some(gains), None);
        Ok(())
    }

    /// Makes the input of an actuator a control as in MuJoCo, in place of an effort. This removes
    /// the gains of a built-in controller; the limit of the effort remains.
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown, a number is not finite, or a range is empty.
    pub fn set_affine_control(
        &mut self,
        actuator: JointActuatorIndex,
        control: AffineControl,
    ) -> Result<()> {
        self.joint_actuator(actuator)?;
        let checked = control.check();
        checked.map_err(|why| self.actuator_error(actuator, &why))?;
        let found = &mut self.model.actuators[actuator.index()];
        (found.controller_gains, found.affine_control) = (None, Some(control));
        Ok(())
    }

    /// Makes an actuator drive further joints as well, as a tendon does; each is given with its
    /// effort per effort at the first joint. The position of the actuator is that of the first
    /// joint and those of the others times these ratios.
    ///
    /// The rotor turns with the first joint alone, which has the reflected inertia
    /// `gear_ratio^2 * rotor_inertia`: a rotor that turned with all joints would couple their
    /// accelerations, which the mass matrix cannot express.
    ///
    /// # Errors
    /// Returns an error if the actuator or a joint is unknown, the actuator pulls a tendon, a joint
    /// does not have exactly one degree of freedom or is driven twice, or a ratio is not finite.
    pub fn couple_actuator(
        &mut self,
        actuator: JointActuatorIndex,
        others: &[(JointIndex, f64)],
    ) -> Result<()> {
        let Some(first) = self.joint_actuator(actuator)?.joint() else {
            return Err(self.actuator_error(actuator, "a tendon's actuator drives no joints"));
        };
        let mut driven = BTreeSet::from([first]);
        for (joint, ratio) in others {
            self.joint(*joint)?;
            let single = self.check_single("driven", &[*joint]);
            single.map_err(|e| self.actuator_error(actuator, &e.to_string()))?;
            if !driven.insert(*joint) {
                let name = self.joint(*joint)?.name();
                return Err(self.actuator_error(
                    actuator,
                    &format!("its joints must be different, got '{name}' twice"),
                ));
            }
            if !ratio.is_finite() {
                let why = format!("the ratio of a joint must be finite, got {ratio:?}");
                return Err(self.actuator_error(actuator, &why));
            }
        }
        let transmission = Transmission::Joints(first, others.to_vec());
        self.model.actuators[actuator.index()].transmission = transmission;
        Ok(())
    }

    /// Sets the rotor inertia (kg m^2 or kg) and the gear ratio of an actuator.
    ///
    /// # Errors
    /// Returns an error if the actuator is unknown, a value is not finite, or the rotor of an
    /// actuator on a spatial tendon has an inertia, which no joint has.
    pub fn set_default_rotor(
        &mut self,
        actuator: JointActuatorIndex,
        rotor_inertia: f64,
        gear_ratio: f64,
    ) -> Result<()> {
        self.joint_actuator(actuator)?;
        if !(rotor_inertia >= 0.0 && rotor_inertia.is_finite() && gear_ratio.is_finite()) {
            let why = format!(
                "the rotor inertia must be finite and at least 0 and the gear ratio finite, got \
                 {rotor_inertia:?} and {gear_ratio:?}"
            );
            return Err(self.actuator_error(actuator, &why));
        }
        self.check_rotor(actuator, rotor_inertia)?;
        let found = &mut self.model.actuators[actuator.index()];
        (found.rotor_inertia, found.gear_ratio) = (rotor_inertia, gear_ratio);
        Ok(())
    }
}

impl MultibodyModel {
    /// Checks that an actuator may have a rotor with an inertia.
    pub(in crate::plant) fn check_rotor(
        &self,
        actuator: JointActuatorIndex,
        rotor_inertia: f64,
    ) -> Result<()> {
        match self.joint_actuator(actuator)?.joint() {
            None if rotor_inertia != 0.0 => {
                let why = format!(
                    "the rotor inertia must be 0 on a spatial tendon, got {rotor_inertia:?}"
                );
                Err(self.actuator_error(actuator, &why))
            }
            _ => Ok(()),
        }
    }

    /// Creates an error that names the actuator and then gives the reason.
    #[cold]
    pub(crate) fn actuator_error(&self, actuator: JointActuatorIndex, why: &str) -> Error {
        let found = &self.actuators[actuator.index()];
        let taken = &self.taken.actuators;
        let name = self.name_to_tell(found.model_instance, &found.name, taken);
        Error::invalid(format!("actuator '{name}': {why}"))
    }

    /// Returns the reflected inertia of the motors of each joint, with its armature.
    pub(super) fn reflected_inertias(&self) -> Vec<f64> {
        let mut reflected: Vec<f64> = self.joints.iter().map(|joint| joint.armature).collect();
        for motor in &self.actuators {
            if let Some(joint) = motor.joint() {
                reflected[joint.index()] += motor.calc_reflected_inertia();
            }
        }
        reflected
    }
}
