//! Keyframes, cameras, sites and sensors of a plant.

use crate::error::{Error, Result};
use crate::model::checks::{check_finite, check_numbers};
use crate::model::{
    FixedOffsetFrame, Keyframe, ModelCamera, ModelSensor, SensorSubject, SubjectKind, subject_kind,
};
use crate::plant::multibody_plant::MultibodyPlant;

impl MultibodyPlant {
    /// Adds a keyframe.
    ///
    /// # Errors
    /// Returns an error if a joint, a body or an actuator is unknown, the number of positions of a
    /// or velocities of a joint is wrong, a position, a velocity or an input is not finite, or
    /// after `finalize`.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) -> Result<()> {
        self.check_open(|| format!("keyframe '{}'", keyframe.name))?;
        self.check_instance(keyframe.model_instance)?;
        for (joint, q) in &keyframe.positions {
            let checked = self.joint(*joint)?.check_default_positions(q);
            checked.map_err(|why| self.joint_error(*joint, &why))?;
        }
        for (body, x_wb) in &keyframe.free_poses {
            self.body(*body)?;
            let numbers = x_wb.translation.vector.iter();
            check_finite(&format!("keyframe '{}'", keyframe.name), numbers)?;
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
        self.keyframes.push(keyframe);
        Ok(())
    }
    /// Returns all keyframes, in order of addition.
    pub fn keyframes(&self) -> &[Keyframe] {
        &self.keyframes
    }
    /// Returns the default positions q, overridden by those of the keyframe `name`, plain or scoped
    /// (`model::name`).
    ///
    /// # Errors
    /// Returns an error if there is no keyframe of this name or several, or before `finalize`.
    pub fn keyframe_positions(&self, name: &str) -> Result<Vec<f64>> {
        let topology = self.finalized("keyframe_positions")?;
        let keyframe = self.keyframe_by_name(name)?;
        let mut q = self.default_positions();
        for (joint, positions) in &keyframe.positions {
            let start = topology.starts[joint.index()].0;
            q[start..start + positions.len()].copy_from_slice(positions);
        }
        for (body, x_wb) in &keyframe.free_poses {
            // A body that has got another joint since then keeps the default positions of that
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
    /// joints that it says nothing about.
    ///
    /// # Errors
    /// Returns an error if there is no keyframe of this name or several, or before `finalize`.
    pub fn keyframe_velocities(&self, name: &str) -> Result<Vec<f64>> {
        let topology = self.finalized("keyframe_velocities")?;
        let keyframe = self.keyframe_by_name(name)?;
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

    /// Returns the keyframe with a name, plain or scoped (`model::name`).
    fn keyframe_by_name(&self, name: &str) -> Result<&Keyframe> {
        let all = self.keyframes.iter().enumerate();
        let all = all.map(|(i, k)| (i, k.model_instance, &*k.name));
        Ok(&self.keyframes[self.by_name("keyframe", name, all)?])
    }
    /// Returns the inputs of all actuators at the keyframe `name`, plain or scoped
    /// (`model::name`), for the port `actuation`; 0 for actuators that it says nothing about.
    ///
    /// # Errors
    /// Returns an error if there is no keyframe of this name or several.
    pub fn keyframe_actuation(&self, name: &str) -> Result<Vec<f64>> {
        let mut actuation = vec![0.0; self.actuators.len()];
        for (actuator, input) in &self.keyframe_by_name(name)?.controls {
            actuation[actuator.index()] = *input;
        }
        Ok(actuation)
    }
    /// Sets the default positions of all joints to [`Self::keyframe_positions`].
    ///
    /// # Errors
    /// Returns an error if there is no keyframe of this name or several, or before `finalize`.
    pub fn set_default_positions_to_keyframe(&mut self, name: &str) -> Result<()> {
        let q = self.keyframe_positions(name)?;
        self.set_default_positions(&q)
    }

    /// Adds a camera.
    ///
    /// # Errors
    /// Returns an error if its frame is unknown, a number is not finite or not positive, or after
    /// `finalize`.
    pub fn add_model_camera(&mut self, camera: ModelCamera) -> Result<()> {
        let what = format!("camera '{}'", camera.name);
        self.check_open(|| what.clone())?;
        self.frame(camera.frame)?;
        let numbers = [
            ("width", f64::from(camera.width)),
            ("height", f64::from(camera.height)),
            ("field of view", camera.fov_y),
            ("near plane", camera.near),
            ("far plane", camera.far),
            ("rate", camera.fps),
        ];
        check_numbers(&what, &numbers)?;
        if let Some((name, bad)) = numbers.iter().find(|(_, x)| *x <= 0.0) {
            return Err(Error::invalid(format!(
                "{what}: the {name} must be positive, got {bad:?}"
            )));
        }
        if camera.near >= camera.far || camera.fov_y >= std::f64::consts::PI {
            return Err(Error::invalid(format!(
                "{what}: the near plane must be before the far one and the field of view below \
                 pi, got {:?} m, {:?} m and {:?} rad",
                camera.near, camera.far, camera.fov_y
            )));
        }
        self.cameras.push(camera);
        Ok(())
    }
    /// Returns all cameras of model files, in order of addition.
    pub fn model_cameras(&self) -> &[ModelCamera] {
        &self.cameras
    }

    /// Adds a site: a named pose on a body that is not a frame of the plant (MJCF's `site`).
    ///
    /// # Errors
    /// Returns an error if the body or the instance is unknown, or after `finalize`.
    pub fn add_site(&mut self, mut site: FixedOffsetFrame) -> Result<()> {
        self.check_open(|| format!("site '{}'", site.name))?;
        let of_body = self.body(site.body)?.model_instance;
        let instance = *site.model_instance.get_or_insert(of_body);
        self.check_instance(instance)?;
        self.sites.push(site);
        Ok(())
    }
    /// Returns all sites, in order of addition.
    pub fn sites(&self) -> &[FixedOffsetFrame] {
        &self.sites
    }
    /// Returns the site with a name, plain or scoped (`model::site`).
    ///
    /// # Errors
    /// Returns an error if there is none, or several in different model instances.
    pub fn site_by_name(&self, name: &str) -> Result<&FixedOffsetFrame> {
        let all = self.sites.iter().enumerate();
        let all = all.map(|(i, s)| (i, s.model_instance(), &*s.name));
        Ok(&self.sites[self.by_name("site", name, all)?])
    }

    /// Adds a sensor, which the plant keeps without measuring. Kinds that MJCF does not have fit
    /// every subject.
    ///
    /// # Errors
    /// Returns an error if the instance or what the sensor is attached to is unknown, the kind does
    /// not fit its subject (such as `jointpos` of a body) or has no reference, the reference is no
    /// frame, the noise is negative or not finite, the cutoff is not positive, or after
    /// `finalize`.
    pub fn add_model_sensor(&mut self, sensor: ModelSensor) -> Result<()> {
        let what = format!("sensor '{}'", sensor.name);
        self.check_open(|| what.clone())?;
        self.check_instance(sensor.model_instance)?;
        let all = [Some(sensor.subject), sensor.reference];
        for subject in all.into_iter().flatten() {
            self.check_subject(subject)
                .map_err(|e| e.at(what.clone()))?;
        }
        use SensorSubject::{Body, CenterOfMass, Site};
        if let Some(other) = sensor.reference
            && !matches!(other, Body(_) | CenterOfMass(_) | Site(_))
        {
            return Err(Error::invalid(format!(
                "{what}: the reference must be a body or a site, got {other:?}"
            )));
        }
        check_kind(&what, &sensor)?;
        check_numbers(&what, &[("noise", sensor.noise)])?;
        if sensor.noise < 0.0 || sensor.cutoff.is_nan() || sensor.cutoff <= 0.0 {
            return Err(Error::invalid(format!(
                "{what}: the noise must not be negative and the cutoff must be positive, got {:?} \
                 and {:?}",
                sensor.noise, sensor.cutoff
            )));
        }
        self.sensors.push(sensor);
        Ok(())
    }
    fn check_subject(&self, subject: SensorSubject) -> Result<()> {
        match subject {
            SensorSubject::Plant => Ok(()),
            SensorSubject::Body(body) | SensorSubject::CenterOfMass(body) => {
                self.body(body).map(|_| ())
            }
            SensorSubject::Joint(joint) => self.joint(joint).map(|_| ()),
            SensorSubject::Actuator(actuator) => self.joint_actuator(actuator).map(|_| ()),
            SensorSubject::Site(number) => match self.sites.get(number) {
                Some(_) => Ok(()),
                None => Err(Error::not_found(format!(
                    "site {number} must be one of the plant's {}",
                    self.sites.len()
                ))),
            },
        }
    }
    /// Returns all sensors of model files, in order of addition.
    pub fn model_sensors(&self) -> &[ModelSensor] {
        &self.sensors
    }
}

/// Checks that the kind of a sensor fits the elements that it names.
fn check_kind(what: &str, sensor: &ModelSensor) -> Result<()> {
    let Some((kind, of)) = subject_kind(&sensor.kind) else {
        return Ok(());
    };
    if !of.fits(sensor.subject) {
        let (required, found) = (of.elements(), sensor.subject);
        return Err(Error::invalid(format!(
            "{what}: the subject of '{kind}' must be {required}, got {found:?}"
        )));
    }
    match (of, sensor.reference) {
        (SubjectKind::Frame, _) | (_, None) => Ok(()),
        (_, Some(found)) => Err(Error::invalid(format!(
            "{what}: the reference of '{kind}' must be absent, got {found:?}; only sensors of \
             frames have one"
        ))),
    }
}
