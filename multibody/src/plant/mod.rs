//! The plant. Elements are added one by one and checked against each other; `finalize` connects
//! them to a tree. A plant is a system of a diagram and a geometry source of a scene.
//!
//! There is one file per topic; the algorithms are in `tree`, `kinematics` and `dynamics`.

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
pub use system::{
    MultibodyPlantPorts, add_multibody_plant_scene_graph, compute_default_scene_aabb,
};
