//! Robots: bodies connected by joints, their kinematics and dynamics, and parsers of model files.
//!
//! A [`MultibodyPlant`] is filled by hand or by a [`Parser`], finalized, and then computes body
//! poses, on its own ([`MultibodyPlant::calc_body_poses`]) or as a system of a diagram
//! ([`add_multibody_plant_scene_graph`]). Velocities, Jacobians, masses and forces are computed
//! from [`PositionKinematics`].

mod annotations;
mod body;
mod collision_filters;
mod constraint;
mod coordinates;
mod dynamics;
mod equality;
mod force_element;
mod geometry_registration;
mod index;
mod inertia;
mod instances;
mod islands;
mod joint;
mod kinematics;
mod lookup;
mod names;
mod plant;
mod plant_context;
mod settings;
mod spatial;
mod system;
mod topology;

pub mod error;
pub mod parsing;
pub mod schema;

pub use annotations::{Keyframe, ModelCamera};
pub use body::{FixedOffsetFrame, RigidBody};
pub use constraint::{
    BallConstraint, Constraint, CouplerConstraint, DistanceConstraint, TendonConstraint,
    WeldConstraint,
};
pub use equality::{EqualityKind, ModelEquality};
pub use error::{Error, Result};
pub use force_element::ForceElement;
pub use geometry_registration::VisualProperties;
pub use index::{BodyIndex, FrameIndex, JointActuatorIndex, JointIndex, ModelInstanceIndex};
pub use inertia::SpatialInertia;
pub use joint::{Joint, JointActuator, JointKind, PdControllerGains};
pub use kinematics::{JacobianWrt, PositionKinematics, VelocityKinematics};
pub use parsing::{
    ArchiveType, Diagnostic, PackageMap, Parser, RemoteParams, RemoteSettings, ResolvedUrl,
    Severity,
};
pub use plant::{MultibodyPlant, PositionSource};
pub use spatial::SpatialVector;
pub use system::{MultibodyPlantPorts, add_multibody_plant_scene_graph};
pub use tarragon_geometry::{CoulombFriction, HydroelasticType};
