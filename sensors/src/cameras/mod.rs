//! RGB-D cameras: at every moment, sampled, drawn asynchronously, and configured by data.

pub(crate) mod config;
mod render_job;
pub(crate) mod rgbd_sensor;
pub(crate) mod rgbd_sensor_async;
pub(crate) mod rgbd_sensor_discrete;
