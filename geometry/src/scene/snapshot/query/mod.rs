//! Asking a scene at one moment: poses, distances, contacts, rays, images.

mod images;
mod pairs;
mod points;
mod query_object;
mod rays;
mod results;

pub use query_object::QueryObject;
pub use rays::{RayHit, RayOptions};
pub use results::{PenetrationAsPointPair, SignedDistancePair, SignedDistanceToPoint};
