//! Sensors of model files as systems.

mod frame;
mod inputs;
mod measurement;
mod sensor;
mod subtree;
mod system;

pub use sensor::{MeasuredSensor, UnmeasuredSensor};
pub use system::{ModelSensors, ModelSensorsPorts, add_sensors_from_model};
