//! Shapes, meshes, SceneGraph, proximity queries and render engines.

pub mod error;
pub mod shapes;

pub use error::{Error, Result};
pub use shapes::{
    BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape, Sphere,
};
