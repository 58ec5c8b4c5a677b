//! Defects that public reports of other tools and new users showed, one small case each. Every test
//! names the source of the right value.

mod camera_sizes;
mod depth_file_names;
mod parameters_of_sensors;
mod shared_files;
mod timestamps;
mod yaml_messages;
