//! Systems that publish, subscribe and play logs.

pub(crate) mod buses;
pub(crate) mod interface;
pub(crate) mod playback;
pub(crate) mod publisher;
pub(crate) mod scope;
pub(crate) mod subscriber;
