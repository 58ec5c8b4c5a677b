//! Sensors by the names of their ports.

use crate::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use tarragon_multibody::{ModelSensor, MultibodyPlant};

/// Name of the port of all measurements.
pub(super) const ALL: &str = "sensordata";

/// A sensor that [`ModelSensors`](crate::ModelSensors) measures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeasuredSensor {
    /// Name of the output port.
    pub name: String,
    /// Index in [`model_sensors`](tarragon_multibody::MultibodyModel::model_sensors).
    pub sensor: usize,
    /// Place in the port `sensordata`.
    pub range: Range<usize>,
}

/// A sensor that [`ModelSensors`](crate::ModelSensors) does not measure. It displays as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnmeasuredSensor {
    /// Name, with that of the model if sensors of two models have the same name.
    pub name: String,
    /// Index in [`model_sensors`](tarragon_multibody::MultibodyModel::model_sensors).
    pub sensor: usize,
    /// Kind, by the name of the element of MJCF.
    pub kind: String,
    /// Reason, as part of a sentence.
    pub why: String,
}

impl fmt::Display for UnmeasuredSensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, kind, why, ..
        } = self;
        write!(f, "sensor '{name}' ({kind}) is not measured: {why}")
    }
}

/// Returns the names of the ports of a plant's sensors.
pub(super) fn port_names(plant: &MultibodyPlant) -> Result<Vec<String>> {
    let sensors = plant.model_sensors();
    let mut count: BTreeMap<&str, usize> = BTreeMap::from([(ALL, 1)]);
    for sensor in sensors {
        *count.entry(&sensor.name).or_default() += 1;
    }
    let name = |sensor: &ModelSensor| match count[&*sensor.name] {
        1 => Ok(sensor.name.clone()),
        _ => {
            let model = plant.model_instance_name(sensor.model_instance)?;
            Ok(format!("{model}::{}", sensor.name))
        }
    };
    sensors.iter().map(name).collect()
}
