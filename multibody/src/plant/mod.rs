//! The plant and its builder. Elements are added to the builder one by one and checked against each
//! other; `build` connects them to a tree. A plant is a system of a diagram and a geometry source
//! of a scene.
//!
//! The algorithms are in `tree`, `kinematics`, `dynamics`, `discrete` and `deformable`; the modules
//! here apply them to a plant, its scene and its context.

mod building;
mod calculations;
mod contact;
mod contact_model;
mod context;
mod deformable;
mod deformable_body;
mod element_names;
mod geometry_registration;
mod inputs;
mod multibody_model;
mod multibody_plant;
mod ports;
mod sleep_state;
mod steps;
mod system;
mod values;

pub use building::config::MultibodyPlantConfig;
pub use building::mark::PlantMark;
pub use building::plant_builder::MultibodyPlantBuilder;
pub use calculations::plant_parameters::PlantParameters;
pub use contact::results::{
    ContactResults, HydroelasticContactInfo, HydroelasticQuadraturePointData, PointPairContactInfo,
};
pub use contact_model::{ContactModel, SleepSettings};
pub use context::force_parameters::BushingConstants;
pub use context::in_context::PlantInContext;
pub use deformable::{
    DeformableContactInfo, DeformableTangent, FreeDeformableStep, MaterialTangent,
};
pub use deformable_body::DeformableBody;
pub use inputs::ExternallyAppliedSpatialForce;
pub use multibody_model::{MultibodyModel, PositionSource};
pub use multibody_plant::MultibodyPlant;
pub use ports::MultibodyPlantPorts;
pub use system::{IntoPlant, add_multibody_plant_scene_graph, compute_default_scene_aabb};
pub use values::model_parameters::ContactMaterialOverride;
