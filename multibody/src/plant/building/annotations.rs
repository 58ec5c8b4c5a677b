//! Cameras, sites and sensors of a plant.

use crate::error::{Error, Result};
use crate::model::checks::check_numbers;
use crate::model::{
    FixedOffsetFrame, ModelCamera, ModelSensor, SensorSubject, SubjectKind, subject_kind,
};
use crate::plant::building::plant_builder::MultibodyPlantBuilder;
use crate::plant::multibody_model::MultibodyModel;

impl MultibodyPlantBuilder {
    /// Adds a camera.
    ///
    /// # Errors
    /// Returns an error if its frame is unknown, or a number is not finite or not positive.
    pub fn add_model_camera(&mut self, camera: ModelCamera) -> Result<()> {
        let what = format!("camera '{}'", camera.name);
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
        self.model.cameras.push(camera);
        Ok(())
    }

    /// Adds a site: a named pose on a body that is not a frame of the plant (MJCF's `site`).
    ///
    /// # Errors
    /// Returns an error if the body or the instance is unknown.
    pub fn add_site(&mut self, mut site: FixedOffsetFrame) -> Result<()> {
        let of_body = self.body(site.body)?.model_instance;
        let instance = *site.model_instance.get_or_insert(of_body);
        self.check_instance(instance)?;
        self.model.sites.push(site);
        Ok(())
    }

    /// Adds a sensor, which the plant keeps without measuring. Kinds that MJCF does not have fit
    /// every subject.
    ///
    /// # Errors
    /// Returns an error if the instance or what the sensor is attached to is unknown, the kind does
    /// not fit its subject (such as `jointpos` of a body) or has no reference, the reference is no
    /// frame, the noise is negative or not finite, or the cutoff is not positive.
    pub fn add_model_sensor(&mut self, sensor: ModelSensor) -> Result<()> {
        let what = format!("sensor '{}'", sensor.name);
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
        self.model.sensors.push(sensor);
        Ok(())
    }
}

impl MultibodyModel {
    /// Returns all cameras of model files, in order of addition.
    pub fn model_cameras(&self) -> &[ModelCamera] {
        &self.cameras
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
