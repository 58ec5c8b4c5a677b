//! Tests of cameras, images, point clouds and their messages: one binary,
//! because each further one costs seconds to link.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apply_camera_config;
mod camera_buses;
mod camera_config;
mod camera_threads;
mod camera_timing;
mod cameras_and_files;
#[path = "../../framework/tests/counting_allocator/mod.rs"]
mod counting_allocator;
mod environments;
mod full_disk;
mod gltf_client;
mod gpu_cameras;
mod image_files;
mod image_writer;
mod lcm_allocations;
mod lcm_images;
mod lcm_images_pydrake;
mod lcm_point_clouds;
mod model_sensors;
mod point_cloud_files;
mod point_clouds;
mod regression;
mod rotary_encoders;
mod support;
#[path = "../../geometry/tests/warnings/mod.rs"]
mod warnings;
