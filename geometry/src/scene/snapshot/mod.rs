//! A scene at one moment: its poses, and questions about it.

mod broadphase;
mod kinematics;
mod query;

pub use self::query::{
    PenetrationAsPointPair, QueryObject, RayHit, RayOptions, SignedDistancePair,
    SignedDistanceToPoint,
};
