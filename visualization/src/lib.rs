//! Simulations in a browser: the [`Meshcat`] server with its own page, and the systems that feed it.

pub mod error;
pub mod meshcat;

pub use error::{Error, Result};
pub use meshcat::{
    Gamepad, LoopMode, Meshcat, MeshcatAnimation, MeshcatParams, OrthographicCamera, PageCamera,
    PerspectiveCamera, PropertyTuple, PropertyValue, SideOfFaceToRender, SurfaceStyle,
};

/// What fuzzing calls: not part of the API.
#[doc(hidden)]
pub mod fuzzing {
    /// Reads bytes as if a page had sent them: frames, and the messages in them.
    pub fn receive(bytes: &[u8]) {
        crate::meshcat::receive(bytes);
    }
}
