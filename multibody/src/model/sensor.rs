//! Sensors that model files declare.

use super::index::{BodyIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};

/// A sensor of a model file (a child of MJCF's `sensor`). The plant keeps it without measuring:
/// that is left to systems that read these fields, such as `ModelSensors` of `tarragon-sensors`.
///
/// ```
/// use tarragon_multibody::*;
/// let mut plant = MultibodyPlantBuilder::new(0.001)?;
/// let mut height = ModelSensor::new("height", "framepos", SensorSubject::Body(BodyIndex::WORLD));
/// height.noise = 0.01;
/// plant.add_model_sensor(height)?;
/// assert_eq!(plant.model_sensors()[0].kind, "framepos");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelSensor {
    /// The name.
    pub name: String,
    /// The model instance of its file.
    pub model_instance: ModelInstanceIndex,
    /// Kind, by the name of the element of MJCF, such as `accelerometer`.
    pub kind: String,
    /// Element that it is attached to.
    pub subject: SensorSubject,
    /// Frame in which a sensor of a frame measures; `None` for the world.
    pub reference: Option<SensorSubject>,
    /// Standard deviation of the noise, in the unit of the measurement.
    pub noise: f64,
    /// Largest absolute value, in the unit of the measurement; infinite without a limit.
    pub cutoff: f64,
}

/// Element that a [`ModelSensor`] is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorSubject {
    /// The whole plant, of which a sensor measures energy or time.
    Plant,
    /// The frame of a body.
    Body(BodyIndex),
    /// The center of mass of a body, with its principal axes of inertia.
    CenterOfMass(BodyIndex),
    /// A site, by its place in [`MultibodyModel::sites`](crate::MultibodyModel::sites).
    Site(usize),
    /// A joint.
    Joint(JointIndex),
    /// An actuator.
    Actuator(JointActuatorIndex),
}

impl ModelSensor {
    /// Creates a sensor of the default model instance without noise and limit.
    pub fn new(name: impl Into<String>, kind: impl Into<String>, subject: SensorSubject) -> Self {
        Self {
            name: name.into(),
            model_instance: ModelInstanceIndex::DEFAULT,
            kind: kind.into(),
            subject,
            reference: None,
            noise: 0.0,
            cutoff: f64::INFINITY,
        }
    }
}

impl SensorSubject {
    /// Returns the body to whose frame or center of mass the sensor is attached; `None` for other
    /// subjects.
    pub fn body(self) -> Option<BodyIndex> {
        match self {
            Self::Body(body) | Self::CenterOfMass(body) => Some(body),
            _ => None,
        }
    }
}

/// Kind of what a sensor is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// The plant as a whole.
    Plant,
    /// The frame of a body, and all bodies that it carries.
    Body,
    /// A frame of a body or a site.
    Frame,
    /// A site.
    Site,
    /// A joint.
    Joint,
    /// An actuator.
    Actuator,
}

impl SubjectKind {
    /// Returns true if a sensor may be attached to an element.
    pub fn fits(self, subject: SensorSubject) -> bool {
        match subject {
            SensorSubject::Plant => self == Self::Plant,
            SensorSubject::Body(_) => matches!(self, Self::Body | Self::Frame),
            SensorSubject::CenterOfMass(_) => self == Self::Frame,
            SensorSubject::Site(_) => matches!(self, Self::Site | Self::Frame),
            SensorSubject::Joint(_) => self == Self::Joint,
            SensorSubject::Actuator(_) => self == Self::Actuator,
        }
    }
    /// Returns the elements that a sensor may be attached to, for messages.
    pub fn elements(self) -> &'static str {
        match self {
            Self::Plant => "the plant",
            Self::Body => "a body",
            Self::Frame => "a body, a center of mass or a site",
            Self::Site => "a site",
            Self::Joint => "a joint",
            Self::Actuator => "an actuator",
        }
    }
}

/// Kinds of sensors by the names of MJCF's elements, with what they are attached to.
const KINDS: [(SubjectKind, &[&str]); 6] = [
    (SubjectKind::Plant, &["clock", "e_kinetic", "e_potential"]),
    (
        SubjectKind::Body,
        &["subtreeangmom", "subtreecom", "subtreelinvel"],
    ),
    (
        SubjectKind::Frame,
        &[
            "frameangacc",
            "frameangvel",
            "framelinacc",
            "framelinvel",
            "framepos",
            "framequat",
            "framexaxis",
            "frameyaxis",
            "framezaxis",
        ],
    ),
    (
        SubjectKind::Site,
        &[
            "accelerometer",
            "force",
            "gyro",
            "magnetometer",
            "rangefinder",
            "torque",
            "touch",
            "velocimeter",
        ],
    ),
    (
        SubjectKind::Joint,
        &[
            "ballangvel",
            "ballquat",
            "jointactuatorfrc",
            "jointlimitfrc",
            "jointlimitpos",
            "jointlimitvel",
            "jointpos",
            "jointvel",
        ],
    ),
    (
        SubjectKind::Actuator,
        &["actuatorfrc", "actuatorpos", "actuatorvel"],
    ),
];

/// Returns the name of MJCF's element for a kind of sensor, and what it is attached to; `None` if
/// the plant has no such elements.
pub fn subject_kind(kind: &str) -> Option<(&'static str, SubjectKind)> {
    KINDS.iter().find_map(|(subject, names)| {
        let name = names.iter().find(|name| **name == kind)?;
        Some((*name, *subject))
    })
}
