//! The scene as a system: registration of geometry, its poses, and queries.
//!
//! [`GeometryState`] holds shapes, roles and filters and lives in the context as a parameter. Poses
//! come in through one port per source; [`QueryObject`] is the output.

mod bounds;
mod config;
mod configurations;
mod instance;
mod model;
mod scene_graph;
mod snapshot;

pub use self::config::{DefaultProximityProperties, SceneGraphConfig};
pub use self::configurations::GeometryConfigurationVector;
pub use self::instance::{FramePoseVector, GeometryFrame, GeometryInstance};
pub use self::model::{
    CollisionFilterDeclaration, CollisionFilterManager, CollisionFilterScope, GeometrySet,
    GeometryState, GeometryVersion, RegistrationMark, RoleProperties, SceneGraphInspector,
};
pub use self::scene_graph::{SceneGraph, SceneGraphPorts};
pub use self::snapshot::{
    PenetrationAsPointPair, PenetrationManifold, QueryObject, RayHit, RayOptions,
    SignedDistancePair, SignedDistanceToPoint, SparsePenetration,
};
