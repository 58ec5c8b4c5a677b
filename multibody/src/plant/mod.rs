//! The plant. Elements are added one by one and checked against each other; `finalize` connects
//! them to a tree. A plant is a system of a diagram and a geometry source of a scene.
//!
//! There is one file per topic; the algorithms are in `tree`, `kinematics` and `dynamics`.

mod actuators;
mod annotations;
mod collision_filters;
mod combined_material;
mod config;
mod constraint_status;
mod constraints;
mod contact;
mod contact_materials;
mod contact_model;
mod contact_pairs;
mod contact_results;
mod contact_settings;
mod contact_surfaces;
mod context;
mod continuous;
mod controllers;
mod declared;
mod defaults;
mod deformable;
mod deformable_body;
mod deformable_context;
mod dry_friction;
mod dynamics;
mod dynamics_derivatives;
mod dynamics_result;
mod element_names;
mod elements;
mod ended_contacts;
mod finalize;
mod force_elements;
mod force_parameters;
mod force_ports;
mod forward_dynamics;
mod geometry;
mod geometry_registration;
mod hydroelastic_contact;
mod inputs;
mod instances;
mod kinematics;
mod lookup;
mod mark;
mod model_parameters;
mod multibody_plant;
mod parameters;
mod settings;
mod sleep;
mod sleep_state;
mod step;
mod step_sites;
mod system;

pub use config::MultibodyPlantConfig;
pub use contact_model::{ContactModel, SleepSettings};
pub use contact_results::{
    ContactResults, HydroelasticContactInfo, HydroelasticQuadraturePointData, PointPairContactInfo,
};
pub use deformable::{
    DeformableContactInfo, DeformablePorts, DeformableTangent, FreeDeformableStep, MaterialTangent,
};
pub use deformable_body::DeformableBody;
pub use force_parameters::BushingConstants;
pub use force_ports::PlantDynamicsPorts;
pub use inputs::ExternallyAppliedSpatialForce;
pub(crate) use mark::PlantMark;
pub use model_parameters::ContactMaterialOverride;
pub use multibody_plant::{MultibodyPlant, PositionSource};
pub use system::{
    MultibodyPlantPorts, add_multibody_plant_scene_graph, compute_default_scene_aabb,
};
