//! Queries of a scene at one time: poses, distances, contacts, rays, images.

mod contact_surfaces;
mod deformable;
mod images;
mod pairs;
mod points;
mod query_object;
mod rays;
mod results;
mod signed_distances;
mod skins;

pub use self::query_object::QueryObject;
pub use self::rays::{RayHit, RayOptions};
pub use self::results::{
    PenetrationAsPointPair, PenetrationManifold, SignedDistancePair, SignedDistanceToPoint,
    SparsePenetration,
};
