//! The Meshcat server.

mod asset;
mod msgpack;
mod object;

/// A server.
#[derive(Clone, Debug)]
pub struct Meshcat(std::sync::Arc<()>);
