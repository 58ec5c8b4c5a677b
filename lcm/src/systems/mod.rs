//! Systems that publish, subscribe and play logs.

pub mod buses;
pub mod interface;
pub mod playback;
pub mod publisher;
pub mod scope;
pub mod subscriber;
