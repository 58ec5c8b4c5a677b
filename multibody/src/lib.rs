//! Robots: bodies connected by joints, their kinematics and dynamics, and parsers of model files.
//!
//! Elements are added to a [`MultibodyPlant`] by hand or by a [`Parser`]. Once finalized, the plant
//! computes body poses, on its own ([`MultibodyPlant::calc_body_poses`]) or as a system of a
//! diagram ([`add_multibody_plant_scene_graph`]). Velocities, Jacobians, masses and forces are
//! computed from [`PositionKinematics`].
//!
//! Two features are on by default. `remote-https` fetches packages of models from `https://` URLs;
//! without it, such a URL is an error that says so. `sparse-cholesky` solves contact among more
//! than about 150 bodies with faer, several times faster.

mod discrete;
mod dynamics;
mod error;
mod kinematics;
mod model;
mod parsing;
mod plant;
mod spatial;
mod tree;
mod writing;

pub mod schema;

/// Scenes as YAML lists of what to add to a plant and how to connect it (Drake's
/// `ModelDirectives`).
pub mod directives {
    pub use crate::parsing::{
        AddCollisionFilterGroup, AddDirectives, AddFrame, AddModel, AddModelInstance, AddWeld,
        ModelDirective, ModelDirectives, ModelInstanceInfo, flatten_model_directives,
        process_model_directives, process_model_directives_into,
    };
}

pub use discrete::DiscreteContactApproximation;
pub use dynamics::{
    BodyInertia, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, MultibodyForces,
};
pub use error::{Error, ErrorKind, Result};
pub use kinematics::{JacobianWrt, PositionKinematics, VelocityKinematics};
pub use model::{
    AffineControl, BallConstraint, BodyIndex, Constraint, ContactPairProperties, CouplerConstraint,
    DeformableBodyIndex, DistanceConstraint, DoorHingeConfig, EqualityKind, FixedOffsetFrame,
    ForceElement, FrameIndex, Joint, JointActuator, JointActuatorIndex, JointIndex, JointKind,
    Keyframe, ModelCamera, ModelEquality, ModelInstanceIndex, ModelSensor, MujocoContact,
    PdControllerGains, PolynomialConstraint, RigidBody, SensorSubject, SpatialTendonConstraint,
    Tendon, TendonConstraint, TendonPart, TendonWrap, VisualProperties, WeldConstraint, WrapShape,
};
pub use parsing::{MODEL_SUFFIXES, MjcfSemantics, ModelOptions, OnWarning, Parser};
pub use plant::{
    BushingConstants, ContactMaterialOverride, ContactModel, ContactResults, DeformableBody,
    DeformableContactInfo, DeformablePorts, DeformableTangent, ExternallyAppliedSpatialForce,
    FreeDeformableStep, HydroelasticContactInfo, HydroelasticQuadraturePointData, MaterialTangent,
    MultibodyPlant, MultibodyPlantConfig, MultibodyPlantPorts, PlantDynamicsPorts, PlantInContext,
    PlantParameters, PointPairContactInfo, PositionSource, SleepSettings,
    add_multibody_plant_scene_graph, compute_default_scene_aabb,
};
pub use spatial::{SpatialInertia, SpatialVector};
pub use tarragon_geometry::{CoulombFriction, HydroelasticType};
pub use writing::{ModelWriter, OutputFormat, WrittenFile, WrittenModel};
