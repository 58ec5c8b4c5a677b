//! The plant: elements are added one by one, checked against each other, and made a tree by
//! `finalize`. It is a system of a diagram and a source of geometry.
//!
//! One file per topic; what they compute is in the modules below.

mod actuators;
mod annotations;
mod collision_filters;
mod constraints;
mod context;
mod defaults;
mod dynamics;
mod element_names;
mod elements;
mod finalize;
mod force_elements;
mod geometry;
mod geometry_registration;
mod instances;
mod kinematics;
mod lookup;
mod mark;
mod multibody_plant;
mod settings;
mod system;

pub(crate) use mark::PlantMark;
pub use multibody_plant::{MultibodyPlant, PositionSource};
pub use system::{MultibodyPlantPorts, add_multibody_plant_scene_graph};
