//! Systems that publish and subscribe.

pub mod buses;
pub mod publisher;
