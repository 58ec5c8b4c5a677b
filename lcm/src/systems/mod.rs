//! Systems that publish and subscribe.

pub mod buses;
pub mod interface;
pub mod playback;
pub mod publisher;
pub mod scope;
pub mod subscriber;
