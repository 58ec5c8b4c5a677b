//! The Meshcat server.

mod asset;
mod msgpack;
mod object;

pub use object::{SideOfFaceToRender, SurfaceStyle};

/// A server.
#[derive(Clone, Debug)]
pub struct Meshcat(std::sync::Arc<()>);
