//! Simulations in a browser: the [`Meshcat`] server with its own page, and the systems that feed it.

pub mod error;
pub mod meshcat;

pub use error::{Error, Result};
pub use meshcat::{
    Gamepad, LoopMode, Meshcat, MeshcatAnimation, MeshcatParams, OrthographicCamera, PageCamera,
    PerspectiveCamera, PropertyTuple, PropertyValue, SideOfFaceToRender, SurfaceStyle,
};
