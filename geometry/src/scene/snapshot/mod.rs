//! A scene at one time: its poses, and queries about it.

mod broadphase;
mod deformables;
mod kinematics;
mod query;

pub use self::query::{
    PenetrationAsPointPair, PenetrationManifold, QueryObject, RayHit, RayOptions,
    SignedDistancePair, SignedDistanceToPoint, SparsePenetration,
};
