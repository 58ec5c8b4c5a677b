//! Shapes, meshes, SceneGraph, proximity queries and render engines.

pub mod error;
pub mod ids;
pub mod mesh;
pub mod properties;
pub mod render;
pub mod rgba;
pub mod shapes;

pub use error::{Error, Result};
pub use ids::{FrameId, GeometryId, SourceId};
pub use properties::{
    GeometryProperties, IllustrationProperties, PerceptionProperties, ProximityProperties, Role,
};
pub use render::RenderLabel;
pub use rgba::Rgba;
pub use shapes::{BoxShape, Capsule, Convex, Cylinder, Ellipsoid, HalfSpace, Mesh, Shape, Sphere};
