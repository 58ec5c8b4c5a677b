//! Robots: bodies connected by joints, their kinematics, dynamics and contact.
//!
//! Elements are added to a [`MultibodyPlantBuilder`] by hand or by a parser of `tarragon-formats`.
//! It builds a [`MultibodyPlant`], which computes body poses, on its own
//! ([`MultibodyPlant::calc_body_poses`]) or as a system of a diagram
//! ([`add_multibody_plant_scene_graph`]). Velocities, Jacobians, masses and forces are computed
//! from [`PositionKinematics`].

mod discrete;
mod dynamics;
mod error;
mod kinematics;
mod model;
mod plant;
mod spatial;
mod tree;

pub use discrete::DiscreteContactApproximation;
pub use dynamics::{
    BodyInertia, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, MultibodyForces,
    TendonEnd, walk_tendon,
};
pub use error::{Error, ErrorKind, Result};
pub use kinematics::{JacobianWrt, PositionKinematics, VelocityKinematics};
pub use model::{
    AffineControl, BallConstraint, BodyIndex, CollisionFilterGroup, CollisionFilterGroupSpec,
    Constraint, ContactMargin, ContactPairProperties, CouplerConstraint, DeformableBodyIndex,
    DistanceConstraint, DoorHingeConfig, EqualityKind, FixedOffsetFrame, ForceElement, FrameIndex,
    Joint, JointActuator, JointActuatorIndex, JointIndex, JointKind, Keyframe, KeyframeLoss,
    KeyframePart, ModelCamera, ModelEquality, ModelInstanceIndex, ModelSensor, MujocoContact,
    PdControllerGains, PolynomialConstraint, RigidBody, SensorSubject, SpatialTendonConstraint,
    SubjectKind, Tendon, TendonConstraint, TendonPart, TendonWrap, VisualProperties,
    WeldConstraint, WrapShape, subject_kind, wrong_tendon_part,
};
pub use plant::{
    BushingConstants, ContactMaterialOverride, ContactModel, ContactResults, DeformableBody,
    DeformableContactInfo, DeformableTangent, ExternallyAppliedSpatialForce, FreeDeformableStep,
    HydroelasticContactInfo, HydroelasticQuadraturePointData, IntoPlant, MaterialTangent,
    MultibodyModel, MultibodyPlant, MultibodyPlantBuilder, MultibodyPlantConfig,
    MultibodyPlantPorts, PlantInContext, PlantMark, PlantParameters, PointPairContactInfo,
    PositionSource, SleepSettings, add_multibody_plant_scene_graph, compute_default_scene_aabb,
};
pub use spatial::{SpatialInertia, SpatialVector, check_rotational, rotational_inertia};
pub use tarragon_geometry::{CoulombFriction, HydroelasticType};
